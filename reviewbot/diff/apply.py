"""One side of a file from the other, through its hunks. Only for files that were read to the end ("reviewed").

A text is a file's bytes decoded as UTF-8 with replacement, as the bodies of hunks are; it keeps its line ends.
"""

from __future__ import annotations

from reviewbot.domain.contracts import FileChange, Hunk

NO_FILES = ("120000", "160000")
"""Git's modes of a symbolic link and a submodule: what a diff shows of them is no file's text."""


def new_side(file: FileChange, old: str) -> str | None:
    """Give the text behind the change; None where the hunks do not fit the old text exactly."""
    return _apply(file, old, "-", "+")


def old_side(file: FileChange, new: str) -> str | None:
    """Give the text before the change; None where the hunks do not fit the new text exactly."""
    return _apply(file, new, "+", "-")


def added_text(file: FileChange) -> str | None:
    """Give the whole text of an added file; None where the file is no added one or shows no text."""
    return new_side(file, "") if file.status == "added" and file.hunks else None


def _apply(file: FileChange, text: str, drop: str, take: str) -> str | None:
    if file.minified:
        return None  # its rows are cut
    lines = _lines(text)
    result: list[str] = []
    done = 0
    for hunk in file.hunks:
        before, after = _side(hunk, drop), _side(hunk, take)
        start, count = (hunk.old_start, hunk.old_count) if drop == "-" else (hunk.new_start, hunk.new_count)
        # With no line on this side, the number is that of the line above.
        start -= bool(count)
        if start < done or start > len(lines) or lines[start : start + len(before)] != before:
            return None
        result += lines[done:start]
        result += after
        done = start + len(before)
    result += lines[done:]
    whole = all(line.endswith("\n") for line in result[:-1])
    return "".join(result) if whole else None


def _lines(text: str) -> list[str]:
    *ended, rest = text.split("\n")
    return [line + "\n" for line in ended] + ([rest] if rest else [])


def _side(hunk: Hunk, kind: str) -> list[str]:
    """The lines of one side with their ends: the context and the rows of one kind."""
    side: list[str] = []
    previous = ""
    for row in hunk.body.split("\n"):
        if row[:1] == "\\":
            if previous in {kind, " "} and side:
                side[-1] = side[-1].removesuffix("\n")
        elif row[:1] in {kind, " "}:
            side.append(row[1:] + "\n")
        previous = row[:1]
    return side
