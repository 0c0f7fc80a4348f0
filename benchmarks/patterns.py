#!/usr/bin/env python3
"""What the patterns find in whole trees, or in the commits of a repository: the hits of each rule, with their lines.

    python benchmarks/patterns.py TREE... [--language go] [--rule go-defer-in-loop] [--least 80] [--show]
    python benchmarks/patterns.py TREE... --commits 300

A TREE is a git repository, bare or not; its HEAD is read by git, and nothing of it is run. Files in folders of other
projects (vendor, node_modules, dist) and minified ones are left out. `--commits` reviews the newest commits one by one
instead and prints what would be posted: hits that the change brings, outside of merges.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from reviewbot.analyzers.core.places import hold_by_place
from reviewbot.analyzers.core.preexisting import without_preexisting
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.analyzers.patterns.tool import PATTERN_TOOLS, PatternTool
from reviewbot.diff.language import language_of
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, ChangeSet, Hunk
from reviewbot.domain.ports import ChangedFile, Tool
from reviewbot.sources.memory import DiffSnapshot

FOREIGN = re.compile(
    r"(?:^|/)(?:vendor|vendors|node_modules|bower_components|dist|third_party|external|build|\.yarn|assets/lib|public/lib)/"
    r"|[.-]min\.js$|\.pb\.go$|\.d\.ts$|\.bundle\.js$"
)
MAX_BYTES = 400_000
"""Of a file."""

MAX_DIFF = 2_000_000
"""Bytes of a commit; a larger one imports or moves whole trees."""

TOOLS = [PatternTool(name) for name in PATTERN_TOOLS]


def git(tree: Path, *words: str, data: bytes | None = None) -> bytes:
    """What git prints; no hook, pager or filter of the repository is run."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(tree), *words]
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout


def blobs(tree: Path, names: list[str]) -> Iterator[bytes | None]:
    """The contents of objects such as `HEAD:path`, in their order; None for what is missing or too large."""
    out = git(tree, "cat-file", "--batch", data="\n".join(names).encode() + b"\n")
    at = 0
    for _ in names:
        end = out.index(b"\n", at)
        head, at = out[at:end].split(), end + 1
        if head[-1] == b"missing":
            yield None
            continue
        size = int(head[-1])
        yield out[at : at + size] if size <= MAX_BYTES else None
        at += size + 1


def files(tree: Path, language: str) -> Iterator[tuple[str, str]]:
    """The files of HEAD that a table is for, with their texts."""
    every = git(tree, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    paths = [path for path in every if is_wanted(path, language)]
    for first in range(0, len(paths), 500):
        some = paths[first : first + 500]
        for path, content in zip(some, blobs(tree, [f"HEAD:{path}" for path in some]), strict=True):
            if content is not None:
                yield path, content.decode("utf-8", "replace")


def is_wanted(path: str, language: str) -> bool:
    """Whether a file is the project's own code in the language that was asked for."""
    table = TABLES.get(language_of(path), "")
    return bool(table) and table.endswith(language) and not FOREIGN.search(path) and "\n" not in path


def as_new(path: str, text: str) -> ChangedFile:
    """A file that a change adds as a whole."""
    lines = text.removesuffix("\n").split("\n")
    hunk = Hunk(
        old_start=0, old_count=0, new_start=1, new_count=len(lines), body="\n".join(f"+{line}" for line in lines)
    )
    return ChangedFile(path, path, language_of(path), (hunk,), head=text)


def changed(tree: Path, commit: str, language: str) -> Iterator[ChangedFile]:
    """The files of one commit that a table is for, with both sides."""
    diff = git(tree, "diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv", "-r", f"{commit}^", commit)
    if len(diff) > MAX_DIFF or not diff:
        return
    for file in parse_diff(diff).files:
        if not file.hunks or not is_wanted(file.path, language):
            continue
        base, head = blobs(tree, [f"{commit}^:{file.old_path or file.path}", f"{commit}:{file.path}"])
        sides = [None if side is None else side.decode("utf-8", "replace") for side in (base, head)]
        yield ChangedFile(
            file.path, file.old_path or file.path, file.language, file.hunks, head=sides[1], base=sides[0]
        )


async def found(file: ChangedFile, tools: Sequence[Tool] = TOOLS) -> list[Candidate]:
    """What these tools say of a file."""
    candidates: list[Candidate] = []
    nothing = DiffSnapshot(ChangeSet())
    for tool in tools:
        report = await without_preexisting(tool, file, await tool.run(file, nothing), nothing)
        candidates += hold_by_place(file, report).candidates
    return candidates


def main() -> int:
    """Print the hits of each rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", metavar="TREE", nargs="+", type=Path)
    parser.add_argument("--language", default="", help="the end of a table's name, such as go; all if not given")
    parser.add_argument("--rule", default="", help="a part of a rule's name")
    parser.add_argument("--least", type=int, default=0, help="the least confidence")
    parser.add_argument("--commits", type=int, default=0, help="look at so many commits instead of at the trees")
    parser.add_argument("--show", action="store_true", help="print the lines as well")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    looked = 0
    began = time.process_time()
    for tree in arguments.trees:
        for place, file in subjects(tree, arguments.language, arguments.commits):
            looked += 1
            for one in asyncio.run(found(file)):
                if arguments.rule in one.rule and one.confidence >= arguments.least:
                    counts[one.rule] += 1
                    shown = f": {one.quote}" if arguments.show else ""
                    print(f"{one.rule} {one.confidence} {place} {file.path}:{one.line}{shown}")
    print(f"{looked} files, {time.process_time() - began:.1f} s of CPU, {sum(counts.values())} hits")
    for rule, count in counts.most_common():
        print(f"{count:6} {rule}")
    return 0


def subjects(tree: Path, language: str, commits: int) -> Iterator[tuple[str, ChangedFile]]:
    """The files to look at, each with the name of where it is from."""
    name = tree.parent.name if tree.name in {"repo", ".git"} else tree.name
    if not commits:
        for path, text in files(tree, language):
            if not is_test(path):
                yield name, as_new(path, text)
        return
    for commit in git(tree, "log", "--no-merges", "--min-parents=1", f"-{commits}", "--format=%H").decode().split():
        for file in changed(tree, commit, language):
            yield f"{name}@{commit[:10]}", file


if __name__ == "__main__":
    sys.exit(main())
