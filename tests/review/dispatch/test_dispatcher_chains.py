"""The dispatcher: tries, faults and chains of decisions, each to a named end."""

from __future__ import annotations

from typing import Any

from reviewbot.domain.contracts import (
    Outcome,
    ReviewTask,
    WorkerResult,
)
from tests.make import (
    Dispatch,
    MakeEscalation,
    MakeFailure,
    MakeFinding,
    MakePayload,
    MakePlan,
    MakeResult,
    MakeTask,
    MakeWorker,
    reasons_of_gaps,
)


def test_a_task_that_fails_three_times_is_a_gap_and_the_others_go_on(
    a_task: MakeTask, a_plan: MakePlan, a_failure: MakeFailure, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    bad, good = a_task("logic:a.py#1"), a_task("style:a.py#1")
    worker = a_worker({bad.task_id: a_failure("bad_answer", message="prose")})

    ends = dispatch(a_plan(bad, good), worker)

    assert reasons_of_gaps(ends[bad.task_id]) == [("breaker", "given up after 3 failures: prose")]
    assert ends[good.task_id].answered
    assert [failures for task_id, failures in worker.asked if task_id == bad.task_id] == [0, 1, 2]


# --- faults of our own


def test_a_journal_that_cannot_store_costs_no_finding(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_finding: MakeFinding,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    class Full:
        def get(self, key: str) -> str | None:
            return None

        def put(self, key: str, value: str) -> None:
            raise OSError("no space left on device")

    task = a_task()
    found = a_result(findings=(a_finding(),))

    end = dispatch(a_plan(task), a_worker({task.task_id: found}), journal=Full())[task.task_id]

    assert end.results == (found,)
    assert reasons_of_gaps(end) == [("crashed", "OSError outside of the worker")]


# --- chains of decisions


def test_a_worker_that_is_not_sure_is_asked_one_tier_up(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task(tier="small", higher_tiers=("medium",))
    worker = a_worker({task.task_id: [an_escalation("confidence_too_low"), a_result()]})

    ends = dispatch(a_plan(task), worker)

    assert ends[task.task_id].answered
    assert worker.tiers == ["small", "medium"]


def test_a_bad_answer_is_asked_for_again_with_what_was_wrong(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_failure: MakeFailure,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task()
    worker = a_worker({task.task_id: [a_failure("bad_answer", message="no JSON in it"), a_result()]})

    dispatch(a_plan(task), worker)

    assert worker.instructions == [task.instruction, task.instruction]
    assert worker.errors == ["", "no JSON in it"]


def test_a_chunk_that_took_too_long_is_split_and_the_parts_count_as_the_task(
    *,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    a_result: MakeResult,
    a_finding: MakeFinding,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task("logic:a.py#1", payload=a_payload("+w = 0", "+x = 1", "+y = 2", "+z = 3"))
    late = an_escalation("timeout")
    answers = {
        "logic:a.py#1": late,
        "logic:a.py#1.1": late,
        "logic:a.py#1.1.1": a_result(findings=(a_finding(line=1),)),
        "logic:a.py#1.1.2": a_result(findings=(a_finding(line=2),)),
        "logic:a.py#1.2": a_result(findings=(a_finding(line=3),)),
    }
    worker = a_worker(answers)

    end = dispatch(a_plan(task), worker)["logic:a.py#1"]

    assert [task_id for task_id, _ in worker.asked] == list(answers)
    assert end.answered
    assert [finding.line for finding in end.merge_results().findings] == [1, 2, 3]


def test_a_part_that_fails_leaves_a_gap_beside_the_results_of_the_others(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task("logic:a.py#1", payload=a_payload("+x = 1", "+y = 2"))
    late = an_escalation("timeout", message="no answer within 60 s")
    worker = a_worker({"logic:a.py#1": late, "logic:a.py#1.2": late})

    end = dispatch(a_plan(task), worker)["logic:a.py#1"]

    assert [result.task_id for result in end.results] == ["logic:a.py#1.1"]
    assert [(gap.task_id, gap.reason) for gap in end.gaps] == [("logic:a.py#1.2", "timeout")]
    assert not end.answered


def test_what_is_out_of_scope_moves_to_the_worker_whose_job_it_is(
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    a_worker: MakeWorker,
) -> None:
    task = a_task("logic:a.py#1")
    partial = a_result(duration_ms=1)
    passed_on = an_escalation("out_of_scope", better_worker="security", partial_result=partial)
    worker = a_worker({"logic:a.py#1": passed_on})

    end = dispatch(a_plan(task), worker)["logic:a.py#1"]

    assert worker.asked == [("logic:a.py#1", 0), ("logic:a.py#1>security", 1)]
    assert end.results == (partial, WorkerResult(task_id="logic:a.py#1>security"))


def test_two_workers_that_send_a_task_to_each_other_end_at_a_person(
    a_task: MakeTask, a_plan: MakePlan, an_escalation: MakeEscalation, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    async def not_mine(task: ReviewTask) -> Outcome:
        return an_escalation("out_of_scope", better_worker="style" if task.worker == "logic" else "logic")

    names = ["logic:a.py#1", "logic:a.py#1>style", "logic:a.py#1>style>logic"]
    worker = a_worker(dict.fromkeys(names, not_mine))

    end = dispatch(a_plan(a_task("logic:a.py#1")), worker)["logic:a.py#1"]

    assert [task_id for task_id, _ in worker.asked] == names
    assert [item.path for item in end.human] == ["src/app.py"]


def test_a_job_for_a_worker_that_does_not_exist_goes_to_a_person(
    a_task: MakeTask,
    a_plan: MakePlan,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    trace: Any,
    a_worker: MakeWorker,
) -> None:
    task = a_task()
    worker = a_worker({task.task_id: an_escalation("out_of_scope", better_worker="janitor")})

    end = dispatch(a_plan(task), worker)[task.task_id]

    reason = "logic says that this is a job for 'janitor', and there is no such worker: because"
    assert [item.reason for item in end.human] == [reason]
    assert not end.answered
    assert [event["action"] for event in trace.of("step")] == ["human"]


def test_what_was_said_to_nobody_is_told_to_the_person(
    a_task: MakeTask, a_plan: MakePlan, an_escalation: MakeEscalation, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    task = a_task()
    lost = an_escalation("out_of_scope", better_worker="janitor", message="user reaches the query")
    silent = an_escalation("out_of_scope", better_worker="janitor", message="")

    told, bare = (dispatch(a_plan(task), a_worker({task.task_id: said}), run_id=said.message or "bare")[task.task_id]
                  for said in (lost, silent))  # fmt: skip

    words = "logic says that this is a job for 'janitor', and there is no such worker"
    assert [item.reason for item in told.human] == [f"{words}: user reaches the query"]
    assert [gap.message for gap in told.gaps] == [f"{words}: user reaches the query"]
    assert [item.reason for item in bare.human] == [words]


def test_what_the_floor_handed_on_is_done_by_the_other_worker_and_named_all_the_same(
    a_task: MakeTask, a_plan: MakePlan, an_escalation: MakeEscalation, dispatch: Dispatch, a_worker: MakeWorker
) -> None:
    task = a_task("security:a.py#1")
    worker = a_worker({task.task_id: an_escalation("out_of_scope", better_worker="style")})

    end = dispatch(a_plan(task), worker)[task.task_id]
    again = dispatch(a_plan(task), a_worker())[task.task_id]

    assert [name for name, _ in worker.asked] == ["security:a.py#1", "security:a.py#1>style"]
    assert [gap.reason for gap in end.gaps] == ["unsettled"]
    assert not end.answered
    assert again.answered, "the next run asks for it again"


def test_the_trace_tells_each_start_step_and_end(
    *,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_result: MakeResult,
    a_failure: MakeFailure,
    dispatch: Dispatch,
    trace: Any,
    a_worker: MakeWorker,
) -> None:
    task = a_task()

    dispatch(a_plan(task), a_worker({task.task_id: [a_failure(), a_result()]}))

    assert [(name, fields.get("attempt"), fields.get("action")) for name, fields in trace.events] == [
        ("task_started", 1, None),
        ("step", None, "retry"),
        ("task_started", 2, None),
        ("step", None, "done"),
        ("task_finished", None, None),
    ]


def test_each_decision_tells_what_comes_of_it_and_on_which_tier(
    *,
    a_task: MakeTask,
    a_plan: MakePlan,
    a_payload: MakePayload,
    a_result: MakeResult,
    an_escalation: MakeEscalation,
    dispatch: Dispatch,
    trace: Any,
    a_worker: MakeWorker,
) -> None:
    task = a_task("logic:a.py#1", payload=a_payload("+x = 1", "+y = 2"), tier="small", higher_tiers=("large",))
    answers = {
        "logic:a.py#1": [an_escalation("confidence_too_low"), an_escalation("timeout", message="no answer")],
        "logic:a.py#1.1": a_result(),
        "logic:a.py#1.2": an_escalation("out_of_scope", better_worker="janitor"),
    }

    dispatch(a_plan(task), a_worker(answers))

    told = [(event["task_id"], event["action"], event["tasks"], event["tier"]) for event in trace.of("step")]
    assert told == [
        ("logic:a.py#1", "climb", ["logic:a.py#1"], "large"),
        ("logic:a.py#1", "split", ["logic:a.py#1.1", "logic:a.py#1.2"], "large"),
        ("logic:a.py#1.1", "done", [], "large"),
        ("logic:a.py#1.2", "human", [], "large"),
    ]
    assert {event["root"] for event in trace.of("step")} == {"logic:a.py#1"}
    assert [event["reason"] for event in trace.of("step")][:2] == ["because", "no answer"]
