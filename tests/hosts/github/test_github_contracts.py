"""Our fake judges what it is sent by GitHub's own description, where that is at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.errors import HostError
from reviewbot.hosts.github.client import GithubClient
from tests.github_api import FakeGitHub, Reply, contracts

REVIEWS = "/repos/acme/shop/pulls/1/reviews"
CHECKS = "/repos/acme/shop/check-runs"
COMMENT = {"path": "a.py", "line": 1, "body": "b"}
MARK = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}


def judged(method: str, path: str, body: object = None, **query: str) -> list[str]:
    return contracts.problems_of(method, path, query, b"" if body is None else json.dumps(body).encode())


def check(**fields: Any) -> dict[str, Any]:
    return {"name": "reviewbot", "head_sha": "a" * 40, **fields}


if contracts.REST.is_file():

    @pytest.mark.parametrize(
        ("method", "path", "body", "words"),
        [
            ("POST", REVIEWS, {"body": "b", "event": "COMMENT", "invented": 1}, "'invented' was unexpected"),
            ("POST", REVIEWS, {"body": "b", "event": "PRAISE"}, "'PRAISE' is not one of"),
            ("POST", REVIEWS, {"comments": [{**COMMENT, "invented": 1}]}, "'invented' was unexpected"),
            ("POST", REVIEWS, {"comments": [{"path": "a.py"}]}, "'body' is a required property"),
            ("POST", CHECKS, check(status="completed", conclusion="neutral", invented=1), "'invented' was unexpected"),
            ("POST", CHECKS, check(output={"title": "t", "summary": "s", "annotations": [MARK] * 51}), "output.annot"),
            ("PATCH", f"{CHECKS}/1", {"status": "completed", "conclusion": "neutral", "invented": 1}, "'invented'"),
            ("POST", "/repos/acme/shop/invented", {}, "knows no such call"),
            ("GET", "/repos/acme/shop/pulls/1", {"a": 1}, "takes no body"),
        ],
    )
    def test_a_request_that_github_would_not_take_is_a_problem(
        method: str, path: str, body: object, words: str
    ) -> None:
        assert any(words in problem for problem in judged(method, path, body))

    def test_an_unknown_name_in_a_query_is_a_problem() -> None:
        assert judged("GET", "/repos/acme/shop/pulls/1/files", pages="2")
        assert not judged("GET", "/repos/acme/shop/pulls/1/files", page="2", per_page="100")

    def test_what_github_takes_is_no_problem() -> None:
        whole = {"body": "b", "event": "COMMENT", "commit_id": "a" * 40, "comments": [{**COMMENT, "side": "RIGHT"}]}
        assert judged("POST", REVIEWS, whole) == []
        assert judged("POST", CHECKS, check(status="in_progress", external_id="x")) == []

    def test_a_request_with_a_problem_fails_the_test_that_sent_it(make_client: Callable[..., GithubClient]) -> None:
        with FakeGitHub() as api:
            api.refuse("POST", "reviews$", Reply(200, {}))
            make_client(api).request("POST", REVIEWS, body={"body": "b", "invented": True})

        with pytest.raises(AssertionError, match="'invented' was unexpected"):
            api.check()


if contracts.GRAPHQL.is_file():

    @pytest.mark.parametrize(
        ("document", "variables", "words"),
        [
            ("query { viewer { invented } }", {}, "Cannot query field 'invented'"),
            ("query { viewer ", {}, "Syntax Error"),
            ("query($n: String!) { user(login: $n) { login } }", {"n": 3}, "invalid value"),
        ],
    )
    def test_a_graphql_document_of_another_form_is_a_problem(
        document: str, variables: dict[str, Any], words: str
    ) -> None:
        assert words in str(judged("POST", "/graphql", {"query": document, "variables": variables}))

    def test_graphql_takes_no_other_field() -> None:
        assert "invented" in str(judged("POST", "/graphql", {"query": "query { viewer { login } }", "invented": 1}))


def test_a_fault_of_the_fake_is_a_problem_and_no_lost_answer(make_client: Callable[..., GithubClient]) -> None:
    def broken() -> Reply:
        raise ZeroDivisionError

    with FakeGitHub() as api:
        api.refuse("GET", "user$", broken, times=4)
        with pytest.raises(HostError):
            make_client(api).request("GET", "/user")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        api.check()


def test_a_refusal_can_come_after_the_work_was_done(github_api: FakeGitHub, shop: Any, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(200, {"other": 1}), carried_out=True)

    assert client.request("GET", "/repos/acme/shop").data == {"other": 1}
