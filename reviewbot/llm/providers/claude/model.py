"""Send a request to the API once: one try of one call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import AccountError, CallRejectedError, ConfigError, EngineError, TransientError
from reviewbot.domain.ports import ModelReply, ModelRequest
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.errors import from_body, from_status
from reviewbot.llm.providers.claude.sdk import Sdk, client_of, unusable
from reviewbot.llm.providers.claude.wire import REPORTING, Assembly, params_of, reply_of, usage_of
from reviewbot.prices import PriceTable

UNREADABLE = "the model API sent something that cannot be read"


class ClaudeModel:
    """A `ModelClient`. Answers are streamed, since long ones take longer than connections without traffic live.

    A client belongs to the event loop in which it was first used; `aclose` ends that of the running one.
    """

    def __init__(
        self, access: Access, models: Mapping[Tier, str], prices: PriceTable | None = None, sdk: Sdk | None = None
    ) -> None:
        self._access = access
        self._models = dict(models)
        self._prices = prices or PriceTable()
        self._sdk = sdk or Sdk()  # a caller may hand in one that is loading already
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"ClaudeModel({self._access!r}, {self._models!r})"

    @property
    def address(self) -> str:
        """The base URL, or the name of the provider for its own."""
        return self._access.base_url or self._access.provider

    async def ready(self) -> object:
        """Wait until the SDK is loaded. Raises ConfigError."""
        return await self._sdk.module()

    @property
    def load_ms(self) -> int | None:
        """Milliseconds that loading the SDK took; None until it is loaded."""
        return self._sdk.load_ms

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        if (client := self._clients.pop(asyncio.get_running_loop(), None)) is not None:
            await client.close()

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`, once: TransientError where another try may help, EngineError where none will."""
        asked = self._models[request.tier]
        try:
            sdk = await self._sdk.module()
            client = self._client(sdk)
        except ConfigError as error:
            raise AccountError(str(error)) from None
        try:
            message = await self._stream(sdk, client, request)
            return reply_of(message, asked, self._prices)
        except EngineError:
            raise
        except sdk.APIStatusError as error:
            raise from_status(error, self._access, request.tier, asked) from None
        except sdk.APITimeoutError:
            raise TransientError("the model API did not answer in time") from None
        except sdk.APIConnectionError:
            raise TransientError("the model API cannot be reached") from None
        except Exception as error:  # noqa: BLE001 - foreign code: the providers' libraries share no base of errors
            raise CallRejectedError(unusable(self._access, error)) from None

    async def _stream(
        self,
        sdk: ModuleType,
        client: Any,  # noqa: ANN401 - as `_client`
        request: ModelRequest,
    ) -> dict[str, Any]:
        """The answer as the API writes one that is not streamed."""
        # The errors of its connections come through the SDK as they are, once an answer has begun.
        import httpx2  # noqa: PLC0415 - it comes with the SDK and must not be loaded before

        asked = self._models[request.tier]
        stream = await client.messages.create(**params_of(request, asked), stream=True)
        try:
            async with stream:
                if stream.response.headers.get("content-type", "").startswith("application/json"):
                    message = self._whole(await stream.response.aread(), request.tier, asked)
                    self._report(request, message)
                    return message
                assembly = Assembly()
                async for event in _events(sdk, stream):
                    if event.get("type") == "error":
                        raise self._broken(event, request.tier, asked)
                    assembly.feed(event)
                    if event.get("type") in REPORTING:
                        self._report(request, assembly.usage_fields())
                return assembly.message()
        except httpx2.TimeoutException:
            raise TransientError("the model API stopped amid its answer") from None
        except httpx2.TransportError:
            raise TransientError("the connection broke amid an answer") from None
        except (ValueError, RecursionError, httpx2.DecodingError):
            raise TransientError(UNREADABLE) from None

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

    def _client(self, sdk: ModuleType) -> Any:  # noqa: ANN401 - three classes of the SDK without a common base
        loop = asyncio.get_running_loop()
        if (client := self._clients.get(loop)) is None:
            client = self._clients[loop] = client_of(sdk, self._access, self._sdk.trusted)
        return client


async def _events(sdk: ModuleType, stream: Any) -> AsyncIterator[Mapping[str, Any]]:  # noqa: ANN401 - an SDK's class
    """The events of an answer, as they were written.

    The SDK would make a value of each, for which it first works out the shapes of all of them. Amazon's framing is no
    text, and is left to it.
    """
    if stream.response.headers.get("content-type", "").startswith("text/event-stream"):
        async for sent in sdk.AsyncStream.raw_events(stream.response):
            if sent.event is not None and sent.data and isinstance(event := sent.json(), dict):
                yield {**event, "type": "error"} if sent.event == "error" else event
    else:
        async for made in stream:
            if isinstance(made, sdk.BaseModel):
                yield made.to_dict(warnings=False)
