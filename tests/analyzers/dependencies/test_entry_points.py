"""An entry point that one manifest of a package gains and the other does not."""

from __future__ import annotations

import asyncio
import json

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.dependencies.entry_points import MAX_ENTRY_POINTS, missing_entry_points
from reviewbot.analyzers.dependencies.tool import AddedDependencies
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile
from tests.snapshots import InMemorySnapshot

OLD = (".", "./a", "./b")
NEW = (*OLD, "./c")


def manifest(*entries: str) -> str:
    return json.dumps({"exports": {each: f"{each}.ts" for each in entries}}, indent=1)


def missing(base: str, head: str, other_base: str, other_head: str, path: str = "lib/package.json") -> list[str]:
    """What the manifest beside one lacks of what that one gained."""
    snapshot = InMemorySnapshot({"lib/jsr.json": other_head}, {"lib/jsr.json": other_base})
    found = missing_entry_points(ChangedFile(path, path, "json", (), head, base), snapshot)
    return [f"{entry} {other}" for entry, other in found]


def test_an_entry_point_that_the_other_manifest_lacks_is_named() -> None:
    assert missing(manifest(*OLD), manifest(*NEW), manifest(*OLD), manifest(*OLD)) == ["./c lib/jsr.json"]


@pytest.mark.parametrize(
    ("base", "head", "other_base", "other_head"),
    [
        (OLD, NEW, OLD, NEW),
        (OLD, NEW, OLD, (*OLD, "./*")),
        (OLD, NEW, OLD[:2], OLD[:2]),
        (OLD[:2], (*OLD[:2], "./c"), OLD[:2], OLD[:2]),
        (OLD, (*OLD, "./c/*"), OLD, OLD),
        (NEW, OLD, NEW, NEW),
    ],
)
def test_lists_that_were_never_alike_or_still_are_draw_nothing(
    base: tuple[str, ...], head: tuple[str, ...], other_base: tuple[str, ...], other_head: tuple[str, ...]
) -> None:
    assert missing(manifest(*base), manifest(*head), manifest(*other_base), manifest(*other_head)) == []


@pytest.mark.parametrize("broken", ["", "{", "[1]", '{"exports": "./a.ts"}', '{"exports": {"a": 1}}', "[" * 100_000])
def test_a_manifest_that_cannot_be_read_draws_nothing(broken: str) -> None:
    assert missing(manifest(*OLD), manifest(*NEW), broken, broken) == []
    assert missing(broken, manifest(*NEW), manifest(*OLD), manifest(*OLD)) == []
    assert missing(manifest(*OLD), broken, manifest(*OLD), manifest(*OLD)) == []


def test_a_manifest_with_thousands_of_entry_points_is_not_looked_at() -> None:
    many = tuple(f"./{'*' * 50}{number}" for number in range(MAX_ENTRY_POINTS + 1))

    assert missing(manifest(*OLD), manifest(*many, "./c"), manifest(*OLD), manifest(*OLD)) == []


def test_other_files_draw_nothing() -> None:
    assert missing(manifest(*OLD), manifest(*NEW), manifest(*OLD), manifest(*OLD), path="lib/tsconfig.json") == []


def test_of_several_entry_points_one_is_reported_at_its_line() -> None:
    base, head = manifest(*OLD), manifest(*NEW, "./d")
    added = head.split("\n")[4:7]
    hunk = Hunk(old_start=5, old_count=0, new_start=5, new_count=3, body="\n".join(f"+{each}" for each in added))
    snapshot = InMemorySnapshot({"jsr.json": base}, {"jsr.json": base})
    tool = AddedDependencies(packaged_rules("dependencies").of_tool("dependencies"))

    report = asyncio.run(tool.run(ChangedFile("package.json", "package.json", "json", (hunk,), head, base), snapshot))

    assert [(each.rule, each.line) for each in report.candidates] == [("entry-point-missing", 6)]
