"""A change of one file among others, and what the tool says of it."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import pytest

from reviewbot.analyzers.both_sides import DiffSemantics
from reviewbot.analyzers.core.rules import Rule, packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import Candidate, FileChange, Hunk
from reviewbot.domain.ports import ToolReport
from reviewbot.review.calibration import Calibration
from tests.snapshots import InMemorySnapshot

RULES = packaged_rules("diff_semantics", Calibration()).of_tool("diff-semantics")


def _repository(
    path: str,
    sides: tuple[str | None, str | None],
    others: Mapping[str, str],
    before: Mapping[str, str] | None = None,
    *,
    searchable: bool = True,
    whole: bool = False,
) -> InMemorySnapshot:
    """One changed file, and others that are the same on both sides where there is no `before`; `whole`: no more."""
    base, head = ({path: text} if text is not None else {} for text in sides)
    return InMemorySnapshot(
        {**others, **head}, {**(others if before is None else before), **base}, searchable=searchable, whole=whole
    )


def _file(base: str, head: str, path: str = "src/app.py", context: int = 3) -> FileChange:
    """A file with all hunks of a change."""
    lines = list(difflib.unified_diff(base.split("\n"), head.split("\n"), n=context, lineterm=""))[2:]
    hunks: list[Hunk] = []
    old = new = 0
    for _, group in groupby(lines, key=lambda line: line.startswith("@@")):
        if (text := list(group))[0].startswith("@@"):
            old, new = (int(n) for n in re.findall(r"[-+](\d+)", text[0])[:2])
        else:
            hunks.append(Hunk(old_start=old, old_count=0, new_start=new, new_count=0, body="\n".join(text)))
    return FileChange(path=path, status="modified", language=language_of(path), kind="code", hunks=tuple(hunks))


def _report(
    base: str,
    head: str,
    others: Mapping[str, str] | None = None,
    *,
    path: str = "src/app.py",
    searchable: bool = True,
    whole: bool = False,
) -> ToolReport:
    snapshot = _repository(path, (base, head), others or {}, searchable=searchable, whole=whole)
    return asyncio.run(DiffSemantics(RULES).run(changed_file([_file(base, head, path)], snapshot), snapshot))


def _said(base: str, head: str, others: Mapping[str, str] | None = None, **options: Any) -> dict[str, Candidate]:
    """What is said of a change, by rule; one of each."""
    report = _report(base, head, others, **options)
    assert report.gap is None
    return {each.rule: each for each in report.candidates}


@pytest.fixture(scope="session")
def said() -> Callable[..., dict[str, Candidate]]:
    return _said


@pytest.fixture(scope="session")
def report_of() -> Callable[..., ToolReport]:
    return _report


@pytest.fixture(scope="session")
def file_of() -> Callable[..., FileChange]:
    return _file


@pytest.fixture(scope="session")
def repository() -> Callable[..., Any]:
    return _repository


@pytest.fixture(scope="session")
def rules() -> Mapping[str, Rule]:
    return RULES
