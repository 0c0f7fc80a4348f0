"""Check runs over sockets: begun, taken up again, annotated once and concluded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.errors import HostAccessError, HostError, HostInvalidError, HostMissingError, HostUnknownError
from reviewbot.hosts.base import Annotation, CheckDraft, PullRequest
from reviewbot.hosts.github.checks import PER_CALL, GithubChecks
from reviewbot.hosts.github.client import GithubClient
from tests.github_api import FakeGitHub, Reply, dropped
from tests.github_api.refusals import missing_permission, secondary_limit, server_error

MARK = Annotation("app.py", 20, 20, "failure", "a title", "a message")
DRAFT = CheckDraft("a title", "a summary", "a text", "failure")


@pytest.fixture
def checks(client: GithubClient, pull: PullRequest) -> GithubChecks:
    return GithubChecks(client, pull.repository)


def test_a_check_begins_and_ends(github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    url = checks.finish_check(number, DRAFT)
    (check,) = github_api.state.repositories["acme/shop"].checks

    assert (check.status, check.conclusion, check.title) == ("completed", "failure", "a title")
    assert url.endswith(f"/acme/shop/runs/{number}")
    assert len(github_api.paths("PATCH")) == 1


@pytest.mark.parametrize(("count", "calls"), [(1, 2), (PER_CALL, 2), (PER_CALL + 1, 3), (120, 4)])
def test_annotations_go_in_batches_and_before_the_conclusion(
    count: int, calls: int, github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    marks = tuple(replace(MARK, message=f"{number}") for number in range(count))
    checks.finish_check(checks.start_check("reviewbot", pull.head_sha), replace(DRAFT, annotations=marks))
    (check,) = github_api.state.repositories["acme/shop"].checks
    sent = [each.body for each in github_api.recorded if each.method == "PATCH"]

    assert [each["message"] for each in check.annotations] == [f"{number}" for number in range(count)]
    assert [each["status"] for each in sent] == ["in_progress"] * (calls - 1) + ["completed"]


def test_fifty_one_annotations_in_one_call_are_refused(
    client: GithubClient, checks: GithubChecks, pull: PullRequest, github_api: FakeGitHub
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    mark = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [mark] * 51}

    with pytest.raises(HostInvalidError, match="No more than 50 items"):
        client.request("PATCH", f"/repos/acme/shop/check-runs/{number}", body={"output": output})
    github_api.problems.clear()  # the description says so, too


@pytest.mark.parametrize("carried_out", [True, False])
def test_a_batch_without_an_answer_is_looked_for_before_it_is_sent_again(
    carried_out: bool,  # noqa: FBT001 - pytest hands it in by name
    github_api: FakeGitHub,
    checks: GithubChecks,
    pull: PullRequest,
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    github_api.refuse("PATCH", "/check-runs/", server_error(), carried_out=carried_out)
    checks.finish_check(number, replace(DRAFT, annotations=(MARK,) * 60))
    (check,) = github_api.state.repositories["acme/shop"].checks

    assert (len(check.annotations), check.status) == (60, "completed")


def test_a_check_that_a_crash_has_left_is_taken_up_where_it_ended(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    marks = tuple(replace(MARK, message=f"{number}") for number in range(60))
    cut_short(github_api, checks, number, replace(DRAFT, annotations=marks))
    (check,) = github_api.state.repositories["acme/shop"].checks
    assert len(check.annotations) == PER_CALL

    assert checks.start_check("reviewbot", pull.head_sha) == number
    checks.finish_check(number, replace(DRAFT, annotations=marks))
    assert [each["message"] for each in check.annotations] == [mark.message for mark in marks]


def cut_short(api: FakeGitHub, checks: GithubChecks, number: int, draft: CheckDraft) -> None:
    """Conclude a check as far as its first batch of annotations."""
    replies = iter([None])

    def second() -> Reply:
        return missing_permission("checks", "write")

    path = f"/repos/acme/shop/check-runs/{number}"
    api.refuse("PATCH", path, second, times=0)
    ordered = api.state.ordered[-1]

    def first() -> Reply:
        next(replies)
        ordered.left = 1
        return Reply(200, {})

    api.refuse("PATCH", path, first, carried_out=True)
    with pytest.raises(HostAccessError):
        checks.finish_check(number, draft)


def test_annotations_of_another_review_in_the_same_check_are_not_taken_for_ours(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    theirs = tuple(replace(MARK, message=f"theirs {number}") for number in range(70))
    ours = tuple(replace(MARK, message=f"ours {number}") for number in range(60))
    cut_short(github_api, checks, number, replace(DRAFT, annotations=theirs))
    cut_short(github_api, checks, number, replace(DRAFT, annotations=ours))

    assert checks.start_check("reviewbot", pull.head_sha) == number
    checks.finish_check(number, replace(DRAFT, annotations=ours))

    (check,) = github_api.state.repositories["acme/shop"].checks
    told = [each["message"] for each in check.annotations]
    assert told == [mark.message for mark in (*theirs[:PER_CALL], *ours)]


@pytest.mark.parametrize("odd", ["reviewbot:0123:9", "reviewbot:" + "0" * 16 + ":", "reviewbots", ""])
def test_a_check_whose_mark_is_not_one_of_ours_is_left_alone(
    odd: str, github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    github_api.state.repositories["acme/shop"].checks[0].external_id = odd

    assert checks.start_check("reviewbot", pull.head_sha) > number


def test_a_check_of_somebody_else_or_one_that_is_done_is_left_alone(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    checks.finish_check(checks.start_check("reviewbot", pull.head_sha), DRAFT)
    second = checks.start_check("reviewbot", pull.head_sha)
    github_api.state.repositories["acme/shop"].checks[1].external_id = "another program"

    assert checks.start_check("reviewbot", pull.head_sha) > second


def test_a_check_that_another_app_calls_like_ours_is_not_taken_up(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    """An author's own workflow could else end the check of our name for us, as a success."""
    checks.start_check("reviewbot", pull.head_sha)
    runs = github_api.state.repositories["acme/shop"].checks
    forged = replace(runs[0], check_id=runs[0].check_id + 50, app_id=1)
    runs.append(forged)

    assert checks.start_check("reviewbot", pull.head_sha) == runs[0].check_id
    checks.finish_check(runs[0].check_id, DRAFT)
    own = checks.start_check("reviewbot", pull.head_sha)
    assert own not in (forged.check_id, runs[0].check_id)
    assert (forged.status, forged.conclusion) == ("in_progress", None)


