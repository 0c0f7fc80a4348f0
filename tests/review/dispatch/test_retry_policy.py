"""`next_step`: every row of the decision table, and that no chain of decisions goes on for ever."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Escalation, EscalationReason, Failure, GapReason, WorkerResult
from reviewbot.review.dispatch.retry_policy import MAX_TASK_FAILURES, Action, next_step
from reviewbot.review.gaps import gaps_of
from tests.make import MakeEscalation, MakeFailure, MakePayload, MakeResult, MakeTask

FAILURES = ("crashed", "bad_answer", "refused", "budget", "deadline")
MAX_CHAIN = 1 + 2 + 4
"""Three levels, each of which may have been split in two: no plan's task is ever asked more often."""

TABLE: list[tuple[str, EscalationReason | GapReason, dict[str, Any], int, Action]] = [
    ("a crash is tried again", "crashed", {}, 0, "retry"),
    ("a second crash is tried again", "crashed", {}, 1, "retry"),
    ("after a third crash the task is given up", "crashed", {}, 2, "give_up"),
    ("a bad answer is asked for again", "bad_answer", {}, 0, "retry"),
    ("after a third bad answer the task is given up", "bad_answer", {}, 2, "give_up"),
    ("what is out of scope goes to its worker", "out_of_scope", {"better_worker": "security"}, 0, "reassign"),
    ("nobody's job goes to a person", "out_of_scope", {}, 0, "human"),
    ("a worker cannot pass its job to itself", "out_of_scope", {"better_worker": "logic"}, 0, "human"),
    ("what was passed on twice goes to a person", "out_of_scope", {"better_worker": "security"}, 2, "human"),
    ("an unsure worker climbs a tier", "confidence_too_low", {}, 0, "climb"),
    ("a worker unsure for the third time asks a person", "confidence_too_low", {}, 2, "human"),
    ("an ambiguous task is asked again, refined", "ambiguous_input", {}, 0, "retry"),
    ("a task that stays ambiguous climbs a tier", "ambiguous_input", {}, 1, "climb"),
    ("a task that is ambiguous for the third time goes to a person", "ambiguous_input", {}, 2, "human"),
    ("a second bad answer climbs a tier", "bad_answer", {}, 1, "climb"),
    ("what a model declines another one may do", "refused", {}, 0, "climb"),
    ("what was declined after another failure goes to a person", "refused", {}, 1, "human"),
    ("what was declined at last goes to a person as well", "refused", {}, 2, "human"),
    ("a spent budget is final", "budget", {}, 0, "give_up"),
    ("a deadline that was reached is final", "deadline", {}, 0, "give_up"),
    ("a timeout on many hunks splits them", "timeout", {"hunks": 2}, 0, "split"),
    ("a timeout on one hunk is tried again", "timeout", {"hunks": 1}, 0, "retry"),
    ("a third timeout is given up", "timeout", {"hunks": 2}, 2, "give_up"),
]


