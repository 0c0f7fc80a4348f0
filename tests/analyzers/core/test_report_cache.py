"""Reports that are found again by the content of what they are about."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.core.report_cache import PREFIX, ReportCache, WatchedSnapshot
from reviewbot.analyzers.core.run import ChangeAnalysis, changed_file
from reviewbot.domain.contracts import Candidate, Gap, GapReason, ToolRun
from reviewbot.domain.ports import ChangedFile, IdentifiedSnapshot, RepositorySnapshot, Snapshot, ToolReport
from tests.snapshots import InMemorySnapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import ChangeSet, FileChange
    from reviewbot.domain.ports import Tool

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]


@dataclass
class Counting:
    """A tool that counts its runs, and may ask for something around the file."""

    name: str = "counting"
    languages: frozenset[str] | None = None
    looks_around: bool = False
    gap: Gap | None = None
    runs: list[str] = field(default_factory=list)

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        self.runs.append(file.path)
        if self.looks_around:
            snapshot.search("word", 1)
        found = Candidate(
            severity="info",
            path=file.path,
            quote="x",
            message="m",
            confidence=50,
            source=self.name,
            category="c",
            line=1,
        )
        return ToolReport((found,), ToolRun(tool=self.name, version="1", duration_ms=7), self.gap)


class Commits(InMemorySnapshot):
    """A snapshot of two commits that have one file, which is the same under any name."""

    def __init__(self, identity: str | None, text: str = "x = 1\n") -> None:
        super().__init__()
        self.identity = identity
        self._text = text

    def head(self, path: str) -> str | None:
        return self._text


@pytest.fixture
def reviewed(a_change: Callable[..., ChangeSet], file_of: FileOf, journal: Any) -> Callable[..., ToolReport]:
    """A review of one file by one tool; all reviews of a test share a journal."""

    def review(tool: Tool, snapshot: Snapshot, change: FileChange | None = None, **given: Any) -> ToolReport:
        file = change or file_of("x = 1")
        cache = ReportCache(journal, given.pop("settings", "table"), snapshot, **given)
        analysis = ChangeAnalysis(a_change(file), snapshot, {tool.name: tool}, cache=cache)
        return asyncio.run(analysis.report(tool.name, file.path))

    return review


def test_the_same_file_is_looked_at_once(reviewed: Callable[..., ToolReport], journal: Any) -> None:
    tool = Counting()

    first, second = reviewed(tool, Commits("a..b")), reviewed(tool, Commits("c..d"))

    assert tool.runs == ["src/app.py"]
    assert second.candidates == first.candidates
    assert (first.run.duration_ms, second.run.duration_ms) == (7, 0)
    assert all(key.startswith(PREFIX) for key in journal.store)


@pytest.mark.parametrize(
    "other",
    [
        {"snapshot": Commits("a..b", "x = 1\ny = 2\n")},
        {"settings": "another table"},
        {"update": {"path": "src/other.py"}},
        {"update": {"old_path": "src/old.py"}},
        {"update": {"language": "text"}},
        {"update": {"hunks": ()}},
    ],
    ids=["text", "settings", "path", "old path", "language", "hunks"],
)
def test_what_differs_in_anything_is_looked_at(
    reviewed: Callable[..., ToolReport], file_of: FileOf, other: dict[str, Any]
) -> None:
    tool, change = Counting(), file_of("x = 1")
    reviewed(tool, Commits("a..b"), change)

    snapshot = other.pop("snapshot", Commits("a..b"))
    reviewed(tool, snapshot, change.model_copy(update=other.pop("update", {})), **other)

    assert len(tool.runs) == 2


def test_what_depends_on_other_files_counts_for_the_same_commits_alone(reviewed: Callable[..., ToolReport]) -> None:
    tool = Counting(looks_around=True)

    for identity in ("a..b", "a..b", "a..c", None, None):
        reviewed(tool, Commits(identity))

    assert len(tool.runs) == 4


def test_of_a_snapshot_without_a_name_only_what_looks_at_nothing_else_is_kept(
    reviewed: Callable[..., ToolReport], bare: Snapshot
) -> None:
    alone, around = Counting(), Counting(name="around", looks_around=True)

    for tool in (alone, alone, around, around):
        reviewed(tool, bare)

    assert (len(alone.runs), len(around.runs)) == (1, 2)


@pytest.mark.parametrize(
    ("reason", "kept"), [("unreadable", True), ("flooded", True), ("timeout", False), ("crashed", False)]
)
def test_what_may_do_better_the_next_time_is_not_kept(
    reviewed: Callable[..., ToolReport], reason: GapReason, *, kept: bool
) -> None:
    tool = Counting(gap=Gap(path="src/app.py", worker="", reason=reason, message="no", tool="counting"))

    reports = [reviewed(tool, Commits("a..b")) for _ in range(2)]

    assert [report.gap for report in reports] == [tool.gap] * 2
    assert len(tool.runs) == (1 if kept else 2)


@pytest.mark.parametrize("damage", ["", "[]", "{", '[[], {"tool": "x"}, null]', "null"])
def test_an_entry_that_cannot_be_read_is_not_there(
    reviewed: Callable[..., ToolReport], journal: Any, damage: str
) -> None:
    tool = Counting()
    reviewed(tool, Commits("a..b"))
    journal.store.update(dict.fromkeys(journal.store, damage))

    report = reviewed(tool, Commits("a..b"))

    assert (len(tool.runs), len(report.candidates)) == (2, 1)


def test_what_was_handed_in_for_one_review_is_not_kept_for_another(
    reviewed: Callable[..., ToolReport], journal: Any
) -> None:
    tool = Counting(name="imported-logic")

    for _ in range(2):
        reviewed(tool, Commits("a..b"), without=["imported-logic"])

    assert (len(tool.runs), journal.store) == (2, {})


def test_a_snapshot_that_is_asked_for_anything_is_noted(bare: Snapshot) -> None:
    def asked(*call: Any) -> bool:
        watched = WatchedSnapshot(bare)
        assert isinstance(watched, RepositorySnapshot)
        name, *arguments = call
        assert getattr(watched, name)(*arguments) in (None, ())
        return watched.asked

    assert not WatchedSnapshot(bare).asked
    assert asked("head", "a.py")
    assert asked("base", "a.py")
    assert asked("search", "x", 1)
    assert asked("history", "a.py", 1)
    assert asked("files")
    watched = WatchedSnapshot(bare)
    assert list(watched.contents(["a.py"])) == []
    assert watched.asked


def test_the_tree_of_a_repository_is_handed_on() -> None:
    class Tree(Commits):
        def files(self) -> tuple[str, ...]:
            return ("a.py",)

        def contents(self, paths: Any) -> Any:
            return iter([(path, b"x") for path in paths])

    watched = WatchedSnapshot(Tree("a..b"))

    assert watched.files() == ("a.py",)
    assert list(watched.contents(["a.py"])) == [("a.py", b"x")]


def test_lone_halves_of_surrogates_are_no_reason_to_fail(
    journal: Any, file_of: FileOf, snapshot_of: SnapshotOf
) -> None:
    cache = ReportCache(journal, "table", snapshot_of())
    file = replace(changed_file([file_of("x = 1")], snapshot_of("\udc80")), before="\ud800")

    assert cache.get("counting", file) is None
    assert isinstance(Commits("a"), IdentifiedSnapshot)
