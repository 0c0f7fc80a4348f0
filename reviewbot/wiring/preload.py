"""Load what asks models while a change is read, so that a review does not wait for it."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS
from reviewbot.wiring.models import can_ask


def preload_models(environ: Mapping[str, str], engine: str | None) -> object:
    """Begin to load the SDK of the provider; None where no model will be asked.

    Whatever is wrong is found, and said, when the settings are read.
    """
    wanted = engine or environ.get("REVIEWBOT_ENGINE")
    provider = PROVIDERS.get(environ.get("REVIEWBOT_PROVIDER") or DEFAULT_PROVIDER.name)
    if wanted in ("analyzers", "scripted") or provider is None or not can_ask(provider, environ):
        return None
    # Our own modules first: a thread that loads the SDK would get in their way. Without a model none is loaded.
    from reviewbot.llm.providers import folder_of  # noqa: PLC0415
    from reviewbot.wiring import model_components  # noqa: F401, PLC0415

    return folder_of(provider).preload()
