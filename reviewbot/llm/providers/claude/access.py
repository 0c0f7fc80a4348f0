"""Access to a provider: which one serves the models, with which credentials. Nothing here reads the environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reviewbot.domain.errors import ConfigError

Provider = Literal["anthropic", "bedrock", "vertex"]

ANTHROPIC_URL = "https://api.anthropic.com"

DEFAULT_TIMEOUT_S = 120.0
"""Seconds without a byte of an answer. While a model thinks, the API sends a sign of life every few seconds."""

CONNECT_S = 10.0
"""Seconds until a connection stands."""

CREDENTIALS: dict[Provider, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK or the AWS credentials, and AWS_REGION",
    "vertex": "the Google Cloud credentials, CLOUD_ML_REGION and ANTHROPIC_VERTEX_PROJECT_ID",
}
"""What to look at where a provider does not accept us."""


@dataclass(frozen=True)
class Access:
    """How to reach a provider. Its text never shows a key.

    Raises ConfigError for a key that is missing or cannot be one.
    """

    provider: Provider = "anthropic"
    key: str | None = field(default=None, repr=False)
    """An API key; of Bedrock a bearer token, of Vertex an access token. None there: what the system is logged in as.

    All of them go into the header `authorization`, and so does a gateway's token.
    """
    base_url: str | None = field(default=None, repr=False)
    """None: the provider's own. It may hold a password, so that it is not shown either."""
    region: str | None = None
    project: str | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S

    def __post_init__(self) -> None:
        where = CREDENTIALS[self.provider]
        if self.provider == "anthropic" and not self.key:
            raise ConfigError(f"no key for a model: set {where}")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise ConfigError(f"the key holds blanks or other characters that no key has: check {where}")

    @property
    def credentials(self) -> str:
        """The names of the variables to check."""
        return CREDENTIALS[self.provider]
