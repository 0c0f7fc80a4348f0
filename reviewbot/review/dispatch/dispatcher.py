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


OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)

Attempt = Callable[[ReviewTask, Mapping[str, WorkerResult]], Awaitable[Outcome]]
"""One try of one task, given the results that it waited for. Raises nothing."""


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "_slots", Slots(self.concurrency))

    async def dispatch(self, plan: Plan) -> dict[str, TaskResult]:
        """Run all tasks; at the review's deadline those not yet settled become gaps, with what they have so far."""
        ends = {task.task_id: TaskResult(task) for task in plan.tasks}
        running: dict[str, asyncio.Task[None]] = {}
        for task in plan.tasks:
            needed = {name: running[name] for name in task.depends_on}
            running[task.task_id] = asyncio.create_task(self._settle(task, needed, ends))
        late = set(running.values())
        try:
            if running:
                _, late = await asyncio.wait(running.values(), timeout=self._left_s())
        finally:
            # In the order in which they wait for a slot: the semaphore searches its queue for each of them.
            for future in running.values():
                future.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)
        for name, future in running.items():
            if (future in late and future.cancelled()) or isinstance(_fault(future), DeadlineError):
                message = f"the review's deadline of {self.deadline_s:g} s was reached first"
                self._fail(ends, name, "deadline", message)
            elif (error := _fault(future)) is not None:
                # The worker boundary lets nothing through, so this is an internal error; it costs one task.
                self._fail(ends, name, "crashed", f"{type(error).__name__} outside of the worker")
        return ends

    def _fail(self, ends: dict[str, TaskResult], name: str, reason: GapReason, message: str) -> None:
        self.trace.record("task_failed", task_id=name, reason=reason, message=message)
        ends[name] = replace(ends[name], gaps=(*ends[name].gaps, *gaps_of(ends[name].task, reason, message)))

    def _left_s(self) -> float:
        spent = 0.0 if self.started is None else self.clock.monotonic() - self.started
        return max(0.0, self.deadline_s - spent)

    async def _settle(
        self, task: ReviewTask, needed: Mapping[str, asyncio.Task[None]], ends: dict[str, TaskResult]
    ) -> None:
        """Wait for what the task depends on, then bring it to its end, which grows in `ends`."""
        results: dict[str, WorkerResult] = {}
        for name, future in needed.items():
            await asyncio.wait([future])
            if _fault(future) is None and ends[name].answered:
                results[name] = ends[name].merge_results()
            elif task.needs_dependencies:
                self._fail(ends, task.task_id, "dependency", f"it needs the result of {name}, which did not come")
                return
        await self._pursue(task, results, ends)

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


def _fault(future: asyncio.Task[None]) -> BaseException | None:
    """What ended a task that has ended, where it was not the end of its code."""
    return asyncio.CancelledError() if future.cancelled() else future.exception()


def _after(settled: TaskResult, step: NextStep) -> TaskResult:
    """The state of a task with what a step brought."""
    return replace(
        settled,
        results=settled.results + ((step.result,) if step.result is not None else ()),
        gaps=settled.gaps + step.gaps,
        human=settled.human + ((step.human,) if step.human is not None else ()),
        done=settled.done or step.action == "done",
    )
