"""Models of the Claude family, at Anthropic, Amazon Bedrock, Google Cloud or anything that speaks their API.

    model    `ClaudeModel`: one try of one call
    access   who serves the models, and the key
    sdk      the SDK, loaded beside other work
    wire     a request and an answer as the API writes them
    faults   the API's errors as ours

Written against version 2.12 of the SDK `anthropic`, which no other module of ours knows.
"""

from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.llm.providers.claude.sdk import Sdk

__all__ = ["Access", "ClaudeModel", "Sdk"]
