from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reviewbot.app.store.inbox.counters import COUNTERS
from reviewbot.app.worker.metrics import tallies_of
from reviewbot.domain.contracts import Finding, Gap, Review, Timings, Usage, WorkerUsage

CALL = {"event": "call", "purpose": "logic", "model": "m-1", "stored": False}
USAGE = {"input_tokens": 10, "cached_tokens": 5, "cache_write_tokens": 1, "output_tokens": 4, "cost_usd": 0.5}


def test_a_review_is_counted_by_worker_and_model(a_finding: Callable[..., Finding]) -> None:
    events: list[dict[str, Any]] = [
        {**CALL, "usage": USAGE},
        {**CALL, "usage": USAGE},
        {**CALL, "usage": USAGE, "stored": True},
        {**CALL, "usage": None},
        {"event": "plan"},
    ]
    rows = (
        WorkerUsage(worker="security", tasks=3, findings=1, duration_ms=1, usage=Usage()),
        WorkerUsage(worker="planner", tasks=0, findings=0, duration_ms=1, usage=Usage()),
    )
    review = Review(
        engine="analyzers",
        verdict="issues",
        headline="one",
        summary="",
        findings=(a_finding(),),
        gaps=(Gap(path="a.py", worker="logic", reason="timeout", message="late"),),
        workers=rows,
        timings=Timings(wall_ms=1, critical_path_ms=1, sequential_ms=1),
    )
    counted = {(each.name, *each.labels.values()): each.value for each in tallies_of(review, events)}

    assert counted == {
        ("findings", a_finding().type, a_finding().severity): 1,
        ("gaps", "logic", "timeout"): 1,
        ("tasks", "security"): 3,
        ("tokens", "logic", "m-1", "in"): 32,
        ("tokens", "logic", "m-1", "out"): 8,
        ("dollars", "logic", "m-1"): 1.0,
    }
    assert all(set(each.labels) == set(COUNTERS[each.name][1]) for each in tallies_of(review, events))
