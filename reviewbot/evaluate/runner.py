"""Run a reviewer over many cases at once. A case that fails becomes a row that says so, and stops no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import NoReturn

from reviewbot.domain.errors import ReviewbotError
from reviewbot.evaluate.labels import Case
from reviewbot.evaluate.rows import Json

GRACE_S = 5.0
"""For a process whose parent is gone, to tidy up what it has begun."""

Reviewer = Callable[[Case], Json]
"""From a case to the fields of its row. It is sent to other processes, so it must be importable by name."""


def run_cases(
    cases: Sequence[Case], reviewer: Reviewer, jobs: int, begin: Callable[[Case], None], end: Callable[[Json], None]
) -> None:
    """Review all cases, `jobs` at a time, each in a process apart where that is more than one.

    `begin` and `end` are called here, in the caller's process and thread; `end` gets each row once, as they come.
    """
    if jobs == 1:
        for case in cases:
            begin(case)
            end(_row(reviewer, case))
        return
    left = list(cases)
    while left:
        suspects = _until_broken(left, reviewer, jobs, begin, end)
        # One of these took its process down with it, and it is unknown which one: run each again, on its own.
        for case in suspects:
            if _until_broken([case], reviewer, 1, begin, end):
                end({"case": case.key, "error": "its process ended without an answer", "findings": []})


def _until_broken(
    left: list[Case], reviewer: Reviewer, jobs: int, begin: Callable[[Case], None], end: Callable[[Json], None]
) -> list[Case]:
    """Take cases off `left` until there is none or a process dies; the result is those that were then in hand."""
    in_hand: list[Case] = []
    running: dict[Future[Json], Case] = {}

    def settle(future: Future[Json]) -> None:
        row = future.result()
        in_hand.remove(running.pop(future))
        end(row)

    with _pool(jobs) as pool:
        try:
            while left or running:
                while left and len(running) < jobs:
                    case = left.pop(0)
                    in_hand.append(case)
                    begin(case)
                    running[pool.submit(_row, reviewer, case)] = case
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    settle(future)
        except BrokenProcessPool:
            for future in [future for future in running if future.done() and future.exception() is None]:
                settle(future)
    return in_hand


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes, which end when the caller is interrupted and do not outlive it."""
    others = set(multiprocessing.active_children())
    # Spawned and not forked: the caller may have threads, and macOS cannot fork a process that has.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _prepare) as pool:
        try:
            yield pool
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
            raise


def _prepare() -> None:
    """What a new process does first: leave Ctrl-C to its parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, _leave)  # until here there is nothing to tidy up


def _leave(*_: object) -> NoReturn:
    """Tidy up and end: copies of reviewed files must not stay behind."""
    raise SystemExit(1)


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:  # pragma: no cover - it ends the process that it runs in; a test looks at that from outside
        wait_for([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(GRACE_S)
        os._exit(1)


def _row(reviewer: Reviewer, case: Case) -> Json:
    """The whole row of one case, also of one that failed."""
    try:
        return {"case": case.key, **reviewer(case)}
    except ReviewbotError as error:
        return {"case": case.key, "error": str(error), "findings": []}
    except Exception as error:  # noqa: BLE001 - the boundary of a case: a fault in one costs that case, not the run
        return {"case": case.key, "error": _fault(error), "findings": []}


def _fault(error: Exception) -> str:
    """What went wrong and where. The text of a foreign error may hold anything, reviewed code as well."""
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    at = "" if where is None else f" at {Path(where.tb_frame.f_code.co_filename).name}:{where.tb_lineno}"
    return f"{type(error).__name__}{at}"


def failures(rows: Iterable[Json]) -> list[str]:
    """One line for each case that failed, in order of their keys."""
    return sorted(f"{row['case']}: {row['error']}" for row in rows if "error" in row)
