"""Whatever becomes of the verification, what was found is kept, at its caps, and the result says so."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Finding, Gap, WorkerResult
from reviewbot.ports import WorkOrder
from reviewbot.supervisor.boundary import GRACE_S, LATE, GuardedVerifier

FOREVER_S = 3_600


class Inner:
    """A verifier that answers, raises, or (None) hangs."""

    def __init__(self, end: WorkerResult | BaseException | None) -> None:
        self.end = end

    async def verify(self, order: WorkOrder, result: WorkerResult) -> WorkerResult:
        if isinstance(self.end, BaseException):
            raise self.end
        if self.end is None:
            await asyncio.sleep(FOREVER_S)
            raise AssertionError("nobody waits that long")
        return self.end


@pytest.fixture
def found(a_finding: Callable[..., Finding]) -> WorkerResult:
    """A program's finding, and two of a model in one file and one in another; with a gap of before."""
    gap = Gap(path="src/app.py", worker="logic", reason="crashed", message="ruff could not be run", tool="ruff")
    model = {"sources": ("model:x",), "confidence": 95}
    findings = (
        a_finding(confidence=99),
        a_finding(line=2, **model),
        a_finding(line=3, **{**model, "confidence": 40}),
        a_finding(path="b.py", **model),
    )
    return WorkerResult(task_id="logic:src/app.py#1", findings=findings, gaps=(gap,))


Guarded = Callable[..., WorkerResult]


@pytest.fixture
def guarded(an_order: Callable[..., WorkOrder], found: WorkerResult) -> Guarded:
    def run(end: WorkerResult | BaseException | None, left_s: float = math.inf, result: Any = found) -> WorkerResult:
        return asyncio.run(GuardedVerifier(Inner(end), lambda: left_s).verify(an_order(), result))

    return run


def test_what_was_verified_is_handed_on_as_it_is(guarded: Guarded, found: WorkerResult) -> None:
    ruled = found.model_copy(update={"findings": found.findings[:1]})

    assert guarded(ruled) is ruled


@pytest.mark.parametrize("error", [KeyError("/root/secret"), TimeoutError("inner"), ExceptionGroup("g", [OSError()])])
def test_a_fault_costs_no_finding_and_is_a_gap_for_each_file_it_concerns(error: Exception, guarded: Guarded) -> None:
    result = guarded(error)
    why = f"{type(error).__name__} in the verifier"

    assert [finding.confidence for finding in result.findings] == [99, 70, 40, 70]
    assert [finding.judgement for finding in result.findings] == ["", *[f"not verified: {why}"] * 3]
    assert [gap.message for gap in result.gaps] == [
        "ruff could not be run",
        f"2 findings could not be verified: {why}",
        f"1 finding could not be verified: {why}",
    ]
    assert {(gap.worker, gap.reason, gap.task_id, gap.tool) for gap in result.gaps[1:]} == {
        ("logic", "crashed", "logic:src/app.py#1", "verifier")
    }


def test_where_time_is_up_it_ends(guarded: Guarded) -> None:
    result = guarded(None, left_s=0.0)

    assert [finding.confidence for finding in result.findings] == [99, 70, 40, 70]
    assert [gap.reason for gap in result.gaps] == ["crashed", "deadline", "deadline"]
    assert result.gaps[1].message == f"2 findings could not be verified: {LATE}"


def test_what_comes_at_the_last_moment_counts(an_order: Callable[..., WorkOrder], found: WorkerResult) -> None:
    """A model is given up when the time ends, and then the verifier says what was ruled on by then."""

    class Last:
        async def verify(self, order: WorkOrder, result: WorkerResult) -> WorkerResult:
            await asyncio.sleep(0)
            return result

    assert GRACE_S > 0
    assert asyncio.run(GuardedVerifier(Last(), lambda: 0.0).verify(an_order(), found)) is found


def test_where_programs_alone_have_spoken_nothing_is_missing(guarded: Guarded, found: WorkerResult) -> None:
    own = found.model_copy(update={"findings": found.findings[:1], "gaps": ()})

    assert guarded(KeyError("bug"), result=own) == own


def test_whoever_is_stopped_is_stopped(an_order: Callable[..., WorkOrder], found: WorkerResult) -> None:
    async def stopped() -> None:
        task = asyncio.create_task(GuardedVerifier(Inner(None), lambda: math.inf).verify(an_order(), found))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())
