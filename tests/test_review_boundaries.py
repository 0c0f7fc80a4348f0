"""What breaks on the way costs what it touched: what programs found is told, and what is missing is named."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.adapters.memory import DiffSnapshot, MemoryJournal, SystemClock
from reviewbot.contracts import Candidate, Review, WorkerCard
from reviewbot.diff.parse import parse_diff
from reviewbot.errors import AccountError
from reviewbot.model.told import Section
from reviewbot.model.verifier import ModelVerifier
from reviewbot.ports import Answer, Crew, ModelReply, ModelRequest, Verifier, WorkOrder
from reviewbot.review import Setup, review
from reviewbot.supervisor.boundary import GuardedVerifier
from reviewbot.supervisor.planner import PlanLimits, RoutedPlanner
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules

DEADLINE_S = 2.0
LEFT_S = 0.1
"""What is left for the verification, of a review that would wait for longer."""
HANGS_S = 5
"""Longer than the review, for a thread that nobody waits for."""

DIFF = b"""\
diff --git a/src/app.py b/src/app.py
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/src/app.py
@@ -0,0 +1,2 @@
+KEY = "token"
+one = 1 / n
"""

PROGRAMS = Candidate(
    severity="critical", path="src/app.py", quote='KEY = "token"', message="a token", confidence=99, source="secrets",
    category="secret",
)  # fmt: skip
MODELS = PROGRAMS.model_copy(
    update={"quote": "one = 1 / n", "message": "n may be zero", "source": "m", "confidence": 95}
)


class Team:
    """An engine with one finding of a program and one of a model; or one that raises."""

    name = "team"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0

    def covers(self, card: WorkerCard, language: str) -> bool:
        return True

    async def work(self, order: WorkOrder) -> Answer:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return Answer((MODELS,), origin="model", programs=(PROGRAMS,))


class Unasked:
    """A model that nobody gets to."""

    async def ask(self, request: ModelRequest) -> ModelReply:
        raise AssertionError("the verification was to end before this")


@pytest.fixture
def told(a_crew: Callable[..., Crew], trace: Any) -> Callable[..., Review]:
    """The review of two lines, with evidence that is looked for in this way."""

    def run(evidence: Callable[..., tuple[Section, ...]], team: Team | None = None) -> Review:
        change, crew, engine, clock = parse_diff(DIFF), a_crew(), team or Team(), SystemClock()
        snapshot = DiffSnapshot(change)
        verifier: Verifier = ModelVerifier(Unasked(), "Refute it.", trace, evidence)
        setup = Setup(
            crew=crew,
            engine=engine,
            planner=RoutedPlanner(crew, engine.covers, snapshot.head, PlanLimits()),
            verifier=GuardedVerifier(verifier, lambda: LEFT_S),
            synthesizer=RuledSynthesizer(Rules.of(crew.cards, None, 10), engine.name),
            tools={},
            snapshot=snapshot,
            journal=MemoryJournal(),
            clock=clock,
            trace=trace,
            run_id="run",
            concurrency=2,
            deadline_s=DEADLINE_S,
        )
        return asyncio.run(review(change, setup))

    return run


def broken(*_given: object) -> tuple[Section, ...]:
    raise ValueError("/root/secret")


def test_a_bug_in_the_verification_loses_nothing_of_what_was_found(told: Callable[..., Review]) -> None:
    review_ = told(broken)

    assert [(finding.message, finding.confidence) for finding in review_.findings] == [("a token", 99)]
    assert [item.finding and item.finding.message for item in review_.human] == ["n may be zero"]
    (gap,) = review_.gaps
    assert (gap.tool, gap.message) == ("verifier", "1 finding could not be verified: ValueError in the verifier")


def test_a_verification_that_hangs_ends_with_the_time_and_loses_nothing(told: Callable[..., Review]) -> None:
    gate, ended = threading.Event(), list[bool]()

    def hanging(*_given: object) -> tuple[Section, ...]:
        ended.append(gate.wait(HANGS_S))
        return ()

    review_ = told(hanging)
    assert not ended, "neither the review nor the end of its loop waits for the thread"
    gate.set()

    assert [finding.message for finding in review_.findings] == ["a token"]
    assert [(gap.tool, gap.reason) for gap in review_.gaps] == [("verifier", "deadline")]


def test_where_nobody_is_answered_an_engine_is_asked_once_for_each_task(told: Callable[..., Review]) -> None:
    team = Team(AccountError("the model API does not accept the credentials (401)"))
    review_ = told(broken, team)

    assert team.asked == 1
    assert [(gap.path, gap.reason, gap.message) for gap in review_.gaps] == [
        ("src/app.py", "bad_answer", "the model API does not accept the credentials (401)")
    ]
