"""Stories of a second round and of time: gaps that close or stay, what is verified early, what the deadline cuts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reviewbot.domain.contracts import CardBudget, Plan, WorkerCard
from reviewbot.domain.ports import TaskResult

Tell = Callable[..., Any]

SHELL = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 90,
    "category": "injection",
    "source": "medium",
}
SOON_S = 0.6
"""A deadline. No test waits for it: the time of the loop leaps there."""
CRASH = {"fail": "crash"}


def found(*findings: dict[str, Any], **reply: Any) -> dict[str, Any]:
    return {"findings": list(findings), "origin": "model", **reply}


def once_more(plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
    """The lead asks a second time for what did not come."""
    missing = [task for task in plan.tasks if not settled[task.task_id].answered]
    again = tuple(task.model_copy(update={"task_id": f"{task.task_id}~2", "depends_on": ()}) for task in missing)
    return plan.model_copy(update={"tasks": again}) if again else None


def test_a_gap_is_closed_by_a_second_round(story: Tell, judge: Tell, orders: bytes, cart: bytes) -> None:
    telling = story(
        diff=orders + cart,
        lead={"second": once_more},
        verify=judge(),
        script=[
            {"task": "*~2", "replies": [found(SHELL)]},
            {"path": "*/orders.py", "replies": [CRASH]},
        ],
    )

    told = telling.told()

    assert [event["total"] for event in telling.told_of("plan_made")] == [2, 1]
    assert told.gaps == ()
    assert [entry.state for entry in told.coverage] == ["reviewed", "reviewed"]
    assert len(told.findings) == 1


def test_a_gap_that_the_second_round_could_not_close_is_told_once(story: Tell) -> None:
    telling = story(lead={"second": once_more}, script=[{"replies": [CRASH]}])

    told = telling.told()

    assert len(telling.told_of("plan_made")) == 2
    assert [(gap.task_id, gap.reason) for gap in told.gaps] == [("logic:src/orders.py#1", "breaker")]
    assert told.verdict == "not_reviewed"


def test_where_nothing_is_missing_there_is_no_second_round(story: Tell) -> None:
    telling = story(lead={"second": once_more})

    telling.told()

    assert len(telling.told_of("plan_made")) == 1


def test_what_the_findings_ask_for_is_looked_at_in_the_second_round(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell
) -> None:
    def look_deeper(plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        """A shell command was found: the lead has the security worker follow it."""
        if not any(end.merge_results().findings for end in settled.values()):
            return None
        fields = {"task_id": "security:follow", "worker": "security", "type": "security"}
        return plan.model_copy(update={"tasks": (plan.tasks[0].model_copy(update=fields),)})

    telling = story(
        a_card("logic"),
        a_card("security", applies_to=("*.sh",)),
        lead={"second": look_deeper},
        verify=judge(),
        script=[
            {"worker": "logic", "replies": [found({**SHELL, "confidence": 70})]},
            {"worker": "security", "replies": [found({**SHELL, "confidence": 95})]},
        ],
    )

    told = telling.told()

    assert [task_id for task_id, _ in telling.asked()] == ["logic:src/orders.py#1", "security:follow"]
    assert [finding.confidence for finding in told.findings] == [95]
    assert [(worker.worker, worker.tasks) for worker in told.workers if worker.tasks] == [("logic", 1), ("security", 1)]


def test_neither_round_is_asked_again_by_a_second_review(story: Tell, judge: Tell) -> None:
    script = [{"task": "*~2", "replies": [found(SHELL)]}, {"replies": [{"fail": "budget"}]}]
    first = story(lead={"second": once_more}, script=script, verify=judge())
    told = first.told()

    again = story(lead={"second": once_more}, script=script, verify=judge(), journal=first.journal)

    assert again.told() == told
    assert again.asked() == [("logic:src/orders.py#1", 1)], "what ended in a gap is tried again; its second try stands"


# --- time


def test_what_one_worker_found_is_verified_while_another_one_is_slow(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell
) -> None:
    async def telling() -> tuple[Any, list[str]]:
        gate = asyncio.Event()
        # The slow worker goes on only once the other one's findings have been judged: were they judged at the end of
        # the dispatch, this story would never end.
        seeing = judge(listener=lambda _name: gate.set())
        slow = story(
            a_card("logic"),
            a_card("security"),
            gate=("logic", gate),
            verify=seeing,
            script=[{"worker": "security", "replies": [found(SHELL)]}],
        )
        return await slow.telling(), seeing.seen

    told, seen = asyncio.run(telling())

    assert seen == ["security:src/orders.py#1", "logic:src/orders.py#1"]
    assert len(told.findings) == 1
    assert told.gaps == ()


def test_at_the_deadline_the_reader_gets_what_was_found_and_is_told_what_was_not(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell
) -> None:
    part = {"escalate": {"reason": "timeout", "message": "too much to read"}, **found(SHELL)}
    telling = story(
        a_card("logic", budget=CardBudget(timeout_ms=60_000)),
        script=[{"replies": [part, {"hang": True}]}],
        verify=judge(),
        deadline_s=SOON_S,
    )

    told = telling.told()

    assert telling.steps() == ["split"]
    assert [finding.message for finding in told.findings] == [SHELL["message"]]
    assert [(gap.reason, gap.message) for gap in told.gaps] == [
        ("deadline", "the review's deadline of 0.6 s was reached first")
    ]
    assert (told.verdict, told.incomplete) == ("issues", True)


@pytest.mark.parametrize("fan_out", [None, 1])
def test_planning_counts_towards_the_deadline(fan_out: int | None, story: Tell, orders: bytes, cart: bytes) -> None:
    telling = story(diff=orders + cart, lead={"thinks_s": 90.0}, deadline_s=60.0, fan_out=fan_out)

    told = telling.told()

    assert telling.asked() == []
    assert {gap.reason for gap in told.gaps} == {"deadline"}
    assert told.verdict == "not_reviewed"
    assert told.timings.wall_ms == 90_000


def test_a_second_round_for_which_no_time_is_left_closes_nothing_and_costs_nothing(story: Tell, clock: Any) -> None:
    def too_late(plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        clock.now += 90.0
        return once_more(plan, settled)

    telling = story(
        lead={"second": too_late}, script=[{"task": "*~2", "replies": [found(SHELL)]}, {"replies": [CRASH]}]
    )

    told = telling.told()

    assert not [name for name, _ in telling.asked() if name.endswith("~2")]
    assert [gap.reason for gap in told.gaps] == ["breaker"]


def test_a_deadline_in_one_part_keeps_what_the_others_found(
    story: Tell, judge: Tell, orders: bytes, cart: bytes
) -> None:
    web = cart.replace(b"src/cart.py", b"web/cart.py")
    telling = story(
        diff=orders + web,
        script=[{"path": "web/*", "replies": [{"hang": True}]}, {"replies": [found(SHELL)]}],
        verify=judge(),
        fan_out=1,
        deadline_s=SOON_S,
    )

    told = telling.told()

    assert [finding.path for finding in told.findings] == ["src/orders.py"]
    assert [(gap.path, gap.reason) for gap in told.gaps] == [("web/cart.py", "deadline")]
    assert {event["part"]: event["gaps"] for event in telling.told_of("part_finished")} == {"src": 0, "web": 1}
