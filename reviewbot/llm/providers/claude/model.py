"""Send a request to the API once: one try of one call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import AccountError, CallRejectedError, ConfigError, EngineError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.errors import Refusal, from_body, from_status
from reviewbot.llm.providers.claude.sdk import Part, Sdk, shared_sdk
from reviewbot.llm.providers.claude.wire import REPORTING, Assembly, params_of, reply_of, usage_of
from reviewbot.prices import PriceTable

UNREADABLE = "the model API sent something that cannot be read"
FAILURES = {
    "timeout": "the model API did not answer in time",
    "unreachable": "the model API cannot be reached",
    "stopped": "the model API stopped amid its answer",
    "broken": "the connection broke amid an answer",
    "unreadable": UNREADABLE,
    "ended": "the process that asks the model API ended",
}


class ClaudeModel:
    """A `ModelClient`. Answers are streamed, since long ones take longer than connections without traffic live."""

    def __init__(
        self, access: Access, models: Mapping[Tier, str], prices: PriceTable | None = None, sdk: Sdk | None = None
    ) -> None:
        self._access = access
        self._models = dict(models)
        self._prices = prices or PriceTable()
        self._sdk = sdk or shared_sdk()

    def __repr__(self) -> str:
        return f"ClaudeModel({self._access!r}, {self._models!r})"

    @property
    def address(self) -> str:
        """The base URL, or the name of the provider for its own."""
        return self._access.base_url or self._access.provider

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`, once: TransientError where another try may help, EngineError where none will."""
        asked = self._models[request.tier]
        try:
            async with aclosing(self._sdk.answer(self._access, params_of(request, asked))) as parts:
                return reply_of(await self._message(parts, request, asked), asked, self._prices)
        except ConfigError as error:
            raise AccountError(str(error)) from None
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            # What an answer holds may be of any type and size.
            raise TransientError(UNREADABLE) from None

    async def _message(self, parts: AsyncIterator[Part], request: ModelRequest, asked: str) -> dict[str, Any]:
        """The answer as the API writes one that is not streamed."""
        assembly = Assembly()
        async for kind, value in parts:
            if kind == "whole":
                message = self._whole(value, request.tier, asked)
                self._report(request, message)
                return message
            if kind != "event":
                raise self._failure(kind, value, request.tier, asked)
            if value.get("type") == "error":
                raise self._broken(value, request.tier, asked)
            assembly.feed(value)
            if value.get("type") in REPORTING:
                self._report(request, assembly.usage_fields())
        return assembly.message()

    def _failure(self, kind: str, value: Any, tier: Tier, asked: str) -> EngineError:  # noqa: ANN401 - by its kind
        if kind == "failed":
            return TransientError(FAILURES[value])
        if kind == "refused":
            return from_status(Refusal(**value), self._access, tier, asked)
        return (AccountError if kind == "unusable" else CallRejectedError)(unusable(self._access, value))

    def _report(self, request: ModelRequest, message: Mapping[str, Any]) -> None:
        if request.on_usage is not None and message:
            request.on_usage(usage_of(message, self._models[request.tier], self._prices))

    def _broken(self, event: Mapping[str, Any], tier: Tier, model: str) -> EngineError:
        """The error that an answer ended in after it had begun."""
        return from_body(event, self._access, tier, model) or TransientError("the model API failed amid its answer")

    def _whole(self, body: bytes, tier: Tier, model: str) -> dict[str, Any]:
        """An answer that was not streamed after all, as some gateways have it, or an error in disguise."""
        found = json.loads(body)
        if (error := from_body(found, self._access, tier, model)) is not None:
            raise error
        if not isinstance(found, dict):
            raise EngineError(UNREADABLE)
        return found


def unusable(access: Access, error: str) -> str:
    """What to say of a provider whose libraries or credentials are not there; of the error, its class alone."""
    libraries = f", and that its libraries are there (pip install 'anthropic[{access.provider}]')"
    extra = "" if access.provider == "anthropic" else libraries
    return f"{access.provider} cannot be used ({error}): check {access.credentials}{extra}"
