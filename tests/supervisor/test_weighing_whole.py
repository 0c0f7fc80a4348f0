"""What only readers of parts report, of a change that somebody has read as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import OVERVIEW, Finding, Gap, WorkerResult
from reviewbot.ports import Settled
from reviewbot.supervisor.weighing import ALONE, Rules, weigh

Make = Callable[..., Any]

RULES = Rules({"logic": 80, "security": 80, OVERVIEW: 80}, max_findings=50, read_whole=True)
PART, WHOLE = "model:opus", "model:opus@overview"


def shown(findings: list[Finding], rules: Rules = RULES) -> list[int]:
    return [finding.line for finding in weigh(findings, rules).shown]


@pytest.mark.parametrize(
    ("severity", "confidence", "sources", "is_shown"),
    [
        ("info", 99, (PART,), False),
        ("info", 80, (WHOLE,), True),
        ("info", 80, (PART, WHOLE), True),
        ("warning", ALONE - 1, (PART,), False),
        ("warning", ALONE, (PART,), True),
        ("warning", 80, (WHOLE,), True),
        ("warning", 79, (WHOLE,), False),
        ("critical", 80, (PART,), True),
        ("info", 80, ("ruff",), True),
        ("info", 80, ("ruff", PART), True),
        ("info", 99, ("model:overview",), False),
    ],
)
def test_a_part_alone_must_be_graver_and_surer(
    severity: str, confidence: int, sources: tuple[str, ...], *, is_shown: bool, a_finding: Make
) -> None:
    found = a_finding(line=3, type="logic", severity=severity, confidence=confidence, sources=sources)

    assert shown([found]) == ([3] if is_shown else [])


def test_where_nobody_has_read_the_whole_every_certain_finding_is_shown(a_finding: Make) -> None:
    found = a_finding(line=3, type="logic", severity="info", confidence=80, sources=(PART,))

    assert shown([found], Rules(RULES.thresholds, 50)) == [3]


def test_what_is_held_back_says_why_and_is_not_lost(a_finding: Make) -> None:
    found = a_finding(line=3, type="logic", severity="warning", confidence=85, sources=(PART,))

    [entry] = weigh([found], RULES).withheld

    assert (entry.finding, entry.reason) == (found, "below_threshold")
    assert entry.message == "confidence 85, warning: whoever read the whole change does not name it"


def test_a_finding_that_both_name_is_shown_once_with_both_as_its_sources(a_finding: Make) -> None:
    both = [
        a_finding(line=3, type=kind, severity="info", confidence=85, category="null", sources=(source,))
        for kind, source in (("logic", PART), (OVERVIEW, WHOLE))
    ]

    [one] = weigh(both, RULES).shown

    assert one.sources == (PART, WHOLE)


@pytest.fixture
def an_end(a_task: Make) -> Callable[..., Settled]:
    """How a task of the overview ended."""

    def make(name: str = "overview:2 slices", worker: str = OVERVIEW, **fields: Any) -> Settled:
        task = a_task(name, worker=worker)
        return Settled(task, **{"results": (WorkerResult(task_id=name),), "done": True, **fields})

    return make


def test_only_a_reading_that_was_finished_counts(an_end: Callable[..., Settled]) -> None:
    gap = Gap(path="a.py", worker=OVERVIEW, reason="budget", message="the budget was spent")
    ends = {
        "finished": (an_end(),),
        "beside others": (an_end(), an_end("logic:a", worker="logic", done=False)),
        "none": (),
        "somebody else": (an_end("logic:a", worker="logic"),),
        "not done": (an_end(done=False),),
        "with a gap": (an_end(gaps=(gap,)),),
        "half of it": (an_end(), an_end("overview:2 slices/2", done=False)),
    }

    read = {name: Rules.of((), 80, 50).after({end.task.task_id: end for end in some}).read_whole
            for name, some in ends.items()}  # fmt: skip

    assert read == {name: name in {"finished", "beside others"} for name in ends}
