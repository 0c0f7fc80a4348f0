"""What a step keeps: half a result, what a person is told, and all of it in the trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Gap, HumanItem, Payload, WorkerResult
from reviewbot.review.dispatch.retry_policy import NextStep, next_step
from tests.make import MakeEscalation, MakeFailure, MakeFinding, MakeTask


@pytest.mark.parametrize("failures", [0, 1, 2])
@pytest.mark.parametrize("higher", [(), ("large",)], ids=["at the top", "with a tier above"])
@pytest.mark.parametrize(
    "said",
    [
        {"reason": "confidence_too_low"},
        {"reason": "ambiguous_input"},
        {"reason": "timeout"},
        {"reason": "out_of_scope"},
        {"reason": "out_of_scope", "better_worker": "style"},
    ],
    ids=str,
)
def test_half_a_result_is_kept_whatever_is_decided(
    failures: int, higher: tuple[str, ...], said: dict[str, Any], a_task: MakeTask, an_escalation: MakeEscalation
) -> None:
    task = a_task(failures=failures, higher_tiers=higher)
    partial = WorkerResult(task_id=task.task_id)

    large = task.model_copy(update={"more": (task.payload,)})
    for each in (task, large):
        assert next_step(each, an_escalation(**said, partial_result=partial)).result == partial
    assert next_step(task, an_escalation(**said)).result is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"reason": "confidence_too_low"}, "unsettled"),
        ({"reason": "ambiguous_input"}, "unsettled"),
        ({"reason": "out_of_scope"}, "unsettled"),
        ({"reason": "timeout"}, "timeout"),
    ],
    ids=str,
)
def test_what_ends_without_an_answer_is_a_gap_of_each_file_with_the_reason(
    said: dict[str, Any],
    reason: str,
    a_task: MakeTask,
    a_payload: Callable[..., Payload],
    an_escalation: MakeEscalation,
) -> None:
    task = a_task(failures=2, payload=a_payload(path="a.py"), more=(a_payload(path="b.py"), a_payload(path="a.py")))

    step = next_step(task, an_escalation(**said, message="two readings"))

    words = "given up after 3 failures: two readings" if reason == "timeout" else "two readings"
    known = {"worker": "logic", "reason": reason, "message": words, "task_id": task.task_id}
    assert step.gaps == tuple(Gap.model_validate({"path": path, **known}) for path in ("a.py", "b.py"))
    assert (step.human is None) == (reason == "timeout")
    assert step.tasks == ()


@pytest.mark.parametrize("failures", [0, 1, 2])
@pytest.mark.parametrize("reason", ["crashed", "bad_answer", "refused", "budget", "deadline"])
def test_each_step_is_in_the_trace_with_all_that_it_leaves_behind(
    failures: int, reason: str, a_task: MakeTask, a_failure: MakeFailure
) -> None:
    step = next_step(a_task(failures=failures), a_failure(reason))

    told = json.loads(json.dumps(step.as_json()))

    assert (told["action"], told["reason"]) == (step.action, step.reason)
    assert told["tasks"] == [task.task_id for task in step.tasks]
    assert [Gap.model_validate(gap) for gap in told["gaps"]] == list(step.gaps)
    human = told["human"]
    assert (None if human is None else HumanItem.model_validate_json(json.dumps(human))) == step.human


def test_what_a_person_is_to_look_at_is_in_the_trace_with_its_finding(a_finding: MakeFinding) -> None:
    item = HumanItem(path="src/app.py", line=3, reason="look", finding=a_finding(also=(4, 5)))

    told = json.dumps(NextStep("human", "look", human=item).as_json()["human"])

    assert HumanItem.model_validate_json(told) == item


@pytest.mark.parametrize(("field", "limit"), [("max_tokens", 300), ("timeout_ms", 1_234), ("max_turns", 3)])
def test_a_tier_higher_has_the_limits_of_the_task(
    field: str, limit: int, a_task: MakeTask, an_escalation: MakeEscalation
) -> None:
    task = a_task()
    limits = task.constraints.model_copy(update={field: limit})

    [again] = next_step(task.model_copy(update={"constraints": limits}), an_escalation("confidence_too_low")).tasks

    assert again.constraints == limits.model_copy(update={"tier": "medium", "higher_tiers": ("large",)})
