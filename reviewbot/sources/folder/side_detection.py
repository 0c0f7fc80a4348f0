"""Detect which side of a change a folder holds, file by file, and restore the text of the other side.

Pure but for the reading function that is handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from reviewbot.diff.apply import NO_FILES, added_text, new_side, old_side
from reviewbot.diff.parser.file_names import quote, to_bytes
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk
from reviewbot.domain.errors import InputError
from reviewbot.sources.folder.files import FoundFile

Read = Callable[[str], FoundFile]


class FileSides(NamedTuple):
    """What is known of the files that a change touches: text, or None where that side has no such text file."""

    head: dict[str, str | None]
    base: dict[str, str | None]
    there: frozenset[str]
    """Those that the new side has as regular files, binary ones as well."""


class SidePair(NamedTuple):
    """Both sides of one file."""

    head: str | None
    base: str | None


class SideMatch(NamedTuple):
    """What both sides are if the folder holds the new one, and if it holds the old one; None where it cannot."""

    at_new: SidePair | None
    at_old: SidePair | None


UNKNOWN = SidePair(None, None)


def sides_of(change: ChangeSet, read: Read) -> FileSides:
    """Both sides of every file of a change. Raises InputError, beginning with the name, where one is at neither."""
    sections = Counter(file.path for file in change.files)
    fits = []
    for file, parsed in zip(change.files, change.parsed, strict=True):
        whole = parsed.state == "read" and not file.minified and file.mode not in NO_FILES
        fits.append(_fit_section(file, read, alone=sections[file.path] == 1) if whole else SideMatch(UNKNOWN, UNKNOWN))
    # A file can look like both sides, where lines repeat. The folder is then taken to be where its other files are.
    at_old = sum(fit.at_new is None for fit in fits) > sum(fit.at_old is None for fit in fits)
    there = {file.path for file in change.files if file.status != "deleted" and file.mode and file.mode not in NO_FILES}
    sides = FileSides({}, {}, frozenset(there))
    for file, fit in zip(change.files, fits, strict=True):
        first, second = (fit.at_old, fit.at_new) if at_old else (fit.at_new, fit.at_old)
        _remember(sides, file, first or second or UNKNOWN)
    _remember_absences(sides, change)
    return sides


def _fit_section(file: FileChange, read: Read, *, alone: bool) -> SideMatch:
    """Hold one whole section against the folder. `alone`: no other section has its path, as a change of type has."""
    found = read(file.path)
    if file.status == "added":
        text = added_text(file) if file.hunks else ""
        fit = _fit_one_sided(SidePair(text, None), text, found, present_at_new=True, alone=alone)
    elif file.status == "deleted":
        text = old_side(file, "") if file.hunks else ""
        fit = _fit_one_sided(SidePair(None, text), text, found, present_at_new=False, alone=alone)
    else:
        fit = _fit_two_sided(file, found, read(file.old_path) if file.old_path else found)
    if fit == (None, None):
        shown = file.path if file.path.isprintable() else quote(to_bytes(file.path))
        raise InputError(f"{shown} {_what_is_wrong(file, found)}")
    return fit


def _fit_one_sided(
    pair: SidePair, text: str | None, found: FoundFile, *, present_at_new: bool, alone: bool
) -> SideMatch:
    if not alone or text is None or (found.there and found.text is None):
        return SideMatch(pair, pair)
    if not found.there:
        return SideMatch(None, pair) if present_at_new else SideMatch(pair, None)
    if found.text != text:
        return SideMatch(None, None)
    return SideMatch(pair, None) if present_at_new else SideMatch(None, pair)


def _fit_two_sided(file: FileChange, new: FoundFile, old: FoundFile) -> SideMatch:
    if any(found.there and found.text is None for found in (new, old)):
        return SideMatch(UNKNOWN, UNKNOWN)
    at_new = at_old = None
    if new.text is not None:
        before = old_side(file, new.text) if file.hunks else new.text
        at_new = SidePair(new.text, before) if before is not None else None
    if old.text is not None:
        after = new_side(file, old.text) if file.hunks else old.text
        at_old = SidePair(after, old.text) if after is not None else None
    if at_new and at_old and file.hunks:
        return _settle(file.hunks[-1], at_new, at_old)
    return SideMatch(at_new, at_old)


def _settle(last: Hunk, at_new: SidePair, at_old: SidePair) -> SideMatch:
    """Where a text looks like both sides, only one of them may end where the last hunk says that the file ends."""
    new_ends = _ends(last, at_new.head or "", last.new_start, last.new_count)
    old_ends = _ends(last, at_old.base or "", last.old_start, last.old_count)
    if new_ends == old_ends:
        return SideMatch(at_new, at_old)
    return SideMatch(at_new, None) if new_ends else SideMatch(None, at_old)


def _ends(last: Hunk, text: str, start: int, count: int) -> bool:
    """Whether a text ends behind a hunk, if it must: less context below than above it means the end of the file."""
    kinds = "".join(row.kind for row in hunk_rows(last))
    above, below = (len(kinds) - len(part) for part in (kinds.lstrip(" "), kinds.rstrip(" ")))
    lines = text.count("\n") + bool(text.rpartition("\n")[2])
    return below >= max(above, 1) or lines == start + max(count - 1, 0)


def _what_is_wrong(file: FileChange, found: FoundFile) -> str:
    if found.text is None:
        return "is not there"
    if file.status in ("added", "deleted"):
        return "is there with another text"
    return f"line {_first_strange_line(file, found.text)} is neither as before nor as after the change"


def _first_strange_line(file: FileChange, text: str) -> int:
    """Where the first hunk that fits neither side stops fitting."""
    lines = dict(enumerate(text.split("\n"), start=1))
    for hunk in file.hunks:
        new = [row.new for row in hunk_rows(hunk) if row.new and lines.get(row.new) != row.text]
        old = [row.old for row in hunk_rows(hunk) if row.old and lines.get(row.old) != row.text]
        if new and old:
            return max(new[0], old[0])
    return max(1, file.hunks[0].new_start)


def _remember(sides: FileSides, file: FileChange, pair: SidePair) -> None:
    if file.status != "deleted":
        sides.head[file.path] = pair.head
    if file.status not in ("added", "copied"):
        sides.base[file.old_path or file.path] = pair.base


def _remember_absences(sides: FileSides, change: ChangeSet) -> None:
    """What a side does not have must not be read from the folder, which may hold the other one."""
    for file in change.files:
        sides.head.setdefault(file.path, None)
        sides.base.setdefault(file.path, None)
        if file.old_path and file.status != "copied":
            sides.head.setdefault(file.old_path, None)
    # A submodule or link on both sides: files that `git diff --submodule=diff` shows below it are another repository's.
    links = tuple(f"{file.path}/" for file in change.files if file.mode in NO_FILES and file.status == "modified")
    sides.base.update(dict.fromkeys((path for path in sides.base if path.startswith(links)), None))
