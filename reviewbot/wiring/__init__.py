"""Build adapters and tools and hand them to the pipeline. No other package does."""

from reviewbot.wiring.assembly import PreparedRun, RunInputs, load_workers, open_journal, settings_for, setup
from reviewbot.wiring.change_sources import (
    Subject,
    from_branch,
    from_diff,
    from_index,
    from_range,
    tree_of,
    with_words,
)
from reviewbot.wiring.component_factory import Baseline
from reviewbot.wiring.models import effective, prices_of, tiers_of
from reviewbot.wiring.worker_limits import limit_workers
