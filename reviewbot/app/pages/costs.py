"""What was spent, by repository and worker in one table: bounded, with the rest of both in a row and a column. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from reviewbot.app.store.durable.listing import RepositorySummary, WorkerTotal
from reviewbot.wording import with_count

MAX_REPOSITORIES: Final = 50
MAX_WORKERS: Final = 8


class CostRow(NamedTuple):
    """One repository, or several together; dollars."""

    repository: int | None
    """None: more than one."""
    name: str
    runs: int
    dollars: float
    by_worker: tuple[float, ...]


class CostTable(NamedTuple):
    """Repositories by workers, the dearest of both first."""

    workers: tuple[str, ...]
    rows: tuple[CostRow, ...]
    total: CostRow
    tokens: tuple[int, ...]
    """By worker, as in `workers`."""


def dearest(repositories: Sequence[RepositorySummary]) -> list[RepositorySummary]:
    """The repositories that have a row of their own."""
    return sorted(repositories, key=lambda each: (-each.dollars, each.name))[:MAX_REPOSITORIES]


def cost_table(
    repositories: Sequence[RepositorySummary],
    totals: Sequence[WorkerTotal],
    spent: Mapping[int, Mapping[str, float]],
) -> CostTable:
    """The table of all repositories.

    Args:
        repositories: with their runs and dollars.
        totals: of every worker over all of them, the dearest first.
        spent: dollars by repository and worker, of those that `dearest` names.
    """
    own, rest = totals[:MAX_WORKERS], totals[MAX_WORKERS:]
    shown = dearest(repositories)
    rows = [
        CostRow(each.repository, each.name, each.runs, each.dollars, _cells(spent.get(each.repository, {}), own, rest))
        for each in shown
    ]
    whole = _cells({each.worker: each.dollars for each in totals}, own, rest)
    total = CostRow(
        None, "All", sum(each.runs for each in repositories), sum(each.dollars for each in repositories), whole
    )
    if left := len(repositories) - len(shown):
        rows.append(_difference(f"{left:,} more", total, rows))
    return CostTable(
        (*(each.worker for each in own), *([with_count(len(rest), "other")] if rest else [])),
        tuple(rows),
        total,
        (*(each.tokens for each in own), *([sum(each.tokens for each in rest)] if rest else [])),
    )


def _cells(spent: Mapping[str, float], own: Sequence[WorkerTotal], rest: Sequence[WorkerTotal]) -> tuple[float, ...]:
    others = [sum(spent.get(each.worker, 0.0) for each in rest)] if rest else []
    return (*(spent.get(each.worker, 0.0) for each in own), *others)


def _difference(name: str, total: CostRow, rows: Sequence[CostRow]) -> CostRow:
    """What the rows leave of the total; rounding leaves no sum below nothing."""
    cells = (
        whole - sum(column) for whole, *column in zip(total.by_worker, *(row.by_worker for row in rows), strict=True)
    )
    dollars = max(0.0, total.dollars - sum(row.dollars for row in rows))
    runs = total.runs - sum(row.runs for row in rows)
    return CostRow(None, name, runs, dollars, tuple(max(0.0, cell) for cell in cells))
