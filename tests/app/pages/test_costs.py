"""The table of costs by repository and worker."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.app.pages.costs import MAX_REPOSITORIES, MAX_WORKERS, cost_table, dearest
from reviewbot.app.store.durable.listing import RepositorySummary, WorkerTotal

SPENT = st.dictionaries(
    st.integers(1, 80), st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 64), min_size=1), max_size=70
)


@given(spent=SPENT)
def test_every_dollar_stands_in_one_cell_however_many_repositories_and_workers_there_are(
    spent: dict[int, dict[str, int]],
) -> None:
    repositories = [
        RepositorySummary(number, 1, f"octo/{number}", 3, 0, 0, 0.0, float(sum(cells.values())))
        for number, cells in spent.items()
    ]
    names = {name for cells in spent.values() for name in cells}
    totals = [WorkerTotal(name, 3, float(sum(cells.get(name, 0) for cells in spent.values())), 7) for name in names]
    totals.sort(key=lambda each: -each.dollars)
    own = {each.repository: {k: float(v) for k, v in spent[each.repository].items()} for each in dearest(repositories)}
    table = cost_table(repositories, totals, own)

    assert len(table.rows) <= MAX_REPOSITORIES + 1
    assert len(table.workers) == len(table.tokens) <= MAX_WORKERS + 1
    assert sum(row.runs for row in table.rows) == table.total.runs == 3 * len(spent)
    assert sum(row.dollars for row in table.rows) == table.total.dollars
    assert [sum(column) for column in zip(*(row.by_worker for row in table.rows), strict=True)] == (
        list(table.total.by_worker) if spent else []
    )
    assert all(sum(row.by_worker) == row.dollars for row in (*table.rows, table.total))
    assert sum(table.tokens) == 7 * len(names)
