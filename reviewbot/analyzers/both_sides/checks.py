"""All checks of both sides of one file: of its parsed sides, and of its hunks alone where the whole is not at hand.

`compare` runs all checks in order on both sides. `check_hunks` finds losses in hunks where the whole file is not at
hand: removed lines that came back without one thing. None of these is certain: what is gone may have gone to a place
that the hunks do not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.removed_blocks import (
    removed_closes,
    removed_handlers,
    removed_locks,
    removed_opens,
)
from reviewbot.analyzers.both_sides.removed_guards import (
    is_authorization,
    removed_awaits,
    removed_checks,
    removed_decorators,
    removed_escapes,
    removed_exits,
    removed_operands,
    speaks_of_authorization,
)
from reviewbot.analyzers.both_sides.removed_names import removed_names, removed_returns
from reviewbot.analyzers.both_sides.sides import Pair, Rows, SideFinding, Sides
from reviewbot.analyzers.both_sides.stale_callers import stale_callers
from reviewbot.analyzers.python.views import Budget, OutOfSteps
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile

_AWAIT = re.compile(r"\bawait ")
_LOCK = re.compile(r"\s{0,80}(?:async )?with ([A-Za-z_][A-Za-z0-9_.]{0,80}(?:lock|mutex|semaphore))(?:\(\))?:\s{0,20}")
_DECORATOR = re.compile(r"\s{0,80}@([A-Za-z_][A-Za-z0-9_.]{0,80})")

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


def check_hunks(file: ChangedFile) -> Iterator[SideFinding]:
    """Yield what the hunks of a file show to be missing."""
    for hunk in file.hunks:
        rows = list(hunk_rows(hunk))
        removed = [row for row in rows if row.kind == "-"]
        added = [row for row in rows if row.kind == "+"]
        if removed and added:
            yield from _awaits(removed, added)
            yield from _locks(removed, added)
            yield from _decorators(rows, removed, added)


def _awaits(removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    now = {row.text.strip(): row for row in added}
    for row in removed:
        found = now.get(_AWAIT.sub("", row.text.strip(), count=1)) if _AWAIT.search(row.text) else None
        # A function that is not asynchronous any more has no `await` left.
        if found is not None and not any("async def" in each.text for each in removed):
            yield SideFinding(
                "removed-await-by-name", "What was awaited here is not awaited any more", _old(row), _new(found)
            )


def _locks(removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    cap_candidates = {row.text.strip() for row in added}
    if any(word in row.text.lower() for row in added for word in ("lock", "mutex", "semaphore", "acquire")):
        return
    for at, row in enumerate(removed):
        match = _LOCK.fullmatch(row.text)
        after = removed[at + 1] if match and at + 1 < len(removed) else None
        if match and after is not None and after.text.strip() in cap_candidates:
            first = next(each for each in added if each.text.strip() == after.text.strip())
            yield SideFinding(
                "removed-lock-by-name", f"This is done without holding `{match[1]}` now", _old(row), _new(first)
            )


def _decorators(rows: list[Row], removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    if any(speaks_of_authorization(row.text) for row in added):
        return
    for row in removed:
        match = _DECORATOR.match(row.text)
        if match and is_authorization(match[1]) and _definition_stays(rows, row):
            yield SideFinding(
                "removed-authorization-by-name", f"What stood behind `@{match[1]}` does not any more", _old(row)
            )


def _definition_stays(rows: list[Row], row: Row) -> bool:
    """Whether the next definition below a removed line is on the new side."""
    below = (each for each in rows[rows.index(row) + 1 :] if re.match(r"\s{0,80}(?:async )?(?:def|class) ", each.text))
    found = next(below, None)
    return found is not None and found.kind != "-"


def _old(row: Row) -> Rows:
    return row.old or 0, row.old or 0


def _new(row: Row) -> Rows:
    return row.new or 0, row.new or 0


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
