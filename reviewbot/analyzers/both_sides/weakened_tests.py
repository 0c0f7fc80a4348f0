"""Find tests that check less after a change: their assertions are gone or always hold, they are skipped, or run alone.

A test is found by its line and its indentation: tests are formatted code. One whose end cannot be found so has its
assertions outside of what was found on both sides, and draws nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from reviewbot.analyzers.both_sides.sides import NOWHERE, Rows, SideFinding
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table

MAX_LINES = 20_000
"""Of a side; a longer one is generated."""

_MARKED_ABOVE = 6
"""Lines above a test on which its mark may stand."""

_OF_A_RUNNER = re.compile(r"(?:^|/)(?:fixtures?|only|focus(?:ed)?)/|[._-](?:fixture|only)\.[a-z]{1,5}$")
"""The tests of programs that run tests: that some run alone is what these try out."""

_CONDITION = re.compile(r"\b(?:if|unless)\b")
_CALL = re.compile(r"([A-Za-z_]\w*[?!]?)\s?\(")


@dataclass(frozen=True)
class _Words:
    """The patterns of one language; each matches at the begin of a line but `assertion`."""

    test: re.Pattern[str]
    assertion: re.Pattern[str]
    constant: re.Pattern[str]
    skip: re.Pattern[str]
    comment: re.Pattern[str]
    marked: re.Pattern[str] | None = None
    focus: re.Pattern[str] | None = None


@cache
def _words_of(language: str) -> _Words | None:
    table = packaged_table("assertions").get(TABLES.get(language, language).removeprefix("patterns_"))
    return None if table is None else _Words(**{key: re.compile(text) for key, text in table.items()})


@dataclass(frozen=True)
class _Test:
    """The rows of a test, counted from 1, and its lines without comments, each with its row."""

    first: int
    last: int
    code: tuple[tuple[int, str], ...]

    def assertions(self, words: _Words) -> list[tuple[int, str]]:
        return [(row, text) for row, text in self.code[1:] if words.assertion.search(text)]


def weakened_tests(file: ChangedFile) -> Iterator[SideFinding]:
    """Yield what the tests of a file check no more."""
    words = _words_of(file.language)
    if words is None or not is_test(file.path):
        return
    rows = [row for hunk in file.hunks for row in hunk_rows(hunk) if row.kind != " "]
    if not _OF_A_RUNNER.search(file.path):
        yield from _focused(words, rows)
    sides = [side.split("\n") for side in (file.base, file.head) if side is not None]
    if len(sides) < 2 or max(map(len, sides)) > MAX_LINES:  # noqa: PLR2004 - both of them
        return
    before, after = (_tests(words, side) for side in sides)
    gone = {row.old: row for row in rows if row.kind == "-"}
    added = {row.new: row for row in rows if row.kind == "+"}
    for name in before.keys() & after.keys():
        yield from _weakened(words, name, (before[name], after[name]), (gone, added))


def _focused(words: _Words, rows: Sequence[Row]) -> Iterator[SideFinding]:
    if words.focus is None or any(words.focus.match(row.text) for row in rows if row.kind == "-"):
        return
    for row in rows:
        if row.kind == "+" and words.focus.match(row.text):
            message = "Only this test, or this group, runs: all others of the file are left out"
            yield SideFinding("test-focused", message, spot=(row.new or 0, row.new or 0))


def _tests(words: _Words, lines: Sequence[str]) -> dict[str, _Test]:
    """The tests of a side by name; one whose name stands twice is left out."""
    found: dict[str, _Test | None] = {}
    for at, line in enumerate(lines):
        match = words.test.match(line)
        if match and (words.marked is None or _is_marked(words.marked, lines, at)):
            name = next(group for group in match.groups() if group)
            found[name] = None if name in found else _test_at(words, lines, at)
    return {name: test for name, test in found.items() if test is not None}


def _is_marked(mark: re.Pattern[str], lines: Sequence[str], at: int) -> bool:
    for line in reversed(lines[max(0, at - _MARKED_ABOVE) : at]):
        if not line.strip() or line.rstrip().endswith(("}", ";", "{")):
            return False
        if mark.search(line):
            return True
    return False


def _test_at(words: _Words, lines: Sequence[str], at: int) -> _Test:
    depth = _indentation(lines[at])
    last, code = at, [(at + 1, lines[at])]
    for number in range(at + 1, len(lines)):
        text = lines[number]
        if not text.strip():
            continue
        if _indentation(text) <= depth and not re.match(r"\s*(?:[)}\]]|end\b)", text):
            break
        last = number
        if not words.comment.match(text):
            code.append((number + 1, text))
    return _Test(at + 1, last + 1, tuple(code))


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _weakened(
    words: _Words, name: str, pair: tuple[_Test, _Test], rows: tuple[dict[int | None, Row], dict[int | None, Row]]
) -> Iterator[SideFinding]:
    """Yield what one test has lost; `rows` are the removed rows by old number and the added ones by new number."""
    old, new = pair
    gone, added = rows
    within = new.first, new.last
    asserted = old.assertions(words)
    lost = [(row, text) for row, text in asserted if row in gone]
    fresh = [(row, text) for row, text in new.code if row in added]
    skipped = _skipped(words, new, added)
    if skipped and not any(words.skip.match(row.text) for row in gone.values()):
        yield SideFinding("test-skipped", f"The test `{name}` ran before, and is left out now", spot=(skipped, skipped))
    if not lost or skipped:
        return
    constant = next((row for row, text in fresh if words.constant.match(text)), None)
    if constant and all(row == constant for row, _ in new.assertions(words)):
        message = f"`{name}` checks nothing here: this assertion always holds"
        yield SideFinding("assertion-always-holds", message, (lost[0][0], lost[0][0]), (constant, constant), within)
    elif len(lost) == len(asserted) and not new.assertions(words) and _is_otherwise_the_same(old, new, fresh):
        muted = _muted(words, lost, new, added)
        is_comment = muted != NOWHERE
        what = "its assertions are comments now" if is_comment else f"{len(lost)} on the removed lines were all it had"
        rule = "test-assertions-commented-out" if is_comment else "test-without-assertions"
        yield SideFinding(rule, f"`{name}` asserts nothing any more: {what}", (lost[0][0], lost[-1][0]), muted, within)


def _skipped(words: _Words, new: _Test, added: dict[int | None, Row]) -> int | None:
    """The added row that leaves a test out whatever the surroundings are: above it, or a first step of it."""
    depth = _indentation(new.code[1][1]) if len(new.code) > 1 else 0
    for number in range(new.first - _MARKED_ABOVE, new.last + 1):
        text = added[number].text if number in added else ""
        if words.skip.match(text) and not _CONDITION.search(text) and _indentation(text) <= depth:
            return number
    return None


def _is_otherwise_the_same(old: _Test, new: _Test, fresh: Sequence[tuple[int, str]]) -> bool:
    """Whether a test still does something that it did, and calls nothing new that may check the result."""
    before = {text.strip() for _, text in old.code[1:]}
    kept = any(text.strip() in before for _, text in new.code[1:] if len(text.strip()) > len("});"))
    called = {name for text in before for name in _CALL.findall(text)}
    return kept and all(set(_CALL.findall(text)) <= called for row, text in fresh if row != new.first)


def _muted(words: _Words, lost: Sequence[tuple[int, str]], new: _Test, added: dict[int | None, Row]) -> Rows:
    """The row of a comment in the test that has the text of a lost assertion; nowhere if none has."""
    for row in range(new.first, new.last + 1):
        text = added[row].text if row in added else ""
        if words.comment.match(text) and any(said.strip() in text for _, said in lost):
            return row, row
    return NOWHERE
