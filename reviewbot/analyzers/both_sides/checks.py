"""All checks in order, over both sides of one file."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.analyzers.both_sides.pair import Pair
from reviewbot.analyzers.both_sides.removed_awaits import removed_awaits, removed_escapes
from reviewbot.analyzers.both_sides.removed_blocks import (
    removed_closes,
    removed_handlers,
    removed_locks,
    removed_opens,
)
from reviewbot.analyzers.both_sides.removed_guards import (
    removed_checks,
    removed_decorators,
    removed_exits,
    removed_operands,
)
from reviewbot.analyzers.both_sides.removed_names import removed_names
from reviewbot.analyzers.both_sides.removed_returns import removed_returns
from reviewbot.analyzers.both_sides.sides import SideFinding, Sides
from reviewbot.analyzers.both_sides.stale_callers import stale_callers
from reviewbot.analyzers.python.views import Budget, OutOfSteps

_STEPS_PER_PAIR = 4_000
"""What holding two functions against each other is counted as, beside one step for each row of them."""

_IN_ANY = (removed_decorators, removed_awaits, removed_escapes)
_IN_KEPT = (
    removed_exits,
    removed_operands,
    removed_checks,
    removed_locks,
    removed_opens,
    removed_closes,
    removed_handlers,
)
"""These reason from what is still there, and say nothing of a function that was written anew."""


def compare(sides: Sides, budget: Budget) -> tuple[tuple[SideFinding, ...], bool]:
    """Run all checks on a file; their findings, and whether they gave up before the end of it."""
    found: list[SideFinding] = []
    try:
        for finding in _all(sides, budget):
            found.append(finding)  # noqa: PERF402 - what was found before it gave up counts
    except (OutOfSteps, RecursionError):
        return tuple(found), True
    return tuple(found), False


def _all(sides: Sides, budget: Budget) -> Iterator[SideFinding]:
    yield from removed_names(sides, budget)
    yield from stale_callers(sides, budget)
    for old, new in sides.pairs:
        budget.spend(_STEPS_PER_PAIR + old.rows[1] - old.rows[0] + new.rows[1] - new.rows[0])
        pair = Pair(sides, old, new)
        for check in _IN_ANY if pair.is_rewritten else _IN_ANY + _IN_KEPT:
            yield from check(pair)
        yield from removed_returns(pair, budget)
