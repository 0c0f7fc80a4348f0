"""Providers of models: one folder for each API. A folder has two functions, those of `ProviderFolder`.

Which folder serves a provider, with which key and which models, is its row in reviewbot/data/providers.toml. No module
outside of a folder knows its SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from reviewbot.config.providers import Provider
from reviewbot.domain.contracts import Tier
from reviewbot.domain.ports import Model
from reviewbot.prices import PriceTable

DEFAULT_TIMEOUT_S = 120.0
"""Seconds without a byte of an answer. While a model thinks, an API sends a sign of life every few seconds."""


class ModelClient(Model, Protocol):
    """The models of one provider, for one run. `ask` tries one call once: retries are made by the caller."""

    @property
    def address(self) -> str:
        """Where calls go: limits of rates and stored answers belong to it. It may hold a password, and is not shown."""

    @property
    def load_ms(self) -> int | None:
        """Milliseconds that loading the SDK took; None as long as it is not there."""

    async def ready(self) -> object:
        """Wait until the SDK is loaded. Raises ConfigError where it cannot be."""

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""


@dataclass(frozen=True)
class ConnectRequest:
    """All that a provider's folder gets to make a client."""

    provider: str
    """The provider's name: one folder may serve several."""
    environ: Mapping[str, str]
    """Where keys and addresses are."""
    models: Mapping[Tier, str]
    prices: PriceTable
    timeout_s: float = DEFAULT_TIMEOUT_S
    preloaded: object = None
    """What `preload` returned, where it was called."""


class ProviderFolder(Protocol):
    """The functions of a folder."""

    def preload(self) -> object:
        """Begin to load the SDK beside other work."""

    def connect(self, request: ConnectRequest) -> ModelClient:
        """Make a client; sends nothing yet. Raises ConfigError where the key is missing or an address is wrong."""


def folder_of(provider: Provider) -> ProviderFolder:
    """Load the folder that serves a provider."""
    return cast("ProviderFolder", import_module(f"{__name__}.{provider.folder}"))
