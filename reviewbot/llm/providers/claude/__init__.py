"""Models of the Claude family, at Anthropic, Amazon Bedrock, Google Cloud or anything that speaks their API.

    model    `ClaudeModel`: one try of one call
    access   who serves the models, and the key
    sdk      the SDK, loaded beside other work
    wire     a request and an answer as the API writes them
    errors   the API's errors as ours

Written against version 2.12 of the SDK `anthropic`, which no other module imports.
"""

from __future__ import annotations

from reviewbot.llm.providers import ConnectRequest
from reviewbot.llm.providers.claude.access import Access, read_access
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.llm.providers.claude.sdk import Sdk


def preload() -> Sdk:
    """Begin to load the SDK."""
    sdk = Sdk()
    sdk.begin()
    return sdk


def connect(request: ConnectRequest) -> ClaudeModel:
    """As `ProviderFolder.connect`."""
    access = read_access(request.provider, request.environ, request.timeout_s)
    sdk = request.preloaded if isinstance(request.preloaded, Sdk) else Sdk()
    return ClaudeModel(access, request.models, request.prices, sdk)
