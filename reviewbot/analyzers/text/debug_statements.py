"""Report debugging code that was left in: calls of a debugger, and output for debugging."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_lines
from reviewbot.analyzers.core.reports import LineScan, quote_of
from reviewbot.diff.paths import is_run_by_hand, is_test
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table
from reviewbot.threads import stoppable

_STOPS, _MARKED, _PRINTS = 90, 75, 60
"""How sure: a call that stops the program for a debugger; output that says itself that it is for debugging; output."""

_ACTIVE_DEBUG_CODE = 489
"""Its CWE."""

_CATEGORY = "debug"

_WORDS = r"[^\w\"'`]{0,20}(?:debug\b|xxx|asdf|wtf\b|(?:i'?m |got |am )?here\s?\d{0,3}[!.]{0,5}[\"'`])"
"""Texts that no program shows to its users. Words on their own ("here") only where they are all of the text."""

_QUOTE = r"[\"'`]"


class _Pattern(NamedTuple):
    rule: str
    confidence: int
    text: re.Pattern[str]
    """Searched from the start of the line; every repetition in it is bounded."""


_START = r"(?:^|[;{]|=>)\s{0,200}"
"""Where a statement can begin."""

SURETY = {"stops": _STOPS, "marked": _MARKED, "prints": _PRINTS}
"""How far a pattern is trusted by what it says it is."""


def _read_patterns() -> Mapping[str, list[_Pattern]]:
    """The patterns of `data/debug_statements.toml` by language, the surest first."""
    found: dict[str, list[_Pattern]] = defaultdict(list)
    for row in packaged_table("debug_statements")["pattern"]:
        text = row["text"].replace("{start}", _START).replace("{words}", _WORDS).replace("{quote}", _QUOTE)
        compiled = re.compile(text, re.IGNORECASE if row["surety"] == "marked" else 0)
        for language in row["languages"]:
            found[language].append(_Pattern(row["rule"], SURETY[row["surety"]], compiled))
    return dict(found)


_PATTERNS: Final = _read_patterns()


def _rule(pattern: _Pattern) -> str:
    return f"leftover-{pattern.rule}"


RULES = {_rule(pattern): _CATEGORY for patterns in _PATTERNS.values() for pattern in patterns}
"""The category of each of its rules."""

_TESTS = re.compile(r"[ \t]{0,8}#\[cfg\(test\)\]")
"""What follows it in a file of Rust are tests."""

_ASKED = re.compile(r"(?i)\bif\b.{0,80}(?:debug|verbose)")
_NEAR = 2
"""Lines behind a condition on debugging in which a dump is what was asked for."""

DEBUGS = re.compile(r"[ \t]*(?:async )?def \w*(?:debugger|pdb|breakpoint)\w*\(", re.IGNORECASE)
"""The head of a function of Python that is there to begin a debugger."""

_HASH_COMMENTS = frozenset({"python", "ruby", "php", "elixir"})


class DebugLeftovers(LineScan):
    """The tool `debug-leftovers`. It says nothing of tests, scripts and command lines, where printing is the point."""

    name = "debug-leftovers"

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        if is_test(file.path) or is_run_by_hand(file.path):
            return
        asked, commented, debugs = 0, False, -1
        for line in stoppable(added_lines(file)):
            if file.language == "ruby":  # a comment of several lines begins and ends at the left edge
                commented = line.text.startswith("=begin") or (commented and not line.text.startswith("=end"))
                if commented:
                    continue
            if file.language == "python":
                debugs = _debugger(line.text, debugs)
                if debugs >= 0:
                    continue
            if file.language == "rust" and _TESTS.match(line.text):
                return
            if _ASKED.search(line.text):
                asked = line.number
            pattern = _leftover(line.text, file.language)
            if pattern is not None and not (asked and pattern.rule == "dump" and line.number - asked <= _NEAR):
                yield _candidate(file.path, line, pattern)


def _debugger(text: str, indent: int) -> int:
    """The indentation of the function around a line that is there to begin a debugger; -1 outside of such ones."""
    at = len(text) - len(text.lstrip())
    if text.strip() and at <= indent:
        indent = -1
    return at if indent < 0 and DEBUGS.match(text) else indent


def _leftover(text: str, language: str) -> _Pattern | None:
    """The surest pattern that is on a line, outside comments and strings as far as the line alone can tell."""
    for pattern in _PATTERNS.get(language, ()):
        match = pattern.text.search(text)
        if match is not None and not _hidden(text[: match.start()], language):
            return pattern
    return None


def _hidden(before: str, language: str) -> bool:
    """Whether what follows `before` on the line stands in a comment or in a string."""
    if before.lstrip().startswith(("#", "*") if language in _HASH_COMMENTS else ("//", "/*", "*")):
        return True
    quote = ""
    previous = ""
    for char in before:
        if quote:
            quote = "" if char == quote and previous != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif (char == "#" and language in _HASH_COMMENTS) or (previous + char == "//" and language != "python"):
            return True
        previous = char
    return bool(quote)


def _candidate(path: str, line: ChangedLine, pattern: _Pattern) -> Candidate:
    stops = pattern.confidence == _STOPS
    return Candidate(
        severity="warning" if stops else "info",
        path=path,
        quote=quote_of(line.text),
        message="A debugger call was left in" if stops else "Output that looks like debugging was left in",
        confidence=pattern.confidence,
        source="debug-leftovers",
        category=_CATEGORY,
        rule=_rule(pattern),
        line=line.number,
        trigger="The program stops here and waits for input." if pattern.rule == "debugger" else "",
        cwe=_ACTIVE_DEBUG_CODE,
        token=" ".join(line.text.split()),
    )
