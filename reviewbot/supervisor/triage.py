"""Which files are worth reading, and in what order: judged by name, mode, size and the first lines, never by content.

What is left out is always named: a marker that says "generated" comes from the author of the change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple

from reviewbot.config.globs import matches_glob
from reviewbot.contracts import FileChange, FileCoverage
from reviewbot.diff.rows import Row, hunk_rows

LOCK_FILES = frozenset({
    "Cargo.lock", "Gemfile.lock", "Pipfile.lock", "bun.lockb", "composer.lock", "flake.lock", "go.sum", "mix.lock",
    "npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "pdm.lock", "pnpm-lock.yaml", "poetry.lock",
    "pubspec.lock", "uv.lock", "yarn.lock",
})  # fmt: skip
VENDOR_FOLDERS = frozenset({"bower_components", "node_modules", "third_party", "vendor", "vendored", "site-packages"})
GENERATED_NAMES = (
    "*.min.js", "*.min.css", "*.map", "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h",
    "*.g.dart", "*.generated.*", "*.designer.cs", "*.snap", "*.bundle.js",
)  # fmt: skip
GENERATED_MARKER = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|\b(?:auto-?generated|generated) by\b|^// Code generated ", re.IGNORECASE
)
MARKER_LINES = 5
"""A generator writes its marker at the top of a file; further down the words are prose."""
MARKER_WIDTH = 300
"""Columns of a line in which the marker is looked for."""

GIT_SYMLINK, GIT_SUBMODULE = "120000", "160000"

RISKY_NAME = re.compile(
    r"auth|login|passw|secret|token|crypt|session|permission|admin|payment|billing|sql|query|migrat|deseriali|upload"
    r"|webhook|\.github/|dockerfile|\.sh$|deploy|terraform|\.tf$",
    re.IGNORECASE,
)
TEST_NAME = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|fixtures|examples|docs)/|(?:^|/)test_|_test\.|\.spec\.|\.test\.", re.IGNORECASE
)


class Triage(NamedTuple):
    """The files to read, riskiest first, and the coverage of all others."""

    read: list[FileChange]
    left_out: list[FileCoverage]


def triage(
    files: Sequence[FileChange],
    coverage: Sequence[FileCoverage],
    ignore: Sequence[str],
    max_files: int,
    paths: Sequence[str] = (),
) -> Triage:
    """Sort the files of a change into those to read and those to name only. Empty `paths` mean all of them."""
    read: list[FileChange] = []
    left_out: list[FileCoverage] = []
    for file, parsed in zip(files, coverage, strict=True):
        reason = _why_not(file, parsed, ignore, paths)
        if reason is None:
            read.append(file)
        else:
            left_out.append(reason)
    read.sort(key=lambda file: (-risk(file), file.path))
    for file in read[max_files:]:
        reason_text = f"the change has more than {max_files} files to read; the riskiest were read"
        left_out.append(FileCoverage(path=file.path, state="over_budget", reason=reason_text))
    return Triage(read[:max_files], left_out)


def risk(file: FileChange) -> int:
    """How much harm a defect in this file may do; higher is read first. Only an order, no probability."""
    score = {"code": 40, "config": 20, "prose": 0}[file.kind]
    score += 30 if RISKY_NAME.search(file.path) else 0
    score -= 25 if TEST_NAME.search(file.path) else 0
    return score + min(20, file.added // 10)


def _why_not(
    file: FileChange, parsed: FileCoverage, ignore: Sequence[str], paths: Sequence[str]
) -> FileCoverage | None:
    """The coverage of a file that nobody needs to read, or None."""
    if parsed.state not in ("reviewed", "partial"):
        return parsed
    if reason := _ignored_reason(file, ignore, paths):
        return FileCoverage(path=file.path, state="ignored", reason=reason)
    if reason := generated_reason(file):
        return FileCoverage(path=file.path, state="generated", reason=reason)
    if file.status == "deleted":
        return FileCoverage(path=file.path, state="reviewed", reason="deleted")
    if not file.hunks:
        if parsed.state == "partial":
            return parsed
        done = {"renamed": "renamed, content unchanged", "copied": "copied, content unchanged"}
        return parsed.model_copy(update={"reason": done.get(file.status, "no line changed")})
    return None


def _ignored_reason(file: FileChange, ignore: Sequence[str], paths: Sequence[str]) -> str | None:
    if paths and not any(matches_glob(glob, file.path) for glob in paths):
        return "not among the paths to review"
    if pattern := next((glob for glob in ignore if matches_glob(glob, file.path)), None):
        return f"matches the ignore pattern {pattern!r}"
    if file.status != "deleted" and file.mode in (GIT_SYMLINK, GIT_SUBMODULE):
        return f"{'a symbolic link' if file.mode == GIT_SYMLINK else 'a submodule'}, which is never followed"
    return None


def generated_reason(file: FileChange) -> str | None:
    """Why a file counts as made by a program, or None."""
    *folders, name = file.path.split("/")
    if name in LOCK_FILES:
        return "a lock file"
    if folder := next((f for f in folders if f in VENDOR_FOLDERS), None):
        return f"vendored, below {folder}/"
    if any(fnmatchcase(name, glob) for glob in GENERATED_NAMES):
        return "by its name"
    if file.minified:
        return "minified, a line is longer than 20,000 characters"
    return "it says so in its first lines" if _marker(file) else None


def hidden_by_its_author(file: FileChange) -> bool:
    """Whether code is left out only because of lines that this very change adds: whoever wrote them chose that."""
    if file.kind != "code" or generated_reason(file.model_copy(update={"minified": False, "hunks": ()})) is not None:
        return False
    marker = _marker(file)
    return file.minified or (marker is not None and marker.kind == "+")


def _marker(file: FileChange) -> Row | None:
    """The line near the top that says that a program made the file."""
    if not file.hunks or file.hunks[0].new_start > 1:
        return None
    top = islice((row for row in hunk_rows(file.hunks[0]) if row.new is not None), MARKER_LINES)
    return next((row for row in top if GENERATED_MARKER.search(row.text[:MARKER_WIDTH])), None)
