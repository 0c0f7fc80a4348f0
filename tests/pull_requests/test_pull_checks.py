"""The check run beside a review is concluded whatever happens, and nobody waits long for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from reviewbot import wiring
from reviewbot.domain.contracts.pulls import PullReview
from reviewbot.domain.errors import HostUnknownError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.check_run import GIVING_UP_S
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import post
from reviewbot.pull_requests.review import carry_out, prepare
from tests.github_api import FakeGitHub, Pull
from tests.github_api.refusals import secondary_limit, server_error
from tests.pull_steps import review

OpenPull = Callable[..., Pull]
QUICK = RunOptions(flags={"inline": 0})


class OneClock:
    """What the client waits for and what the publisher waits for is one time."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds

    def time(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class Waits:
    """The same for coroutines."""

    def __init__(self, clock: OneClock) -> None:
        self.clock = clock

    def monotonic(self) -> float:
        return self.clock.seconds

    async def sleep(self, seconds: float) -> None:
        self.clock.seconds += seconds


@pytest.fixture
def time() -> OneClock:
    return OneClock()


@pytest.fixture
def office(github_api: FakeGitHub, time: OneClock) -> Iterator[HostSession]:
    with GithubClient(GithubAccess(github_api.token, github_api.url), time) as client:
        yield HostSession(GithubHost(client), Signer.from_environment({}), MemoryIntents(time.monotonic), Waits(time))


def made(office: HostSession) -> PullReview:
    async def both() -> PullReview:
        return (await review(office, await fetch(office, "acme/shop", 1), QUICK)).value

    return asyncio.run(both())


@pytest.mark.slow
def test_posting_that_takes_all_the_patience_there_is_still_concludes_the_check(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()
    value = made(office)
    key = f"review:{value.pull.repository_id}:1:{value.pull.head_sha}:{value.policy}"
    assert office.intents.begin(key, "a run that crashed", 60)
    github_api.refuse("POST", "/reviews$", secondary_limit(175))
    github_api.refuse("POST", "/reviews$", server_error())

    with pytest.raises(HostUnknownError):
        asyncio.run(post(office, value))

    assert pull.repository.checks[0].conclusion == "neutral"


def test_a_stop_does_not_wait_for_a_limit(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub, time: OneClock
) -> None:
    open_pull()
    prepared = prepare(office, asyncio.run(fetch(office, "acme/shop", 1)), RunOptions(), ExitStack())

    class Stopped(wiring.PreparedRun):
        async def review(self, change: object) -> Any:
            raise asyncio.CancelledError

    github_api.refuse("PATCH", "/check-runs/", secondary_limit(200), times=9)
    began = time.seconds
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(carry_out(office, replace(prepared, run=Stopped(**vars(prepared.run)))))

    assert time.seconds - began <= GIVING_UP_S


def test_a_stop_while_posting_leaves_a_cancelled_check(office: HostSession, open_pull: OpenPull) -> None:
    pull = open_pull()
    value = made(office)

    class Stopped(MemoryIntents):
        def begin(self, key: str, holder: str, lease_s: float) -> bool:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(post(replace(office, intents=Stopped()), value))

    [check] = pull.repository.checks
    assert (check.conclusion, check.title) == ("cancelled", "Not posted")
    assert "was stopped" in check.summary
