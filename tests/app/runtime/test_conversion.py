from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

from reviewbot.app.runtime.conversion import convert_code
from reviewbot.domain.errors import ConfigError, HostError, HostMissingError
from tests.app_host import conversion
from tests.github_api.contracts import REST, described
from tests.oauth_host import CLIENT_ID, CLIENT_SECRET
from tests.webhooks import KEY, SECRET

ANSWER = {**conversion(KEY.replace("\n", "\r\n"), 77, "my-bot"), "new": 1}


class GitHub(HTTPServer):
    """Answers one way and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.status = 201
        self.body = json.dumps(ANSWER).encode()
        self.headers: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/api/v3"


class _Handler(BaseHTTPRequestHandler):
    server: GitHub

    def do_POST(self) -> None:
        self.server.asked.append(f"{self.path} {self.headers['Accept']} {self.headers.get('Authorization')}")
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_code_becomes_credentials(github: GitHub) -> None:
    found = convert_code("c0de", github.url)

    assert (found.app_id, found.slug, found.private_keys, found.webhook_secrets) == (
        77,
        "my-bot",
        (KEY,),
        (SECRET.encode(),),
    )
    assert (found.client_id, found.client_secret) == (CLIENT_ID, CLIENT_SECRET)
    assert github.asked == ["/api/v3/app-manifests/c0de/conversions application/vnd.github+json None"]


@pytest.mark.slow
@pytest.mark.skipif(not REST.is_file(), reason="GitHub's description is not at hand")
def test_the_answer_of_the_stand_in_is_one_that_github_s_description_allows() -> None:
    call = MockRequest("https://api.github.com", "post", "/app-manifests/c0de/conversions")
    answer = MockResponse(json.dumps(conversion(KEY)).encode(), 201)

    described().validate_response(call, answer)
    with pytest.raises(OpenAPIError):
        described().validate_response(call, MockResponse(json.dumps({**ANSWER, "client_id": None}).encode(), 201))


@pytest.mark.parametrize("code", ["", "../../user", "a b", "x" * 201, "a\r\nHost: b", "é"])
def test_what_is_no_code_is_not_asked_about(code: str, github: GitHub) -> None:
    with pytest.raises(HostMissingError, match="no code"):
        convert_code(code, github.url)
    assert github.asked == []


@pytest.mark.parametrize(
    ("status", "kind"), [(404, HostMissingError), (422, HostMissingError), (500, HostError), (302, HostError)]
)
def test_another_answer_is_an_error_and_no_redirect_is_followed(
    status: int, kind: type[HostError], github: GitHub
) -> None:
    github.status, github.headers = status, {"Location": f"{github.url}/elsewhere"}

    with pytest.raises(kind, match=str(status)) as caught:
        convert_code("c0de", github.url)
    assert type(caught.value) is kind
    assert len(github.asked) == 1


@pytest.mark.parametrize(
    "change",
    [{"id": "77"}, {"id": 0}, {"pem": None}, {"slug": 5}, {"client_id": ""}, {"client_secret": None}],
)
def test_an_answer_that_is_none_is_not_quoted(change: dict[str, Any], github: GitHub) -> None:
    github.body = json.dumps({**ANSWER, **change}).encode()

    with pytest.raises(HostError, match="no credentials") as caught:
        convert_code("c0de", github.url)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "change", [{"webhook_secret": None}, {"webhook_secret": "short"}, {"pem": "x"}, {"slug": "A B"}]
)
def test_credentials_that_cannot_be_used_are_refused(change: dict[str, Any], github: GitHub) -> None:
    github.body = json.dumps({**ANSWER, **change}).encode()

    with pytest.raises(ConfigError):
        convert_code("c0de", github.url)


def test_a_host_that_is_not_there_is_named_as_that() -> None:
    with pytest.raises(HostError, match="cannot be reached"):
        convert_code("c0de", "http://127.0.0.1:9")
