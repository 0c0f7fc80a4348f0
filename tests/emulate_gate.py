"""A gate in front of the emulator of `emulate_github.py`: all goes through, and what it lacks is answered here."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple, Self
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

BOT = "reviewbot[bot]"
"""Who the App writes as."""

HOP_BY_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding", "accept-encoding"})
"""Headers of one connection."""

Sent = Mapping[str, str]
"""Headers."""


class Gate:
    """Passes everything on to the emulator, and answers what it lacks."""

    def __init__(self) -> None:
        self.behind = ""
        self._server = _Server(self)
        self.url = f"http://localhost:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def passed(self, method: str, path: str, headers: Mapping[str, str], data: bytes) -> tuple[int, Sent, bytes]:
        """The emulator's answer, or ours."""
        if path == "/graphql" and b"viewer" in data:
            bot = self.passed("GET", f"/users/{quote(BOT)}", {}, b"")
            return 200, {}, json.dumps({"data": {"viewer": {"databaseId": json.loads(bot[2])["id"]}}}).encode()
        kept = {name: value for name, value in headers.items() if name.lower() not in HOP_BY_HOP}
        request = Request(self.behind + path, data or None, kept, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.status, dict(answer.headers.items()), answer.read()
        except HTTPError as error:
            return error.code, dict(error.headers.items()), error.read()


class Written(NamedTuple):
    """A request that was to change something, and when it came."""

    at: float
    path: str
    body: Any


class WatchedGate(Gate):
    """The gate, and what was written through it."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[Written] = []

    def passed(self, method: str, path: str, headers: Sent, data: bytes) -> tuple[int, Sent, bytes]:
        """As `Gate.passed`."""
        if method != "GET":
            self.written.append(Written(time.monotonic(), path, json.loads(data or b"null")))
        return super().passed(method, path, headers, data)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, gate: Gate) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gate = gate


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _serve(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, headers, body = self.server.gate.passed(self.command, self.path, dict(self.headers.items()), data)
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = _serve  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """It is quiet."""
