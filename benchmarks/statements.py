#!/usr/bin/env python3
"""Whether the same features take fewer statements than at an earlier commit.

    python -m benchmarks.statements [--then COMMIT]

Counts the statements (nodes of `ast.stmt`, docstrings among them) of each package at that commit and in the files as
they are. statements_features.toml lists modules that are wholly a feature which the earlier commit did not have: they
are left out. A module that holds old and new features counts in full. Prints a row for each package, the features, and
the difference; ends with 1 where the same features do not take fewer. Needs the history of this repository.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "reviewbot"
LISTED = Path(__file__).with_name("statements_features.toml")


class Feature(NamedTuple):
    """Something that a user can do now and could not then."""

    name: str
    gives: str
    modules: tuple[str, ...]
    """Patterns of paths below the package."""


def read_features(text: str) -> tuple[str, tuple[Feature, ...]]:
    """The earlier commit, and the features that it did not have, of the text of statements_features.toml."""
    table = tomllib.loads(text)
    return table["then"], tuple(Feature(row["name"], row["gives"], tuple(row["modules"])) for row in table["feature"])


def count_statements(sources: Mapping[str, str]) -> Counter[str]:
    """Statements of each module, by its path."""
    return Counter(
        {path: sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text))) for path, text in sources.items()}
    )


def modules_of(features: tuple[Feature, ...], paths: Mapping[str, int]) -> dict[str, str]:
    """The feature of each module that is wholly one. Exits where a pattern names no module, or two name the same."""
    found: dict[str, str] = {}
    for feature in features:
        for pattern in feature.modules:
            named = [path for path in paths if fnmatch(path, pattern)]
            twice = [path for path in named if path in found]
            if twice or not named:
                sys.exit(
                    f"{LISTED.name}: {pattern} of {feature.name!r} names {'again ' + twice[0] if twice else 'nothing'}"
                )
            found |= dict.fromkeys(named, feature.name)
    return found


def by_package(counts: Mapping[str, int]) -> Counter[str]:
    """Statements of each first folder."""
    total: Counter[str] = Counter()
    for path, count in counts.items():
        total[path.partition("/")[0] if "/" in path else "(modules)"] += count
    return total


def sources_at(commit: str) -> dict[str, str]:
    """The modules of the package at a commit."""
    packed = _git("archive", commit, PACKAGE)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        files = {each.name: archive.extractfile(each) for each in archive if each.name.endswith(".py")}
        return {name.removeprefix(f"{PACKAGE}/"): file.read().decode() for name, file in files.items() if file}


def sources_now() -> dict[str, str]:
    """The modules of the package as they are."""
    folder = ROOT / PACKAGE
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}


def renamed_since(commit: str) -> dict[str, str]:
    """The modules that git takes for one of that commit under another name, and that one's path."""
    rows = _git("diff", "--find-renames", "-l0", "--diff-filter=R", "--name-status", commit, "--", PACKAGE).decode()
    pairs = (row.split("\t")[1:] for row in rows.splitlines())
    return {new.removeprefix(f"{PACKAGE}/"): old.removeprefix(f"{PACKAGE}/") for old, new in pairs}


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout  # noqa: S607 - git of the developer


def main() -> int:
    """Count, print, judge."""
    listed, features = read_features(LISTED.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--then", default=listed, metavar="COMMIT", help="the earlier commit (default: %(default)s)")
    then = count_statements(sources_at(parser.parse_args().then))
    now = count_statements(sources_now())
    wholly = modules_of(features, now)
    new = Counter({path: now[path] for path in wholly})
    before, after, added = by_package(then), by_package(now), by_package(new)
    print(f"{'package':14}{'then':>8}{'now':>8}{'new features':>14}{'rest':>8}")
    for package in sorted(before | after):
        rest = after[package] - added[package]
        print(f"{package:14}{before[package]:8}{after[package]:8}{added[package]:14}{rest:8}")
    print()
    for feature in features:
        print(f"{sum(now[path] for path in wholly if wholly[path] == feature.name):6}  {feature.name}: {feature.gives}")
    same = now.total() - new.total()
    change = 100 * (same - then.total()) / then.total()
    print(f"\nthen {then.total()}; now {now.total()}, of which new features {new.total()}")
    print(f"the same features: {then.total()} -> {same}, {same - then.total():+} statements ({change:+.1f} %)")
    return int(same >= then.total())


if __name__ == "__main__":
    sys.exit(main())
