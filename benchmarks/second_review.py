#!/usr/bin/env python3
"""What a second offline review of the same change takes, as a share of the first.

    python benchmarks/second_review.py [--shared FOLDER] [--commits 5] [--rounds 3]

The changes are the last commits of this repository with 10 to 30 files, and, where `--shared` has them, labelled
changes with the whole tree around them, each made a commit of a git repository in a temporary folder. Each round has an
empty cache: one review fills it, and the same one finds its report there. A third one has another title, so that it
finds the reports of analyzers on each file alone. Prints the median wall and CPU time of each (children included), and
ends with 1 where the median of the ratios of wall time of second and first, or that of a change of 10 to 30 files, is
over a third.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
GOAL = 1 / 3
SMALL = range(10, 31)
"""Files of a change whose own ratio is held against the goal."""
GROUPS = ("seeded", "own")
"""Folders of labelled changes that come with their whole tree."""
_AUTHOR = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@reviewbot.invalid", "-c", "core.autocrlf=false")


class Change(NamedTuple):
    """A commit to review."""

    name: str
    repository: Path
    commit: str
    files: int


class Cost(NamedTuple):
    """Seconds of one review."""

    wall: float
    cpu: float


def git(repository: Path, *arguments: str) -> str:
    """What git prints."""
    command = ["git", "-C", str(repository), *_AUTHOR, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def recent_commits(repository: Path, wanted: int) -> Iterator[Change]:
    """The last commits with a small number of files, newest first."""
    found = 0
    for commit in git(repository, "log", "--no-merges", "--format=%h", "-300").split():
        if found == wanted:
            return
        files = changed_files(repository, commit)
        if files in SMALL:
            found += 1
            yield Change(f"reviewbot {commit}", repository, commit, files)


def labelled_changes(shared: Path, folder: Path) -> Iterator[Change]:
    """Each labelled change as the second commit of a repository of its own below `folder`."""
    for case in sorted(case for group in GROUPS for case in (shared / "bench/cases" / group).glob("*")):
        repository = folder / case.name
        shutil.copytree(case / "base", repository)
        git(repository, "init", "--quiet")
        git(repository, "add", "--all", "--force")
        git(repository, "commit", "--quiet", "-m", "base")
        git(repository, "apply", "--index", str(case / "change.diff"))
        git(repository, "commit", "--quiet", "-m", "change")
        yield Change(f"{case.parent.name}/{case.name}", repository, "HEAD", changed_files(repository, "HEAD"))


def changed_files(repository: Path, commit: str) -> int:
    """How many files a commit changes."""
    return len(git(repository, "diff", "--name-only", f"{commit}^", commit).splitlines())


def cost_of_review(program: str, change: Change, home: str, *more: str) -> Cost:
    """One review, with all of its children; `more` are further words of its command line."""
    environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_CACHE_HOME": home, "XDG_CONFIG_HOME": home}
    command = [program, "review", "--git", f"{change.commit}^..{change.commit}", *more]
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=change.repository, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    if (code := os.waitstatus_to_exitcode(status)) not in (0, 4):
        sys.exit(f"the review of {change.name} ended with {code}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def measure(program: str, change: Change, rounds: int) -> tuple[Cost, Cost, Cost]:
    """The medians of first and second reviews, and of those that find the analyzers' reports alone."""
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as home:
            both = [cost_of_review(program, change, home) for _ in range(2)]
            found.append((*both, cost_of_review(program, change, home, "--title", "Another title")))
    first, second, third = (Cost(*map(median, zip(*runs, strict=True))) for runs in zip(*found, strict=True))
    return first, second, third


def main() -> int:
    """Measure, print a table, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=HERE.parents[1] / "shared")
    parser.add_argument("--program", default=str(Path(sys.executable).with_name("reviewbot")))
    parser.add_argument("--commits", type=int, default=5, help="of this repository")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    program = str(Path(arguments.program).absolute())
    ratios, others, missed = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        changes = [
            *recent_commits(HERE.parent, arguments.commits),
            *labelled_changes(arguments.shared.absolute(), Path(folder)),
        ]
        measure(program, changes[0], 1)  # once for the byte code and the system's cache of files
        print(f"{'change':26} files  first s (CPU)  second s (CPU)  ratio (CPU)  by file s (CPU)  ratio (CPU)")
        for change in changes:
            first, second, third = measure(program, change, arguments.rounds)
            ratio = second.wall / first.wall
            ratios.append(ratio)
            others.append(third.wall / first.wall)
            missed += change.files in SMALL and ratio > GOAL
            print(
                f"{change.name:26} {change.files:5}  {first.wall:7.2f} ({first.cpu:.2f})  "
                f"{second.wall:8.2f} ({second.cpu:.2f})   {ratio:.2f} ({second.cpu / first.cpu:.2f})  "
                f"{third.wall:9.2f} ({third.cpu:.2f})   {others[-1]:.2f} ({third.cpu / first.cpu:.2f})",
                flush=True,
            )
    spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
    print(
        f"second / first: median {median(ratios):.2f} of {len(ratios)} changes {spread}; "
        f"of 10 to 30 files over a third: {missed}; by file: median {median(others):.2f}"
    )
    return int(median(ratios) > GOAL or missed > 0)


if __name__ == "__main__":
    sys.exit(main())
