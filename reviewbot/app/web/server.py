"""Waitress server with limits against slow or greedy clients, and an orderly shutdown."""

from __future__ import annotations

import logging
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, Final, cast

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import create_server

from reviewbot.app.web.parts import MAX_BODY_BYTES
from reviewbot.domain.errors import ConfigError

logger = logging.getLogger("reviewbot.app.web")

THREADS: Final = 8
"""A delivery waits for the disk and not for a processor."""

REQUEST_S: Final = 20
"""From a request's first byte to its last. GitHub sends 25 MiB within its own ten seconds or not at all."""

CONNECTIONS: Final = 1_000
"""Open ones. A connection costs a file descriptor and some kilobytes; a thread works only on whole requests."""

HEADER_BYTES: Final = 32 * 1024
READ_BYTES: Final = 256 * 1024
"""At once: nearly every delivery is there with one look at all connections, of which each costs."""

SMALL_BYTES: Final = 256 * 1024
"""Of a body that is always let in: nearly all deliveries are smaller."""

WAITING_BYTES: Final = 256 * 1024 * 1024
"""Of all bodies together whose signature is not checked yet: they lie in memory and in the folder for temporary files,
and anyone may send some. Ten of GitHub's largest."""

DRAIN_S: Final = 10.0
"""For requests under way when we are asked to stop."""


class PatientChannel(HTTPChannel):
    """A connection that must send each request in time; a byte now and then does not buy more of it."""

    waiting_bytes: ClassVar[int] = WAITING_BYTES

    def handle_read(self) -> None:
        """What has come counts as activity only when the request is whole. A large one must find room for it."""
        before, unfinished = self.last_activity, self.request is not None
        super().handle_read()
        if unfinished and self.request is not None:
            self.last_activity = before
        if self.received_bytes() > SMALL_BYTES and self._all_bytes() > self.waiting_bytes:
            logger.warning("a connection was closed: too much is being sent at the same time")
            self.handle_close()

    def handle_close(self) -> None:
        """Delete what was received of a request at once, with its temporary file."""
        unfinished, self.request = self.request, None
        if unfinished is not None:
            unfinished.close()
        super().handle_close()

    def received_bytes(self) -> int:
        """Of the body that is coming in."""
        return 0 if self.request is None else int(self.request.body_bytes_received)

    def _all_bytes(self) -> int:
        """Of all bodies that come in on all connections, and that wait for a thread."""
        channels = cast("dict[int, PatientChannel]", self.server.active_channels).copy().values()
        waiting = [request for channel in channels for request in tuple(channel.requests)]
        coming = sum(channel.received_bytes() for channel in channels)
        return coming + sum(request.body_bytes_received for request in waiting)


class WebServer:
    """A server. `run` blocks until `stop` is called, from a signal handler or another thread."""

    def __init__(self, app: Flask, host: str, port: int, request_s: int = REQUEST_S) -> None:
        """Listen at once. Raises ConfigError where that cannot be."""
        self._listening = _listening(host, port)
        self._stopping = threading.Event()
        self._map: dict[int, Any] = {}
        made = create_server(
            app,
            map=self._map,
            sockets=[self._listening],
            threads=THREADS,
            ident=None,
            channel_timeout=request_s,
            cleanup_interval=min(5, request_s),
            connection_limit=CONNECTIONS,
            asyncore_use_poll=True,
            recv_bytes=READ_BYTES,
            max_request_header_size=HEADER_BYTES,
            max_request_body_size=MAX_BODY_BYTES + 1,
            # Never believed; but that they are there says that a proxy forwards.
            clear_untrusted_proxy_headers=False,
        )
        # Of one socket it is a BaseWSGIServer; the published types are wrong about its fields.
        self._server = cast("Any", made)
        self._server.channel_class = PatientChannel

    @property
    def port(self) -> int:
        """Where it listens, also where any free port was asked for."""
        return int(self._listening.getsockname()[1])

    def run(self) -> None:
        """Serve until stopped; then take nothing more, finish what is under way, and return."""
        while not self._stopping.is_set():
            self._turn(0.2)
        wasyncore.dispatcher.close(self._server)  # its listening socket alone: answers still need the rest
        until = time.monotonic() + DRAIN_S
        while self._busy() and time.monotonic() < until:
            self._turn(0.02)
        self._server.task_dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map, ignore_all=True)

    def stop(self) -> None:
        """Ask `run` to return."""
        self._stopping.set()

    def _turn(self, timeout: float) -> None:
        wasyncore.loop(timeout=timeout, use_poll=True, map=self._map, count=1)

    def _busy(self) -> bool:
        channels = list(self._server.active_channels.values())
        return any(channel.requests or channel.total_outbufs_len for channel in channels)


def serve_app(app: Flask, host: str, port: int, started: Callable[[int], None]) -> None:
    """Serve in this process until SIGTERM or SIGINT. Raises ConfigError where the address cannot be bound."""
    server = WebServer(app, host, port)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: server.stop())
    started(server.port)
    server.run()


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server(address, family=family)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host} port {port} ({type(error).__name__})") from None
