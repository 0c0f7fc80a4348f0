"""Comments of the form `# reviewbot: ignore[RULE] reason` in the files of a change, and which of them count.

A comment counts where it stood before the change: on an unchanged line, or on a changed line whose old form had the
same comment. The base side's own text must hold it, so that no diff can claim one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Suppression

HOW = "write reviewbot: ignore[RULE] reason"
ADDED = "this change adds it, so it counts from the next change on"
NO_BASE = "a diff alone has no base side; give --repo DIR, or use --git RANGE"
INSERTED = "this change puts a line between it and the one that it was about"
NOT_IN_BASE = "the base side does not have it there"

BaseText = Callable[[str], str | None]
"""The old side of a file, by its old name."""

_WORD = "reviewbot:"
_COMMENT = re.compile(
    r"(?:<!--|#|//|--|/\*|;|%)[ \t]{0,8}reviewbot:[ \t]{0,8}ignore(?![\w-])[ \t]{0,8}"
    r"(?:\[(?P<names>[^\]]{0,400})\])?(?P<reason>.*)"
)
_NAME = re.compile(r"[A-Za-z0-9_.:/@-]{1,80}")
_CLOSERS = ("*/", "-->", "%>")
_REASON_CHARS = 200
_MAX_NAMES = 20


class IgnoreComment(NamedTuple):
    """One comment on a line of the new side."""

    path: str
    line: int
    names: tuple[str, ...]
    """Rules or categories."""
    reason: str
    alone: bool
    """Nothing else stands on its line, so that it is also about the next one."""
    fault: str
    """Why it silences nothing; empty where it counts."""

    def as_refused(self) -> Suppression:
        """What a review says of one that does not count."""
        return Suppression(
            action="refused",
            path=self.path,
            line=self.line,
            rule=", ".join(self.names),
            by=f"comment at line {self.line}",
            reason=self.reason,
            message=self.fault,
        )


class _Parsed(NamedTuple):
    names: tuple[str, ...]
    reason: str


def ignore_comments(change: ChangeSet, base_text: BaseText | None) -> list[IgnoreComment]:
    """All such comments that the hunks of a change show on its new side, in its order; None: there is no base side."""
    found: list[IgnoreComment] = []
    for file in change.files:
        if file.status == "deleted" or not any(_WORD in hunk.body for hunk in file.hunks):
            continue
        found += _of_file(file, None if base_text is None else _BaseLines(file, base_text))
    return found


class _BaseLines:
    """The lines of a file's old side, read when the first comment asks for them."""

    def __init__(self, file: FileChange, base_text: BaseText) -> None:
        self._name = file.old_path or file.path
        # A copy is a new file: what its source may hold was not allowed here.
        self._is_new = file.status in ("added", "copied")
        self._base_text = base_text
        self._lines: list[str] | None = None

    def holds(self, row: Row) -> bool:
        """Whether the row of a diff is what stands there."""
        if self._lines is None:
            self._lines = [] if self._is_new else (self._base_text(self._name) or "").split("\n")
        return row.old is not None and row.old <= len(self._lines) and self._lines[row.old - 1] == row.text


def _of_file(file: FileChange, base: _BaseLines | None) -> Iterator[IgnoreComment]:
    for hunk in file.hunks:
        if _WORD not in hunk.body:
            continue
        groups = [list(group) for _, group in groupby(hunk_rows(hunk), key=lambda row: row.kind == " ")]
        belows: list[list[Row]] = [*groups[1:], []]
        for rows, below in zip(groups, belows, strict=True):
            if rows[0].kind != " ":
                yield from _of_changed(file.path, rows, base)
                continue
            inserted = bool(below) and all(row.kind == "+" for row in below)
            for comment in _of_context(file, rows, base):
                moved = inserted and comment.alone and comment.line == rows[-1].new and not comment.fault
                yield comment._replace(fault=INSERTED) if moved else comment


def _of_context(file: FileChange, rows: Sequence[Row], base: _BaseLines | None) -> Iterator[IgnoreComment]:
    for row in rows:
        if (parsed := _parsed(row.text)) is None:
            continue
        if base is None:
            doubt = NO_BASE
        else:
            doubt = "" if base.holds(row) else ADDED if file.status == "copied" else NOT_IN_BASE
        yield _comment(file.path, row, parsed, doubt)


def _of_changed(path: str, rows: Sequence[Row], base: _BaseLines | None) -> Iterator[IgnoreComment]:
    """The comments of lines that were changed together. One counts where these had it before, and it was not copied."""
    before = Counter(
        parsed
        for row in rows
        if row.kind == "-" and (parsed := _parsed(row.text)) is not None and base is not None and base.holds(row)
    )
    added = [(row, parsed) for row in rows if row.kind == "+" and (parsed := _parsed(row.text)) is not None]
    after = Counter(parsed for _, parsed in added)
    for row, parsed in added:
        yield _comment(path, row, parsed, "" if after[parsed] <= before[parsed] else ADDED)


def _comment(path: str, row: Row, parsed: _Parsed, doubt: str) -> IgnoreComment:
    fault = doubt
    if not parsed.names:
        fault = f"it names no rule; {HOW}"
    elif not parsed.reason:
        fault = f"it gives no reason; {HOW}"
    line = row.new or 1  # a row of the new side always has its number
    return IgnoreComment(path, line, parsed.names, parsed.reason, _is_alone(row.text), fault)


def _parsed(text: str) -> _Parsed | None:
    if _WORD not in text or (match := _COMMENT.search(text)) is None:
        return None
    words = [word.strip() for word in (match["names"] or "").split(",")]
    names = tuple(word for word in words if _NAME.fullmatch(word))
    return _Parsed(names[:_MAX_NAMES] if len(names) == len(words) else (), _reason(match["reason"]))


def _reason(text: str) -> str:
    """The words behind the brackets, on one line; empty where there is none."""
    text = text.strip()
    for closer in _CLOSERS:
        text = text.removesuffix(closer)
    text = " ".join(text.lstrip(":- \t").split())[:_REASON_CHARS]
    return text if any(character.isalnum() for character in text) else ""


def _is_alone(text: str) -> bool:
    match = _COMMENT.search(text)
    return match is not None and not text[: match.start()].strip()
