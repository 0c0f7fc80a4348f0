"""Reviews that were killed or failed and are done again: nothing that had finished is asked, or paid, twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import WorkerCard
from reviewbot.review.trace import Event

Tell = Callable[..., Any]

FOUND = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 95,
    "category": "injection",
    "source": "ruff",
}
NOTHING: dict[str, Any] = {"findings": []}


def says(**fields: Any) -> dict[str, Any]:
    """A reply with one finding: `FOUND`, but for what is named."""
    return {"findings": [{**FOUND, **fields}]}


WORKERS_SCRIPT = [
    {"worker": "logic", "path": "*/orders.py", "replies": [{"fail": "bad_answer"}, says()]},
    {"worker": "security", "path": "*/orders.py", "replies": [says(severity="info")]},
    {"worker": "style", "replies": [{"escalate": {"reason": "ambiguous_input", "message": "two readings"}}, NOTHING]},
]


@pytest.mark.parametrize("moment", range(9))
def test_killed_in_the_middle_and_resumed_the_review_is_the_same_and_nothing_finished_is_asked_again(
    moment: int, story: Tell, a_card: Callable[..., WorkerCard], orders: bytes, cart: bytes
) -> None:
    cards = [a_card("logic"), a_card("security"), a_card("style", depends_on=("logic",))]
    whole = story(*cards, script=WORKERS_SCRIPT, diff=orders + cart)
    expected = whole.told()
    assert len(whole.asked()) == 9

    killed = story(*cards, script=WORKERS_SCRIPT, diff=orders + cart)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(_killed_at(killed, moment))
    finished = {event["task_id"] for event in killed.events if event["event"] == "task_finished"}
    resumed = story(*cards, script=WORKERS_SCRIPT, diff=orders + cart, journal=killed.journal)

    assert resumed.told() == expected
    assert not finished & {task_id for task_id, _ in resumed.asked()}
    # Two may be in the air, and two more answered and not yet written down: their places are free by then.
    assert len(killed.asked()) + len(resumed.asked()) <= len(whole.asked()) + 4


async def _killed_at(telling: Any, moment: int) -> None:
    """Cancel a review, as Ctrl-C does, when it asks something for the n-th time."""
    running = asyncio.create_task(telling.telling())

    def listen(event: Event) -> None:
        if event["event"] == "task_started" and len(telling.asked()) > moment:
            running.cancel()

    telling.listener = listen
    await running


def test_a_second_review_of_the_same_change_asks_nothing(story: Tell) -> None:
    first = story(script=[{"replies": [says()]}])
    told = first.told()

    again = story(script=[{"replies": [{"fail": "crash"}]}], journal=first.journal)

    assert again.told() == told
    assert again.asked() == []


def test_what_failed_is_asked_again_by_the_next_review(story: Tell) -> None:
    first = story(script=[{"replies": [{"fail": "crash"}]}])
    assert first.told().gaps

    again = story(script=[{"replies": [says()]}], journal=first.journal)

    assert again.told().gaps == ()
    assert len(again.asked()) == 1
