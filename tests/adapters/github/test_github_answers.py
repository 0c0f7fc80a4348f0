"""What an answer means that is no JSON, or tells of nothing."""

from __future__ import annotations

import pytest

from reviewbot.adapters.github.client import GithubClient
from reviewbot.adapters.github.faults import Failed, fault
from reviewbot.errors import HostError, HostMissingError, HostUnknownError
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
