"""Stories of large plans and of several attempts: two levels, the best of two, and a plan that is reduced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reviewbot.domain.contracts import Plan, WorkerCard
from reviewbot.domain.ports import TaskResult

Tell = Callable[..., Any]

LEAK = {
    "severity": "warning",
    "quote": "    return None",
    "message": "nothing is returned where a list was promised",
    "confidence": 85,
    "category": "contract",
    "source": "medium",
}


def found(*findings: dict[str, Any], **reply: Any) -> dict[str, Any]:
    return {"findings": list(findings), "origin": "model", **reply}


def twice(plan: Plan) -> Plan:
    """The lead has two tiers try the same task, to choose between them."""
    attempts = []
    for task in plan.tasks:
        higher = task.constraints.model_copy(update={"tier": "large"})
        attempts += [task, task.model_copy(update={"task_id": f"{task.task_id}-large", "constraints": higher})]
    return plan.model_copy(update={"tasks": tuple(attempts), "strategy": "select", "origin": "model"})


@pytest.fixture(name="shop")
def _shop(cart: bytes) -> bytes:
    """The same new file in four components."""
    return b"".join(cart.replace(b"src/cart.py", f"{name}/cart.py".encode()) for name in ("api", "web", "jobs", "cli"))


def test_a_large_change_is_reviewed_by_components_and_the_reader_sees_one_review(
    story: Tell, judge: Tell, shop: bytes
) -> None:
    script = [{"path": "web/*", "replies": [found(LEAK)]}, {"path": "cli/*", "replies": [{"fail": "crash"}]}]
    telling = story(script=script, diff=shop, verify=judge(), fan_out=2)

    told = telling.told()

    [planned] = telling.told_of("plan_made")
    assert sorted(part["name"] for part in planned["plan"]["parts"]) == ["api", "cli", "jobs", "web"]
    reports = {event["part"]: event for event in telling.told_of("part_finished")}
    assert [(reports[name]["findings"], reports[name]["gaps"]) for name in ("api", "web", "cli")] == [
        (0, 0),
        (1, 0),
        (0, 1),
    ]
    assert [finding.path for finding in told.findings] == ["web/cart.py"]
    assert [(gap.path, gap.reason) for gap in told.gaps] == [("cli/cart.py", "breaker")]


def test_no_more_tasks_of_all_parts_run_than_there_are_slots(story: Tell, shop: bytes) -> None:
    async def telling() -> list[int]:
        gate, running = asyncio.Event(), [0, 0]

        def listen(event: dict[str, Any]) -> None:
            running[0] += {"task_started": 1, "result": -1}.get(event["event"], 0)
            running[1] = max(running)
            if running[0] == 2:
                gate.set()  # nobody answers before two are at work

        await story(diff=shop, fan_out=1, concurrency=2, gate=("logic", gate), listener=listen).telling()
        return running

    assert asyncio.run(telling()) == [0, 2]


def test_a_killed_review_in_parts_is_resumed_in_one_level_without_asking_again(story: Tell, shop: bytes) -> None:
    first = story(diff=shop, fan_out=1)
    told = first.told()

    again = story(diff=shop, journal=first.journal)

    assert again.told() == told
    assert again.asked() == []


def test_of_two_attempts_at_one_task_the_better_one_counts(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell, cart: bytes
) -> None:
    telling = story(
        a_card("logic"),
        lead={"first": twice},
        verify=judge(),
        diff=cart,
        script=[
            {"task": "*-large", "replies": [found(LEAK, usage={"calls": 1})]},
            {
                "task": "logic:*#1",
                "replies": [found({**LEAK, "message": "bad style of return", "confidence": 60}, usage={"calls": 1})],
            },
        ],
    )

    told = telling.told()

    assert [event["instead_of"] for event in telling.told_of("selected")] == [
        {"logic:src/cart.py#1": "logic:src/cart.py#1-large"}
    ]
    assert [finding.message for finding in told.findings] == [LEAK["message"]]
    assert told.withheld == (), "the weaker attempt is not told beside the better one"
    assert told.usage.calls == 2, "but it was paid"


def test_an_attempt_that_failed_is_no_gap_where_the_other_one_answered(story: Tell, judge: Tell, cart: bytes) -> None:
    missing: list[str] = []

    def whats_missing(plan: Plan, settled: Mapping[str, TaskResult]) -> None:
        missing.extend(task.task_id for task in plan.tasks if not settled[task.task_id].answered)

    telling = story(
        lead={"first": twice, "second": whats_missing},
        verify=judge(),
        diff=cart,
        script=[{"task": "*-large", "replies": [{"fail": "crash"}]}],
    )

    told = telling.told()

    assert (told.verdict, told.gaps) == ("clean", ())
    assert missing == [], "no second round is spent on it"


def test_a_plan_that_is_to_be_reduced_sums_up_each_component_before_the_top_sees_it(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell, shop: bytes
) -> None:
    def reduce(plan: Plan) -> Plan:
        both = twice(plan)
        return both.model_copy(update={"strategy": "reduce"})

    telling = story(
        a_card("logic"),
        lead={"first": reduce},
        verify=judge(),
        diff=shop,
        script=[
            {
                "task": "*-large",
                "replies": [found({**LEAK, "confidence": 95, "message": "it returns None, not a list"})],
            },
            {"replies": [found(LEAK)]},
        ],
    )

    told = telling.told()

    assert {(event["part"], event["findings"], event["repeated"]) for event in telling.told_of("part_finished")} == {
        (name, 1, 1) for name in ("api", "web", "jobs", "cli")
    }
    assert [(finding.path, finding.confidence) for finding in told.findings] == [
        (f"{name}/cart.py", 95) for name in ("api", "cli", "jobs", "web")
    ]
