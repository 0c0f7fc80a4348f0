from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts.feedback import Label, Outcome
from reviewbot.domain.contracts.ledger import FindingState, Record
from reviewbot.memory.feedback import HOLDS, dismissed_as, events, label_of, verdict_of

DOCUMENT = Path(__file__).parents[2] / "docs/feedback.md"
NAME = "0123456789abcdef" * 2


def a_label(**fields: Any) -> Label:
    return Label(finding=NAME, **fields)


labels = st.builds(
    Label,
    finding=st.just(NAME),
    state=st.sampled_from(get_args(FindingState)),
    origin=st.sampled_from(("review", "comment", "decisions", "settings")),
    dismissed_as=st.sampled_from(("", "wrong", "unwanted", "unclear")),
    queue=st.sampled_from(("", "confirmed", "dismissed")),
    up=st.integers(0, 2),
    down=st.integers(0, 2),
    resolved=st.booleans(),
    outcome=st.sampled_from(get_args(Outcome)),
)


@pytest.mark.parametrize(
    ("fields", "right", "weight", "acted"),
    [
        ({"state": "fixed"}, True, 1.0, True),
        ({"state": "open"}, None, 0.0, False),
        ({"state": "open", "resolved": True}, None, 0.0, False),
        ({"state": "outdated"}, None, 0.0, None),
        ({"state": "refuted"}, False, 0.5, None),
        ({"state": "dismissed", "origin": "settings"}, None, 0.0, False),
        ({"state": "dismissed", "origin": "comment", "dismissed_as": "wrong"}, False, 1.0, False),
        ({"state": "dismissed", "origin": "decisions", "dismissed_as": "unwanted"}, True, 0.5, False),
        ({"state": "dismissed", "origin": "comment", "dismissed_as": "unclear"}, False, 0.5, False),
        ({"state": "open", "down": 1}, False, 0.5, False),
        ({"state": "open", "up": 2, "down": 1}, True, 0.5, False),
        ({"state": "fixed", "down": 1}, False, 0.5, True),
        ({"state": "open", "queue": "confirmed"}, True, 1.0, False),
        ({"state": "fixed", "queue": "confirmed"}, True, 1.0, True),
        ({"state": "fixed", "queue": "dismissed"}, False, 1.0, False),
    ],
)
def test_what_a_label_of_a_merged_pull_request_says(
    fields: dict[str, Any],
    right: bool | None,  # noqa: FBT001 - an expectation
    weight: float,
    acted: bool | None,  # noqa: FBT001 - as above
) -> None:
    verdict = verdict_of(a_label(outcome="merged", **fields))

    assert (verdict.right, verdict.weight, verdict.acted) == (right, weight, acted)


@given(label=labels)
def test_before_a_merge_nothing_counts_as_acted_on_or_ignored(label: Label) -> None:
    verdict = verdict_of(label.model_copy(update={"outcome": "open"}))

    assert verdict.acted is None
    assert verdict.right == verdict_of(label).right


@given(label=labels)
def test_a_persons_decision_outranks_what_a_program_concludes(label: Label) -> None:
    by_hand = label.model_copy(update={"queue": "confirmed"})

    assert verdict_of(by_hand).right is True
    assert verdict_of(by_hand.model_copy(update={"queue": "dismissed"})).right is False


@given(label=labels)
def test_a_verdict_has_a_weight_and_its_events(label: Label) -> None:
    verdict = verdict_of(label)

    assert (verdict.weight > 0) == (verdict.right is not None)
    assert verdict.weight <= 1
    assert set(verdict.events) <= set(HOLDS)


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("False positive: the table is ours", "wrong"),
        ("This is WRONG, the caller holds the lock", "wrong"),
        ("can\N{RIGHT SINGLE QUOTATION MARK}t happen here", "wrong"),
        ("won't fix before the release", "unwanted"),
        ("by design (a comment)", "unwanted"),
        ("the table is filled by us alone", "unclear"),
        ("known wrong report", "wrong"),
        ("annotating", "unclear"),
        ("", "unclear"),
    ],
)
def test_the_reason_of_a_dismissal_becomes_one_of_three_words(reason: str, meaning: str) -> None:
    assert dismissed_as(reason) == meaning


def test_a_label_holds_no_text_of_a_person_and_no_code() -> None:
    secret = "see password hunter2 in billing"
    record = Record(
        names=(NAME,),
        path=f"src/{secret}.py",
        symbol=secret,
        kind=secret,
        title=secret,
        type="security",
        rule="",
        source="model-x",
        stated=88,
        state="dismissed",
        reason=f"{secret}: wrong",
        who=secret,
        origin="comment",
        at="",
        head="a" * 40,
        since="a" * 40,
    )
    label = label_of(record, 5, "7")

    assert secret not in label.model_dump_json()
    assert (label.dismissed_as, label.stated, label.source, label.kind) == ("wrong", 88, "model-x", "")


def test_a_models_label_has_its_cause_and_a_programs_label_its_rule() -> None:
    record = Record(
        names=(NAME,), path="a.py", kind="race", state="open", reason="r", who="w", at="", head="", since=""
    )

    assert label_of(record).kind == "race"
    assert label_of(record.model_copy(update={"by_model": False, "rule": "S608"})).kind == ""


def test_each_event_of_the_table_is_known_and_stands_in_the_document() -> None:
    assert [event.name for event in events()] == list(HOLDS)
    text = DOCUMENT.read_text(encoding="utf-8")
    for event in events():
        right = {True: "yes", False: "no", None: ""}[event.right]
        weight = f"{event.weight:g}" if event.weight else ""
        assert f"| `{event.name}` | {right} | {weight} | {event.acted} | {event.why} |" in text
