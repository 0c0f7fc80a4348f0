"""Begin to load the models' SDK while the change is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reviewbot.wiring.models import KEYS

if TYPE_CHECKING:
    from reviewbot.llm.providers.claude import Sdk


def loading(environ: Mapping[str, str], engine: str | None) -> Sdk | None:
    """Begin to load the SDK; None where no model will be asked.

    Whatever is wrong is found, and said, when the settings are read.
    """
    wanted = engine or environ.get("REVIEWBOT_ENGINE") or "claude"
    asked = environ.get("REVIEWBOT_PROVIDER") in ("bedrock", "vertex") or any(environ.get(name) for name in KEYS)
    if wanted != "claude" or not asked:
        return None
    # Our own modules first: a thread that loads the SDK would get in their way. Without a model none is loaded.
    from reviewbot.llm.providers.claude import Sdk  # noqa: PLC0415
    from reviewbot.wiring import model_components  # noqa: F401, PLC0415

    sdk = Sdk()
    sdk.begin()
    return sdk
