"""What readers say that the change does, as the review has it."""

from __future__ import annotations

from typing import Any

from reviewbot.domain.contracts import FileCoverage, Metadata, Theme, WorkerResult
from reviewbot.domain.ports import TaskResult
from reviewbot.review.combine.synthesizer import summaries_of, themes_of
from tests.make import MakeTask

COVERAGE = [FileCoverage(path=path, state="reviewed") for path in ("a.py", "b.py", "c.py")]


def end(task: Any, summary: str = "", *themes: tuple[str, tuple[str, ...]]) -> TaskResult:
    named = tuple(Theme(title=title, files=files) for title, files in themes)
    result = WorkerResult(task_id=task.task_id, metadata=Metadata(summary=summary, themes=named))
    return TaskResult(task, results=(result,), done=True)


def test_one_reader_of_several_tasks_is_quoted_once(a_task: MakeTask) -> None:
    ends = [end(a_task("logic:1"), "It bills."), end(a_task("style:1"), "It bills. "), end(a_task("perf:1"))]

    assert summaries_of(ends) == ("It bills.",)


def test_a_second_reader_of_the_same_files_is_not_quoted(a_task: MakeTask) -> None:
    assert summaries_of([end(a_task("logic:1"), "It bills."), end(a_task("logic:1~2"), "Bills, again.")]) == (
        "It bills.",
    )


def test_readers_of_other_files_are_quoted_in_the_order_of_the_plan(a_task: MakeTask, a_payload: Any) -> None:
    first = end(a_task("logic:1", payload=a_payload("+x", path="a.py")), "First.")
    second = end(a_task("logic:2", payload=a_payload("+x", path="b.py")), "Second.")

    assert summaries_of([first, second]) == ("First.", "Second.")


def test_a_task_on_names_across_parts_is_not_quoted(a_task: MakeTask) -> None:
    seam = end(a_task(seam=("total",)), "It renames.", ("Names", ("a.py",)))

    assert summaries_of([seam]) == ()
    assert themes_of([seam], COVERAGE) == ()


def test_each_file_of_the_change_is_in_the_first_theme_that_names_it(a_task: MakeTask) -> None:
    ends = [
        end(a_task("logic:1"), "s", (" ", ("c.py",)), ("Billing", ("a.py", "a.py", "other.py")), ("Empty", ())),
        end(a_task("logic:2"), "s", ("Tests", ("a.py", "b.py")), ("Billing ", ("c.py",))),
    ]

    assert themes_of(ends, COVERAGE) == (
        Theme(title="Billing", files=("a.py", "c.py")),
        Theme(title="Tests", files=("b.py",)),
    )
