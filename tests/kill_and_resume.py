#!/usr/bin/env python3
"""Kills an offline review with SIGKILL at random points and resumes it; the review must be the same each time.

    python tests/kill_and_resume.py [--diff FILE] [--points 20] [--seed N]

After each kill the journal tells which tasks had finished; none of them may be started again by the resumed run. Prints
one line a point and exits with 1 on the first difference. Long: `make kill`, not part of the gate. The same with models
is `kill_and_resume_model.py`, which takes its helpers from here.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(sys.executable).with_name("reviewbot"))
_COSTLY = re.compile(r" took [\d,]+ tokens, ")
"""In a note on a worker that cost more than the others: it is about the bill of one run."""


def start(
    diff: Path, cache: Path, *more: str, engine: str = "analyzers", environ: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A review in a process group of its own, with its journal in `cache`, and with `environ` in its environment."""
    command = [PROGRAM, "review", str(diff), "--engine", engine, "--format", "json", *more]
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(cache), "HOME": str(cache), **(environ or {})}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group at once, and take what it left in its pipes."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finished(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The review that a process printed, without what depends on the clock."""
    out, err = process.communicate()
    if process.returncode not in (0, 4):
        sys.exit(f"the review ended with {process.returncode}: {err.decode()}")
    return lasting(json.loads(out))


def lasting(review: dict[str, Any]) -> dict[str, Any]:
    """What of a review is the same whenever it is done: no durations, and no costs, for a resumed run pays less.

    Planner, verifier and the like have no tasks: they are in a review for their costs alone.
    """
    rows = [row for row in review["workers"] if row["tasks"]]
    rows = [{key: row[key] for key in row if key not in ("duration_ms", "usage")} for row in rows]
    notes = [note for note in review["notes"] if not _COSTLY.search(note)]
    return {**{key: review[key] for key in review if key not in ("timings", "usage")}, "workers": rows, "notes": notes}


def entries(cache: Path) -> dict[str, str]:
    """What the journal holds."""
    path = cache / "reviewbot" / "journal.sqlite"
    if not path.exists():
        return {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        try:
            rows = connection.execute("SELECT key, value FROM entries").fetchall()
        except sqlite3.OperationalError:  # killed before the table was made
            return {}
    return {bytes(key).decode(): bytes(value).decode() for key, value in rows}


def journaled(cache: Path) -> set[str]:
    """The tasks that had finished, as `TASK/ATTEMPT`, by what is in the journal."""
    # A key is RUN/TASK/ATTEMPT/QUESTION; a task's name may hold slashes. Answers and reports have keys of their own.
    keys = [key for key in entries(cache) if not key.startswith(("model/", "report/", "review/"))]
    return {key.split("/", 1)[1].rsplit("/", 1)[0] for key in keys}


def tasks_of(trace: Path, event: str) -> set[str]:
    """The tasks of which a trace has such an event, as `journaled` names them."""
    events = json.loads(trace.read_text())["events"]
    return {f"{each['task_id']}/{each['attempt'] - 1}" for each in events if each["event"] == event}


def main() -> int:
    """Run once undisturbed, then once per point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diff", type=Path, default=HERE.parent / "examples/orders/change.diff")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        before = time.monotonic()
        wanted = finished(start(arguments.diff, Path(folder)))
        wall = time.monotonic() - before
    print(f"undisturbed: {wall:.2f} s, {len(wanted['coverage'])} files; seed {seed}")
    resumed_in_all = 0
    for point in range(1, arguments.points + 1):
        with tempfile.TemporaryDirectory() as folder:
            cache, trace = Path(folder), Path(folder) / "trace.json"
            process = start(arguments.diff, cache)
            delay = rng.uniform(0.05, wall)
            time.sleep(delay)
            kill(process)
            done = journaled(cache)
            review = finished(start(arguments.diff, cache, "--resume", "--trace", str(trace)))
            started, resumed = tasks_of(trace, "task_started"), tasks_of(trace, "resumed")
            resumed_in_all += len(resumed)
            print(f"point {point:2}: killed after {delay:5.2f} s: {len(done)} finished, {len(started)} run after")

            if again := started & done:
                print(f"run again although finished: {sorted(again)[:3]}")
                return 1
            if resumed != done or review != wanted:
                print("the resumed review is not the same")
                return 1
    print(
        f"{arguments.points} points: the same review each time, no finished task run again ({resumed_in_all} resumed)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
