"""Lines to sections: a small state machine over the lines outside the hunks.

Every line outside a hunk is known, or plain text that changes nothing, or a sign that counts or headers are wrong. A
sign makes the section malformed; reading goes on at the next line that begins a section.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parser import decode_input, headers, hunks
from reviewbot.diff.parser.state import ParserState, Section
from reviewbot.domain.errors import DiffError

_UNREADABLE = "the hunk header cannot be read"
_TOO_LONG_HUNK = "a hunk has more lines than its header says"
_VERSION = re.compile(rb"\d+\.\d+")
_SIGNATURE = b"-- "
_SIGNATURE_LINES = 3
"""git format-patch ends with "-- ", its version and a blank line."""
_PEEK = 200
"""Lines of a hunk that are searched for the marks of --word-diff."""


def scan(
    lines: Sequence[bytes], limits: DiffLimits, *, open_end: bool, fragment: bool = False, mailed: bool = False
) -> list[Section]:
    """Find all sections.

    `open_end` says that the last line had no LF; `fragment` that hunks come without a header; `mailed` that patches of
    mails stand one behind the other, each with what its mail has below it.

    Raises DiffError where the input as a whole is of a form that is not read.
    """
    state = ParserState(lines, limits, open_end=open_end, mailed=mailed)
    if fragment:
        state.open("fragment")
    end = len(lines)
    while state.at < end:
        line = lines[state.at].removesuffix(b"\r")
        state.at += 1
        if not line:
            continue
        if len(line) > limits.header_bytes:
            _long(state, line)
            continue
        word = line.partition(b" ")[0]
        if word == b"@@":
            _hunk(state, line)
            continue
        handler = headers.HANDLERS.get(word)
        if handler is None or not handler(state, line):
            _other(state, line)
    if state.sections:
        _end(state, state.sections[-1])
    return state.sections


def _end(state: ParserState, section: Section) -> None:
    section.last = True
    if state.open_end and not (section.hunks or section.trouble or section.cut or section.binary or section.unseen):
        section.cut = "the diff ends inside the header of this file"


def _long(state: ParserState, line: bytes) -> None:
    """A line that is too long for any rule that looks at names."""
    if line.startswith((b"diff -", b"Index: ")):
        state.open("git")
        state.stray(headers.TOO_LONG)
    elif line[:1] in {b"+", b"-", b"@"}:
        state.stray(headers.STRAY)
    elif state.header() is not None:
        state.stray(headers.TOO_LONG)


def _other(state: ParserState, line: bytes) -> None:
    """A line that no rule knows."""
    section = state.section
    if not state.kept_hunks:
        _refuse(line)
    if section is not None and section.trouble:
        return
    mark = line[:1]
    if mark in {b"+", b"-", b"\x1b"}:
        if section is not None and line == _SIGNATURE and state.mailed:
            # Go on where the next file begins: a list of mails puts its own words below a signature.
            while state.at < len(state.lines) and not decode_input.begins_section(state.lines[state.at]):
                state.at += 1
        elif section is not None and _is_signature(state, line):
            state.at = len(state.lines)
        else:
            state.stray(headers.STRAY)
    elif line.startswith(b"@@"):
        state.stray(_UNREADABLE)
    elif mark == b"\\" and section is not None:
        state.stray("a missing newline is noted outside every hunk")
    elif mark == b" " and state.hunk_end == state.at - 1:
        state.stray(_TOO_LONG_HUNK)


def _refuse(line: bytes) -> None:
    decode_input.check_coloured(line)
    if line == b"***************":
        raise DiffError(f"The input is a context diff: use diff -u, or {decode_input.WANTED}.")


def _is_signature(state: ParserState, line: bytes) -> bool:
    rest = state.lines[state.at : state.at + _SIGNATURE_LINES + 1]
    return line == _SIGNATURE and 0 < len(rest) <= _SIGNATURE_LINES and _VERSION.match(rest[0]) is not None


def _hunk(state: ParserState, line: bytes) -> None:
    section = state.section
    if section is not None and section.trouble:
        return
    if section is None or section.binary is not None or (section.new is None and section.style != "fragment"):
        state.stray("a hunk stands there without file names")
        return
    if section.style == "plain" and state.hunk_end == state.at - 1 and headers.are_names(state, state.at - 3):
        # The last rows of the hunk just above are the names of the next file.
        section.blame(state.at - 3, _TOO_LONG_HUNK)
        headers.reopen(state, state.at - 3)
        return
    head = hunks.header(line)
    if head is None:
        state.stray(_UNREADABLE)
    elif state.closed:
        state.stray("a hunk follows the line that has no newline")
    elif head.old_first < state.old_end or head.new_first < state.new_end:
        state.stray("the hunks overlap or are out of order")
    else:
        _read(state, section, head)


def _read(state: ParserState, section: Section, head: hunks.Header) -> None:
    start = state.at
    body = hunks.read_body(state.lines, start, head)
    state.at = state.hunk_end = body.at
    unchanged = not (body.fault or body.ended or body.added or body.removed)
    if body.fault or unchanged:
        # With rows, reading went to the end and the fault is the hunk's as a whole.
        section.blame(start - 1 if body.rows else body.at, body.fault or "the hunk changes nothing")
        section.word_diff = _looks_like_word_diff(state.lines[start : start + _PEEK])
        if body.at - 2 >= start and headers.are_names(state, body.at - 2) and state.peek().startswith(b"@@ -"):
            headers.reopen(state, body.at - 2)
        return
    if body.ended:
        section.cut = f"the diff ends inside a hunk, at its line {len(state.lines)}"
        head, body = hunks.shorten(head, body, drop_last=state.open_end)
    state.old_end = head.old_first + head.old_count
    state.new_end = head.new_first + head.new_count
    state.closed = body.closed
    if body.added or body.removed:
        _keep(state, section, head, body)


def _keep(state: ParserState, section: Section, head: hunks.Header, body: hunks.Body) -> None:
    rows = body.rows
    if max(map(len, rows)) > state.limits.line_bytes:
        section.minified = True
        rows = [hunks.clip(row, state.limits.line_bytes) for row in rows]
    size = sum(map(len, rows)) + len(rows)
    section.over = section.over or _limit(state, section, size)
    if section.over:
        return
    section.hunks.append(hunks.make(head, rows))
    section.added += body.added
    section.removed += body.removed
    section.size += size
    state.kept_bytes += size
    state.kept_hunks += 1


def _limit(state: ParserState, section: Section, size: int) -> str:
    limits = state.limits
    if section.size + size > limits.file_bytes:
        return f"the file has more than {limits.file_bytes} bytes of changes"
    if state.kept_bytes + size > limits.text_bytes:
        return f"the diff has more than {limits.text_bytes} bytes of changes"
    if len(section.hunks) >= limits.file_hunks:
        return f"the file has more than {limits.file_hunks} hunks"
    if state.kept_hunks >= limits.hunks:
        return f"the diff has more than {limits.hunks} hunks"
    return ""


def _looks_like_word_diff(lines: Sequence[bytes]) -> bool:
    for line in lines:
        if line.startswith((b"diff --git ", b"@@ ")):
            return False
        if line == b"~" or (b"[-" in line and b"-]" in line) or (b"{+" in line and b"+}" in line):
            return True
    return False
