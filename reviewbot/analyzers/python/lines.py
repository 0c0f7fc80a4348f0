"""A scan of Python text that may begin and end anywhere: where statements begin, and what is open at the two ends.

It never fails. Its result for text that is no Python has no meaning; the caller parses the result to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_OPENERS = {"(": ")", "[": "]", "{": "}"}
_CLOSERS = frozenset(_OPENERS.values())
_WORD = re.compile(r"[A-Za-z_]+|@")
_AWAITS = re.compile(r"\bawait\b|\basync[ ]{1,4}(?:with|for)\b")
_TOKEN = re.compile(r"\"\"\"|'''|[\"'#()\[\]{}]|\\.?", re.DOTALL)
"""All that matters between strings. Each alternative is short, so that the search is linear."""

_COMPOUND = frozenset(
    {"def", "class", "if", "elif", "else", "for", "while", "with", "try", "except", "finally", "async", "match", "case"}
)
_CODING = re.compile(r"\ufeff?[ \t\f]*#.{0,200}?coding[:=][ \t]*([-_.a-zA-Z0-9]{1,40})")
_CODING_COLUMNS = 300
"""It is not written further right in practice, and Python's own search is as long as the line."""
_PLAIN_CODING = re.compile(
    r"(?:utf[-_]?8|(?:us[-_]?)?ascii|latin|iso[-_]?8859|cp125|windows[-_]125|koi8)", re.IGNORECASE
)
"""In these every byte of ASCII is that character, so that what is read is what runs."""
_DEFINITIONS = frozenset({"def", "class", "async"})


class StatementStart(NamedTuple):
    """Where a statement begins: its indentation in characters and its first word ("@" for a decorator)."""

    indent: int
    word: str


@dataclass
class Scan:
    """The result of `scan`."""

    statements: list[StatementStart] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)
    """Closing brackets without an opening one, in order."""
    open: list[str] = field(default_factory=list)
    """Brackets that are open at the end. A list, for to lengthen a text copies it, and a file can hold millions."""
    quote: str = ""
    """The triple quotes of the text that is open at the end."""
    header: bool = False
    """The last statement is the head of a block that has no body yet."""
    continued: bool = False
    """The last line ends with a backslash."""
    awaits: bool = False
    """Something is awaited before the first definition."""
    defines: bool = False
    """One of the statements begins a definition."""
    first_is_header: bool = False
    """The first statement is the head of a block."""
    pad: str = " "
    """What the text indents with."""

    @property
    def compound(self) -> bool:
        """The last statement begins like the head of a block."""
        return bool(self.statements) and self.statements[-1].word in _COMPOUND

    @property
    def decorated(self) -> bool:
        """The last statement is a decorator."""
        return bool(self.statements) and self.statements[-1].word == "@"

    @property
    def open_tries(self) -> list[int]:
        """The indentations of `try` blocks that have no handler yet, deepest first."""
        stack: list[StatementStart] = []
        for statement in self.statements:
            while stack and stack[-1].indent > statement.indent:
                stack.pop()
            if stack and stack[-1].indent == statement.indent:
                stack.pop()
            stack.append(statement)
        return [statement.indent for statement in reversed(stack) if statement.word == "try"]


def scan(lines: Sequence[str], quote: str = "") -> Scan:
    """Scan lines from a place in code, or from inside a text in triple quotes (`quote`)."""
    found = Scan(quote=quote)
    if quote:
        found.statements.append(StatementStart(0, ""))
    if any(line.startswith("\t") for line in lines):
        found.pad = "\t"
    for line in lines:
        if not found.awaits and _AWAITS.search(line):
            found.awaits = not found.defines
        stripped = line.strip()
        if not (found.quote or found.open or found.continued) and stripped and not stripped.startswith("#"):
            if len(found.statements) == 1:
                found.first_is_header = found.header
            found.statements.append(_statement(line))
            found.defines = found.defines or found.statements[-1].word in _DEFINITIONS
        _scan_line(found, line)
    return found


def logical_ends(lines: Sequence[str]) -> list[int]:
    """For each line the index of the line on which its logical line ends: a call may be written on many."""
    found = Scan()
    ends: list[int] = []
    begun = 0
    for index, line in enumerate(lines):
        _scan_line(found, line)
        if not (found.open or found.quote or found.continued):
            ends += [index] * (index + 1 - begun)
            begun = index + 1
    return ends + [len(lines) - 1] * (len(lines) - begun)


def _statement(line: str) -> StatementStart:
    body = line.lstrip(" \t\f")
    word = _WORD.match(body)
    return StatementStart(len(line) - len(body), word.group() if word else "")


def _scan_line(found: Scan, line: str) -> None:
    """Move the state over one line."""
    position, code_end = 0, ""
    found.continued = False
    while position < len(line):
        if found.quote:
            position = _skip_text(found, line, position)
            code_end = '"'
            continue
        match = _TOKEN.search(line, position)
        plain = line[position : match.start() if match else len(line)].strip()
        code_end = plain[-1:] or code_end
        if match is None or match.group() == "#":
            break
        position = _take(found, line, match)
        code_end = match.group()[-1:]
    if line.rstrip("\r").endswith("\\") and not found.quote:
        found.continued = True
    if code_end:
        found.header = code_end == ":" and not found.open and not found.quote


def _take(found: Scan, line: str, match: re.Match[str]) -> int:
    """Apply one token; the position behind it."""
    token, end = match.group(), match.end()
    if len(token) == 3:  # noqa: PLR2004 - only triple quotes are that long
        found.quote = token
    elif token in {'"', "'"}:
        return _skip_string(line, end, token)
    elif token in _OPENERS:
        found.open.append(token)
    elif token in _CLOSERS:
        _close_bracket(found, token)
    return end


def _close_bracket(found: Scan, token: str) -> None:
    if found.open and _OPENERS[found.open[-1]] == token:
        found.open.pop()
    else:
        found.unmatched.append(token)
        found.open.clear()
        _merge(found, token)


def _merge(found: Scan, token: str) -> None:
    """Everything up to an unmatched bracket is the rest of one statement that began before the first line."""
    last = found.statements[-1] if found.statements else StatementStart(0, "")
    found.statements[:] = [StatementStart(last.indent, token)]
    found.defines = False


def _skip_text(found: Scan, line: str, position: int) -> int:
    """Move on in a text in triple quotes; the position behind its end, or behind the line."""
    end = line.find(found.quote, position)
    while end > 0 and line[end - 1] == "\\":
        end = line.find(found.quote, end + 1)
    if end < 0:
        return len(line)
    end += len(found.quote)
    found.quote = ""
    return end


def _skip_string(line: str, position: int, quote: str) -> int:
    """The position behind a string's end; one that does not end ends with the line."""
    while position < len(line):
        if line[position] == "\\":
            position += 2
        elif line[position] == quote:
            return position + 1
        else:
            position += 1
    return position


def odd_coding(top: Iterable[str]) -> str | None:
    """The encoding that the first two lines of a file name (PEP 263), where it may give ASCII another meaning.

    In UTF-7, for instance, a comment can end in the middle of its line, and what follows runs.
    """
    named = next((found for line in top if (found := _CODING.match(line[:_CODING_COLUMNS]))), None)
    return None if named is None or _PLAIN_CODING.match(named[1]) else named[1]
