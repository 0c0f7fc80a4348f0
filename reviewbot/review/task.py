"""Run one stateless task: card, prompt, own tools and an engine in; a result, an escalation or a failure out.

A worker sees its order and nothing else. It never fails silently: whatever the engine does becomes an outcome here.
"""

from __future__ import annotations

import asyncio

from reviewbot.diff.anchor import anchor, file_of
from reviewbot.domain.contracts import (
    MODEL_SOURCE,
    Candidate,
    Dropped,
    Escalation,
    Failure,
    Finding,
    Gap,
    GapReason,
    Outcome,
    ReviewTask,
    WorkerResult,
)
from reviewbot.domain.errors import (
    BudgetError,
    DeadlineError,
    EngineError,
    ProviderError,
    RefusedError,
    TooLongError,
    TransientError,
)
from reviewbot.domain.ports import Answer, Engine, WorkOrder
from reviewbot.review.finding_limits import MAX_PER_TASK, keep
from reviewbot.review.gaps import gaps_of


async def run_task(engine: Engine, order: WorkOrder) -> Outcome:
    """Do one task within its own deadline."""
    task = order.task
    limit = asyncio.timeout(task.constraints.timeout_ms / 1000)
    try:
        async with limit:
            answer = await engine.work(order)
    except TimeoutError as error:
        if not limit.expired():
            return _crashed(engine, task, error)
        message = f"no answer within {task.constraints.timeout_ms / 1000:g} s"
        return Escalation(task_id=task.task_id, reason="timeout", message=message)
    except (ProviderError, TooLongError) as error:
        # The same request would meet this again. A result with nothing but gaps is final; a failure is tried again.
        return _anchored(task, Answer(gaps=gaps_of(task, reason_of(error), str(error))))
    except EngineError as error:
        return Failure(task_id=task.task_id, reason=reason_of(error), message=str(error))
    except Exception as error:  # noqa: BLE001 - the worker boundary: a bug in one engine costs one task, not the review
        return _crashed(engine, task, error)
    if isinstance(answer, Answer):
        return _anchored(task, answer)
    return Escalation(
        task_id=task.task_id,
        reason=answer.reason,
        message=answer.message,
        better_worker=answer.better_worker,
        partial_result=None if answer.partial is None else _anchored(task, answer.partial),
    )


def reason_of(error: Exception) -> GapReason:
    """The reason of a gap that an error leaves behind."""
    known: tuple[tuple[type[Exception], GapReason], ...] = (
        (BudgetError, "budget"),
        (DeadlineError, "deadline"),
        (RefusedError, "refused"),
        (ProviderError, "provider"),
        (TransientError, "no_answer"),
        (EngineError, "bad_answer"),
    )
    return next((reason for kind, reason in known if isinstance(error, kind)), "crashed")


def _crashed(engine: Engine, task: ReviewTask, error: Exception) -> Failure:
    # The type alone: the text of a foreign error may hold anything.
    message = f"{type(error).__name__} in engine {engine.name}"
    return Failure(task_id=task.task_id, reason="crashed", message=message)


def _anchored(task: ReviewTask, answer: Answer) -> WorkerResult:
    """Give each candidate its place in the change, or drop it and say why."""
    findings: list[Finding] = []
    dropped: list[Dropped] = []
    kept, programs = (keep(found, MAX_PER_TASK, MAX_PER_TASK) for found in (answer.candidates, answer.programs))
    said: list[tuple[Candidate, str]] = [(candidate, answer.origin) for candidate in kept.candidates]
    said += [(candidate, "program") for candidate in programs.candidates]
    lost = kept.total + programs.total - len(said)
    for candidate, origin in said:
        placed = _placed(task, candidate, origin)
        if isinstance(placed, Finding):
            findings.append(placed)
        else:
            dropped.append(Dropped(candidate=candidate, reason=placed))
    gaps = list(answer.gaps)
    if lost:
        message = f"more than {MAX_PER_TASK} findings in one task; {lost} were dropped"
        gaps.append(Gap(path=task.payload.file_path, worker=task.worker, reason="flooded", message=message))
    mine = {"worker": task.worker, "task_id": task.task_id}
    return WorkerResult(
        task_id=task.task_id,
        paths=task.paths,
        findings=tuple(findings),
        dropped=tuple(dropped),
        gaps=tuple(gap.model_copy(update=mine | _own_path(task, gap)) for gap in gaps),
        metadata=answer.metadata,
    )


def _own_path(task: ReviewTask, gap: Gap) -> dict[str, str]:
    """A gap is about a file of its task, whatever an engine says."""
    return {} if gap.path in task.paths else {"path": task.payload.file_path}


def _placed(task: ReviewTask, candidate: Candidate, origin: str) -> Finding | str:
    """The candidate as a finding, or the reason why it cannot be one."""
    path = file_of(candidate, task.slices)
    if path is None:
        return f"it is about {candidate.path!r}, which is not in this task"
    place = anchor(candidate, *(payload for payload in task.slices if payload.file_path == path))
    if place is None:
        if candidate.line is not None:
            return "not on an added line"
        return "the quoted code is not in this part of the change, or stands there more than once"
    return Finding(
        type=task.type,
        severity=candidate.severity,
        path=path,
        line=place.line,
        end_line=place.end_line,
        also=candidate.also,
        message=candidate.message,
        evidence=place.evidence,
        trigger=candidate.trigger,
        contract=candidate.contract,
        symptom=candidate.symptom,
        suggestion=candidate.suggestion,
        replacement=candidate.replacement,
        confidence=candidate.confidence,
        claimed=candidate.confidence if origin == "model" else None,
        disputed=candidate.disputed,
        category=candidate.category,
        rule=candidate.rule,
        cwe=candidate.cwe,
        cause=candidate.cause,
        side=candidate.side,
        worth=candidate.worth,
        proof=candidate.proof,
        title=candidate.title,
        sources=(_source(candidate, origin),),
    )


def _source(candidate: Candidate, origin: str) -> str:
    """The source of the claim. What a model says is marked as such, whatever name it gives itself."""
    marked = candidate.source.startswith(MODEL_SOURCE)
    return MODEL_SOURCE + candidate.source if origin == "model" and not marked else candidate.source
