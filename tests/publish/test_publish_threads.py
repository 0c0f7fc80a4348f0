"""What is rebuilt from what stands on a pull request, and what is said in its threads."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
from dataclasses import replace

import pytest

from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.base import PostedComment, PostedReview, Thread
from reviewbot.memory.decisions import read_decisions
from reviewbot.memory.packing import pack
from reviewbot.memory.recall import RETURNED
from reviewbot.publish.marker import AnswerMarker, ReviewMarker
from reviewbot.publish.rebuild_ledger import RebuiltLedger, rebuild, remember
from reviewbot.publish.threads import Answering, answer_text, proposed_decision
from tests.publishing import HEAD, NAME, OWN, POLICY, SIGNER, STRANGER, RecordingHost, a_pull, record

OTHER = "2" * 32


def comment(body: str, author: int = OWN) -> PostedComment:
    return PostedComment(comment_id=1, author_id=author, author="octocat", association="MEMBER", body=body)


def thread(*replies: PostedComment, name: str = NAME, resolved: bool | None = False, author: int = OWN) -> Thread:
    first = comment(f"**Warning:** it is wrong\n\n{SIGNER.finding(4242, 7, name)}", author)
    return Thread(thread_id=5, path="src/app.py", line=3, resolved=resolved, comments=(first, *replies))


def summary(ledger: Ledger, review_id: int = 1, author: int = OWN, **fields: int) -> PostedReview:
    marker = replace(ReviewMarker(4242, 7, HEAD, POLICY), **fields)  # type: ignore[arg-type]
    body = f"## reviewbot\n\n{SIGNER.review(marker, pack(ledger))}\n"
    return PostedReview(review_id, author, HEAD, body, "https://github.example/1")


def rebuilt(*threads: Thread, reviews: tuple[PostedReview, ...] = ()) -> RebuiltLedger:
    return rebuild(a_pull(), SIGNER, OWN, reviews, threads)


def answered(state: str) -> PostedComment:
    return comment(f"**Fixed by** it\n\n{SIGNER.answer(4242, 7, AnswerMarker(NAME, state, HEAD))}")


# --- the ledger


def test_the_newest_summary_has_the_ledger() -> None:
    old, new = Ledger(records=(record(),)), Ledger(records=(record("fixed"),))

    assert rebuilt(reviews=(summary(new, 3), summary(old, 2))).ledger == new
    assert rebuilt(reviews=(summary(old, 2), summary(new, 3, newer=2))).ledger == old
    assert rebuilt(reviews=(summary(old, 2), summary(new, 3, summary=2))).ledger == old


def test_a_summary_without_a_ledger_and_one_of_another_pull_request_leave_an_empty_one() -> None:
    bare = SIGNER.review(ReviewMarker(4242, 7, HEAD, POLICY))
    other = SIGNER.review(ReviewMarker(4242, 8, HEAD, POLICY), pack(Ledger(records=(record(),))))
    reviews = (PostedReview(1, OWN, HEAD, bare, ""), PostedReview(2, OWN, HEAD, other, ""))

    assert rebuilt(reviews=reviews) == RebuiltLedger(Ledger(), (), ())


def test_a_thread_that_the_ledger_does_not_know_is_a_record_in_the_state_of_our_last_reply() -> None:
    assert [each.state for each in rebuilt(thread()).ledger.records] == ["open"]
    found = rebuilt(thread(answered("open"), answered("fixed"), comment("thanks", STRANGER)))

    assert [(each.state, each.head, each.line) for each in found.ledger.records] == [("fixed", HEAD, 3)]
    assert found.threads[0].has_others
    assert [each.state for each in rebuilt(thread(answered("gone"))).ledger.records] == ["open"]


@pytest.mark.parametrize(("head", "state"), [(HEAD, "new"), ("c" * 40, "open")])
def test_a_thread_of_a_run_that_was_killed_before_its_summary_is_of_that_runs_head(head: str, state: str) -> None:
    part = SIGNER.review(ReviewMarker(4242, 7, head, POLICY, summary=1))
    reviews = (summary(Ledger(), 1), PostedReview(2, OWN, head, part, ""))

    (found,) = rebuilt(thread(), reviews=reviews).ledger.records
    assert (found.state, found.head, found.since) == (state, head, head)


def test_a_thread_of_a_record_adds_nothing() -> None:
    ledger = Ledger(records=(record("fixed", names=(OTHER, NAME)),))

    assert rebuilt(thread(), reviews=(summary(ledger),)).ledger == ledger


def test_marks_of_another_account_do_not_count_and_are_named() -> None:
    forged = Ledger(records=(record("dismissed"),))
    found = rebuilt(
        thread(author=STRANGER),
        thread(replace(answered("fixed"), author_id=STRANGER)),
        reviews=(summary(forged, author=STRANGER),),
    )

    assert [each.state for each in found.ledger.records] == ["open"]
    assert found.notes == (
        "a review by account 78 has a marker of reviewbot, and does not count",
        "a comment by octocat has a marker of reviewbot, and does not count",
    )


def test_a_ledger_that_was_pasted_into_our_summary_does_not_count_and_is_named(host: RecordingHost) -> None:
    """People with write access may edit a review of ours, and put back an older, rightly signed ledger."""
    host.posted = [summary(Ledger(records=(record("dismissed"),)))]
    host.edited_by = {1: OWN}
    assert [each.state for each in asyncio.run(remember(a_pull(), SIGNER, host)).ledger.records] == ["dismissed"]
    host.edited_by = {1: STRANGER}
    found = asyncio.run(remember(a_pull(), SIGNER, host))

    assert found.ledger == Ledger()
    assert found.notes == ("review 1 was edited by another account, and the ledger in it does not count",)


# --- what is said


def say(host: RecordingHost, *records: Record) -> list[str]:
    threads = rebuilt(*host.at_lines).threads
    return asyncio.run(Answering(a_pull(), SIGNER, host).answer_all(threads, Ledger(records=records))).notes


@pytest.mark.parametrize("state", ["fixed", "dismissed", "refuted", "outdated"])
def test_what_is_dealt_with_is_answered_once_and_resolved(host: RecordingHost, state: str) -> None:
    host.at_lines = [thread()]
    assert say(host, record(state)) == []
    assert say(host, record(state)) == []

    (found,) = host.at_lines
    assert (len(found.comments), found.resolved) == (2, True)
    assert HEAD[:10] in found.comments[1].body
    assert "its code changed" in found.comments[1].body


def test_an_answer_whose_resolving_failed_is_resolved_by_the_next_run(host: RecordingHost) -> None:
    host.at_lines = [thread()]
    host.faults["resolve"] = [HostAccessError("no")]
    assert say(host, record("fixed")) == ["1 thread could not be answered or resolved: no"]
    say(host, record("fixed"))

    (found,) = host.at_lines
    assert (len(found.comments), found.resolved) == (2, True)


def test_a_thread_that_a_person_opens_again_silently_stays_open(host: RecordingHost) -> None:
    host.at_lines = [thread()]
    threads = rebuilt(*host.at_lines).threads
    after = asyncio.run(Answering(a_pull(), SIGNER, host).answer_all(threads, Ledger(records=(record("fixed"),))))
    assert [each.settled for each in after.ledger.records] == [True]
    host.at_lines = [replace(each, resolved=False) for each in host.at_lines]
    said = len(host.at_lines[0].comments)
    say(host, *after.ledger.records)
    say(host, record("outdated", settled=True))

    assert (host.at_lines[0].resolved, len(host.at_lines[0].comments)) == (False, said)


def test_a_host_that_refuses_is_asked_no_more_than_three_times(host: RecordingHost) -> None:
    host.at_lines = [thread()] * 9
    host.faults["reply"] = [HostAccessError("no")] * 9

    assert say(host, record("fixed")) == ["3 threads could not be answered or resolved: no"]


@pytest.mark.parametrize(
    ("left", "records"),
    [
        (thread(comment("why?", STRANGER)), [record("fixed")]),
        (thread(resolved=True), [record("fixed")]),
        (thread(), [record("open")]),
        (thread(answered("fixed"), resolved=True), [record("fixed")]),
        (thread(name=OTHER), [record("fixed")]),
    ],
    ids=["a person wrote", "a person resolved it", "it is open", "it was said", "it is of no record"],
)
def test_other_threads_are_left_alone(host: RecordingHost, left: Thread, records: list[Record]) -> None:
    host.at_lines = [left]

    assert say(host, *records) == []
    assert host.at_lines == [left]


def test_a_finding_that_is_back_is_said_in_its_thread(host: RecordingHost) -> None:
    host.at_lines = [thread(answered("fixed"), resolved=True)]
    say(host, record("open"))
    say(host, record("open"))

    (found,) = host.at_lines
    assert (len(found.comments), found.resolved) == (3, False)
    assert found.comments[2].body.startswith("**Back since**")


def test_a_finding_that_is_back_is_said_once_in_the_thread_that_a_person_resolved_with_its_fix(
    host: RecordingHost,
) -> None:
    host.at_lines = [thread(resolved=True)]
    say(host, record("open", reason=RETURNED))
    say(host, record("open", reason=RETURNED))

    (found,) = host.at_lines
    assert (len(found.comments), found.resolved) == (2, False)
    assert found.comments[1].body.startswith("**Back since**")


def test_a_thread_that_a_person_resolved_without_a_fix_is_left_alone(host: RecordingHost) -> None:
    host.at_lines = [left] = [thread(resolved=True)]
    say(host, record("open", reason="found again"))

    assert host.at_lines == [left]


def test_a_run_that_is_killed_while_it_says_that_a_finding_is_back_leaves_its_thread_open(host: RecordingHost) -> None:
    host.at_lines = [thread(answered("fixed"), resolved=True)]
    host.faults["reply"] = [HostAccessError("killed")]
    say(host, record("open"))
    assert host.at_lines[0].resolved is False

    say(host, record("open"))
    assert (len(host.at_lines[0].comments), host.at_lines[0].resolved) == (3, False)


def test_an_answer_names_who_dismissed_it_and_escapes_their_words() -> None:
    text = answer_text(record("dismissed", who="@jo", reason="<b>no</b> @all"))

    assert "<b>" not in text
    assert "\n" not in text
    assert "jo" in text


def test_a_dismissal_by_a_comment_is_proposed_as_an_entry_of_the_file_of_decisions(host: RecordingHost) -> None:
    host.at_lines = [thread()]
    words = {"who": "jo", "reason": '```\n<!-- reviewbot: --> "fine" (a comment)', "origin": "comment"}
    say(host, record("dismissed", title="`x` is <b>wrong</b>", **words))
    said = host.at_lines[0].comments[1].body
    fence = re.search(r"^(`{3,})toml\n(.*?)\n\1$", said, re.DOTALL | re.MULTILINE)

    assert fence is not None
    (decision,), notes = read_decisions(fence[2], dt.date(2026, 1, 1))
    assert (decision.finding, decision.author, notes) == (NAME, "jo", ())
    assert SIGNER.read_answer(said, 4242, 7) == AnswerMarker(NAME, "dismissed", HEAD)
    assert list(proposed_decision(record("dismissed", origin="decisions"))) == []


@pytest.mark.parametrize(
    ("body", "is_talk"),
    [
        ("/reviewbot dismiss 1 no", False),
        ("@reviewbot help\n", False),
        ("/reviewbot help\nWhy?", True),
        ("> /reviewbot help", True),
    ],
)
def test_a_command_in_a_thread_is_no_word_to_other_people(body: str, is_talk: bool) -> None:  # noqa: FBT001 - a case
    assert rebuilt(thread(comment(body, STRANGER))).threads[0].has_others is is_talk


def test_an_answer_names_the_commit_that_fixed_it_and_else_the_head_as_such() -> None:
    assert answer_text(record("fixed", commit="c" * 40)).startswith(f"**Fixed by** `{'c' * 10}`: ")
    assert answer_text(record("fixed")).startswith(f"**Fixed as of** `{HEAD[:10]}`: ")
    assert answer_text(record("fixed", head="")).startswith("**Fixed as of** this head: ")
