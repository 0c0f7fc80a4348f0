"""Fetch, review, post on each host: one review of one head, with its check run, and what a second run makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from reviewbot import wiring
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import EmptyChangeError, ExitCode, HostMissingError, HostMovedError
from reviewbot.hosts.base import PostedReview
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import Reviewed, prepare
from tests.host_cases import AFTER, BEFORE, GithubCase, HostCase
from tests.make import one_fast
from tests.pull_steps import review
from tests.still_clock import StillClock

CLEAN = "def pay(order):\n    return order or None\n"


@pytest.fixture
def session(case: HostCase) -> HostSession:
    return session_of(case)


def session_of(case: HostCase) -> HostSession:
    """As another process would have it."""
    return HostSession(case.host, Signer.from_environment({}), clock=StillClock())


def options(environ: Mapping[str, str] | None = None, inline: int = 0) -> RunOptions:
    return RunOptions(flags={"inline": inline}, inputs=wiring.RunInputs(environ=environ or {}))


def made(case: HostCase, session: HostSession, how: RunOptions | None = None) -> Reviewed:
    async def both() -> Reviewed:
        return await review(session, await fetch(session, case.repository, 1), how or options())

    return asyncio.run(both())


def reviewed_and_posted(case: HostCase, how: RunOptions | None = None) -> PullPosted:
    session = session_of(case)
    return asyncio.run(post(session, made(case, session, how).value))


def before(case: HostCase) -> PullPosted | None:
    """What a second run finds before it reviews."""
    session = session_of(case)
    with ExitStack() as closing:
        ref = asyncio.run(fetch(session, case.repository, 1))
        return asyncio.run(find_posted(session, prepare(session, ref, options(), closing)))


def reviews(case: HostCase) -> tuple[PostedReview, ...]:
    return case.host.reviews(case.pull()).reviews()


def colours(case: HostCase) -> list[str | None]:
    return [each.conclusion for each in case.checks()]


def test_a_pull_request_is_reviewed_and_posted_with_its_comment_and_check(case: HostCase, session: HostSession) -> None:
    found = made(case, session, options(inline=10))
    posted = asyncio.run(post(session, found.value))

    [mine] = reviews(case)
    [thread] = case.host.reviews(case.pull()).threads()
    [check] = case.checks()
    assert (posted.outcome, posted.inline, posted.notes) == ("posted", 1, ())
    assert (posted.review_id, posted.url) == (mine.review_id, mine.url)
    assert (mine.commit_sha, mine.blocks) == (case.pull().head_sha, False)
    assert (thread.path, thread.line) == ("src/pay.py", 2)
    assert "```suggestion\n    if order == 3:\n```" in thread.comments[0].body
    assert found.code == ExitCode.REVIEWED
    assert (check.name, check.head_sha, check.marks) == ("reviewbot", mine.commit_sha, 1)


def test_a_second_run_posts_nothing_and_finds_the_first(case: HostCase) -> None:
    first = reviewed_and_posted(case)
    found = before(case)
    second = reviewed_and_posted(case)

    assert found is not None
    assert (found.outcome, found.review_id) == ("already_posted", first.review_id)
    assert (second.outcome, second.review_id) == ("already_posted", first.review_id)
    assert len(reviews(case)) == 1


def test_where_nothing_was_posted_nothing_is_found(case: HostCase) -> None:
    assert before(case) is None


@pytest.mark.slow
def test_the_report_of_a_newer_head_takes_the_place_of_the_older_one(case: HostCase) -> None:
    first = reviewed_and_posted(case, options(inline=10))
    case.push(**{"src/pay.py": AFTER + "\n\ndef late(order):\n    return order is 'x'\n"})
    second = reviewed_and_posted(case, options(inline=10))

    summary, added = reviews(case)
    assert first.review_id == second.review_id == summary.review_id
    assert "Over 2 heads" in summary.body
    assert "reviewbot:review" in added.body, "with its marker"
    assert (second.outcome, second.inline) == ("posted", 1), "the finding that has its comment gets no second one"


@pytest.mark.slow
def test_a_decision_that_the_base_branch_gets_later_counts_for_the_same_head(case: HostCase) -> None:
    gate = options({"REVIEWBOT_FAIL_ON": "warning"}, inline=10)
    session = session_of(case)
    found = made(case, session, gate)
    asyncio.run(post(session, found.value))
    [name] = found.delivered.fingerprints.values()
    case.repo.git("checkout", "--quiet", "main")
    entry = f'[[decision]]\nfinding = "{name}"\nauthor = "jo"\nreason = "three is the only one"\n'
    case.repo.commit({".reviewbot/decisions.toml": entry})
    if isinstance(case, GithubCase):
        case.api.state.repositories[case.repository].pulls[1].base_sha = case.repo.git("rev-parse", "main")
    later = made(case, session_of(case), gate)
    posted = asyncio.run(post(session_of(case), later.value))

    assert (found.code, later.code) == (ExitCode.GATE, ExitCode.REVIEWED)
    assert (posted.outcome, posted.inline) == ("posted", 0)
    [summary] = reviews(case)
    assert "three is the only one" in summary.body
    [thread] = case.host.reviews(case.pull()).threads()
    assert (thread.resolved, "**Dismissed as of**" in thread.comments[1].body) == (True, True)


@pytest.mark.slow
def test_a_strangers_copy_of_our_review_is_none_of_ours(case: HostCase) -> None:
    reviewed_and_posted(case)
    [mine] = reviews(case)
    case.disown(mine.review_id)

    assert before(case) is None
    assert reviewed_and_posted(case).outcome == "posted"


def test_a_head_that_moved_after_the_review_gets_nothing_and_a_cancelled_check(
    case: HostCase, session: HostSession
) -> None:
    value = made(case, session).value
    case.push(**{"src/pay.py": BEFORE + "\n"})
    posted = asyncio.run(post(session, value))

    assert (posted.outcome, reviews(case), colours(case)) == ("head_moved", (), ["cancelled"])


def test_a_head_that_moved_before_the_review_is_not_reviewed(case: HostCase, session: HostSession) -> None:
    ref = asyncio.run(fetch(session, case.repository, 1))
    new = case.push(**{"src/pay.py": BEFORE + "\n"})

    with pytest.raises(HostMovedError, match="moved on") as caught:
        asyncio.run(review(session, ref, options()))
    assert caught.value.head_sha == new


def test_another_repository_under_the_same_name_is_not_the_one_that_was_fetched(
    case: HostCase, session: HostSession
) -> None:
    ref = asyncio.run(fetch(session, case.repository, 1))

    with pytest.raises(HostMovedError):
        asyncio.run(review(session, ref.model_copy(update={"repository_id": 999}), options()))


@pytest.mark.parametrize(
    ("head", "variables", "code", "colour"),
    one_fast(
        [
            (CLEAN, {}, ExitCode.REVIEWED, "success"),
            (AFTER, {}, ExitCode.REVIEWED, "neutral"),
            (AFTER, {"REVIEWBOT_FAIL_ON": "warning"}, ExitCode.GATE, "failure"),
            ("def pay(order):\n    return (\n", {}, ExitCode.INCOMPLETE, "neutral"),
        ]
    ),
)
def test_the_check_has_the_colour_of_its_review(
    case: HostCase, session: HostSession, head: str, variables: dict[str, str], code: ExitCode, colour: str
) -> None:
    if head != AFTER:
        case.push(**{"src/pay.py": head})
    found = made(case, session, options(variables))
    asyncio.run(post(session, found.value))

    assert (found.code, colours(case)) == (code, [colour])


@pytest.mark.slow
def test_a_closed_gate_asks_for_changes_until_the_next_head(case: HostCase) -> None:
    gate = {"REVIEWBOT_FAIL_ON": "warning", "REVIEWBOT_REQUEST_CHANGES": "true"}
    reviewed_and_posted(case, options(gate))
    first = [each.blocks for each in reviews(case)]
    case.push(**{"src/pay.py": CLEAN})
    reviewed_and_posted(case, options(gate))

    assert (first, [each.blocks for each in reviews(case)]) == ([True], [False])


def test_a_run_that_is_not_going_to_post_writes_nothing(case: HostCase, session: HostSession) -> None:
    found = made(case, session, RunOptions(flags={"inline": 0}, to_post=False))

    assert (found.value.check_id, reviews(case)) == (None, ())


def test_settings_are_those_of_the_base_branch(case: HostCase, session: HostSession) -> None:
    case.push(**{".reviewbot.toml": "max_findings = 1\n"})
    found = made(case, session)

    assert any(
        ".reviewbot.toml: this change cannot configure its own review" in note for note in found.value.review.notes
    )


def test_what_is_not_there_and_what_changes_nothing_are_named(case: HostCase, session: HostSession) -> None:
    with pytest.raises(HostMissingError):
        asyncio.run(fetch(session, case.repository, 7))
    case.push(**{"src/pay.py": BEFORE})
    with pytest.raises(EmptyChangeError):
        made(case, session)
