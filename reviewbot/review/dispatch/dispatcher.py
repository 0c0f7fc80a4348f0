"""Run a plan: every ready task at once, bounded, each to its end, as `retry_policy.next_step` decides.

Results are matched by task id. Each task of the plan ends in a `TaskResult`: answered, handed to a person, or a named
gap. `Slots` limits how many tasks run at once; tasks that one conversation answers take one slot together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256

from pydantic import TypeAdapter, ValidationError

from reviewbot.domain.contracts import GapReason, HumanItem, Outcome, Plan, ReviewTask, WorkerResult
from reviewbot.domain.errors import DeadlineError
from reviewbot.domain.ports import Clock, Journal, Recorder, TaskResult
from reviewbot.review.dispatch.retry_policy import NextStep, next_step
from reviewbot.review.gaps import gaps_of


@dataclass
class _Shared:
    acquired: asyncio.Task[bool]
    users: int = 0


class Slots:
    """A bounded number of slots, taken in the order of asking. For one event loop."""

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)
        self._shared: dict[str, _Shared] = {}

    @asynccontextmanager
    async def hold(self, name: str = "") -> AsyncIterator[None]:
        """Hold a slot together with all others that ask under the same name; without a name, alone."""
        if not name:
            async with self._free:
                yield
            return
        slot = self._shared.get(name)
        if slot is None:
            slot = self._shared[name] = _Shared(asyncio.create_task(self._free.acquire()))
        slot.users += 1
        try:
            await asyncio.shield(slot.acquired)
            yield
        finally:
            slot.users -= 1
            if not slot.users:
                del self._shared[name]
                if not slot.acquired.cancel() and not slot.acquired.cancelled():
                    self._free.release()


BEGUN_PER_SLOT = 32
"""Tasks that are begun for each that may run at once: a conversation takes one slot for all of its tasks."""

OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)

Attempt = Callable[[ReviewTask, Mapping[str, WorkerResult]], Awaitable[Outcome]]
"""One try of one task, given the results that it waited for. Raises nothing."""


@dataclass(frozen=True)
class _Run:
    """The state of a plan under way, by task."""

    ends: dict[str, TaskResult]
    faults: dict[str, BaseException | None]
    """What ended a task that has ended, where it was not the end of its code; before that, that it is too late."""
    running: dict[str, asyncio.Task[None]]


@dataclass(frozen=True)
class Dispatcher:
    """Everything that a plan needs to run. Build one per run; it keeps no state between runs."""

    attempt: Attempt
    retarget: Callable[[ReviewTask, str], ReviewTask | None]
    journal: Journal
    run_id: str
    trace: Recorder
    clock: Clock
    concurrency: int
    """Conversations, and tasks without one, that run at once."""
    deadline_s: float
    """Of the whole review, in seconds."""
    started: float | None = None
    """When the review began, by `clock`; None: it begins with this plan."""
    _slots: Slots = field(init=False)
    _begun: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_slots", Slots(self.concurrency))
        object.__setattr__(self, "_begun", asyncio.Semaphore(BEGUN_PER_SLOT * self.concurrency))

    async def dispatch(self, plan: Plan) -> dict[str, TaskResult]:
        """Run all tasks; at the review's deadline those not yet settled become gaps, with what they have so far."""
        late = DeadlineError(f"the review's deadline of {self.deadline_s:g} s was reached first")
        run = _Run({task.task_id: TaskResult(task) for task in plan.tasks}, {}, {})
        run.faults.update(dict.fromkeys(run.ends, late))
        deadline = asyncio.timeout(self._left_s())
        try:
            async with deadline:
                for task in plan.tasks:
                    await self._begin(task, run, deadline)
                if run.running:
                    await asyncio.wait(run.running.values())
        except TimeoutError:
            pass
        finally:
            # In the order in which they wait for a slot: the semaphore searches its queue for each of them.
            left = list(run.running.values())
            for future in left:
                future.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        for name, fault in run.faults.items():
            if isinstance(fault, DeadlineError):
                self._fail(run.ends, name, "deadline", str(late))
            elif fault is not None:
                # The worker boundary lets nothing through, so this is an internal error; it costs one task.
                self._fail(run.ends, name, "crashed", f"{type(fault).__name__} outside of the worker")
        return run.ends

    async def _begin(self, task: ReviewTask, run: _Run, deadline: asyncio.Timeout) -> None:
        """Begin a task as soon as there is room: one that waits takes memory as well."""
        await self._begun.acquire()
        future = run.running[task.task_id] = asyncio.create_task(self._settle(task, run))

        def end(_future: asyncio.Task[None]) -> None:
            self._begun.release()
            del run.running[task.task_id]
            if not (deadline.expired() and future.cancelled()):
                run.faults[task.task_id] = asyncio.CancelledError() if future.cancelled() else future.exception()

        future.add_done_callback(end)

    def _fail(self, ends: dict[str, TaskResult], name: str, reason: GapReason, message: str) -> None:
        self.trace.record("task_failed", task_id=name, reason=reason, message=message)
        ends[name] = replace(ends[name], gaps=(*ends[name].gaps, *gaps_of(ends[name].task, reason, message)))

    def _left_s(self) -> float:
        spent = 0.0 if self.started is None else self.clock.monotonic() - self.started
        return max(0.0, self.deadline_s - spent)

    async def _settle(self, task: ReviewTask, run: _Run) -> None:
        """Wait for what the task depends on, then bring it to its end, which grows in `run`."""
        results: dict[str, WorkerResult] = {}
        for name in task.depends_on:
            if name in run.running:
                await asyncio.wait([run.running[name]])
            if run.faults[name] is None and run.ends[name].answered:
                results[name] = run.ends[name].merge_results()
            elif task.needs_dependencies:
                self._fail(run.ends, task.task_id, "dependency", f"it needs the result of {name}, which did not come")
                return
        await self._pursue(task, results, run.ends)

    async def _pursue(self, task: ReviewTask, results: Mapping[str, WorkerResult], ends: dict[str, TaskResult]) -> None:
        """Follow the decisions from one task to its end."""
        todo = [task]
        while todo:
            current = todo.pop(0)
            key = f"{self.run_id}/{current.task_id}/{current.failures}/{_question(current, results)}"
            stored = _read(await asyncio.to_thread(self.journal.get, key))
            if stored is not None:
                said = stored.model_dump(mode="json")
                self.trace.record("resumed", task_id=current.task_id, attempt=current.failures + 1, outcome=said)
            outcome = stored or await self._ask(current, results)
            step = next_step(current, outcome)
            if step.action == "reassign":
                step = self._reassigned(step, current)
            tier = (*step.tasks, current)[0].constraints.tier
            self.trace.record("step", task_id=current.task_id, root=task.task_id, tier=tier, **step.as_json())
            ends[task.task_id] = _after(ends[task.task_id], step)
            todo = [*step.tasks, *todo]
            if stored is None and _is_progress(step):
                await asyncio.to_thread(self.journal.put, key, outcome.model_dump_json())
        settled = ends[task.task_id]
        event = "task_finished" if settled.answered else "task_failed"
        self.trace.record(event, task_id=task.task_id, findings=sum(len(r.findings) for r in settled.results))

    def _reassigned(self, step: NextStep, current: ReviewTask) -> NextStep:
        """The step with the other worker's task in it; something for a person where there is no such worker."""
        moved = self.retarget(step.tasks[0], step.worker) if step.worker is not None else None
        if moved is not None:
            return replace(step, tasks=(moved,))
        reason = f"{current.worker} says that this is a job for {step.worker!r}, and there is no such worker"
        reason = f"{reason}: {step.reason}" if step.reason else reason
        human = HumanItem(path=current.payload.file_path, reason=reason)
        gaps = gaps_of(current, "unsettled", reason)
        return replace(step, action="human", reason=reason, tasks=(), human=human, gaps=gaps)

    async def _ask(self, task: ReviewTask, results: Mapping[str, WorkerResult]) -> Outcome:
        async with self._slots.hold(task.reader):
            self.trace.record("task_started", task_id=task.task_id, worker=task.worker, attempt=task.failures + 1)
            return await self.attempt(task, results)


