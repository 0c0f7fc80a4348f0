"""What an answer means that is no JSON, or tells of nothing."""

from __future__ import annotations

import pytest

from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostUnknownError,
)
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.errors import Failed, code_of, fault, graphql_fault, message_of
from reviewbot.hosts.github.rate_limits import RetryableError
from tests.github_api import FakeGitHub, Reply

SHOP = "/repos/acme/shop"


@pytest.mark.parametrize("content", [b"<html>a proxy</html>", b"{"])
def test_a_write_whose_answer_is_no_json_may_have_been_done(
    content: bytes, github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("POST", "check-runs$", Reply(201, content), times=2)
    github_api.refuse("POST", "/graphql$", Reply(200, content), times=1)
    body = {"name": "a", "head_sha": "b" * 40}

    with pytest.raises(HostUnknownError, match="may or may not"):
        client.request("POST", f"{SHOP}/check-runs", body=body)
    with pytest.raises(HostError, match="no JSON") as told:
        client.request("POST", f"{SHOP}/check-runs", body=body, repeatable=True)
    assert type(told.value) is HostError
    with pytest.raises(HostUnknownError):
        client.graphql("mutation { addStar(input: {starrableId: 1}) { clientMutationId } }", {})
    assert len(github_api.recorded) == 3


def test_a_server_without_graphql_is_named_as_such(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.state.graphql = False

    with pytest.raises(HostMissingError, match="does not show GraphQL: this server has none"):
        client.graphql("query { viewer { login } }", {})


def test_what_is_not_there_is_named(github_api: FakeGitHub) -> None:
    for about, named in (("GET /repos/a/b", "/repos/a/b"), ("GET ", "GET "), ("", "")):
        error = fault(Failed(about, 404, {}, None, 0.0), repeatable=True)
        assert str(error).startswith(f"GitHub does not show {named or 'it'}")


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        ((401, 403, 451), HostAccessError),
        ((404, 410), HostMissingError),
        ((400, 405, 406, 409, 412, 413, 415, 422), HostInvalidError),
        ((300, 304, 402, 418), HostError),
    ],
)
def test_each_refusal_is_of_its_kind_and_not_tried_again(statuses: tuple[int, ...], kind: type[HostError]) -> None:
    for status in statuses:
        for repeatable in (True, False):
            assert type(fault(Failed("GET /a", status, {}, None, 0.0), repeatable=repeatable)) is kind


@pytest.mark.parametrize("status", [202, 408, 500, 502, 503, 504])
def test_what_may_fare_better_is_tried_again_where_that_does_no_harm(status: int) -> None:
    failed = Failed("POST /a", status, {}, None, 0.0)

    assert isinstance(fault(failed, repeatable=True), RetryableError)
    assert isinstance(fault(failed, repeatable=False), HostUnknownError)


@pytest.mark.parametrize(
    ("data", "words", "code"),
    [
        ({"message": "m", "errors": [{"message": "a"}, {"code": "b"}, "c", {"message": "d"}]}, "m; a; b; c", "b"),
        ({"message": "m", "errors": [{"message": "", "code": "b"}]}, "m; b", "b"),
        ({"message": " m\n\x1b[31m\u202e ", "code": "top"}, "m [31m", "top"),
        ({"errors": [{}, 3, {"code": "c"}], "code": "top"}, "c", "c"),
        ({"message": "x" * 900}, "x" * 200, ""),
        ({"message": "", "errors": "odd"}, "no reason given", ""),
        ([], "no reason given", ""),
        (None, "no reason given", ""),
    ],
)
def test_of_githubs_words_a_few_plain_ones_are_told(data: object, words: str, code: str) -> None:
    assert (message_of(data), code_of(data)) == (words, code)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (" pull_requests=write ", "; the token needs pull_requests=write"),
        ("checks=write; contents=read", "; the token needs checks=write; contents=read"),
        ("checks=write <b>", ""),
        ("", ""),
    ],
)
def test_the_permission_that_is_missing_is_named_where_it_is_plainly_one(header: str, told: str) -> None:
    failed = Failed("GET /a", 403, {"x-accepted-github-permissions": header}, {"message": "no"}, 0.0)

    assert str(fault(failed, repeatable=True)) == f"GitHub refuses GET /a (no){told}"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("RATE_LIMITED", HostLimitError),
        ("RATE_LIMIT", HostLimitError),
        ("FORBIDDEN", HostAccessError),
        ("INSUFFICIENT_SCOPES", HostAccessError),
        ("NOT_FOUND", HostMissingError),
        ("OTHER", HostInvalidError),
    ],
)
def test_an_error_of_graphql_is_known_by_its_type(kind: str, error: type[HostError]) -> None:
    assert type(graphql_fault([{"type": kind, "message": "m"}, {"type": "NOT_FOUND"}])) is error
