"""A whole review with the scripted engine, to be told again and again, and the change that it is about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from reviewbot.delivery import mask_trace
from reviewbot.delivery.deliver import mask_review
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet, Plan, Review, WorkerCard, WorkerResult
from reviewbot.domain.ports import Answer, Escalated, Journal, Planner, TaskResult, WorkerSet, WorkOrder
from reviewbot.replay.recorded_inputs import RecordedInputs, record_inputs
from reviewbot.replay.replay_review import replay
from reviewbot.replay.scripted import ScriptedEngine
from reviewbot.report.json_report import render_json
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.execution import PlanExecutor
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from reviewbot.review.trace import Event, Trace, read_trace
from reviewbot.review.verify.verifier import verify_result
from reviewbot.sources.memory import DiffSnapshot, MemoryJournal
from tests import leaping_loop

ORDERS = b"""\
diff --git a/src/orders.py b/src/orders.py
index 1111111..2222222 100644
--- a/src/orders.py
+++ b/src/orders.py
@@ -1,2 +1,3 @@ import os
 import os
+import hashlib

@@ -40,2 +41,4 @@ def total(orders):
     found = 0
+    for order in orders:
+        os.system("bill " + order.name)
     return found
"""
CART = b"""\
diff --git a/src/cart.py b/src/cart.py
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/src/cart.py
@@ -0,0 +1,2 @@
+def items():
+    return None
"""


@dataclass
class Lead:
    """A planner as a model would be one: it rewrites the routed plan, and may ask for a second round."""

    routed: Planner
    clock: Any
    first: Callable[[Plan], Plan] = lambda plan: plan
    second: Callable[[Plan, Mapping[str, TaskResult]], Plan | None] = lambda _plan, _settled: None
    thinks_s: float = 0.0
    """How long it takes to plan, by the clock of the story."""

    async def plan(self, change: ChangeSet) -> Plan:
        if self.thinks_s:
            await self.clock.sleep(self.thinks_s)
        return self.first(await self.routed.plan(change))

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        return self.second(plan, settled)


class Judge:
    """Believes in what was claimed, and writes down whose results it has seen."""

    def __init__(self, listener: Callable[[str], None] = lambda _name: None) -> None:
        self.seen: list[str] = []
        self._listener = listener

    def __call__(self, result: WorkerResult) -> WorkerResult:
        self.seen.append(result.task_id)
        self._listener(result.task_id)
        return result


class Gated:
    """An engine whose answers to one worker wait for somebody to open the gate."""

    name = "scripted"

    def __init__(self, engine: ScriptedEngine, worker: str, gate: asyncio.Event) -> None:
        self._engine, self._worker, self._gate = engine, worker, gate

    def covers(self, card: WorkerCard, language: str) -> bool:
        return self._engine.covers(card, language)

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        if order.task.worker == self._worker:
            await self._gate.wait()
        return await self._engine.work(order)


@dataclass
class Story:
    """A review that can be told again: the same change, workers and journal."""

    clock: Any
    worker_set: WorkerSet
    script: Sequence[dict[str, Any]] = ()
    diff: bytes = ORDERS
    journal: Journal = field(default_factory=MemoryJournal)
    limits: PlanLimits = field(default_factory=PlanLimits)
    deadline_s: float = 60.0
    listener: Callable[[Event], None] | None = None
    notes: tuple[str, ...] = ()
    lead: Mapping[str, Any] | None = None
    """What the lead does otherwise than the rules; None: the rules plan."""
    verify: Callable[[WorkerResult], WorkerResult] = verify_result
    gate: tuple[str, asyncio.Event] | None = None
    """The worker that is slow, and what it waits for."""
    fan_out: int | None = None
    concurrency: int = 2
    trace: Trace | None = None

    @property
    def events(self) -> list[Event]:
        """The trace so far; empty before the story is told."""
        return [] if self.trace is None else self.trace.events

    def told(self) -> Review:
        """What the reader sees."""
        return leaping_loop.run(self.telling())

    async def telling(self) -> Review:
        change = parse_diff(self.diff)
        setup = self.setup(change)
        answer = await review(change, setup)
        await self._check_replay(change, answer)
        return answer

    async def _check_replay(self, change: ChangeSet, answer: Review) -> None:
        """Every story can be told again from its trace alone, to the byte."""
        trace = Trace(self.clock)
        record_inputs(trace, change, RecordedInputs(Rules.of(self.worker_set.cards, 10), (), "scripted", self.notes))
        for event in self.events:
            trace.record(**event)
        again = await replay(read_trace(mask_trace(trace)))
        assert render_json(mask_review(again)) == render_json(mask_review(answer))

    def setup(self, change: ChangeSet) -> Setup:
        trace = Trace(self.clock, self.listener)
        self.trace = trace
        engine = ScriptedEngine.from_json(json.dumps({"answers": list(self.script)}))
        routed = RoutedPlanner(self.worker_set, engine.covers, DiffSnapshot(change).head, self.limits)
        planner = routed if self.lead is None else Lead(routed, self.clock, **self.lead)
        executor = PlanExecutor(
            worker_set=self.worker_set,
            engine=engine if self.gate is None else Gated(engine, *self.gate),
            verify=self.verify,
            tools={},
            snapshot=DiffSnapshot(change),
            journal=self.journal,
            clock=self.clock,
            trace=trace,
            run_id="story",
            concurrency=self.concurrency,
            deadline_s=self.deadline_s,
        )
        synthesizer = RuledSynthesizer(Rules.of(self.worker_set.cards, 10), ReviewFacts(engine.name, self.notes))
        return Setup(planner, executor, synthesizer, self.clock, trace, fan_out=self.fan_out)

    def asked(self) -> list[tuple[str, int]]:
        """Task and attempt of everything that was asked of the engine, in order."""
        return [(event["task_id"], event["attempt"]) for event in self.events if event["event"] == "task_started"]

    def steps(self) -> list[str]:
        """What the supervisor decided, in order."""
        return [event["action"] for event in self.events if event["event"] == "step"]

    def told_of(self, kind: str) -> list[Event]:
        """All events of one kind."""
        return [event for event in self.events if event["event"] == kind]


@pytest.fixture(name="story")
def _story(
    clock: Any, a_worker_set: Callable[..., WorkerSet], a_card: Callable[..., WorkerCard]
) -> Callable[..., Story]:
    """A story of some workers; each entry of the script is for the worker that it names."""

    def begin(*cards: WorkerCard, **parts: Any) -> Story:
        return Story(clock=clock, worker_set=a_worker_set(*(cards or (a_card("logic"),))), **parts)

    return begin


@pytest.fixture
def judge() -> type[Judge]:
    return Judge


@pytest.fixture(scope="session")
def orders() -> bytes:
    """Two hunks in one file; a shell command in the second one."""
    return ORDERS


@pytest.fixture(scope="session")
def cart() -> bytes:
    """A new file in which nothing is wrong."""
    return CART
