"""The lines between the hunks that are known by their first word: file headers of git and of other programs.

Each function gets the state and the line in hand, and returns whether the line was one of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from reviewbot.diff.parser import hunks
from reviewbot.diff.parser.decode_input import WANTED
from reviewbot.diff.parser.state import ParserState, Section
from reviewbot.domain.errors import DiffError

STRAY = "a changed line stands outside every hunk"
TOO_LONG = "a header line is longer than any that git writes"

_COMMIT = re.compile(rb"commit [0-9a-f]{40}")
_INDEX = re.compile(rb"index ([0-9a-f]{1,64})\.\.([0-9a-f]{1,64})(?: ([0-7]{6}))?")
_MODE = re.compile(rb"[0-7]{6}")
_SUBMODULE = re.compile(rb"Submodule (.+) ([0-9a-f]{4,64})\.{2,3}([0-9a-f]{4,64})(?: \(([^()]*)\))?:?", re.DOTALL)
_DIRTY = re.compile(rb"Submodule (.+) contains (?:untracked|modified) content", re.DOTALL)
_PROPERTY = re.compile(rb"## (.*) ##")
_GITLINK = "160000"
_MODES: Final = {
    b"old mode ": "old_mode",
    b"new mode ": "new_mode",
    b"new file mode ": "added_mode",
    b"deleted file mode ": "deleted_mode",
}
_MOVES: Final = {
    b"rename from ": "moved_from",
    b"rename to ": "moved_to",
    b"copy from ": "moved_from",
    b"copy to ": "moved_to",
}
_BINARY_ENDS = (b" differ", b" differs", b" has changed", b"GIT binary patch", b"binary type.")
"""Of git and GNU diff, Mercurial (two), git with --binary, Subversion."""


def _diff(state: ParserState, line: bytes) -> bool:
    for word in (b"diff --cc ", b"diff --combined "):
        if line.startswith(word):
            state.open("combined", line.removeprefix(word))
            return state.stray(f"a combined diff of a merge cannot be read: {WANTED}")
    if line.startswith(b"diff --git "):
        state.open("git", line.removeprefix(b"diff --git "))
        return True
    if line.startswith(b"diff -"):
        header = state.header()
        if header is None or not header.svn:
            state.open("plain", line.rpartition(b" ")[2])
        return True
    return False


def _index_of_svn(state: ParserState, line: bytes) -> bool:
    state.open("plain", line.removeprefix(b"Index: ")).svn = True
    return True


def _read_names(state: ParserState, line: bytes) -> bool:
    """A "--- " line together with the "+++ " line below it."""
    if line == b"---" and state.section is None:
        return True
    if not are_names(state, state.at - 1):
        return _cut_names(state, line)
    section, header = state.section, state.header()
    if section is not None and header is None and not state.peek(1).startswith(b"@@ -"):
        if section.trouble:
            return True
        section.blame(state.at - 1, STRAY)
    _fill(state, header or state.open("plain"))
    return True


def _fill(state: ParserState, section: Section) -> None:
    """Give a section the names of the line in hand and the one below it, and go on behind them."""
    old, new = (state.lines[at].removesuffix(b"\r") for at in (state.at - 1, state.at))
    if max(len(old), len(new)) > state.limits.header_bytes:
        section.blame(state.at, TOO_LONG)
    else:
        section.old, section.new = old.removeprefix(b"--- "), new.removeprefix(b"+++ ")
    state.at += 1


def are_names(state: ParserState, at: int) -> bool:
    """Whether a line, counted from 0, and the one below it are the names of a file."""
    lines = state.lines
    inside = 0 <= at < len(lines) - 1
    return inside and lines[at].startswith(b"--- ") and lines[at + 1].startswith(b"+++ ")


def reopen(state: ParserState, at: int) -> None:
    """Begin the section whose names a hunk with wrong counts took for rows of its own, and go on behind them.

    The line behind them is read again and is a hunk header: no line is read a third time.
    """
    state.at = at + 1
    state.hunk_end = -1
    _fill(state, state.open("plain"))


def _cut_names(state: ParserState, line: bytes) -> bool:
    """A "--- " line without its "+++ " line: the input ends there, or it is a removed line of no hunk."""
    header = state.header()
    if header is None or not line.startswith(b"--- ") or state.at < len(state.lines) - 1:
        return False
    header.cut = "the diff ends inside the header of this file"
    state.at = len(state.lines)
    return True


def _new_name(state: ParserState, line: bytes) -> bool:
    """A "+++ " line without its "--- " line, which a hunk with a wrong count may have swallowed."""
    if are_names(state, state.at - 2) and state.peek().startswith(b"@@ -"):
        state.stray("a hunk is longer than its lines")
        reopen(state, state.at - 2)
        return True
    header = state.header() or (None if state.section else state.open("orphan"))
    if header is not None and line.startswith(b"+++ "):
        header.new = line.removeprefix(b"+++ ")
    return False


def _mode(state: ParserState, line: bytes) -> bool:
    for word, name in _MODES.items():
        if line.startswith(word):
            mode = line.removeprefix(word)
            section = state.git_header()
            if section is not None and not _MODE.fullmatch(mode):
                section.blame(state.at - 1, "this is no file mode")
            elif section is not None:
                _set(state, section, name, mode.decode("ascii"))
            return True
    return False


def _move(state: ParserState, line: bytes) -> bool:
    for word, name in _MOVES.items():
        if line.startswith(word):
            section = state.git_header()
            if section is not None:
                _set(state, section, name, line.removeprefix(word))
                section.copied = line.startswith(b"copy")
            return True
    return False


def _set(state: ParserState, section: Section, name: str, value: bytes | str) -> None:
    if getattr(section, name) is None:
        setattr(section, name, value)
    else:
        section.blame(state.at - 1, "a header line stands there twice")


def _similarity(state: ParserState, line: bytes) -> bool:
    if line.startswith((b"similarity index ", b"dissimilarity index ")):
        state.git_header()
        return True
    return False


def _index(state: ParserState, line: bytes) -> bool:
    match = _INDEX.fullmatch(line)
    if match is None:
        header = state.header()
        if header is not None and header.style == "git":
            header.blame(state.at - 1, "the index line cannot be read")
        return False
    section = state.git_header()
    if section is not None:
        section.index = (match[1], match[2])
        section.index_mode = match[3].decode("ascii") if match[3] else None
    return True


def _binary(state: ParserState, line: bytes) -> bool:
    if not line.endswith(_BINARY_ENDS) or not line.startswith(
        (b"Binary file", b"GIT binary patch", b"Cannot display: ")
    ):
        return False
    section, header = state.section, state.header()
    if section is not None and section.trouble and section.style in {"git", "orphan"}:
        return True
    if header is None or header.binary is not None:
        header = state.open("plain" if line.startswith(b"Binary") else "orphan")
    header.binary = line
    return True


def _property(state: ParserState, line: bytes) -> bool:
    """The changed properties of Subversion: counted off, named, not reviewed."""
    section = state.section
    if section is None or not section.svn or section.trouble:
        return False
    if line.startswith(b"Property changes on: "):
        section.unseen = "its Subversion properties change, which are not reviewed"
        return True
    match = _PROPERTY.fullmatch(line) if section.unseen else None
    head = hunks.header(b"@@ " + match[1] + b" @@") if match else None
    if head is None:
        return False
    body = hunks.read_body(state.lines, state.at, head)
    if body.fault or body.ended:
        section.blame(state.at - 1, body.fault or "the diff ends inside a property")
    state.at = body.at
    return True


def _submodule(state: ParserState, line: bytes) -> bool:
    match = _SUBMODULE.fullmatch(line)
    found = match or _DIRTY.fullmatch(line)
    if found is None:
        return False
    section = state.open("submodule", found[1])
    section.unseen = "the diff lists commits of the submodule or says that it is dirty, and not what it points to"
    note = match[4] if match else None
    section.index_mode = _GITLINK
    section.added_mode = _GITLINK if note == b"new submodule" else None
    section.deleted_mode = _GITLINK if note == b"submodule deleted" else None
    return True


def _only(state: ParserState, line: bytes) -> bool:
    folder, colon, name = line.removeprefix(b"Only in ").partition(b": ")
    if not line.startswith(b"Only in ") or not colon:
        return False
    inner = folder.partition(b"/")[2]
    section = state.open("only", inner + b"/" + name if inner else name)
    section.unseen = "the diff says that only one side has it and does not show it: use diff -N"
    return True


def _unmerged(state: ParserState, line: bytes) -> bool:
    if not line.startswith(b"* Unmerged path "):
        return False
    state.open("unmerged", line.removeprefix(b"* Unmerged path "))
    return state.stray("the merge of this file is not finished")


def _commit(state: ParserState, line: bytes) -> bool:
    if not _COMMIT.match(line):
        return False
    state.commits += 1
    if state.commits > 1:
        raise DiffError(f"The input holds several commits (git log -p), not one change: {WANTED}.")
    return True


HANDLERS: Final[dict[bytes, Callable[[ParserState, bytes], bool]]] = {
    b"diff": _diff,
    b"Index:": _index_of_svn,
    b"---": _read_names,
    b"+++": _new_name,
    b"old": _mode,
    b"new": _mode,
    b"deleted": _mode,
    b"rename": _move,
    b"copy": _move,
    b"similarity": _similarity,
    b"dissimilarity": _similarity,
    b"index": _index,
    b"Binary": _binary,
    b"GIT": _binary,
    b"Cannot": _binary,
    b"Property": _property,
    b"##": _property,
    b"Submodule": _submodule,
    b"Only": _only,
    b"*": _unmerged,
    b"commit": _commit,
}
"""By first word; hunk headers are the scanner's own."""
