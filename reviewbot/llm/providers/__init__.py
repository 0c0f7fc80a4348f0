"""Providers of models: one folder for each API. A folder has two functions, those of `ProviderFolder`.

Which folder serves a provider, with which key and which models, is its row in reviewbot/data/providers.toml. No module
outside of a folder knows its SDK.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    # The SDK begins to load before anything of this is there.
    from reviewbot.config.providers import Provider
    from reviewbot.domain.contracts import Tier
    from reviewbot.domain.ports import ModelReply, ModelRequest
    from reviewbot.prices import PriceTable

DEFAULT_TIMEOUT_S = 120.0
"""Seconds without a byte of an answer. While a model thinks, an API sends a sign of life every few seconds."""


class ModelClient(Protocol):
    """The models of one provider, for one run: a `Model`."""

    @property
    def address(self) -> str:
        """Where calls go: limits of rates and stored answers belong to it. It may hold a password, and is not shown."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`, one try of one call: retries are made by the caller."""


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


class ProviderFolder(Protocol):
    """The functions of a folder."""

    def preload(self) -> None:
        """Begin to load the SDK beside other work."""

    def connect(self, request: ConnectRequest) -> ModelClient:
        """Make a client; sends nothing yet. Raises ConfigError where the key is missing or an address is wrong."""


def folder_of(provider: Provider) -> ProviderFolder:
    """Load the folder that serves a provider."""
    return cast("ProviderFolder", import_module(f"{__name__}.{provider.folder}"))
