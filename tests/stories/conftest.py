"""A whole review with the scripted engine, to be told again and again, and the change that it is about."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from reviewbot.adapters.memory import DiffSnapshot, MemoryJournal
from reviewbot.adapters.scripted import ScriptedEngine
from reviewbot.contracts import ChangeSet, Review, WorkerCard
from reviewbot.diff.parse import parse_diff
from reviewbot.ports import Crew, Journal
from reviewbot.review import Setup, review
from reviewbot.supervisor.planner import PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import CappingVerifier
from reviewbot.trace import Event, Trace

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
class Story:
    """A review that can be told again: the same change, crew and journal."""

    clock: Any
    crew: Crew
    script: Sequence[dict[str, Any]] = ()
    diff: bytes = ORDERS
    journal: Journal = field(default_factory=MemoryJournal)
    limits: PlanLimits = field(default_factory=PlanLimits)
    deadline_s: float = 60.0
    listener: Callable[[Event], None] | None = None
    notes: tuple[str, ...] = ()
    events: list[Event] = field(default_factory=list)

    def told(self) -> Review:
        """What the reader sees."""
        return asyncio.run(self.telling())

    async def telling(self) -> Review:
        change = parse_diff(self.diff)
        setup = self.setup(change)
        return await review(change, setup)

    def setup(self, change: ChangeSet) -> Setup:
        trace = Trace(self.clock, self.listener)
        self.events = trace.events
        engine = ScriptedEngine.from_json(json.dumps({"answers": list(self.script)}))
        return Setup(
            crew=self.crew,
            engine=engine,
            planner=RoutedPlanner(self.crew, engine.covers, DiffSnapshot(change).head, self.limits),
            verifier=CappingVerifier(),
            synthesizer=RuledSynthesizer(Rules.of(self.crew.cards, None, 10), engine.name, self.notes),
            tools={},
            snapshot=DiffSnapshot(change),
            journal=self.journal,
            clock=self.clock,
            trace=trace,
            run_id="story",
            concurrency=2,
            deadline_s=self.deadline_s,
        )

    def asked(self) -> list[tuple[str, int]]:
        """Task and attempt of everything that was asked of the engine, in order."""
        return [(event["task_id"], event["attempt"]) for event in self.events if event["event"] == "task_started"]

    def steps(self) -> list[str]:
        """What the supervisor decided, in order."""
        return [event["action"] for event in self.events if event["event"] == "step"]


@pytest.fixture(name="story")
def _story(clock: Any, a_crew: Callable[..., Crew], a_card: Callable[..., WorkerCard]) -> Callable[..., Story]:
    """A story of some workers; each entry of the script is for the worker that it names."""

    def begin(*cards: WorkerCard, **parts: Any) -> Story:
        return Story(clock=clock, crew=a_crew(*(cards or (a_card("logic"),))), **parts)

    return begin


@pytest.fixture(scope="session")
def orders() -> bytes:
    """Two hunks in one file; a shell command in the second one."""
    return ORDERS


@pytest.fixture(scope="session")
def cart() -> bytes:
    """A new file in which nothing is wrong."""
    return CART
