#!/usr/bin/env python3
"""Kills an offline review with SIGKILL at random points and resumes it; the review must be the same each time.

    python tests/kill_and_resume.py [--diff FILE] [--points 20] [--seed N]

After each kill the journal tells which tasks had finished; none of them may be started again by the resumed run. Prints
one line a point and exits with 1 on the first difference. Long: `make kill`, not part of the gate.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAM = str(Path(sys.executable).with_name("reviewbot"))


def start(diff: Path, cache: Path, *more: str) -> subprocess.Popen[bytes]:
    """A review in a process group of its own, with its journal in `cache`."""
    command = [PROGRAM, "review", str(diff), "--engine", "analyzers", "--format", "json", *more]
    environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(cache), "HOME": str(cache)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, start_new_session=True
    )


def finished(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The review that a process printed, without what depends on the clock."""
    out, err = process.communicate()
    if process.returncode not in (0, 4):
        sys.exit(f"the review ended with {process.returncode}: {err.decode()}")
    review: dict[str, Any] = json.loads(out)
    del review["timings"]
    for worker in review["workers"]:
        del worker["duration_ms"]
    return review


def journaled(cache: Path) -> set[str]:
    """The tasks that had finished, as `TASK/ATTEMPT`, by what is in the journal."""
    path = cache / "reviewbot" / "journal.sqlite"
    if not path.exists():
        return set()
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        rows = connection.execute("SELECT key FROM entries").fetchall()
    except sqlite3.OperationalError:  # killed before the table was made
        return set()
    finally:
        connection.close()
    # A key is RUN/TASK/ATTEMPT/QUESTION, and a task's name may hold slashes.
    return {bytes(key).decode().split("/", 1)[1].rsplit("/", 1)[0] for (key,) in rows}


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
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            done = journaled(cache)
            review = finished(start(arguments.diff, cache, "--resume", "--trace", str(trace)))
            events = json.loads(trace.read_text())["events"]
            started = {f"{e['task_id']}/{e['attempt'] - 1}" for e in events if e["event"] == "task_started"}
            resumed = {f"{e['task_id']}/{e['attempt'] - 1}" for e in events if e["event"] == "resumed"}
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
