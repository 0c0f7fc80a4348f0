"""Settings: their sources, their allowed values, and which of them a reviewed repository may set.

On the start-up path: the standard library alone, so that `--help` stays fast.
"""

from reviewbot.config.load import load_settings
from reviewbot.config.settings import Settings