@pytest.mark.parametrize(
    ("reason", "fields", "failures", "action"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_the_decision_table(
    *,
    reason: str,
    fields: dict[str, Any],
    failures: int,
    action: Action,
    a_task: MakeTask,
    a_payload: MakePayload,
    an_escalation: MakeEscalation,
    a_failure: MakeFailure,
) -> None:
    fields = dict(fields)
    payload = a_payload(*["+x = 1"] * fields.pop("hunks", 1))
    task = a_task(payload=payload, failures=failures)
    make = a_failure if reason in FAILURES else an_escalation

    step = next_step(task, make(reason, **fields))

    assert step.action == action


def test_a_result_ends_the_task_whatever_went_wrong_before(a_task: MakeTask, a_result: MakeResult) -> None:
    result = a_result()

    step = next_step(a_task(failures=2), result)

    assert (step.action, step.result, step.tasks) == ("done", result, ())


def test_a_worker_on_the_highest_tier_cannot_climb(a_task: MakeTask, an_escalation: MakeEscalation) -> None:
    step = next_step(a_task(higher_tiers=()), an_escalation("confidence_too_low"))

    assert step.action == "human"


def test_climbing_takes_the_next_tier_and_keeps_the_rest_of_the_ladder(
    a_task: MakeTask, an_escalation: MakeEscalation
) -> None:
    task = a_task(tier="small", higher_tiers=("medium", "large"))

    [higher] = next_step(task, an_escalation("confidence_too_low")).tasks

    assert (higher.constraints.tier, higher.constraints.higher_tiers) == ("medium", ("large",))
    assert higher.previous_error == "because", "the stronger model is told where the other one had its doubts"
    assert higher.constraints.max_tokens == task.constraints.max_tokens
    assert higher.failures == 1


@pytest.mark.parametrize("reason", ["bad_answer", "ambiguous_input"])
def test_without_a_higher_tier_the_ladder_is_shorter(
    reason: str, a_task: MakeTask, an_escalation: MakeEscalation, a_failure: MakeFailure
) -> None:
    make = a_failure if reason in FAILURES else an_escalation

    step = next_step(a_task(failures=1, higher_tiers=()), make(reason))

    assert step.action == ("retry" if reason == "bad_answer" else "human")


def test_a_refusal_without_a_higher_tier_is_for_a_person_and_a_named_gap(
    a_task: MakeTask, a_failure: MakeFailure
) -> None:
    step = next_step(a_task(higher_tiers=()), a_failure("refused", message="I cannot help with this"))

    assert step.human is not None
    assert step.human.reason == "a part of its review got no answer (refused): I cannot help with this"
    assert [(gap.path, gap.reason) for gap in step.gaps] == [("src/app.py", "refused")]


def test_a_declined_task_climbs_as_it_was(a_task: MakeTask, a_failure: MakeFailure) -> None:
    [higher] = next_step(a_task(), a_failure("refused", message="I cannot help with this")).tasks

    assert higher.constraints.tier == "medium"
    assert higher.previous_error == "", "to be told of a refusal invites another one"


def test_a_second_bad_answer_tells_the_stronger_model_what_was_wrong(a_task: MakeTask, a_failure: MakeFailure) -> None:
    [higher] = next_step(a_task(failures=1), a_failure("bad_answer", message="no JSON in it")).tasks

    assert (higher.constraints.tier, higher.previous_error) == ("medium", "no JSON in it")


def test_a_step_tells_the_trace_what_comes_of_it(
    a_task: MakeTask, a_payload: MakePayload, an_escalation: MakeEscalation
) -> None:
    step = next_step(a_task("logic:a.py#1", payload=a_payload("+x = 1", "+y = 2")), an_escalation("timeout"))

    assert step.as_json() == {
        "action": "split",
        "reason": "because",
        "tasks": ["logic:a.py#1.1", "logic:a.py#1.2"],
        "gaps": [],
        "human": None,
    }


@pytest.mark.parametrize("reason", ["bad_answer", "ambiguous_input"])
def test_a_refined_task_says_what_was_wrong_and_keeps_its_instruction(
    reason: str, a_task: MakeTask, an_escalation: MakeEscalation, a_failure: MakeFailure
) -> None:
    make = a_failure if reason == "bad_answer" else an_escalation
    task = a_task()

    [again] = next_step(task, make(reason, message="no JSON in it")).tasks

    assert again.instruction == task.instruction, "what a model wrote never becomes an instruction"
    assert again.previous_error == "no JSON in it"
    assert again.task_id == task.task_id


def test_a_crash_is_tried_again_with_the_same_request(a_task: MakeTask, a_failure: MakeFailure) -> None:
    task = a_task()

    [again] = next_step(task, a_failure("crashed")).tasks

    assert again == task.model_copy(update={"failures": 1})


def test_the_halves_of_a_split_are_the_whole_and_inherit_its_failures(
    a_task: MakeTask, a_payload: MakePayload, an_escalation: MakeEscalation
) -> None:
    payload = a_payload("+a = 1", "+b = 2", "+c = 3")
    task = a_task(payload=payload)

    first, second = next_step(task, an_escalation("timeout")).tasks

    assert (first.task_id, second.task_id) == (f"{task.task_id}.1", f"{task.task_id}.2")
    assert first.payload.code + "\n" + second.payload.code == payload.code
    assert first.payload.starts + second.payload.starts == payload.starts
    assert first.failures == second.failures == 1


def test_a_task_of_several_slices_is_split_between_them(
    a_task: MakeTask, a_payload: MakePayload, an_escalation: MakeEscalation
) -> None:
    slices = tuple(a_payload(path=f"{n}.py") for n in range(3))

    first, second = next_step(a_task(payload=slices[0], more=slices[1:]), an_escalation("timeout")).tasks

    assert (first.slices, second.slices) == ((slices[0],), (slices[1], slices[2]))


def test_what_nobody_did_is_missing_for_each_of_its_files(
    a_task: MakeTask, a_payload: MakePayload, a_failure: MakeFailure
) -> None:
    slices = tuple(a_payload(path=path) for path in ("a.py", "b.py", "a.py"))

    step = next_step(a_task(payload=slices[0], more=slices[1:]), a_failure("budget"))

    assert [gap.path for gap in step.gaps] == ["a.py", "b.py"]


def test_an_open_breaker_leaves_a_gap_that_names_file_worker_task_and_cause(
    a_task: MakeTask, a_failure: MakeFailure
) -> None:
    task = a_task(failures=2)

    (gap,) = next_step(task, a_failure("bad_answer", message="prose")).gaps

    assert (gap.path, gap.worker, gap.task_id, gap.reason) == ("src/app.py", "logic", task.task_id, "breaker")
    assert gap.message == "given up after 3 failures: prose"


def test_the_last_timeout_keeps_what_was_found_and_leaves_a_gap(
    a_task: MakeTask, a_result: MakeResult, an_escalation: MakeEscalation
) -> None:
    partial = a_result()

    step = next_step(a_task(failures=2), an_escalation("timeout", partial_result=partial))

    assert step.result == partial
    assert [gap.reason for gap in step.gaps] == ["timeout"]


@pytest.mark.parametrize("reason", ["out_of_scope", "ambiguous_input", "confidence_too_low"])
def test_a_person_is_told_who_could_not_settle_what_and_why(
    reason: str, a_task: MakeTask, a_result: MakeResult, an_escalation: MakeEscalation
) -> None:
    partial = a_result()

    step = next_step(a_task(failures=2), an_escalation(reason, message="two readings", partial_result=partial))

    assert step.human is not None
    assert step.human.path == "src/app.py"
    assert step.human.reason == f"logic could not settle this ({reason.replace('_', ' ')}): two readings"
    assert step.result == partial


def test_a_worker_that_passes_its_task_on_hands_over_what_it_found(
    a_task: MakeTask, a_result: MakeResult, an_escalation: MakeEscalation
) -> None:
    partial = a_result()

    step = next_step(a_task(), an_escalation("out_of_scope", better_worker="security", partial_result=partial))

    assert (step.worker, step.result) == ("security", partial)
    assert [task.failures for task in step.tasks] == [1]


@pytest.mark.parametrize("better_worker", ["style", "logic"])
def test_what_the_floor_passes_on_is_named_as_not_judged_for_each_file(
    better_worker: str, a_task: MakeTask, a_payload: MakePayload, an_escalation: MakeEscalation
) -> None:
    task = a_task("security:a.py#1", payload=a_payload(path="a.py"), more=(a_payload(path="b.py"),))

    step = next_step(task, an_escalation("out_of_scope", better_worker=better_worker, message="nothing here for me"))

    assert (step.action, step.worker) == ("reassign", better_worker)
    assert [(gap.path, gap.worker, gap.reason) for gap in step.gaps] == [
        ("a.py", "security", "unsettled"),
        ("b.py", "security", "unsettled"),
    ]
    assert step.gaps[0].message == f"security left this to {better_worker} and has not judged it: nothing here for me"


@pytest.mark.parametrize("worker", ["logic", "performance", "style"])
def test_what_another_worker_passes_on_leaves_no_gap(
    worker: str, a_task: MakeTask, an_escalation: MakeEscalation
) -> None:
    step = next_step(a_task(f"{worker}:a.py#1"), an_escalation("out_of_scope", better_worker="security"))

    assert (step.action, step.gaps) == ("reassign", ())


def test_a_result_whose_model_declined_is_for_a_person_and_keeps_what_programs_found(
    a_task: MakeTask, a_result: MakeResult
) -> None:
    task = a_task()
    result = a_result(gaps=gaps_of(task, "refused", "I cannot help with this"))

    step = next_step(task, result)

    assert (step.action, step.result, step.gaps) == ("human", result, ()), "the gap is in the result"
    assert step.human is not None
    assert step.human.reason == "a part of its review got no answer (refused): I cannot help with this"


def test_a_result_that_lacks_the_model_says_why(a_task: MakeTask, a_result: MakeResult) -> None:
    task = a_task(failures=2)

    step = next_step(task, a_result(gaps=gaps_of(task, "bad_answer", "given up after 3 failures: prose")))

    assert (step.action, step.reason) == ("done", "given up after 3 failures: prose")


@pytest.mark.parametrize("reason", ["refused", "bad_answer"])
def test_a_gap_of_the_verifier_or_of_a_program_is_no_failure_of_the_worker(
    reason: GapReason, a_task: MakeTask, a_result: MakeResult
) -> None:
    task = a_task()
    gaps = tuple(gap.model_copy(update={"tool": "verifier"}) for gap in gaps_of(task, reason, "it declined"))

    step = next_step(task, a_result(gaps=gaps))

    assert (step.action, step.reason, step.human) == ("done", "answered in the schema", None)


OUTCOMES = st.one_of(
    st.builds(WorkerResult, task_id=st.just("t")),
    st.builds(
        Escalation,
        task_id=st.just("t"),
        reason=st.sampled_from(("out_of_scope", "ambiguous_input", "confidence_too_low", "timeout")),
        message=st.just("because"),
        partial_result=st.none() | st.just(WorkerResult(task_id="t")),
        better_worker=st.none() | st.sampled_from(("logic", "security", "style")),
    ),
    st.builds(
        Failure,
        task_id=st.just("t"),
        reason=st.sampled_from(FAILURES),
        message=st.just("it broke"),
    ),
)


@given(data=st.data())
def test_no_task_goes_on_for_ever_and_none_ends_in_silence(
    data: st.DataObject, a_task: MakeTask, a_payload: MakePayload
) -> None:
    hunks = data.draw(st.integers(1, 9))
    todo, asked = [a_task(payload=a_payload(*["+x = 1"] * hunks))], 0
    while todo:
        task = todo.pop()
        asked += 1
        assert asked <= MAX_CHAIN

        step = next_step(task, data.draw(OUTCOMES))

        assert all(task.failures < later.failures < MAX_TASK_FAILURES for later in step.tasks)
        assert step.tasks or step.result or step.gaps or step.human
        moved = {"worker": step.worker} if step.worker else {}
        todo += [later.model_copy(update=moved) for later in step.tasks]


@given(outcome=OUTCOMES, failures=st.integers(0, MAX_TASK_FAILURES - 1), hunks=st.integers(1, 4))
def test_a_decision_depends_on_the_task_and_the_outcome_alone(
    outcome: WorkerResult | Escalation | Failure,
    failures: int,
    hunks: int,
    a_task: MakeTask,
    a_payload: MakePayload,
) -> None:
    task = a_task(payload=a_payload(*["+x = 1"] * hunks), failures=failures)

    assert next_step(task, outcome) == next_step(task, outcome)


def test_a_task_with_a_spent_ladder_ends_at_a_person_after_three_doubts(
    a_task: MakeTask, an_escalation: MakeEscalation
) -> None:
    task, seen = a_task(tier="small", higher_tiers=("medium", "large")), []
    doubt = an_escalation("confidence_too_low")
    while (step := next_step(task, doubt)).tasks:
        [task] = step.tasks
        seen.append(task.constraints.tier)

    assert seen == ["medium", "large"]
    assert step.action == "human"
