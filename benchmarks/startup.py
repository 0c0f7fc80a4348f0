#!/usr/bin/env python3
"""What a run costs before it does anything, and for a small diff, as multiples of `python -c pass`.

    python benchmarks/startup.py [--diff FILE] [--rounds 5]

Runs the commands in turn, so that a busy moment of the machine hits all of them, and takes the best of each. Prints
wall and CPU time (children included) and exits with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOALS = {"help": 12.0, "review": 45.0}
ROUND = "ROUND"
"""Stands in a command for the number of the round."""


def cost(command: list[str], home: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one run of a command, with all of its children."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    message = process.stderr.read().decode() if process.stderr else ""
    if code not in (0, 4):
        sys.exit(f"{command} ended with {code}: {message}")
    return wall, usage.ru_utime + usage.ru_stime


def main() -> int:
    """Measure, print a table, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diff", type=Path, default=HERE.parent / "examples/orders/change.diff")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    program = str(Path(sys.executable).with_name("reviewbot"))
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "help": [program, "--help"],
        # Another title each time, or the report of the round before would be printed.
        "review": [program, "review", str(arguments.diff), "--engine", "analyzers", "--title", ROUND],
    }
    best: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        for name, command in commands.items():
            cost(command, Path(home))  # once for the byte code and the file cache
            best[name] = (float("inf"), float("inf"))
        for number in range(arguments.rounds):
            for name, command in commands.items():
                wall, cpu = cost([str(number) if word == ROUND else word for word in command], Path(home))
                best[name] = (min(best[name][0], wall), min(best[name][1], cpu))
    missed = False
    for name, (wall, cpu) in best.items():
        ratio, cpu_ratio = wall / best["pass"][0], cpu / best["pass"][1]
        goal = GOALS.get(name)
        missed |= goal is not None and ratio > goal
        print(
            f"{name:8} wall {wall * 1000:6.0f} ms = {ratio:5.1f} x   CPU {cpu * 1000:6.0f} ms = {cpu_ratio:5.1f} x"
            + (f"   goal {goal:g} x" if goal else "")
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
