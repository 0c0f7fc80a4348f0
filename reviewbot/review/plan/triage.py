"""Sort files: which get readers, in what order; which are only scanned. `reviewbot.coverage` says what a file needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from reviewbot.coverage.needs import Declared, needs_of
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, PlannedFile

VENDOR_FOLDERS = frozenset({"bower_components", "node_modules", "third_party", "vendor", "vendored", "site-packages"})
GENERATED_NAMES = (
    "*.min.js", "*.min.css", "*.map", "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h",
    "*.g.dart", "*.generated.*", "*.designer.cs", "*.snap", "*.bundle.js",
)  # fmt: skip
GENERATED_MARKER = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|\b(?:auto-?generated|generated) by\b|^// Code generated ", re.IGNORECASE
)
MAX_FILES = 3_000
"""GitHub lists no more files of one pull request."""
MARKER_LINES = 5
"""A generator writes its marker at the top of a file; further down the words are prose."""
MARKER_WIDTH = 300
"""Columns of a line in which the marker is looked for."""

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
    *folders, name = file.path.split("/")
    if folder := next((f for f in folders if f in VENDOR_FOLDERS), None):
        return f"vendored, below {folder}/"
    if any(fnmatchcase(name, glob) for glob in GENERATED_NAMES):
        return "by its name"
    if file.minified:
        return "a line of it is longer than 20,000 characters"
    return "it says so in its first lines" if _marker(file) else None


def _marker(file: FileChange) -> Row | None:
    """The line near the top that says that a program made the file."""
    if not file.hunks or file.hunks[0].new_start > 1:
        return None
    top = islice((row for row in hunk_rows(file.hunks[0]) if row.new is not None), MARKER_LINES)
    return next((row for row in top if GENERATED_MARKER.search(row.text[:MARKER_WIDTH])), None)
