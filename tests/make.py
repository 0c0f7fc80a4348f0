"""What fixtures hand to tests: functions that make values of the product, by the types that they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Candidate,
    ChangeSet,
    Escalation,
    Failure,
    FileChange,
    Finding,
    GapReason,
    Hunk,
    Payload,
    Plan,
    Review,
    ReviewTask,
    WorkerCard,
    WorkerResult,
)
from reviewbot.domain.ports import ModelReply, ModelRequest, TaskResult, WorkerSet, WorkOrder
from reviewbot.hosts.base import PullRequest

MakeCandidate = Callable[..., Candidate]
MakeCard = Callable[..., WorkerCard]
MakeChange = Callable[..., ChangeSet]
MakeWorkerSet = Callable[..., WorkerSet]
MakeEscalation = Callable[..., Escalation]
MakeFailure = Callable[..., Failure]
MakeFile = Callable[..., FileChange]
MakeFinding = Callable[..., Finding]
MakeHunk = Callable[..., Hunk]
MakeOrder = Callable[..., WorkOrder]
MakePayload = Callable[..., Payload]
MakePlan = Callable[..., Plan]
MakePullRequest = Callable[..., PullRequest]
MakeReply = Callable[..., ModelReply]
MakeRequest = Callable[..., ModelRequest]
MakeResult = Callable[..., WorkerResult]
MakeReview = Callable[..., Review]
MakeTask = Callable[..., ReviewTask]
MakeWorker = Callable[..., Any]
Dispatch = Callable[..., dict[str, TaskResult]]


def reasons_of_gaps(settled: TaskResult) -> list[tuple[GapReason, str]]:
    """The reason and the message of each gap of a task."""
    return [(gap.reason, gap.message) for gap in settled.gaps]


def one_fast(cases: Iterable[Any]) -> list[Any]:
    """Cases for `parametrize`, each a program start or a whole review: `make test` tries the first, `make full` all."""
    first, *others = cases
    return [first, *(_slow(case) for case in others)]


def _slow(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)


def seconds_until(reason: str) -> float:
    """The limit of a program that is to end for a reason: short where that is the time, and out of reach elsewhere."""
    return 0.5 if reason == "timeout" else 120.0


def factory(function: Callable[..., Any], name: str) -> Any:
    """A fixture of this name that gives the function."""

    @pytest.fixture(scope="session", name=name)
    def fixture() -> Callable[..., Any]:
        return function

    return fixture
