#!/usr/bin/env python3
"""What a run of the Action takes on a clean machine beyond installing its lock: the goal is at most 3 s.

    python -m benchmarks.action_start [--rounds 5] [--python PYTHON]

In turn, `--rounds` times each: install the lock alone, with the options of action.yml, into a new environment; and
carry out all of action.yml for the push of one small file, without a key. Every time with an empty cache of pip, a new
copy of the tree without byte code, and a new folder for everything. The wheels come from a folder that is filled once,
so that no network is measured. Prints the medians, their difference and their ratio; exits with 1 where the goal is
missed. `setup-python` is not part of it: where the runner has that Python it takes no time worth the name.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.action_runner import BEFORE, DEFECT, ROOT, ActionRunner, pushed
from tests.git_repo import GitRepo

GOAL_S = 3.0
SHIPPED = ("action.yml", "reviewbot", "workers", "prompts", "requirements")
LOCK = ROOT / "requirements/action.txt"
OPTIONS = ("--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(LOCK))


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float

    def __repr__(self) -> str:
        return f"{self.wall:.2f}/{self.cpu:.2f}"


def quiet(*command: str | Path, env: Mapping[str, str] | None = None) -> None:
    """Run a command; end where it fails."""
    done = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command} ended with {done.returncode}: {done.stderr}")


class Watch:
    """Seconds of wall time, and of processor time of the children that have ended, since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), self._children()

    def read(self) -> Cost:
        """Both."""
        return Cost(time.perf_counter() - self._wall, self._children() - self._cpu)

    @staticmethod
    def _children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


def alone(python: str, folder: Path, job: Mapping[str, str]) -> Cost:
    """What it takes to install the lock."""
    watch = Watch()
    quiet(python, "-I", "-m", "venv", "--without-pip", folder / "venv")
    pip = (python, "-I", "-m", "pip", "--python", folder / "venv/bin/python", "--disable-pip-version-check")
    quiet(*pip, "install", "--no-compile", *OPTIONS, env={**os.environ, **job})
    return watch.read()


def whole(python: str, folder: Path, job: Mapping[str, str]) -> Cost:
    """What all steps of the Action take."""
    tree = folder / "tree"
    tree.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / name)
    runner = ActionRunner(tree, folder / "runner", python=python, job=job)
    checkout = GitRepo(runner.workspace)
    before = checkout.commit({"app.py": BEFORE})
    after = checkout.commit({"run.py": DEFECT})
    watch = Watch()
    ran = runner.run("push", pushed(before, after, [after]))
    took = watch.read()
    if ran.code or ran.outputs["critical"] != "1":
        sys.exit(f"the Action ended with {ran.code}: {ran.raw}")
    return took


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    taken: dict[str, list[Cost]] = {"alone": [], "whole": []}
    with tempfile.TemporaryDirectory() as place:
        wheels = Path(place, "wheels")
        quiet(arguments.python, "-I", "-m", "pip", "download", "--dest", wheels, *OPTIONS)
        for number in range(arguments.rounds):
            for name, measure in (("alone", alone), ("whole", whole)):
                folder = Path(place, f"{name}{number}")
                folder.mkdir()
                job = {"PIP_CACHE_DIR": str(folder / "cache"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
                taken[name].append(measure(arguments.python, folder, job))
                shutil.rmtree(folder)
    wall = {name: statistics.median(cost.wall for cost in costs) for name, costs in taken.items()}
    cpu = {name: statistics.median(cost.cpu for cost in costs) for name, costs in taken.items()}
    for name, costs in taken.items():
        print(f"{name:6} wall {wall[name]:6.2f} s   CPU {cpu[name]:6.2f} s   of {sorted(costs)}")
    more = wall["whole"] - wall["alone"]
    print(f"more   wall {more:6.2f} s = {wall['whole'] / wall['alone']:.2f} x   goal {GOAL_S:g} s", end="")
    print(f"   CPU {cpu['whole'] - cpu['alone']:6.2f} s = {cpu['whole'] / cpu['alone']:.2f} x")
    return 1 if more > GOAL_S else 0


if __name__ == "__main__":
    sys.exit(main())
