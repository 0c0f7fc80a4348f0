"""Many cases at once: each ends in one row, whatever happens to it or to its process."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import Case
from reviewbot.evaluate.runner import _leave, _prepare, _watch_parent, failures, run_cases

HERE = Path(__file__).parent


@pytest.fixture
def reviewers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The reviewers of `eval_reviewers`, where processes that are started find them too."""
    monkeypatch.syspath_prepend(str(HERE))
    return importlib.import_module("eval_reviewers")


def some(folder: Path, *keys: str) -> list[Case]:
    """Cases without files, but for their folder."""
    for key in keys:
        (folder / key).mkdir(parents=True)
    return [Case(key, folder / key) for key in keys]


def run(cases: Sequence[Case], reviewer: Any, jobs: int) -> tuple[list[str], dict[str, Any]]:
    """What was begun, in that order, and the rows by their cases. No case may have two."""
    begun: list[str] = []
    rows: dict[str, Any] = {}

    def end(row: dict[str, Any]) -> None:
        assert row["case"] not in rows
        rows[row["case"]] = row

    run_cases(cases, reviewer, jobs, lambda case: begun.append(case.key), end)
    return begun, rows


def test_one_job_runs_here_and_in_order(tmp_path: Path, reviewers: Any) -> None:
    begun, rows = run(some(tmp_path, "one/b", "one/a"), reviewers.names_its_process, 1)

    assert begun == list(rows) == ["one/b", "one/a"]
    assert {row["process"] for row in rows.values()} == {os.getpid()}


@pytest.mark.slow
def test_more_jobs_run_in_other_processes(tmp_path: Path, reviewers: Any) -> None:
    begun, rows = run(some(tmp_path, *(f"one/{n}" for n in range(5))), reviewers.names_its_process, 2)

    assert begun == sorted(rows) == [f"one/{n}" for n in range(5)]
    assert os.getpid() not in {row["process"] for row in rows.values()}


def test_no_case_needs_no_process(reviewers: Any) -> None:
    assert run([], reviewers.names_its_process, 2) == ([], {})


def test_an_error_of_ours_is_a_row_with_its_words(tmp_path: Path) -> None:
    def refuses(case: Case) -> dict[str, Any]:
        raise InputError(f"cannot use {case.key}")

    _, rows = run(some(tmp_path, "one/a"), refuses, 1)

    assert rows["one/a"] == {"case": "one/a", "error": "cannot use one/a", "findings": []}


def test_a_fault_is_a_row_that_says_where_and_never_what(tmp_path: Path) -> None:
    def fails(case: Case) -> dict[str, Any]:
        raise ValueError("the reviewed code")

    _, rows = run(some(tmp_path, "one/a", "one/b"), fails, 1)

    assert list(rows) == ["one/a", "one/b"]
    assert rows["one/a"]["error"].startswith("ValueError at test_eval_runner.py:")
    assert "reviewed" not in rows["one/a"]["error"]


@pytest.mark.slow
def test_a_case_that_kills_its_process_costs_no_other(tmp_path: Path, reviewers: Any) -> None:
    keys = ["deadly/a", "one/a", "one/b", "deadly/b", "one/c"]

    _, rows = run(some(tmp_path, *keys), reviewers.dies_on_deadly, 2)

    assert sorted(rows) == sorted(keys)
    assert failures(rows.values()) == [f"deadly/{n}: its process ended without an answer" for n in "ab"]


@pytest.mark.slow
def test_an_interrupt_ends_the_processes_as_well(tmp_path: Path, reviewers: Any) -> None:
    before = set(multiprocessing.active_children())

    def begin(case: Case) -> None:
        if case.group == "last":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cases(some(tmp_path, "endless/a", "one/a", "last/a"), reviewers.hangs_on_endless, 2, begin, lambda _: None)
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_processes_do_not_outlive_their_parent(tmp_path: Path) -> None:
    some(tmp_path, "endless/a", "one/a")
    script = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from eval_reviewers import hangs_on_endless\n"
        "from reviewbot.evaluate.labels import Case\n"
        "from reviewbot.evaluate.runner import run_cases\n"
        "if __name__ == '__main__':\n"
        f"    cases = [Case(key, Path({str(tmp_path)!r}) / key) for key in ('endless/a', 'one/a')]\n"
        "    kill = lambda row: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    run_cases(cases, hangs_on_endless, 2, lambda case: None, kill)\n"
    )
    (tmp_path / "parent.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}

    # Standard output is at its end only when the last process that has it open is gone.
    done = subprocess.run(
        [sys.executable, str(tmp_path / "parent.py")], env=environment, stdout=subprocess.PIPE, timeout=60, check=False
    )

    assert done.returncode == -signal.SIGKILL


def test_a_new_process_leaves_an_interrupt_to_its_parent_and_ends_on_request() -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    threads = set(threading.enumerate())
    try:
        _prepare()

        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == _leave
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for thread in set(threading.enumerate()) - threads:
        thread.join()
    with pytest.raises(SystemExit):
        _leave()


def test_the_first_process_has_no_parent_to_watch() -> None:
    _watch_parent()

    assert multiprocessing.parent_process() is None


def test_failures_are_one_line_each() -> None:
    rows: list[dict[str, Any]] = [
        {"case": "b", "error": "x"},
        {"case": "c", "findings": []},
        {"case": "a", "error": "y"},
    ]

    assert failures(rows) == ["a: y", "b: x"]
