"""How long GitHub is waited for, what is left of its limits, and that nothing outlasts the deadline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest

from reviewbot.domain.errors import HostError, HostLimitError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.rate_limits import (
    FIRST_WAIT_S,
    MAX_WAIT_S,
    MINUTE_S,
    TRIES,
    RemainingRequests,
    RetryableError,
    RetryPolicy,
    limit_pause_s,
)
from tests.github_api import FakeGitHub
from tests.github_api.refusals import primary_limit, server_error

SHOP = "/repos/acme/shop"
NOW = 1_000.0


@pytest.mark.parametrize(
    ("status", "headers", "message", "pause"),
    [
        (403, {"retry-after": "7"}, "", 7),
        (403, {"retry-after": "9999999"}, "", 9_999_999),
        (403, {"retry-after": "0"}, "", MINUTE_S),
        (403, {"retry-after": "10000000"}, "", MINUTE_S),
        (403, {"retry-after": "1.5"}, "", MINUTE_S),
        (403, {"retry-after": "٣"}, "", MINUTE_S),
        (403, {"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, "", MINUTE_S),
        (403, {"retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1010"}, "", 7),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1010"}, "", 11),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "900"}, "", 1),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, "", MINUTE_S),
        (403, {"x-ratelimit-remaining": "0"}, "", MINUTE_S),
        (403, {"x-ratelimit-remaining": "9", "x-ratelimit-reset": "1010"}, "", None),
        (403, {}, "You have exceeded a secondary RATE LIMIT", MINUTE_S),
        (403, {}, "Resource not accessible by integration", None),
        (429, {}, "", MINUTE_S),
        (500, {"retry-after": "7"}, "rate limit", None),
    ],
)
def test_a_limit_is_known_by_its_status_and_says_how_long(
    status: int, headers: Mapping[str, str], message: str, pause: float | None
) -> None:
    assert limit_pause_s(status, headers, message, NOW) == pause


def told(left: str, reset: str = "2000", **more: str) -> dict[str, str]:
    return {"x-ratelimit-remaining": left, "x-ratelimit-reset": reset, **more}


@pytest.mark.parametrize(
    ("headers", "left"),
    [
        ([told("9")], 9),
        ([told("0")], 0),
        ([told("9"), told("8")], 8),
        ([told("9"), {}], 9),
        ([told("9"), told("-1")], 9),
        ([told("9", "1001")], 9),
        ([told("9", "1000")], None),
        ([told("9", "never")], 9),
        ([told("9", **{"x-ratelimit-resource": "search"})], None),
        ([told("9", **{"x-ratelimit-resource": "graphql"})], None),
        ([], None),
    ],
)
def test_what_is_left_of_a_limit_is_what_was_said_last_in_this_hour(
    headers: list[dict[str, str]], left: int | None
) -> None:
    kept = RemainingRequests()
    for each in headers:
        kept.note(each, "core")

    assert kept.of("core", NOW) == left


def test_each_limit_is_counted_by_itself(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.state.left.update(core=9, graphql=7)
    client.request("GET", "/user")
    assert (client.remaining(), client.remaining("graphql")) == (8, None)

    client.graphql("query { viewer { login } }", {})
    assert (client.remaining("core"), client.remaining("graphql")) == (8, 6)


def test_waits_grow_and_stay_within_bounds(github_api: FakeGitHub, client: GithubClient, patient: Any) -> None:
    github_api.refuse("GET", "shop$", server_error(), times=TRIES)

    with pytest.raises(HostError):
        client.request("GET", SHOP)
    assert len(patient.slept) == TRIES - 1
    assert patient.slept[0] >= FIRST_WAIT_S
    assert all(before < after <= MAX_WAIT_S for before, after in pairwise(patient.slept))


def test_the_longest_wait_between_tries_is_bounded(patient: Any) -> None:
    patience = RetryPolicy(patient, 1_000)
    state: Any = type("State", (), {"attempt_number": 30, "outcome": None})()

    assert MAX_WAIT_S <= patience._wait_s(state) <= MAX_WAIT_S + FIRST_WAIT_S


def test_what_is_no_limit_and_for_which_no_time_is_left_is_told_as_it_is(
    github_api: FakeGitHub, make_client: Callable[..., GithubClient], patient: Any
) -> None:
    github_api.refuse("GET", "shop$", server_error(502), times=9)

    with pytest.raises(HostError, match="answers 502") as raised:
        make_client(github_api, deadline_s=FIRST_WAIT_S / 2).request("GET", SHOP)
    assert type(raised.value) is HostError
    assert (patient.slept, len(github_api.recorded)) == ([], 1)


@pytest.mark.parametrize(("seconds", "waits"), [(9, True), (10, False), (11, False)])
def test_a_wait_ends_before_the_deadline_or_does_not_begin(seconds: float, patient: Any, *, waits: bool) -> None:
    patience = RetryPolicy(patient, 10)

    if waits:
        patience.wait(seconds)
    else:
        with pytest.raises(HostLimitError, match=rf"it asks for {seconds} s, and there are 10 s left"):
            patience.wait(seconds)
    assert patient.slept == ([seconds] if waits else [])


def test_after_the_deadline_there_is_nothing_left_and_no_less(patient: Any) -> None:
    patience = RetryPolicy(patient, 10)
    patient.sleep(15)

    with pytest.raises(HostLimitError, match="there are 0 s left") as raised:
        patience.wait(1)
    assert raised.value.retry_after_s == 1


def test_a_limit_that_comes_again_and_again_is_told_with_its_own_wait(
    github_api: FakeGitHub, make_client: Callable[..., GithubClient], patient: Any
) -> None:
    github_api.refuse("GET", "shop$", primary_limit(1_800_000_000 + 10_000), times=9)

    with pytest.raises(HostLimitError) as raised:
        make_client(github_api, deadline_s=50_000).request("GET", SHOP)
    assert raised.value.retry_after_s == 1
    assert patient.slept[0] == 10_001


def test_what_is_raised_by_others_is_not_repeated(patient: Any) -> None:
    asked: list[int] = []

    def once() -> None:
        asked.append(1)
        raise HostError("no")

    with pytest.raises(HostError, match="no"):
        RetryPolicy(patient, 10).carry_out(once)
    assert asked == [1]
    assert str(RetryableError(HostError("no"))) == "no"
