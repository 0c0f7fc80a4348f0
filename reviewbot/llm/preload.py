"""Begin to load what asks models before anything else is loaded, so that a review does not wait for it."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS


def preload_models(environ: Mapping[str, str], engine: str | None) -> None:
    """Begin to load the SDK of the provider, where models will be asked.

    Whatever is wrong is found, and said, when the settings are read.
    """
    wanted = engine or environ.get("REVIEWBOT_ENGINE")
    provider = PROVIDERS.get(environ.get("REVIEWBOT_PROVIDER") or DEFAULT_PROVIDER.name)
    if wanted not in ("analyzers", "scripted") and provider is not None and provider.can_ask(environ):
        from reviewbot.llm.providers import folder_of  # noqa: PLC0415 - without a model none of it is loaded

        folder_of(provider).preload()
