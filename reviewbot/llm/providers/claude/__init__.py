"""Models of the Claude family, at Anthropic, Amazon Bedrock, Google Cloud or anything that speaks their API.

    model    `ClaudeModel`: one try of one call
    access   who serves the models, and the key
    sdk      the process in which the SDK runs, and sdk_process: its program
    wire     a request and an answer as the API writes them
    errors   the API's errors as ours

Written against version 2.12 of the SDK `anthropic`, which no module but sdk_process imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.llm.providers.claude.sdk import shared_sdk

if TYPE_CHECKING:
    from reviewbot.llm.providers import ConnectRequest
    from reviewbot.llm.providers.claude.model import ClaudeModel


def preload() -> None:
    """Begin to load the SDK."""
    shared_sdk().begin()


def connect(request: ConnectRequest) -> ClaudeModel:
    """As `ProviderFolder.connect`."""
    # Not with `preload`, which is called before anything else is loaded.
    from reviewbot.llm.providers.claude.access import read_access  # noqa: PLC0415
    from reviewbot.llm.providers.claude.model import ClaudeModel  # noqa: PLC0415

    access = read_access(request.provider, request.environ, request.timeout_s)
    return ClaudeModel(access, request.models, request.prices)
