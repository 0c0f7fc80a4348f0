"""Committed conflict markers, and the many lines that only look like them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.text.merge_conflicts import MergeConflicts

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import Candidate, FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]

BEGIN, BASE, MIDDLE, END = "<" * 7 + " HEAD", "|" * 7 + " 1a2b3c4", "=" * 7, ">" * 7 + " topic"


def scan(change: FileChange, snapshot: Snapshot) -> list[Candidate]:
    return list(asyncio.run(MergeConflicts().run(changed_file([change], snapshot), snapshot)).candidates)


def added(*lines: str) -> str:
    return "\n".join(f"+{line}" for line in lines)


@pytest.mark.parametrize("tail", ["", "\r"])
def test_a_conflict_is_one_finding_from_its_first_marker_to_its_last(
    file_of: FileOf, bare: Snapshot, tail: str
) -> None:
    lines = ["a", BEGIN, "b", BASE, "c", MIDDLE, "d", END, "e"]

    (found,) = scan(file_of(added(*(line + tail for line in lines)), language="go"), bare)

    assert (found.line, found.end_line, found.severity, found.confidence) == (2, 8, "critical", 99)
    assert found.quote == BEGIN


def test_two_conflicts_are_two_findings(file_of: FileOf, bare: Snapshot) -> None:
    found = scan(file_of(added(BEGIN, MIDDLE, END, "x", BEGIN, MIDDLE, END, BEGIN, BEGIN)), bare)

    assert [(candidate.line, candidate.end_line) for candidate in found] == [(1, 3), (5, 7), (8, 8), (9, 9)]


@pytest.mark.parametrize("line", [BEGIN, "<" * 7, END], ids=["begin", "begin without a label", "end"])
def test_one_marker_is_enough_in_code(file_of: FileOf, bare: Snapshot, line: str) -> None:
    assert len(scan(file_of(added("x", line)), bare)) == 1


def test_a_middle_counts_with_an_end(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(added("x", MIDDLE, "y", END)), bare)

    assert (found.line, found.end_line) == (2, 4)


def test_only_an_added_marker_is_told(file_of: FileOf, bare: Snapshot) -> None:
    assert scan(file_of(f" {BEGIN}\n+x\n {MIDDLE}\n {END}"), bare) == []
    assert [found.line for found in scan(file_of(f" {BEGIN}\n+x\n+{MIDDLE}\n {END}"), bare)] == [3]
    assert scan(file_of(f"-{BEGIN}\n-{MIDDLE}\n-{END}\n+x"), bare) == []


@pytest.mark.parametrize(
    "line",
    [
        MIDDLE,
        "=" * 8,
        "<" * 6 + " x",
        "<" * 8 + " x",
        "<" * 7 + "x",
        " " + BEGIN,
        ">>> f(x)",
        ">" * 7 + "x",
        "'" + BEGIN + "'",
        "======= Heading",
        MIDDLE + " ",
    ],
)
def test_what_only_looks_like_a_marker_is_none(file_of: FileOf, bare: Snapshot, line: str) -> None:
    assert scan(file_of(added("Heading", line)), bare) == []


@pytest.mark.parametrize("language", ["markdown", "restructuredtext"])
def test_prose_with_underlined_headings_and_quoted_mail_is_quiet(
    file_of: FileOf, bare: Snapshot, language: str
) -> None:
    assert scan(file_of(added("Heading", MIDDLE, "", END), language=language), bare) == []


def test_a_conflict_in_prose_may_be_an_example(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(added(BEGIN, "a", MIDDLE, "b", END), language="markdown"), bare)

    assert (found.severity, found.confidence) == ("warning", 70)
