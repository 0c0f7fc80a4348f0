"""The pages over real sockets: a whole sign-in, and deliveries that are answered while pages wait."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from reviewbot.app.pages.blueprint import PAGES_AT_ONCE
from reviewbot.app.pages.sign_in import SESSION
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.sql import Row, Value
from reviewbot.app.web.server import WebServer
from tests.app.pages.conftest import Site
from tests.webhooks import body_of, headers_of, pull_event


class Browser:
    """Keeps cookies as a browser does, and follows no redirect by itself."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}

    def ask(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """Status, text and headers of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        jar = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request(method, path, body or None, {"Cookie": jar, **headers})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        for each in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = each.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer.status, text, answer.headers

    def sign_in(self, site: Site) -> None:
        """Through the host's consent."""
        leaving = self.ask("GET", "/sign-in/github")[2]["Location"]
        back = urlsplit(site.host.consent(leaving))
        assert self.ask("GET", f"{back.path}?{back.query}")[0] == 303


@contextmanager
def serving(site: Site) -> Iterator[int]:
    server = WebServer(site.client.application, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server.port
    server.stop()
    thread.join(60)


def test_a_whole_sign_in_over_sockets(site: Site) -> None:
    site.add_run()
    with serving(site) as port:
        browser = Browser(port)
        assert browser.ask("GET", "/")[0] == 303
        browser.sign_in(site)
        status, text, headers = browser.ask("GET", "/runs")

    assert status == 200
    assert "octo/one#7" in text
    assert headers["Cache-Control"] == "no-store"
    assert headers.get_all("Content-Security-Policy") is not None
    assert len(headers.get_all("Content-Security-Policy") or ()) == 1
    assert browser.cookies[SESSION]


class Stuck:
    """A database that answers nothing while it is held."""

    def __init__(self, inner: Database) -> None:
        self.inner = inner
        self.free = threading.Event()
        self.free.set()
        self.now, self.close = inner.now, inner.close

    def run(self, statement: str, *values: Value) -> list[Row]:
        assert self.free.wait(60)
        return self.inner.run(statement, *values)


@pytest.mark.slow
def test_while_pages_wait_for_their_database_deliveries_are_answered(
    make_site: Callable[..., Site], database: Database
) -> None:
    stuck = Stuck(database)
    site = make_site(database=stuck)
    with serving(site) as port:
        browser = Browser(port)
        browser.sign_in(site)
        stuck.free.clear()
        statuses: list[int] = []
        waiting = [
            threading.Thread(target=lambda: statuses.append(browser.ask("GET", "/runs")[0]))
            for _ in range(PAGES_AT_ONCE + 2)
        ]
        for thread in waiting:
            thread.start()
        body = body_of(pull_event())

        delivered = Browser(port).ask("POST", "/webhook", body, **headers_of(body))[0]

        waiting[-1].join(0.1)
        while len(statuses) < 2:  # those that find no place give up after a while
            waiting[-1].join(0.1)
        stuck.free.set()
        for thread in waiting:
            thread.join(60)

    assert delivered == 202
    assert sorted(statuses) == [*[200] * PAGES_AT_ONCE, 503, 503]
