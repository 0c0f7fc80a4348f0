"""A finding on code that was there before: what the old side has as well is not told again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.tools.analysis import changed_file
from reviewbot.tools.python_reader import PythonReader
from reviewbot.tools.python_tool import PythonTool
from reviewbot.tools.rules import Rule
from reviewbot.tools.views import Budget, Found, Step, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reviewbot.contracts import FileChange
    from reviewbot.ports import Snapshot

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]

THREE = "a = ask()\nb = a + x\nrun(b)\n"
RUNS = {"runs": Rule("runs", "own", "critical", "code", 90)}


def runs_of(view: View, budget: Budget) -> Iterator[Found]:
    """Each `run(b)`, with the rows above it that it has its value from; `safe` on one of them is the end of it."""
    for row, text in enumerate(view.rows, 1):
        budget.spend()
        way = range(row - 2, row + 1)
        if text.strip() == "run(b)" and not any("safe" in view.row(step) for step in way):
            yield Found("runs", row, flow=tuple(Step(step, "a step") for step in way))


def trusted(change: FileChange, snapshot: Snapshot, steps: int = 1_000) -> list[tuple[int, int]]:
    """The lines that are told and how far they are trusted."""
    tool = PythonTool("own", runs_of, RUNS, PythonReader(), steps=steps)
    report = asyncio.run(tool.run(changed_file([change], snapshot), snapshot))
    return [(candidate.line or 0, candidate.confidence) for candidate in report.candidates]


@pytest.mark.parametrize(
    ("code", "base", "expected"),
    [
        (" a = ask()\n+b = a + x\n run(b)", "a = ask()\nb = a\nrun(b)\n", []),
        (" a = ask()\n+b = a + x\n run(b)", "a = ask()\nb = safe(a)\nrun(b)\n", [(2, 90)]),
        (" a = ask()\n+b = a + x\n+run(b)", "a = ask()\nb = a\nrun(b)\n", [(3, 90)]),
        ("+a = ask()\n b = a + x\n run(b)", "a = safe()\nb = a + x\nrun(b)\n", [(1, 90)]),
        ("+a = ask()\n b = a + x\n run(b)", "a = beg()\nb = a + x\nrun(b)\n", [(1, 75)]),
        (" a = ask()\n+b = a + x\n run(b)", "# moved\n\na = ask()\nb = a\n  run(b)\n", [(2, 75)]),
        (" a = ask()\n+b = a + x\n run(b)", "# moved\n\na = ask()\nb = a\nrun(b)\n", []),
    ],
    ids=[
        "a step of an old flow",
        "a step that was safe",
        "the row itself is new",
        "a source that was safe",
        "another source of an old flow",
        "an old side that does not parse",
        "an old flow on other lines",
    ],
)
def test_a_flow_that_the_old_side_has_as_well_is_not_told_on_a_step_of_it(
    file_of: FileOf, snapshot_of: SnapshotOf, code: str, base: str, expected: list[tuple[int, int]]
) -> None:
    assert trusted(file_of(code), snapshot_of(THREE, base)) == expected


def test_of_two_flows_alike_the_one_that_is_new_counts(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    base = THREE + THREE.replace("a + x", "safe(a)")

    assert trusted(file_of(" a = ask()\n+b = a + x\n run(b)", start=4), snapshot_of(THREE + THREE, base)) == [(5, 90)]


@pytest.mark.parametrize(("added", "confidence"), [(1, 90), (2, 75), (3, 90)], ids=["source", "step", "row itself"])
@pytest.mark.parametrize("whole", [True, False], ids=["in a new side alone", "in a bare diff"])
def test_without_an_old_side_the_change_has_to_bring_the_value_in(
    file_of: FileOf, snapshot_of: SnapshotOf, added: int, confidence: int, *, whole: bool
) -> None:
    code = "\n".join(("+" if row == added else " ") + text for row, text in enumerate(THREE.splitlines(), 1))

    assert trusted(file_of(code), snapshot_of(THREE if whole else None)) == [(added, confidence)]


def test_an_old_side_that_takes_too_long_is_none(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    change = file_of(" a = ask()\n+b = a + x\n run(b)")

    assert trusted(change, snapshot_of(THREE, THREE + "\n" * 100), steps=50) == [(2, 75)]
    assert trusted(change, snapshot_of(THREE, THREE + "\n" * 1_000_000)) == [(2, 75)]


def test_an_old_side_is_asked_for_by_its_old_name(file_of: FileOf) -> None:
    new, old = "src/app.py", "src/old.py"
    asked: list[str] = []

    class Asked:
        def head(self, path: str) -> str | None:
            return THREE

        def base(self, path: str) -> str | None:
            asked.append(path)
            return THREE

        def search(self, word: str, limit: int) -> None:
            return None

        def history(self, path: str, first: int, last: int, limit: int) -> tuple[()]:
            return ()

    moved = file_of(" a = ask()\n+b = a + x\n run(b)", path=new).model_copy(update={"old_path": old})
    assert trusted(moved, Asked()) == []
    assert asked == [old]
