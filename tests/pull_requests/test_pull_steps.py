"""Fetch, review, post: one review of one head, from what the host tells of it, with a check run beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from reviewbot import wiring
from reviewbot.domain.contracts.pulls import PullPosted, PullRef, PullReview
from reviewbot.domain.errors import ConfigError, ExitCode, HostAccessError, HostMissingError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import post
from reviewbot.pull_requests.review import Reviewed, carry_out, prepare
from reviewbot.pull_requests.values import to_delivered
from tests.github_api import FakeGitHub, Pull
from tests.github_api.refusals import missing_permission, secondary_limit
from tests.pull_steps import review

OpenPull = Callable[..., Pull]

NUMBER = ("acme/shop", 1)
AFTER_TWO = "def pay(order):\n    if order is 3:\n        return None\n    return order is 'x'\n"

QUICK = RunOptions(flags={"inline": 0})
"""Nothing at lines: to prove a suggestion takes longer than the review."""


def again(value: Any) -> Any:
    """A value after it has been JSON, as it is between two durable steps."""
    return type(value).model_validate_json(json.dumps(value.model_dump(mode="json")))


def reviewed(office: HostSession, terms: RunOptions | None = None) -> Reviewed:
    async def both() -> Reviewed:
        ref: PullRef = again(await fetch(office, *NUMBER))
        return await review(office, ref, terms or QUICK)

    return asyncio.run(both())


def operator(**variables: str) -> wiring.RunInputs:
    """What the operator of the machine has set."""
    return wiring.RunInputs(environ=variables)


def posted(office: HostSession, value: PullReview) -> PullPosted:
    return asyncio.run(post(office, again(value)))


def test_a_refused_permission_is_a_clear_error_and_the_check_still_proves_the_review(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()
    value = reviewed(office).value
    github_api.refuse("POST", "/pulls/1/reviews$", missing_permission("pull_requests", "write"))

    with pytest.raises(HostAccessError, match="pull_requests"):
        posted(office, value)

    assert pull.reviews == []
    assert pull.repository.checks[0].conclusion == "neutral"


# --- the check run


@pytest.mark.slow
def test_the_check_is_begun_before_the_review_and_concluded_after_it(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()

    value = reviewed(office).value
    [check] = pull.repository.checks
    before = (check.status, check.conclusion)
    result = posted(office, value)

    assert before == ("in_progress", None)
    assert (check.name, check.status, check.conclusion) == ("reviewbot", "completed", "neutral")
    assert result.check_url.endswith(f"/runs/{check.check_id}")
    assert [mark["path"] for mark in check.annotations] == ["src/pay.py"]
    asked = github_api.paths("POST")
    assert asked.index("/repos/acme/shop/check-runs") < asked.index("/repos/acme/shop/pulls/1/reviews")


@pytest.mark.slow
def test_a_closed_gate_is_red_and_asks_for_changes_where_the_operator_says_so(
    office: HostSession, open_pull: OpenPull
) -> None:
    pull = open_pull()

    found = reviewed(office, RunOptions({"fail_on": "warning"}, operator(REVIEWBOT_REQUEST_CHANGES="true")))
    posted(office, found.value)

    assert (found.code, found.value.gate_closed) == (ExitCode.GATE, True)
    assert pull.reviews[0].state == "CHANGES_REQUESTED"
    assert pull.repository.checks[0].conclusion == "failure"


@pytest.mark.slow
def test_where_the_token_may_have_no_check_that_is_named_and_the_review_goes_on(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()
    github_api.refuse("POST", "/check-runs$", missing_permission("checks", "write"))

    result = posted(office, reviewed(office).value)

    assert result.outcome == "posted"
    assert len(pull.reviews) == 1
    assert (result.check_url, pull.repository.checks) == ("", [])
    assert any("no check run" in note and "checks" in note for note in result.notes)


@pytest.mark.slow
def test_a_check_that_cannot_be_concluded_is_named_and_the_review_stands(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()
    value = reviewed(office).value
    github_api.refuse("PATCH", "/check-runs/", missing_permission("checks", "write"), times=5)

    result = posted(office, value)

    assert (result.outcome, result.check_url, len(pull.reviews)) == ("posted", "", 1)
    assert any("could not be concluded" in note for note in result.notes)


@pytest.mark.slow
def test_without_the_setting_there_is_no_check(office: HostSession, open_pull: OpenPull) -> None:
    pull = open_pull(base={".reviewbot.toml": "inline = 'off'\n"})

    result = posted(office, reviewed(office, RunOptions(inputs=operator(REVIEWBOT_CHECK="false"))).value)

    assert (result.outcome, result.notes, pull.repository.checks, pull.comments) == ("posted", (), [], [])


def test_a_review_that_breaks_off_leaves_a_check_that_is_not_green(office: HostSession, open_pull: OpenPull) -> None:
    pull = open_pull()

    class Broken(wiring.PreparedRun):
        async def review(self, change: object) -> Any:
            raise ConfigError("this setting cannot be")

    prepared = prepared_of(office)
    with pytest.raises(ConfigError):
        asyncio.run(carry_out(office, replace(prepared, run=Broken(**vars(prepared.run)))))

    [check] = pull.repository.checks
    assert (check.conclusion, check.title) == ("neutral", "Not reviewed")
    assert "this setting cannot be" in check.summary


def test_a_review_that_is_stopped_leaves_a_cancelled_check(office: HostSession, open_pull: OpenPull) -> None:
    pull = open_pull()
    prepared = prepared_of(office)

    async def stopped() -> None:
        begun = asyncio.Event()

        class Slow(wiring.PreparedRun):
            async def review(self, change: object) -> Any:
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.ensure_future(carry_out(office, replace(prepared, run=Slow(**vars(prepared.run)))))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(stopped())

    assert pull.repository.checks[0].conclusion == "cancelled"


def prepared_of(office: HostSession) -> Any:
    ref = asyncio.run(fetch(office, *NUMBER))
    return prepare(office, ref, RunOptions(), ExitStack())


# --- where a review gets its rules from


def test_the_base_side_configures_and_the_head_does_not(office: HostSession, open_pull: OpenPull) -> None:
    open_pull(
        {"src/pay.py": AFTER_TWO, ".reviewbot.toml": "max_findings = 25\nfail_on = 'none'\n"},
        {".reviewbot.toml": "fail_on = 'warning'\nmax_findings = 1\n"},
    )

    found = reviewed(office)

    assert found.code == ExitCode.GATE
    assert len(found.delivered.review.findings) == 1
    assert any("cannot configure its own review" in note for note in found.delivered.review.notes)


@pytest.mark.slow
def test_files_that_could_not_be_read_are_told_in_the_review(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    open_pull()
    ref = asyncio.run(fetch(office, *NUMBER))
    github_api.refuse("GET", "/git/blobs/", secondary_limit(10_000), times=50)

    found = asyncio.run(review(office, ref, RunOptions()))

    assert any("no more files" in note for note in found.delivered.review.notes)


# --- what the steps hand on


def test_the_values_between_the_steps_are_json_and_lose_nothing(office: HostSession, open_pull: OpenPull) -> None:
    open_pull()

    found = reviewed(office, RunOptions())

    assert again(found.value) == found.value
    assert to_delivered(again(found.value)) == found.delivered
    assert [file.path for file in found.value.change.files] == ["src/pay.py"]
    assert list(found.value.suggestions.values()) == ["    if order == 3:"]


def test_what_there_is_not_is_a_clear_error(office: HostSession, open_pull: OpenPull, github_api: FakeGitHub) -> None:
    open_pull()

    with pytest.raises(HostMissingError):
        asyncio.run(fetch(office, "acme/shop", 7))
    with GithubClient(GithubAccess("wrong", github_api.url)) as stranger, pytest.raises(HostAccessError):
        asyncio.run(fetch(HostSession(GithubHost(stranger), office.signer), *NUMBER))
