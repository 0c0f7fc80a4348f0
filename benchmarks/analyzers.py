#!/usr/bin/env python3
"""What an offline review costs: CPU seconds, memory and wall time of the process tree, best of some runs.

    python benchmarks/analyzers.py DIFF... [--rounds N] [--python PYTHON]

A diff called small.diff, large.diff or huge.diff is held against its limits; the program ends with 1 where one is over
one. Each round begins with an empty cache; a second review in it may take a third of the wall time of the first.
`--python` is the interpreter of the environment that is measured, such as one without the linters of other languages.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

LIMITS = {
    "small.diff": (float("inf"), 250, 0.6),
    "large.diff": (6.0, 250, 8.0),
    "huge.diff": (30.0, 250, float("inf")),
}
"""CPU seconds, megabytes and wall seconds, by name."""

SECOND = 1 / 3
"""Of the wall time of the first review."""


class Measured(NamedTuple):
    """Seconds of CPU, the most megabytes that one process of the tree had, seconds, and what the review says."""

    cpu: float
    memory: float
    wall: float
    said: str


def measured(diff: Path, cache: str, python: str) -> Measured:
    """Review a diff once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [python, "-P", "-m", "reviewbot", "review", str(diff), "--format", "json"]
    environment = {**os.environ, "HOME": cache, "XDG_CACHE_HOME": cache, "XDG_CONFIG_HOME": cache}
    began = time.perf_counter()
    done = subprocess.run(program, capture_output=True, check=False, env=environment)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 4):
        sys.exit(f"the review of {diff} ended with {done.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    per_megabyte = 1024 if sys.platform == "linux" else 1024 * 1024
    answer = json.loads(done.stdout)
    return Measured(cpu, after.ru_maxrss / per_megabyte, wall, f"{answer['headline']}, {len(answer['gaps'])} gaps")


def twice(diff: Path, python: str) -> tuple[Measured, Measured]:
    """A review with an empty cache, and the same one again."""
    with tempfile.TemporaryDirectory() as cache:
        return measured(diff, cache, python), measured(diff, cache, python)


def main() -> int:
    """Measure each diff; the result is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("diffs", metavar="DIFF", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    over = False
    for diff in arguments.diffs:
        twice(diff, arguments.python)  # once for the byte code and the file cache
        rounds = [twice(diff, arguments.python) for _ in range(arguments.rounds)]
        best = min(first for first, _ in rounds)
        wall, second = (min(each.wall for each in column) for column in zip(*rounds, strict=True))
        seconds, megabytes, limit = LIMITS.get(diff.name, (float("inf"),) * 3)
        over = over or best.cpu > seconds or best.memory > megabytes or wall > limit or second > wall * SECOND
        print(
            f"{diff.name}: {wall:.2f} s (limit {limit:g}), the second {second / wall:.2f} of it (limit {SECOND:.2f}), "
            f"{best.cpu:.1f} s of CPU (limit {seconds:g}), {best.memory:.0f} MB (limit {megabytes:g}); {best.said}"
        )
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