def test_what_was_started_is_concluded_by_one_write_and_the_check_of_another_app_is_left(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    checks.start_check("reviewbot", pull.head_sha)
    runs = github_api.state.repositories["acme/shop"].checks
    own, forged = runs[0], replace(runs[0], check_id=runs[0].check_id + 50, app_id=1)
    runs.append(forged)
    before = len(github_api.recorded)

    for _ in range(2):
        checks.finish_started("reviewbot", pull.head_sha, DRAFT)

    carried_out = [
        each.body["status"] for each in github_api.recorded[before:] if f"/check-runs/{own.check_id}" in each.path
    ]
    assert carried_out == ["completed"]
    assert (own.status, forged.status) == ("completed", "in_progress")


@pytest.mark.parametrize("carried_out", [True, False])
def test_a_check_that_may_have_begun_is_looked_for(
    carried_out: bool,  # noqa: FBT001 - pytest hands it in by name
    github_api: FakeGitHub,
    checks: GithubChecks,
    pull: PullRequest,
) -> None:
    github_api.refuse("POST", "/check-runs$", dropped(), carried_out=carried_out)

    if carried_out:
        number = checks.start_check("reviewbot", pull.head_sha)
        assert [each.check_id for each in github_api.state.repositories["acme/shop"].checks] == [number]
    else:
        with pytest.raises(HostUnknownError):
            checks.start_check("reviewbot", pull.head_sha)


@pytest.mark.parametrize(("asked", "slept"), [(90, 90), (None, 60)])
def test_a_check_waits_out_a_limit(
    asked: int | None, slept: int, github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest, patient: Any
) -> None:
    github_api.refuse("POST", "/check-runs$", secondary_limit(asked))

    checks.start_check("reviewbot", pull.head_sha)

    assert sum(patient.slept) == slept


def test_a_check_without_an_id_is_unknown(github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest) -> None:
    github_api.refuse("POST", "/check-runs$", Reply(201, {}))

    with pytest.raises(HostUnknownError, match="no id"):
        checks.start_check("reviewbot", pull.head_sha)


def test_a_person_may_not_write_checks(
    github_api: FakeGitHub, make_client: Callable[..., GithubClient], pull: PullRequest
) -> None:
    github_api.add_token("ghp_" + "p" * 36, "a-person", {"checks": "write"})
    person = GithubChecks(make_client(github_api, token="ghp_" + "p" * 36), pull.repository)

    with pytest.raises(HostAccessError, match="GitHub App"):
        person.start_check("reviewbot", pull.head_sha)


def test_a_check_of_another_app_cannot_be_ended(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    github_api.state.repositories["acme/shop"].checks[0].app_id = 1

    with pytest.raises(HostAccessError, match="only be modified by the GitHub App"):
        checks.finish_check(number, DRAFT)


def test_a_check_belongs_to_a_commit(checks: GithubChecks) -> None:
    with pytest.raises(HostError):
        checks.start_check("reviewbot", "main/../../x")


@pytest.mark.parametrize("carried_out", [True, False])
def test_a_conclusion_without_an_answer_is_sent_again(
    carried_out: bool,  # noqa: FBT001 - pytest hands it in by name
    github_api: FakeGitHub,
    checks: GithubChecks,
    pull: PullRequest,
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    github_api.refuse("PATCH", "/check-runs/", dropped(), carried_out=carried_out)

    url = checks.finish_check(number, DRAFT)

    (check,) = github_api.state.repositories["acme/shop"].checks
    assert (check.status, check.conclusion, check.title, check.summary, check.text) == (
        "completed",
        "failure",
        "a title",
        "a summary",
        "a text",
    )
    assert url == f"{pull.url.partition('/pull/')[0]}/runs/{number}"


def test_a_check_is_begun_as_ours_and_looked_for_by_its_name_and_state(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    checks.start_check("reviewbot", pull.head_sha)

    asked = next(each for each in github_api.recorded if each.path.endswith(f"/{pull.head_sha}/check-runs"))
    assert asked.query == {"check_name": "reviewbot", "status": "in_progress", "filter": "latest", "per_page": "100"}
    assert [each.body for each in github_api.recorded if each.method == "POST"] == [
        {"name": "reviewbot", "head_sha": pull.head_sha, "status": "in_progress", "external_id": "reviewbot"}
    ]


def test_of_several_that_a_crash_has_left_the_newest_is_taken_up(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    first = checks.start_check("reviewbot", pull.head_sha)
    runs = github_api.state.repositories["acme/shop"].checks
    runs.extend([replace(runs[0], check_id=first + 20), replace(runs[0], check_id=first + 10)])

    assert checks.start_check("reviewbot", pull.head_sha) == first + 20


@pytest.mark.parametrize("odd", [{"id": True}, {"id": 0}, {"id": "7"}, {"name": "other"}, {"status": "queued"}])
def test_what_is_no_check_of_ours_in_a_list_is_passed_over(
    odd: dict[str, object], github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    row = {"id": number, "name": "reviewbot", "status": "in_progress", "external_id": "reviewbot"}
    github_api.refuse("GET", "/check-runs$", Reply(200, {"check_runs": [{**row, **odd}]}))
    github_api.refuse("GET", "/check-runs$", Reply(200, {"check_runs": [row, {**row, **odd}]}))

    assert checks.start_check("reviewbot", pull.head_sha) != number
    assert checks.start_check("reviewbot", pull.head_sha) == number


def test_texts_are_cut_at_what_the_host_takes(github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    checks.finish_check(number, replace(DRAFT, summary="s" * 70_000, text="t" * 70_000, annotations=(MARK,)))

    sent = [each.body["output"] for each in github_api.recorded if each.method == "PATCH"]
    assert [(len(each["summary"]), len(each["text"])) for each in sent] == [(65_535, 65_535)] * 2


@pytest.mark.parametrize(
    "odd", [[], None, {"output": None}, {"output": {"annotations_count": None}}, {"output": {"annotations_count": "9"}}]
)
def test_where_nobody_tells_how_many_annotations_there_are_all_are_added(
    odd: object, github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    github_api.refuse("GET", f"/check-runs/{number}$", Reply(200, odd))
    checks.finish_check(number, replace(DRAFT, annotations=(MARK,) * 3))

    (check,) = github_api.state.repositories["acme/shop"].checks
    assert (len(check.annotations), check.external_id.rpartition(":")[2]) == (3, "0")


def test_a_mark_that_counts_more_annotations_than_there_are_is_not_believed(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    number = checks.start_check("reviewbot", pull.head_sha)
    draft = replace(DRAFT, annotations=tuple(replace(MARK, message=f"{number}") for number in range(60)))
    cut_short(github_api, checks, number, draft)
    (check,) = github_api.state.repositories["acme/shop"].checks
    check.external_id = check.external_id.rpartition(":")[0] + f":{PER_CALL + 1}"
    checks.finish_check(number, draft)

    assert len(check.annotations) == PER_CALL + 60


def test_a_check_that_may_have_begun_behind_a_limit_is_not_begun_twice(
    github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    github_api.refuse("POST", "/check-runs$", secondary_limit(5))
    github_api.refuse("POST", "/check-runs$", server_error(), times=9)

    with pytest.raises(HostUnknownError):
        checks.start_check("reviewbot", pull.head_sha)
    assert len(github_api.paths("POST")) == 2


@pytest.mark.parametrize("answer", [[], None, {"id": True}, {"id": 0}])
def test_an_answer_that_names_no_check_is_unknown(
    answer: object, github_api: FakeGitHub, checks: GithubChecks, pull: PullRequest
) -> None:
    github_api.refuse("POST", "/check-runs$", Reply(201, answer))

    with pytest.raises(HostUnknownError):
        checks.start_check("reviewbot", pull.head_sha)


@pytest.mark.parametrize("name", ["acme", "acme/../user", "acme/shop\n"])
def test_checks_of_what_is_no_repository_are_not_asked_for(name: str, client: GithubClient) -> None:
    with pytest.raises(HostMissingError):
        GithubChecks(client, name)
