"""The one call that needs no token, as it goes over the wire and as odd answers come back."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from reviewbot.app.runtime.conversion import convert_code
from reviewbot.app.runtime.host_request import MAX_ANSWER_BYTES
from reviewbot.domain.errors import ConfigError, HostError, HostMissingError
from tests.app_host import conversion
from tests.webhooks import KEY

ANSWER = conversion(KEY, 77, "my-bot", client_secret="canary-client")
Answering = Callable[[bytes], tuple[str, list[bytes]]]


@pytest.fixture
def answering() -> Iterator[Answering]:
    """Answer one connection with these bytes; the address, and what will have been received."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threads: list[threading.Thread] = []

        def begin(answer: bytes) -> tuple[str, list[bytes]]:
            received: list[bytes] = []

            def once() -> None:
                with listening.accept()[0] as connection:
                    received.append(connection.recv(65_536))
                    connection.sendall(answer)

            threads.append(threading.Thread(target=once))
            threads[-1].start()
            return f"127.0.0.1:{listening.getsockname()[1]}", received

        yield begin
        for thread in threads:
            thread.join(60)


def http(body: bytes, status: str = "201 Created") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def test_the_code_is_all_that_is_told(answering: Answering) -> None:
    place, received = answering(http(json.dumps(ANSWER).encode()))
    code = "a" * 199 + "-"
    found = convert_code(code, f"http://{place}")
    line, *headers = received[0].decode().split("\r\n")

    assert line == f"POST /app-manifests/{code}/conversions HTTP/1.1"
    assert {each.partition(":")[0] for each in headers if each} == {
        *("Host", "Accept-Encoding", "Accept", "Connection"),
        *("Content-Length", "User-Agent", "X-GitHub-Api-Version"),
    }
    assert "canary-client" not in repr(found)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"SSH-2.0-hello\r\n", "GitHub cannot be reached (ConnectionError)"),
        (b"", "GitHub cannot be reached (ConnectionError)"),
        (http(b"[]"), "GitHub's answer holds no credentials that can be read"),
        (http(json.dumps(ANSWER).encode())[:-1], "GitHub cannot be reached (ProtocolError)"),
        (
            http(json.dumps({"filler": "x" * MAX_ANSWER_BYTES, **ANSWER}).encode()),
            "GitHub cannot be reached (its answer is longer than 256 KiB)",
        ),
    ],
)
def test_an_odd_answer_is_told_in_words_of_ours(answer: bytes, said: str, answering: Answering) -> None:
    place, _ = answering(answer)

    with pytest.raises(HostError) as caught:
        convert_code("c0de", f"http://{place}/api/v3")
    assert (type(caught.value), str(caught.value)) == (HostError, said)


def test_a_code_of_before_is_told_what_to_do(answering: Answering) -> None:
    place, _ = answering(http(b"{}", "404 Not Found"))

    with pytest.raises(HostMissingError) as caught:
        convert_code("c0de", f"http://{place}")
    assert (
        str(caught.value) == "GitHub did not take the code (404); begin again, a code can be used once and for an hour"
    )


def test_an_app_without_a_webhook_address_is_told_apart(answering: Answering) -> None:
    place, _ = answering(http(json.dumps({**ANSWER, "webhook_secret": ""}).encode()))

    with pytest.raises(
        ConfigError, match=r"^the new App has no webhook secret: it was made without a webhook address$"
    ):
        convert_code("c0de", f"http://{place}")


def test_where_the_address_is_https_nothing_goes_over_the_wire_in_the_open(answering: Answering) -> None:
    place, received = answering(http(json.dumps(ANSWER).encode()))

    with pytest.raises(HostError, match=r"^GitHub cannot be reached \(SSLError\)$"):
        convert_code("c0de", f"https://{place}")
    assert b"c0de" not in received[0]