def _question(task: ReviewTask, results: Mapping[str, WorkerResult]) -> str:
    """What a task asks, and what it was given. Two plans of a model may call different tasks by the same id."""
    given = [results[name].model_dump_json() if name in results else "-" for name in task.depends_on]
    return sha256("\0".join((task.model_dump_json(), *given)).encode("utf-8", "replace")).hexdigest()[:16]


def _read(stored: str | None) -> Outcome | None:
    """What the journal holds; None where that cannot be read, so that the task is done again."""
    try:
        return None if stored is None else OUTCOME.validate_json(stored)
    except ValidationError:
        return None


def _is_progress(step: NextStep) -> bool:
    """Whether a resumed run may go on from this decision; what ended in a gap is tried again."""
    return not step.gaps and (step.result is None or not step.result.gaps)


def _after(settled: TaskResult, step: NextStep) -> TaskResult:
    """The state of a task with what a step brought, but for the runs of tools: the trace has them."""
    return replace(
        settled,
        results=settled.results + ((_without_runs(step.result),) if step.result is not None else ()),
        gaps=settled.gaps + step.gaps,
        human=settled.human + ((step.human,) if step.human is not None else ()),
        done=settled.done or step.action == "done",
    )


def _without_runs(result: WorkerResult) -> WorkerResult:
    metadata = result.metadata.model_copy(update={"tool_runs": ()})
    return result.model_copy(update={"metadata": metadata}) if result.metadata.tool_runs else result
