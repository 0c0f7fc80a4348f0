#!/usr/bin/env python3
"""What an offline review costs: CPU seconds and memory of the process tree, best of some runs.

    python benchmarks/analyzers.py DIFF... [--rounds N]

A diff called large.diff or huge.diff is held against its limit; the program ends with 1 where one is over it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LIMITS = {"large.diff": (6.0, 250), "huge.diff": (30.0, 250)}
"""CPU seconds and megabytes, by name."""


def measured(diff: Path, cache: str) -> tuple[float, float, str]:
    """CPU seconds, the most memory that one process of the tree had in megabytes, and what the review says."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [sys.executable, "-P", "-m", "reviewbot", "review", str(diff), "--no-cache", "--format", "json"]
    environment = {**os.environ, "HOME": cache, "XDG_CACHE_HOME": cache, "XDG_CONFIG_HOME": cache}
    done = subprocess.run(program, capture_output=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 4):
        sys.exit(f"the review of {diff} ended with {done.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    per_megabyte = 1024 if sys.platform == "linux" else 1024 * 1024
    answer = json.loads(done.stdout)
    return cpu, after.ru_maxrss / per_megabyte, f"{answer['headline']}, {len(answer['gaps'])} gaps"


def main() -> int:
    """Measure each diff; the result is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("diffs", metavar="DIFF", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    over = False
    for diff in arguments.diffs:
        with tempfile.TemporaryDirectory() as cache:
            rounds = [measured(diff, cache) for _ in range(arguments.rounds)]
        cpu, memory, said = min(rounds)
        seconds, megabytes = LIMITS.get(diff.name, (float("inf"), float("inf")))
        over = over or cpu > seconds or memory > megabytes
        print(f"{diff.name}: {cpu:.1f} s of CPU (limit {seconds:g}), {memory:.0f} MB (limit {megabytes:g}); {said}")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
