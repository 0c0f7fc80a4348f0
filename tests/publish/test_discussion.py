"""What a reply leads to, and what is answered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Usage
from reviewbot.publish.discussion import (
    MAX_IN_PULL,
    MAX_IN_THREAD,
    ReplyRuling,
    Step,
    answer_dispute,
    next_step,
    outcome_of,
)
from reviewbot.publish.marker import DiscussionMarker
from tests.make import MakeFinding
from tests.publishing import NAME, SIGNER, read_tree, record

CODE, OTHER = "a" * 12, "b" * 12


def said(outcome: str, comment: int = 1, code: str = CODE) -> DiscussionMarker:
    return DiscussionMarker(NAME, comment, outcome, code)


@pytest.mark.parametrize(
    ("reply", "step"),
    [
        ("Why?", "answer"),
        ("Is that so?)", "answer"),
        ("\u4e3a\u4ec0\u4e48\uff1f", "answer"),
        ("> is it?\n\nNo, it is checked above.", "judge"),
        ("No. `a ? b : c?` is fine", "judge"),
        ("Das ist so gewollt", "judge"),
        ("Fixed, but I think that it was right before", "judge"),
        ("Thanks, good catch!", "nothing"),
        ("fixed in 0a1b2c3", "nothing"),
        ("> all\n> quoted", "nothing"),
        ("", "nothing"),
        ("\u200b", "nothing"),
    ],
)
def test_a_question_is_answered_and_a_dispute_judged(reply: str, step: Step) -> None:
    assert next_step(reply, 9, CODE, (), 0) == step


@pytest.mark.parametrize("outcome", ["stands", "withdrawn", "person", "disputed"])
def test_the_same_code_is_judged_once_and_other_code_again(outcome: str) -> None:
    earlier = (said("answered"), said(outcome, 2))

    assert next_step("No", 9, CODE, earlier, 2) == "nothing"
    assert next_step("No", 9, OTHER, earlier, 2) == "judge"
    assert next_step("Why?", 9, CODE, earlier, 2) == "answer"
    assert next_step("Why?", 2, CODE, earlier, 2) == "nothing"


def test_answers_are_bounded_for_each_thread_and_each_pull_request() -> None:
    earlier = [said("answered", number) for number in range(MAX_IN_THREAD)]

    assert next_step("Why?", 99, CODE, earlier[1:], MAX_IN_PULL - 1) == "answer"
    assert next_step("Why?", 99, CODE, earlier, MAX_IN_PULL - 1) == "nothing"
    assert next_step("Why?", 99, CODE, (), MAX_IN_PULL) == "nothing"


@given(st.text(max_size=3_000))
def test_any_text_leads_to_one_of_three_steps(reply: str) -> None:
    assert next_step(reply, 9, CODE, (), 0) in ("nothing", "answer", "judge")


@pytest.mark.parametrize(
    ("confidence", "severity", "category", "by_model", "outcome"),
    [
        (80, "warning", "logic", True, "stands"),
        (79, "warning", "logic", True, "person"),
        (50, "warning", "logic", True, "person"),
        (49, "warning", "logic", True, "withdrawn"),
        (0, "critical", "logic", True, "person"),
        (0, "warning", "secret", True, "person"),
        (0, "info", "logic", False, "person"),
        (95, "critical", "logic", False, "stands"),
    ],
)
def test_no_reply_withdraws_what_is_critical_a_secret_or_found_by_a_program(
    a_finding: MakeFinding,
    confidence: int,
    severity: str,
    category: str,
    by_model: bool,  # noqa: FBT001 - a column of the table
    outcome: str,
) -> None:
    ruling = ReplyRuling(confidence, "because", Usage())
    assert outcome_of(a_finding(severity=severity, category=category), ruling, by_model=by_model) == outcome


def test_a_judges_reason_is_shown_as_text() -> None:
    ruling = ReplyRuling(
        30, "<b>no</b> @octocat <!-- reviewbot:finding -->", Usage(input_tokens=1_200, output_tokens=1)
    )
    text = answer_dispute(record(), "withdrawn", "dev", ruling)

    assert "1,200 tokens read, 1 token written" in text
    assert "`@octocat`" in text
    assert not [each for each in read_tree(text).shape if each.startswith(("html", "link"))]


@given(st.integers(0, 10**18 - 1), st.text("0123456789abcdef", max_size=64))
def test_a_discussion_is_read_as_it_was_written(comment: int, code: str) -> None:
    marker = DiscussionMarker(NAME, comment, "stands", code)
    body = f"text\n\n{SIGNER.discussion(4242, 7, marker)}\n"

    assert SIGNER.read_discussion(body, 4242, 7) == marker
    assert SIGNER.read_discussion(body, 4242, 8) is None
    assert SIGNER.read_answer(body, 4242, 7) is None
