"""Load the SDK in a thread of its own, since that takes about two seconds of CPU time."""

from __future__ import annotations

import asyncio
import gc
import importlib
import ssl
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from types import ModuleType
from typing import Any

from reviewbot.domain.errors import ConfigError
from reviewbot.llm.providers.claude.access import ANTHROPIC_URL, CONNECT_S, Access

MODULES = ("anthropic", "anthropic.resources.messages", "anthropic.types")
"""The first one loads the others only when they are used."""

COLLECT_EVERY = 1_000_000
"""Objects, while the SDK is loaded: it makes 300,000 that stay, and to look through them each time takes a tenth of a
second. Not later: what a large review leaves would stay for long."""

HTTP = "httpx2"
"""What the SDK sends with."""


class Sdk:
    """The SDK, loaded once at the first request; every other caller waits for that."""

    def __init__(self, modules: tuple[str, ...] = MODULES) -> None:
        self._modules = modules
        self._lock = Lock()
        self._loaded: Future[ModuleType] | None = None
        self.load_ms: int | None = None
        """How long it took; None as long as it is not there."""
        self.trusted: ssl.SSLContext | None = None
        """The authorities that this system trusts; None where they could not be read, for the SDK to say so."""

    def begin(self) -> Future[ModuleType]:
        """Load in the background. To be called when our own modules are there, or the two get in each other's way."""
        with self._lock:
            if self._loaded is None:
                self._loaded = Future()
                # A daemon, so that a run that needs no model after all does not wait for it at the end.
                Thread(target=self._load, args=(self._loaded,), name="load-anthropic", daemon=True).start()
            return self._loaded

    async def module(self) -> ModuleType:
        """The module, as soon as it is there. Raises ConfigError where it cannot be loaded."""
        # No thread of the executor waits here: others need those. Cancelling a caller does not stop the loading.
        return await asyncio.shield(asyncio.wrap_future(self.begin()))

    def _load(self, loaded: Future[ModuleType]) -> None:
        begin = time.monotonic()
        # To read the authorities takes a tenth of a second, in which other threads may run.
        trusting = Thread(target=self._trust, name="load-authorities", daemon=True)
        trusting.start()
        often, is_new = gc.get_threshold(), self._modules[0] not in sys.modules
        gc.set_threshold(COLLECT_EVERY)
        try:
            first, *_ = [importlib.import_module(name) for name in self._modules]
        except Exception as error:  # noqa: BLE001 - foreign code runs here, and callers wait for this future
            why = str(error)[:200] if isinstance(error, ImportError) else type(error).__name__
            loaded.set_exception(ConfigError(f"the models' SDK cannot be loaded ({why}): install it again"))
            return
        finally:
            if is_new:
                # Else the first look afterwards goes through all of it, a tenth of a second before the first call.
                # Not with every client of a long process: what is garbage by then would never be freed.
                gc.freeze()
            gc.set_threshold(*often)
        trusting.join()
        self.load_ms = round((time.monotonic() - begin) * 1000)
        loaded.set_result(first)

    def _trust(self) -> None:
        with suppress(ImportError, OSError):
            self.trusted = importlib.import_module(HTTP).create_ssl_context()


def client_of(sdk: ModuleType, access: Access, trusted: ssl.SSLContext | None = None) -> Any:  # noqa: ANN401 - three classes of the SDK without a common base
    """A client for the running event loop.

    Without retries, for those are ours, and without redirects, which would take the key along to another host.
    Raises ConfigError where the provider's own libraries or settings are missing.
    """
    timeout = sdk.Timeout(access.timeout_s, connect=CONNECT_S)
    verify = True if trusted is None else trusted
    try:
        http = sdk.DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout, verify=verify)
        # The spans of OpenTelemetry could hold what is asked; no user has turned them on.
        common = {"timeout": timeout, "max_retries": 0, "http_client": http, "open_telemetry": False}
        return _client(sdk, access, common)
    except Exception as error:  # noqa: BLE001 - foreign code: credentials' libraries raise errors of their own
        raise ConfigError(unusable(access, error)) from None


def unusable(access: Access, error: Exception) -> str:
    """What to say of a provider whose libraries or credentials are not there; of the error, its kind alone."""
    libraries = f", and that its libraries are there (pip install 'anthropic[{access.provider}]')"
    extra = "" if access.provider == "anthropic" else libraries
    return f"{access.provider} cannot be used ({type(error).__name__}): check {access.credentials}{extra}"


def _client(sdk: ModuleType, access: Access, common: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
    if access.provider == "bedrock":
        return sdk.AsyncAnthropicBedrock(
            api_key=access.key, aws_region=access.region, base_url=access.base_url, **common
        )
    if access.provider == "vertex":
        given = {"region": access.region, "project_id": access.project}
        known = {name: value for name, value in given.items() if value is not None}
        return sdk.AsyncAnthropicVertex(access_token=access.key, base_url=access.base_url, **known, **common)
    return sdk.AsyncAnthropic(api_key=access.key, base_url=access.base_url or ANTHROPIC_URL, **common)
