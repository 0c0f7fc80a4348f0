"""Access to a provider: which one serves the models, with which credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.config.providers import PROVIDERS
from reviewbot.domain.errors import ConfigError
from reviewbot.llm.providers import DEFAULT_TIMEOUT_S

CREDENTIALS: dict[str, str] = {
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

    provider: str = "anthropic"
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


def read_access(provider: str, environ: Mapping[str, str], timeout_s: float) -> Access:
    """How to reach a provider, by the environment. Raises ConfigError where the key is missing."""
    if provider == "bedrock":
        region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
        key = environ.get("AWS_BEARER_TOKEN_BEDROCK") or None
        return Access(provider, key, environ.get("ANTHROPIC_BEDROCK_BASE_URL") or None, region, None, timeout_s)
    if provider == "vertex":
        project = environ.get("ANTHROPIC_VERTEX_PROJECT_ID")
        url = environ.get("ANTHROPIC_VERTEX_BASE_URL") or None
        return Access(provider, None, url, environ.get("CLOUD_ML_REGION"), project, timeout_s)
    key = next((environ[name] for name in PROVIDERS[provider].keys if environ.get(name)), None)
    return Access(provider, key, _address(environ.get("ANTHROPIC_BASE_URL")), timeout_s=timeout_s)


def _address(text: str | None) -> str | None:
    if text and not text.startswith(("https://", "http://")):
        raise ConfigError("ANTHROPIC_BASE_URL must begin with https:// or http://")
    return text or None
