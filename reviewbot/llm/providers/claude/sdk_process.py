"""The program of the process that runs the models' SDK; `reviewbot.llm.providers.claude.sdk` starts it and talks to it.

It imports the SDK and nothing of reviewbot, whose modules would be loaded a second time. Its standard input is a socket
over which both sides send tuples. A request is (number, access, parameters), and (number, None, None) stops it. An
answer is any number of (number, kind, value):

    "loaded"       milliseconds that loading took; "unloadable": why it failed. Number 0, once, before all others
    "event"        an event of a streamed answer, as the API wrote it
    "whole"        the body of an answer that was not streamed after all
    "refused"      the fields of `reviewbot.llm.providers.claude.errors.Refusal`
    "failed"       a key of `reviewbot.llm.providers.claude.model.FAILURES`
    "unusable"     the class of an error for which no client can be made; "rejected": of one that its libraries raised
    "end"          nothing more follows
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import importlib
import os
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

MODULES = ("anthropic", "anthropic.resources.messages", "anthropic.types")
"""The first one loads the others only when they are used."""

ANTHROPIC_URL = "https://api.anthropic.com"

CONNECT_S = 10.0
"""Seconds until a connection stands."""

WAITS = ("retry-after-ms", "retry-after")
"""Headers of a refused request that say when to ask again."""

PR_SET_DUMPABLE = 4
"""Of Linux: prctl(2)."""

Json = dict[str, Any]


class SdkServer:
    """Carries out requests until the other side closes the connection."""

    def __init__(self, connection: Connection, sdk: ModuleType) -> None:
        self._connection = connection
        self._sdk = sdk
        self._clients: dict[tuple[object, ...], Any] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._trusted: Any = True
        # To read the authorities that this system trusts takes a tenth of a second. Where that fails, the SDK says so.
        with suppress(ImportError, OSError):
            self._trusted = importlib.import_module("httpx2").create_ssl_context()

    async def serve(self) -> None:
        """Return when the connection is closed."""
        closed = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._connection.fileno(), self._receive, closed)
        await closed.wait()
        loop.remove_reader(self._connection.fileno())

    def _receive(self, closed: asyncio.Event) -> None:
        try:
            number, access, params = self._connection.recv()
        except (EOFError, OSError):
            closed.set()
            return
        if params is not None:
            self._running[number] = asyncio.create_task(self._answer(number, access, params))
            self._running[number].add_done_callback(lambda _: self._running.pop(number))
        elif number in self._running:
            self._running[number].cancel()

    async def _answer(self, number: int, access: Json, params: Json) -> None:
        def send(kind: str, value: object = None) -> None:
            with suppress(OSError):  # the other side is gone, which ends this process
                self._connection.send((number, kind, value))

        try:
            client = self._client(access)
        except Exception as error:  # noqa: BLE001 - foreign code: credentials' libraries raise errors of their own
            send("unusable", type(error).__name__)
            return
        sdk = self._sdk
        try:
            stream = await client.messages.create(**params, stream=True)
            async with stream:
                async for kind, value in self._parts(stream):
                    send(kind, value)
            send("end")
        except sdk.APIStatusError as error:
            send("refused", _refusal(error))
        except sdk.APITimeoutError:
            send("failed", "timeout")
        except sdk.APIConnectionError:
            send("failed", "unreachable")
        except RecursionError:  # an event that is nested too deeply to be sent on
            send("failed", "unreadable")
        except Exception as error:  # noqa: BLE001 - foreign code: the providers' libraries share no base of errors
            send("rejected", type(error).__name__)

    async def _parts(self, stream: Any) -> AsyncIterator[tuple[str, object]]:  # noqa: ANN401 - an SDK's class
        # The errors of its connections come through the SDK as they are, once an answer has begun.
        import httpx2  # noqa: PLC0415 - it comes with the SDK

        try:
            if stream.response.headers.get("content-type", "").startswith("application/json"):
                yield "whole", await stream.response.aread()
                return
            async for event in _events(self._sdk, stream):
                yield "event", event
        except httpx2.TimeoutException:
            yield "failed", "stopped"
        except httpx2.TransportError:
            yield "failed", "broken"
        except (ValueError, RecursionError, httpx2.DecodingError):
            yield "failed", "unreadable"

    def _client(self, access: Json) -> Any:  # noqa: ANN401 - three classes of the SDK without a common base
        key = tuple(access.values())
        if (client := self._clients.get(key)) is None:
            client = self._clients[key] = client_of(self._sdk, access, self._trusted)
        return client


def client_of(sdk: ModuleType, access: Json, trusted: Any) -> Any:  # noqa: ANN401 - as above; `verify` of an HTTP client
    """A client of a provider, by the fields of `Access`.

    Without retries, for those are ours, and without redirects, which would take the key along to another host. Raises
    what the provider's own libraries raise where they or settings are missing.
    """
    timeout = sdk.Timeout(access["timeout_s"], connect=CONNECT_S)
    http = sdk.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout, verify=trusted)
    # The spans of OpenTelemetry could hold what is asked; no user has turned them on.
    common = {"timeout": timeout, "max_retries": 0, "http_client": http, "open_telemetry": False}
    key, url = access["key"], access["base_url"]
    if access["provider"] == "bedrock":
        return sdk.AsyncAnthropicBedrock(api_key=key, aws_region=access["region"], base_url=url, **common)
    if access["provider"] == "vertex":
        given = {"region": access["region"], "project_id": access["project"]}
        known = {name: value for name, value in given.items() if value is not None}
        return sdk.AsyncAnthropicVertex(access_token=key, base_url=url, **known, **common)
    return sdk.AsyncAnthropic(api_key=key, base_url=url or ANTHROPIC_URL, **common)


def _refusal(error: Any) -> Json:  # noqa: ANN401 - an SDK's class
    headers = {name: error.response.headers[name] for name in WAITS if name in error.response.headers}
    code = getattr(error, "error_code", None)
    return {
        "status": error.status_code,
        "type": str(error.type),
        "code": str(code),
        "message": str(error.api_message or ""),
        "headers": headers,
    }


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


def load(connection: Connection, modules: tuple[str, ...] = MODULES) -> SdkServer | None:
    """Load the SDK and say so; None where it cannot be loaded."""
    begin = time.monotonic()
    gc.disable()  # it makes 300,000 objects that stay, and to look through them takes a tenth of a second each time
    try:
        sdk, *_ = [importlib.import_module(name) for name in modules]
    except Exception as error:  # noqa: BLE001 - foreign code runs here, and the other side waits for a word
        why = str(error)[:200] if isinstance(error, ImportError) else type(error).__name__
        connection.send((0, "unloadable", why))
        return None
    finally:
        gc.freeze()
        gc.enable()
    server = SdkServer(connection, sdk)
    connection.send((0, "loaded", round((time.monotonic() - begin) * 1000)))
    return server


def main() -> None:
    """Serve standard input. The other side alone decides when this ends, also where a signal goes to all processes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # it gets keys: no other program of this user may read its memory
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    connection = Connection(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what libraries start would read the socket, keys and all
    with suppress(OSError):  # the other side is gone
        if (server := load(connection)) is not None:
            # Not `asyncio.run`, which waits for threads, such as one that looks a name up.
            asyncio.new_event_loop().run_until_complete(server.serve())
    os._exit(0)  # to take the SDK apart would take as long as a request


if __name__ == "__main__":
    main()
