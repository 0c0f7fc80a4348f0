#!/usr/bin/env python3
"""Whether the same features take fewer statements than at an earlier commit.

    python -m benchmarks.statements [--then COMMIT]

Counts the statements (nodes of `ast.stmt`, docstrings among them) of each package at that commit and in the files as
they are. statements_features.toml lists modules that are wholly a feature which the earlier commit did not have, and
functions, methods and classes of other modules that are: they are left out. What serves an old feature as well counts
in full, and so does what calls a new one. Prints a row for each package, the features, and the difference; ends with 1
where the same features do not take fewer. Needs the history of this repository.
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
from collections.abc import Iterable, Mapping
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
    definitions: tuple[str, ...] = ()
    """Parts of other modules, as "path/module.py:Class.method"."""


Node = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_features(text: str) -> tuple[str, tuple[Feature, ...]]:
    """The earlier commit, and the features that it did not have, of the text of statements_features.toml."""
    table = tomllib.loads(text)
    return table["then"], tuple(
        Feature(row["name"], row["gives"], tuple(row["modules"]), tuple(row.get("definitions", ())))
        for row in table["feature"]
    )


def count_statements(sources: Mapping[str, str]) -> Counter[str]:
    """Statements of each module, by its path."""
    return Counter({path: _statements_in(ast.parse(text)) for path, text in sources.items()})


def count_definitions(sources: Mapping[str, str]) -> Counter[str]:
    """Statements of each function, method and class, by "path/module.py:Class.method"."""
    found: Counter[str] = Counter()

    def count(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Node):
                found[f"{prefix}{child.name}"] += _statements_in(child)
                count(child, f"{prefix}{child.name}.")

    for path, text in sources.items():
        count(ast.parse(text), f"{path}:")
    return found


def _statements_in(node: ast.AST) -> int:
    return sum(isinstance(each, ast.stmt) for each in ast.walk(node))


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


def definitions_of(features: tuple[Feature, ...], known: Iterable[str], modules: Iterable[str]) -> dict[str, str]:
    """The feature of each part of a module that is one. Exits where it is unknown, or counted already."""
    found: dict[str, str] = {}
    for feature in features:
        for name in feature.definitions:
            path, _, inner = name.partition(":")
            outer = [f"{path}:{inner[:at]}" for at, char in enumerate(inner) if char == "."]
            if name not in known or path in modules or any(each in found for each in (name, *outer)):
                sys.exit(f"{LISTED.name}: {name} of {feature.name!r} is unknown, or counted already")
            found[name] = feature.name
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
    sources = sources_now()
    now, parts = count_statements(sources), count_definitions(sources)
    wholly = modules_of(features, now)
    wholly |= definitions_of(features, parts, wholly)
    new = Counter({name: (parts if ":" in name else now)[name] for name in wholly})
    before, after, added = by_package(then), by_package(now), by_package(new)
    print(f"{'package':14}{'then':>8}{'now':>8}{'new features':>14}{'rest':>8}")
    for package in sorted(before | after):
        rest = after[package] - added[package]
        print(f"{package:14}{before[package]:8}{after[package]:8}{added[package]:14}{rest:8}")
    print()
    for feature in features:
        print(f"{sum(new[name] for name in wholly if wholly[name] == feature.name):6}  {feature.name}: {feature.gives}")
    same = now.total() - new.total()
    change = 100 * (same - then.total()) / then.total()
    print(f"\nthen {then.total()}; now {now.total()}, of which new features {new.total()}")
    print(f"the same features: {then.total()} -> {same}, {same - then.total():+} statements ({change:+.1f} %)")
    return int(same >= then.total())


if __name__ == "__main__":
    sys.exit(main())
