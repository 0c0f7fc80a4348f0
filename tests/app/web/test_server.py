"""The server itself, over real sockets on loopback."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.app.web.parts import MAX_BODY_BYTES
from reviewbot.app.web.server import PatientChannel, WebServer
from reviewbot.domain.errors import ConfigError
from tests.webhooks import Service, body_of, headers_of, pull_event, service

UNFINISHED = b"POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{"
"""The head of a request, and the first byte of its body."""


class Running:
    """A server in a thread."""

    def __init__(self, target: Service, request_s: int = 20) -> None:
        self.target = target
        self.server = WebServer(target.app, "127.0.0.1", 0, request_s)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=60)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def end(self) -> None:
        self.server.stop()
        self.thread.join()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    target = service(tmp_path)
    made = Running(target, request_s=1)
    yield made
    made.end()
    target.inbox.close()


def test_it_takes_deliveries_and_does_not_say_what_it_is_made_of(running: Running) -> None:
    body = body_of(pull_event())
    answer = running.ask("POST", "/webhook", body, headers_of(body))

    assert answer.status == 202
    assert answer.headers["Server"] is None
    assert running.target.inbox.lag()[0] == 1


def test_two_signatures_in_two_headers_are_none(running: Running) -> None:
    body = body_of(pull_event())
    with running.connect() as client:
        lines = [f"{name}: {value}" for name, value in headers_of(body).items()]
        doubled = [*lines, lines[-1], f"Content-Length: {len(body)}", "Host: a", "Connection: close"]
        client.sendall(("POST /webhook HTTP/1.1\r\n" + "\r\n".join(doubled) + "\r\n\r\n").encode() + body)
        answer = client.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 401")


def test_a_body_that_is_too_large_is_refused_by_its_length_alone(running: Running) -> None:
    with running.connect() as client:
        length = MAX_BODY_BYTES + 1
        client.sendall(f"POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n".encode())
        answer = client.makefile("rb").readline()

    assert answer.startswith(b"HTTP/1.1 413")


def test_headers_that_are_too_large_are_refused(running: Running) -> None:
    with running.connect() as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 40_000 + b"\r\n\r\n")

        assert client.makefile("rb").readline().split()[1] == b"431"


def test_slow_clients_hold_nobody_up(tmp_path: Path) -> None:
    target = service(tmp_path)
    running = Running(target, request_s=600)
    slow = [running.connect() for _ in range(50)]
    for client in slow:
        client.sendall(UNFINISHED)

    assert running.ask("GET", "/healthz").status == 200
    assert len(running.server._server.active_channels) >= len(slow)

    for client in slow:
        client.close()
    running.end()
    target.inbox.close()


def test_a_client_that_sends_a_byte_now_and_then_is_let_go(running: Running) -> None:
    with running.connect() as dripping:
        dripping.settimeout(0.2)
        dripping.sendall(UNFINISHED)
        gone = False
        while not gone:
            try:
                dripping.sendall(b"x")
                gone = dripping.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                gone = True


class NarrowChannel(PatientChannel):
    waiting_bytes = 1_000_000


def test_large_bodies_of_which_nobody_knows_whose_they_are_have_little_room(running: Running) -> None:
    running.server._server.channel_class = NarrowChannel
    head = b"POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n"
    large = [running.connect() for _ in range(3)]
    ended = 0
    for client in large:
        try:
            client.sendall(head + b" " * 899_999)
            ended += client.recv(1) == b""  # the one that found no room; the others run into their limit of time
        except OSError:
            ended += 1
    body = body_of(pull_event())

    assert ended
    assert running.ask("POST", "/webhook", body, headers_of(body)).status == 202
    for client in large:
        client.close()


def test_what_is_under_way_is_finished_before_it_ends(tmp_path: Path) -> None:
    target = service(tmp_path)
    entered, go_on = threading.Event(), threading.Event()

    def wait() -> str:
        entered.set()
        assert go_on.wait(60)
        return "done"

    target.app.add_url_rule("/wait", view_func=wait)
    made = Running(target)
    with made.connect() as client:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert entered.wait(60)
        made.server.stop()
        go_on.set()
        answer = client.makefile("rb").read()
    made.end()
    target.inbox.close()

    assert answer.endswith(b"done")


def test_an_address_that_is_taken_is_named(running: Running) -> None:
    with pytest.raises(ConfigError, match="cannot listen"):
        WebServer(running.target.app, "127.0.0.1", running.server.port)
    with pytest.raises(ConfigError, match="cannot listen"):
        WebServer(running.target.app, "no such host.invalid", 0)
