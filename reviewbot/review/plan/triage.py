"""Sort files: which get readers, in what order; which are only scanned. `reviewbot.coverage` says what a file needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from reviewbot.coverage.needs import Declared, needs_of
from reviewbot.diff.rows import hunk_rows
from reviewbot.diff.vendored import HEAD_LINES, copy_sign
from reviewbot.domain.contracts import ChangeSet, FileChange, PlannedFile

MAX_FILES = 3_000
"""GitHub lists no more files of one pull request."""
RISKY_NAME = re.compile(
    r"auth|login|passw|secret|token|crypt|session|permission|admin|payment|billing|sql|query|migrat|deseriali|upload"
    r"|webhook|\.github/|dockerfile|\.sh$|deploy|terraform|\.tf$",
    re.IGNORECASE,
)
TEST_NAME = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|fixtures|examples|docs)/|(?:^|/)test_|_test\.|\.spec\.|\.test\.", re.IGNORECASE
)


def declares_nothing(_path: str) -> str | None:
    """Whether the base side declares a path generated, where no base side is known."""
    return None


class TriageRules(NamedTuple):
    """The rules of triage, beside the change itself."""

    ignore: Sequence[str] = ()
    paths: Sequence[str] = ()
    """Globs of the files to read; empty means all of them."""
    declared: Declared = declares_nothing
    max_files: int = MAX_FILES


class Triage(NamedTuple):
    """The files of a change, sorted by what is to be done with them."""

    read: list[FileChange]
    """For readers: the riskiest first, and those that look generated or vendored last."""
    scan: list[FileChange]
    """For plain-line scans alone, in the order of the change."""
    files: tuple[PlannedFile, ...]
    """What each file needs, in the order of the change."""


def triage(change: ChangeSet, rules: TriageRules) -> Triage:
    """Sort the files of a change."""
    needs = [
        needs_of(file, parsed, ignore=rules.ignore, paths=rules.paths, declared=rules.declared)
        for file, parsed in zip(change.files, change.parsed, strict=True)
    ]
    ranked = sorted(
        (at for at, need in enumerate(needs) if need.to_read),
        key=lambda at: (looks_generated(change.files[at]) is not None, -risk(change.files[at]), change.files[at].path),
    )
    over = set(ranked[rules.max_files :])
    reason = f"the change has more than {rules.max_files} files to read; the riskiest were read"
    files = [
        need.planned.model_copy(update={"reason": reason, "over_cap": True}) if at in over else need.planned
        for at, need in enumerate(needs)
    ]
    scan = [
        file
        for at, (file, need) in enumerate(zip(change.files, needs, strict=True))
        if file.hunks and (at in over or not (need.to_read or file.status == "deleted"))
    ]
    return Triage([change.files[at] for at in ranked[: rules.max_files]], scan, tuple(files))


def risk(file: FileChange) -> int:
    """How much harm a defect in this file may do; higher is read first. Only an order, no probability."""
    score = {"code": 40, "config": 20, "prose": 0}[file.kind]
    score += 30 if RISKY_NAME.search(file.path) else 0
    score -= 25 if TEST_NAME.search(file.path) else 0
    return score + min(20, file.added // 10)


def looks_generated(file: FileChange) -> str | None:
    """Why a file looks made by a program or copied from elsewhere, or None. Only an order follows from it.

    All of this comes from the author of the change, so that no file is spared a review for it.
    """
    if file.minified:
        return "a line of it is longer than 20,000 characters"
    return copy_sign(file.path, _first_lines(file))


def _first_lines(file: FileChange) -> list[str]:
    """The first lines of the new side, as far as the change shows them."""
    if not file.hunks or file.hunks[0].new_start > 1:
        return []
    rows = (row.text for row in hunk_rows(file.hunks[0]) if row.new is not None)
    return list(islice(rows, HEAD_LINES))
