"""What goes over the wire and what never does, where GitHub or somebody between us behaves oddly."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from threading import Timer
from typing import Any

import pytest

from reviewbot.domain.errors import HostError, HostUnknownError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.transport import BrokenError, HttpSession, origin_of
from tests.github_api import FakeGitHub, Reply

SHOP = "/repos/acme/shop"
OK = b"HTTP/1.1 200 OK\r\n"
BODY = {"name": "a", "head_sha": "b" * 40, "status": "queued"}


@pytest.fixture
def session(github_api: FakeGitHub) -> Iterator[HttpSession]:
    made = HttpSession(github_api.url)
    yield made
    made.close()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of one who takes connections and never answers. A test that waits for it ends all the same."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        rescue = Timer(10, server.close)
        rescue.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        rescue.cancel()


@pytest.mark.parametrize(("method", "error"), [("GET", HostError), ("POST", HostUnknownError)])
def test_a_host_that_never_answers_is_not_waited_for_beyond_the_deadline(
    method: str, error: type[HostError], silent: str
) -> None:
    with GithubClient(GithubAccess("t", silent), deadline_s=0.2) as client, pytest.raises(HostError) as raised:
        client.request(method, SHOP)

    assert type(raised.value) is error


def test_an_answer_that_comes_too_slowly_is_left_and_may_have_been_carried_out(
    github_api: FakeGitHub, session: HttpSession
) -> None:
    github_api.refuse("GET", "shop$", Reply(200, b"x" * 500_000))
    left = iter([5.0, 5.0, 0.0])

    with pytest.raises(BrokenError, match="no time left") as broken:
        session.send("GET", github_api.url + SHOP, {}, None, lambda: next(left))
    assert (broken.value.sent, broken.value.final) == (True, True)


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (OK + b"Content-Length: 100000\r\n\r\nx", b"x"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n20000\r\nx", b"x"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n5", b";", id="the size of a chunk"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n", id="trailers"),
        pytest.param(OK + b"A: ", b"x", id="headers"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n", id="no answer yet"),
        pytest.param(
            OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"", mtime=0)[:10],
            b"\x00\x00\x00\xff\xff",
            id="what unpacks to nothing",
        ),
    ],
)
def test_the_deadline_counts_for_each_part_that_arrives_however_small_it_is(start: bytes, part: bytes) -> None:
    asked, stop = threading.Semaphore(0), threading.Event()
    left = iter([5.0, 5.0, 0.0])

    def seconds_left() -> float:
        asked.release()
        return next(left)

    def drip() -> None:
        with listening.accept()[0] as connection, suppress(OSError):
            connection.recv(65_536)
            for sent in (start, part):
                asked.acquire()
                connection.sendall(sent)
            stop.wait()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip)
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            with closing(HttpSession(address)) as session, pytest.raises(BrokenError, match="no time left"):
                session.send("GET", f"{address}/", {}, None, seconds_left)
        finally:
            stop.set()
            asked.release(2)
            thread.join()


@pytest.mark.parametrize("left", [0.0, -1.0])
def test_without_any_time_nothing_is_sent(left: float, github_api: FakeGitHub, session: HttpSession) -> None:
    with pytest.raises(BrokenError, match="no time left") as broken:
        session.send("GET", github_api.url + SHOP, {}, None, lambda: left)
    assert (broken.value.sent, broken.value.final, github_api.recorded) == (False, True, [])


def test_a_server_that_speaks_no_tls_was_sent_nothing(github_api: FakeGitHub, patient: Any) -> None:
    access = GithubAccess("t", github_api.url.replace("http://", "https://"))

    with GithubClient(access, patient) as client, pytest.raises(HostError) as raised:
        client.request("POST", f"{SHOP}/check-runs", body=BODY)
    assert type(raised.value) is HostError
    assert github_api.recorded == []


def test_no_cookie_is_ever_sent_back(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(200, {}, {"set-cookie": "session=1; Path=/"}), times=2)

    for _ in range(2):
        client.request("GET", SHOP)
    assert [each.headers.get("cookie") for each in github_api.recorded] == [None, None]


def test_a_body_is_sent_as_it_was_made(github_api: FakeGitHub, session: HttpSession) -> None:
    github_api.refuse("POST", "check-runs$", Reply(201, {"id": 3}))
    raw = session.send("POST", f"{github_api.url}{SHOP}/check-runs", {}, '{"name": "ü"}', lambda: 5.0)

    assert (raw.status, raw.content, github_api.recorded[0].body) == (201, b'{"id": 3}', {"name": "ü"})
    github_api.problems.clear()  # it is no whole check run


def test_names_of_headers_count_in_any_case(github_api: FakeGitHub, client: GithubClient) -> None:
    link = f'<{github_api.url}{SHOP}/pulls?page=2>; rel="next"'
    github_api.refuse("GET", "pulls$", Reply(200, [{"id": 1}], {"LINK": link}))
    github_api.refuse("GET", "pulls$", Reply(200, [{"id": 2}]))

    assert [each["id"] for each in client.items(f"{SHOP}/pulls")] == [1, 2]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://host/a", "https://host:443/b", True),
        ("http://host/", "http://host:80/", True),
        ("https://host/", "https://host:80/", False),
        ("https://host/", "http://host/", False),
        ("https://host/", "https://host.evil/", False),
        ("https://HOST/", "https://host/", True),
        ("http://[::1]:80/", "http://[::1]/", True),
    ],
)
def test_an_origin_is_scheme_host_and_port(one: str, other: str, *, same: bool) -> None:
    assert (origin_of(one) == origin_of(other)) == same


def test_a_write_that_is_only_accepted_is_done(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("POST", "check-runs$", Reply(202, {"id": 3}))

    assert client.request("POST", f"{SHOP}/check-runs", body=BODY).data == {"id": 3}


def test_a_list_is_asked_for_with_what_its_caller_wants_and_a_hundred_at_once(
    github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("GET", "pulls$", Reply(200, []), times=2)
    list(client.items(f"{SHOP}/pulls", query={"state": "open"}))
    list(client.items(f"{SHOP}/pulls", query={"per_page": 5}))

    assert [each.query for each in github_api.recorded] == [{"per_page": "100", "state": "open"}, {"per_page": "5"}]


def test_a_list_of_an_enterprise_server_stays_below_its_mount(make_client: Callable[..., GithubClient]) -> None:
    with FakeGitHub("/api/v3") as api:
        host, client = api.url.removesuffix("/api/v3"), make_client(api)
        api.refuse("GET", "pulls$", Reply(200, [{"id": 1}], {"link": f'<{api.url}{SHOP}/pulls?page=2>; rel="next"'}))
        api.refuse("GET", "pulls$", Reply(200, [{"id": 2}], {"link": f'<{host}{SHOP}/pulls?page=3>; rel="next"'}))

        with pytest.raises(HostError, match="another host"):
            list(client.items(f"{SHOP}/pulls"))
        assert [each.path for each in api.recorded] == [f"{SHOP}/pulls"] * 2
    api.check()


def test_a_mutation_is_known_behind_blanks(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("POST", "graphql$", Reply(502), times=9)

    with pytest.raises(HostUnknownError):
        client.graphql("\n  mutation { followUser(input: {userId: 1}) { clientMutationId } }", {})
    assert len(github_api.recorded) == 1


def test_a_null_among_blanks_is_an_answer(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(200, b" null\n"))

    assert client.request("GET", SHOP).data is None
