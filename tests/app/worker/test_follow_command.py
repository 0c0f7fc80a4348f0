"""Commands in comments on our GitHub, with the real steps and analyzers: what each does, for whom, and how often."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewbot.app.triggers.commands import command_in
from reviewbot.app.worker.follow_command import HELP, MAX_OF_ONE
from reviewbot.memory.packing import leave_out, pack, unpack
from reviewbot.publish.marker import Signer
from tests.app.worker.shop import Shop
from tests.app.worker.talking import Talk
from tests.github_api.state import Account, Comment

pytestmark = pytest.mark.slow


def test_help_is_answered_once_for_everyone_and_acknowledged(talk: Talk) -> None:
    ends = talk.write("/reviewbot help", actor="stranger", comment_id=901)
    talk.write("@ReviewBot[bot] HELP", actor="stranger", comment_id=901)

    assert (ends, len(talk.said), talk.reactions) == ([], 1, ["reaction to 901"] * 2)
    assert talk.said[0].startswith(HELP.rstrip())


def test_an_answer_is_no_command_and_mentions_no_account(talk: Talk) -> None:
    talk.write("/reviewbot help")
    talk.write("/reviewbot explain @everyone/team <!-- reviewbot:answer --> `@octocat`")
    talk.write("/reviewbot effort @octocat")

    assert len(talk.said) == 3
    assert [command_in(body, "reviewbot") for body in talk.said] == [None] * 3
    assert not any(word in body for body in talk.said for word in ("@everyone", "@octocat"))


def test_explain_tells_what_the_trace_has_to_everyone_without_a_review(talk: Talk) -> None:
    ends = talk.write(f"/reviewbot explain {talk.finding[:8]}", actor="stranger")

    assert (ends, len(talk.pull.reviews)) == ([], 1)
    assert "pay.py:2" in talk.said[0]
    assert len(talk.said[0].splitlines()) > 4


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("explain", "Name a finding"),
        ("explain ../../etc", "Name a finding"),
        ("explain " + "0" * 32, "No finding of this pull request"),
        ("dismiss", "A dismissal needs"),
        ("dismiss " + "0" * 32, "A dismissal needs"),
        ("dismiss 00000000 because", "No finding of this pull request"),
        ("effort infinite", "There is no such effort"),
    ],
)
def test_what_cannot_be_done_is_answered_and_orders_nothing(talk: Talk, words: str, answer: str) -> None:
    assert talk.write(f"/reviewbot {words}") == []
    assert [body.startswith(answer) for body in talk.said] == [True]


@pytest.mark.parametrize("words", ["review", "full review", "pause", "resume", "effort deep", "dismiss {} no"])
def test_a_stranger_can_do_nothing_by_the_word_of_the_host(talk: Talk, words: str) -> None:
    """The payload said that they may; the API says that they may not."""
    before = len(talk.shop.writes())
    ends = talk.write(f"/reviewbot {words.format(talk.finding)}", actor="stranger")

    assert (ends, talk.said, talk.reactions, len(talk.shop.writes())) == ([], [], [], before)


def test_a_dismissal_says_who_and_why_and_outlives_the_next_push(talk: Talk) -> None:
    name = talk.finding
    ends = talk.write(f"/reviewbot dismiss `{name[:10]}` @octocat <b>says</b> it is *fine*\u202e\x07 | `x`")

    assert [end.state for end in ends] == ["posted"]
    assert len(talk.pull.reviews) == 1
    summary = talk.pull.reviews[0].body
    assert "(a comment) (dev)" in summary
    assert not any(bad in summary for bad in ("<b>", "\u202e", "\x07"))
    assert talk.pull.comments[0].resolved
    assert "Dismissed as of" in talk.pull.comments[-1].body

    head = talk.shop.commit("feature", pay__py="import os\n" + Path(talk.shop.folder, "pay.py").read_text("utf-8"))
    talk.shop.github.push("acme/shop", talk.pull.number, head)
    comments = len(talk.pull.comments)
    assert talk.carry_out(talk.shop.order(talk.pull)).state == "posted"
    assert "(a comment) (dev)" in talk.pull.reviews[0].body
    assert not [each for each in talk.pull.comments[comments:] if "is 3" in each.body]


def test_a_dismissal_by_the_id_of_a_comment_in_its_own_thread_is_answered_there_with_an_entry_for_the_file(
    talk: Talk,
) -> None:
    first = talk.pull.comments[0]
    called = re.search(r"ID `([0-9a-f]{10})`", first.body)
    assert called is not None
    words = f"/reviewbot dismiss {called[1]} we compare by identity here"
    own = Comment(7_000, None, Account(11, "dev"), first.path, words, 2, "", in_reply_to_id=first.comment_id)
    talk.pull.comments.append(own)

    assert [end.state for end in talk.write(words, comment_id=7_000, kind="review")] == ["posted"]
    assert first.resolved
    assert talk.pull.comments[-1].body.startswith("**Dismissed as of**")
    assert f'finding = "{talk.finding}"' in talk.pull.comments[-1].body


def test_a_head_whose_run_ended_without_a_review_is_listed_as_not_posted_once(talk: Talk) -> None:
    heads, orders = [], []
    for number in range(3):
        heads.append(talk.shop.commit("feature", **{f"b{number}__py": "B = 1\n"}))
        talk.shop.github.push("acme/shop", talk.pull.number, heads[-1])
        orders.append(talk.shop.order(talk.pull))
        if number == 1:
            assert talk.carry_out(orders[0]).state == "moved"
        if number:
            assert talk.carry_out(orders[-1]).state == "posted"

    rows = re.findall(r"^\| `([0-9a-f]{10})` \| ([a-z ]+) \|", talk.pull.reviews[0].body, re.MULTILINE)
    assert [outcome for _, outcome in rows] == ["reviewed", "not posted", "reviewed", "reviewed"]
    assert [name for name, _ in rows][1:] == [each[:10] for each in heads]


def test_a_paused_pull_request_gets_no_review_of_a_push_until_it_is_resumed(talk: Talk) -> None:
    assert talk.write("/reviewbot pause") == []
    head = talk.shop.commit("feature", pay__py="def pay(order):\n    return order is 4\n")
    talk.shop.github.push("acme/shop", talk.pull.number, head)
    end = talk.carry_out(talk.shop.order(talk.pull))

    assert (end.state, "dev has paused" in end.reason) == ("refused", True)
    assert "dev has paused" in talk.pull.repository.checks[-1].summary
    assert [end.state for end in talk.write("/reviewbot review")] == ["posted"]
    assert [end.state for end in talk.write("/reviewbot resume")] == ["posted"]
    assert "paused" not in talk.carry_out(talk.shop.order(talk.pull)).reason


def test_a_review_is_repeated_only_where_a_full_one_is_asked_for(talk: Talk) -> None:
    edits = [path for path in talk.shop.writes() if "/reviews/" in path]
    assert [end.reason for end in talk.write("/reviewbot review")] == ["the review of this head stands there already"]
    assert [path for path in talk.shop.writes() if "/reviews/" in path] == edits
    assert [(end.state, end.reason) for end in talk.write("/reviewbot Full  Review")] == [("posted", "")]
    assert [(end.state, end.reason) for end in talk.write("/reviewbot effort DEEP")] == [("posted", "")]
    assert len([path for path in talk.shop.writes() if "/reviews/" in path]) == len(edits) + 2
    assert len(talk.pull.reviews) == 1


def test_a_command_in_a_thread_is_answered_there(talk: Talk) -> None:
    first = talk.pull.comments[0]
    own = Comment(
        7_000, None, Account(11, "dev"), first.path, "/reviewbot help", 2, "", in_reply_to_id=first.comment_id
    )
    talk.pull.comments.append(own)
    talk.write("/reviewbot help", comment_id=7_000, kind="review")
    talk.write("/reviewbot help", comment_id=7_000, kind="review")

    assert (talk.said, [each.body.startswith("**reviewbot**") for each in talk.pull.comments[2:]]) == ([], [True])


def test_two_programs_that_answer_each_other_come_to_an_end(talk: Talk) -> None:
    for _ in range(MAX_OF_ONE + 5):
        talk.write("/reviewbot help", actor="machine")

    assert len(talk.said) == len(talk.reactions) == MAX_OF_ONE


def test_a_finding_for_which_the_ledger_has_no_room_is_dismissed_by_the_start_of_its_fingerprint(talk: Talk) -> None:
    name, place = talk.finding, (talk.pull.repository.repository_id, talk.pull.number)
    signer, summary = Signer((b"k" * 32,)), talk.pull.reviews[0]
    marker, kept = signer.read_review(summary.body, *place), unpack(signer.read_ledger(summary.body, *place) or "")
    assert marker is not None
    assert kept is not None
    full = leave_out(kept, kept.records)
    summary.body = re.sub(r"<!-- reviewbot:review .*?-->", lambda _: signer.review(marker, pack(full)), summary.body)
    talk.pull.comments.clear()

    assert talk.write("/reviewbot dismiss 00000000ff it is fine") == []
    assert talk.said[-1].startswith("No finding of this pull request")
    assert [end.state for end in talk.write(f"/reviewbot dismiss {name[:10]} it is fine")] == ["posted"]
    assert "is 3" not in talk.pull.reviews[0].body.partition("Withheld")[0]
    assert "it is fine (a comment) (dev)" in talk.pull.reviews[0].body


def test_a_head_before_the_first_posted_review_is_listed_as_not_posted_in_that_review(shop: Shop) -> None:
    pull = shop.open()
    first = shop.order(pull)
    head = shop.commit("feature", b__py="B = 1\n")
    shop.github.push("acme/shop", pull.number, head)

    assert [shop.run(first).state, shop.run(shop.order(pull)).state] == ["moved", "posted"]
    rows = re.findall(r"^\| `([0-9a-f]{10})` \| ([a-z ]+) \|", pull.reviews[0].body, re.MULTILINE)
    assert rows == [(first.head_sha[:10], "not posted"), (head[:10], "reviewed")]
