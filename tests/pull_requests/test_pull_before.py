"""Whether a review stands there already is looked at before one is made; and what a review lacks is said in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from reviewbot import wiring
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.host import GithubHost
from reviewbot.hosts.github.pull import read_pull
from reviewbot.hosts.github.rate_limits import RESERVE
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import READING_S, HostSession, RunOptions
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import Prepared, carry_out, prepare
from tests.github_api import CheckRun, FakeGitHub, Pull
from tests.github_api.refusals import missing_permission, secondary_limit
from tests.make import one_fast

OpenPull = Callable[..., Pull]
QUICK = RunOptions(flags={"inline": 0})
BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"


def prepared_of(office: HostSession, terms: RunOptions = QUICK) -> Prepared:
    return prepare(office, asyncio.run(fetch(office, "acme/shop", 1)), terms, ExitStack())


def looked(office: HostSession, terms: RunOptions = QUICK) -> PullPosted | None:
    return asyncio.run(find_posted(office, prepared_of(office, terms)))


def posted(office: HostSession, terms: RunOptions = QUICK) -> PullPosted:
    async def both() -> PullPosted:
        return await post(office, (await carry_out(office, prepared)).value)

    prepared = prepared_of(office, terms)
    return asyncio.run(both())


# --- looked at before


def test_a_review_that_stands_there_is_found_before_another_is_made(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    open_pull()
    assert looked(office) is None
    first = posted(office)
    writes = len(github_api.paths("POST"))

    again = looked(office)

    assert again is not None
    assert (again.outcome, again.url, again.review_id) == ("already_posted", first.url, first.review_id)
    assert len(github_api.paths("POST")) == writes


@pytest.mark.slow
def test_other_settings_or_another_head_have_no_review_yet(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub, folder: Any
) -> None:
    open_pull()
    posted(office)

    assert looked(office, RunOptions(flags={"inline": 0, "min_confidence": 99})) is None
    github_api.push("acme/shop", 1, folder.commit({"src/pay.py": "pass\n"}))
    assert looked(office) is None


def test_who_does_not_post_does_not_look(office: HostSession, open_pull: OpenPull, github_api: FakeGitHub) -> None:
    open_pull()
    posted(office)
    asked = github_api.paths("GET").count("/user")

    assert looked(office, replace(QUICK, to_post=False)) is None
    assert github_api.paths("GET").count("/user") == asked


@pytest.mark.parametrize(
    ("flags", "head"),
    one_fast([({"fail_on": "warning"}, AFTER), ({}, "def pay(order:\n    return order\n")]),
    ids=["closed gate", "incomplete"],
)
def test_a_gate_that_was_closed_or_a_review_that_was_incomplete_is_said_again(
    flags: dict[str, object], head: str, office: HostSession, open_pull: OpenPull
) -> None:
    open_pull({"src/pay.py": head})
    terms = RunOptions(flags={"inline": 0, **flags})
    posted(office, terms)

    assert looked(office, terms) is None
    assert posted(office, terms).outcome == "already_posted"


@pytest.mark.slow
def test_a_check_that_was_never_concluded_takes_a_whole_run(office: HostSession, open_pull: OpenPull) -> None:
    pull = open_pull()
    posted(office)
    left = CheckRun(9_999, "reviewbot", pull.head_sha, 4_711, external_id="reviewbot")
    pull.repository.checks.append(left)

    assert looked(office) is None
    assert posted(office).outcome == "already_posted"
    assert left.status == "completed"


@pytest.mark.slow
def test_a_host_that_does_not_tell_is_no_reason_not_to_review(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    open_pull()
    posted(office)

    github_api.refuse("GET", "/commits/.*/check-runs$", missing_permission("checks", "read"))
    assert looked(office) is not None
    github_api.refuse("GET", "/pulls/1/reviews$", missing_permission("pull_requests", "read"))
    assert looked(office) is None


@pytest.mark.slow
def test_a_pull_request_with_another_base_is_another_change(
    office: HostSession, open_pull: OpenPull, folder: Any
) -> None:
    pull = open_pull()
    posted(office)
    folder.git("checkout", "--quiet", "main")
    folder.git("checkout", "--quiet", "--orphan", "other")
    other = folder.commit({"src/pay.py": BEFORE, "more.py": "x = 1\n"})
    folder.git("replace", "--graft", pull.head_sha, pull.base_sha, other)
    folder.git("checkout", "--quiet", "feature")
    pull.base_ref, pull.base_sha = "other", other

    assert looked(office) is None
    assert posted(office).outcome == "posted"


@pytest.mark.slow
def test_a_base_branch_that_went_on_leaves_the_review_as_it_is(
    office: HostSession, open_pull: OpenPull, folder: Any
) -> None:
    pull = open_pull()
    posted(office)
    folder.git("checkout", "--quiet", "main")
    pull.base_sha = folder.commit({"more.py": "x = 1\n"})

    assert looked(office) is not None


# --- how long is waited


def test_reads_of_a_review_wait_no_longer_than_the_review_may_take(
    office: HostSession, open_pull: OpenPull, client: GithubClient
) -> None:
    open_pull()
    limits: list[float] = []

    class Recording(GithubClient):
        def within(self, deadline_s: float) -> Recording:
            limits.append(deadline_s)
            super().within(deadline_s)
            return self

    class Marking(wiring.PreparedRun):
        async def review(self, change: ChangeSet) -> Any:
            limits.append(-1)
            answer = await super().review(change)
            limits.append(-2)
            return answer

    with Recording(client.access) as recording:
        desk = replace(office, host=GithubHost(recording))
        prepared = prepared_of(desk, RunOptions(flags={"inline": 0, "deadline_s": 77}))
        limits.clear()
        asyncio.run(carry_out(desk, replace(prepared, run=Marking(**vars(prepared.run)))))

    assert limits == [READING_S, 77, -1, -2, READING_S]


# --- what a review lacks


def reading(client: GithubClient) -> GithubSnapshot:
    return GithubSnapshot(client, read_pull(client, "acme/shop", 1))


def test_what_the_host_did_not_give_is_told_in_few_words(
    open_pull: OpenPull, client: GithubClient, github_api: FakeGitHub
) -> None:
    names = [f"src/{'long' * 40}{number}.py" for number in range(20)]
    open_pull(dict.fromkeys(names, "x = 1\n"))
    snapshot = reading(client)
    github_api.refuse("GET", "/git/blobs/", secondary_limit(9_999))

    assert [snapshot.head(name) for name in names] == [None] * 20

    [note] = snapshot.read_warnings()
    assert note.startswith("GitHub gave no more files from some point on; 20 files could not be read (src/long")
    assert "limit of requests" in note
    assert len(note) < 900


def test_what_was_read_needs_no_note(open_pull: OpenPull, client: GithubClient) -> None:
    open_pull()

    assert reading(client).read_warnings() == ()


@pytest.mark.slow
def test_a_reserve_is_kept_so_that_the_review_is_posted_with_its_gap(
    office: HostSession, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull({"src/pay.py": AFTER, "src/more.py": "import os\n"})
    github_api.state.left["core"] = RESERVE + 5

    result = posted(office)

    assert result.outcome == "posted"
    assert "kept for posting" in pull.reviews[0].body
    assert pull.repository.checks[0].status == "completed"
