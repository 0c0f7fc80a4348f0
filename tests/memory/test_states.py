from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts.ledger import FindingState, Record
from reviewbot.memory.states import NEXT, Event, Happening, advance
from tests.memory.pushes import sha

events = st.builds(
    Event,
    what=st.sampled_from(get_args(Happening)),
    why=st.text(min_size=1, max_size=20),
    who=st.text(min_size=1, max_size=20),
    head=st.integers(1, 9).map(sha),
    at=st.just("2026-01-01T00:00:00Z"),
)


def record(**fields: object) -> Record:
    known: dict[str, object] = {"names": ("0" * 32,), "path": "a.py", "state": "new", "reason": "first reported"}
    known |= {"who": "reviewbot", "at": "", "head": sha(1), "since": sha(1)}
    return Record.model_validate({**known, **fields})


@given(happened=st.lists(events, max_size=30))
def test_no_state_is_reached_without_a_reason_an_author_and_a_head(happened: list[Event]) -> None:
    now = record()
    for event in happened:
        before, now = now, advance(now, event)
        if now.state != before.state:
            assert (now.reason, now.who, now.head) == (event.why, event.who, event.head)
            assert NEXT[before.state, event.what] == now.state
        else:
            assert now == before
        assert now.since == before.since


@given(happened=st.lists(events, max_size=10), last=events)
def test_the_same_event_twice_changes_nothing_more(happened: list[Event], last: Event) -> None:
    now = record()
    for event in happened:
        now = advance(now, event)
    once = advance(now, last)

    if last.what != "found" or once.head == last.head:
        assert advance(once, last) == once


@given(happened=st.lists(events.filter(lambda event: event.what != "reinstated"), max_size=30))
def test_only_a_change_of_the_code_or_a_withdrawal_ends_a_decision(happened: list[Event]) -> None:
    now = record(state="dismissed", who="jo", reason="meant so")
    for event in happened:
        if event.what in ("fixed", "outdated"):
            break
        now = advance(now, event)

    assert (now.state, now.who, now.reason) == ("dismissed", "jo", "meant so")


def test_every_state_can_be_reached_and_every_state_but_the_first_can_be_left() -> None:
    states = set(get_args(FindingState))

    assert set(NEXT.values()) == states - {"new"}
    assert {state for state, _ in NEXT} == states


@pytest.mark.parametrize("event", [Event("fixed", "", "reviewbot", sha(2), ""), Event("fixed", "gone", "", sha(2), "")])
def test_an_event_without_a_reason_or_an_author_is_refused(event: Event) -> None:
    with pytest.raises(ValueError, match="for a reason"):
        advance(record(), event)
