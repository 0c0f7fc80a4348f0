"""Find what a function of another language than Python closed, gave back or waited for, and does so no more.

Both sides must show it: the function still opens or calls the same, does nothing else that is new, and hands nothing of
it on. How a language closes and waits stands in `reviewbot/data/cleanup.toml`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from reviewbot.analyzers.both_sides.sides import NOWHERE, Rows, SideFinding
from reviewbot.analyzers.both_sides.stale_users import ENDINGS, symbols_of
from reviewbot.analyzers.both_sides.syntax_side import SyntaxChange, is_readable, new_names, plain, statement_table
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import Symbol
from reviewbot.diff.language import language_of
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile, Snapshot
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_LINE = 1_000
"""Characters of a line that is looked at; a longer one is generated."""

MAX_ROWS = 50
"""Removed lines of one file that are followed; with more of them the file was written anew."""

_SET = re.compile(
    r"\s*(?:[\w<>\[\]?.]+(?: [\w<>\[\]?.]+)?\s+)?(?P<name>[@\w]+)(?:, \w+)*\s*:?=(?!=)\s*(?P<value>.*?);?\s*$"
)
"""A line that gives a variable a value: its name, of several the first."""

_BRACKETS = 4
"""Characters; a shorter line is a bracket or an `end`."""

_ASYNC = re.compile(r"\basync\b|:\s*Promise<")
_AWAITED = re.compile(
    r"\s*(?:(?P<set>(?:(?:const|let|var)\s+)?(?P<name>[\w$.]+|[{\[][\w$,:\s]+[}\]])(?:\s*:\s*[^=]+)?\s*=\s*)|"
    r"(?P<ask>(?:\}\s*else\s+)?(?:if|while)\s*\(\s*!?\s*))?await (?P<callee>[\w$.?]+)(?:<[^()]*>)?\("
)


def dropped_cleanup(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield what a file closed, gave back or awaited before, and does so no more. Blocks."""
    yield from removed_unlocks(file)
    words = packaged_table("cleanup").get(TABLES.get(file.language, "").removeprefix("patterns_"))
    if words is None or statement_table(file.language) is None or not is_readable(file.base, file.head):
        return
    change = _Change(file, snapshot, words)
    try:
        yield from change.closes()
        yield from change.awaits()
    except OutOfSteps:  # the search for checks says so
        return


class _Change(SyntaxChange):
    """A change, and the words of its language."""

    def __init__(self, file: ChangedFile, snapshot: Snapshot, words: Mapping[str, str]) -> None:
        super().__init__(file)
        self._snapshot, self._words = snapshot, words
        self.removed = [row for row in self.removed if len(row.text) <= MAX_LINE]

    def _match(self, key: str, text: str) -> re.Match[str] | None:
        return re.match(self._words[key], text) if key in self._words else None

    # --- what is closed ---------------------------------------------------------------------------------------------

    def closes(self) -> Iterator[SideFinding]:
        """Yield what is opened as before and not closed any more. Raises OutOfSteps."""
        wanted = [row for row in self.removed if self._match("held", row.text) or self._match("closes", row.text)]
        for row in wanted if len(wanted) <= MAX_ROWS else ():
            held, closed = self._match("held", row.text), self._match("closes", row.text)
            opened = self._opened(held) if held is not None else None
            name = opened[1] if opened is not None else closed["name"] if closed is not None else ""
            inside = self.old.function_around((row.old or 0) - 1) if name else None
            within = self.counterpart(inside)
            if inside is None or within == (0, 0):
                continue
            if self._is_left_open(name, inside, within, opened[0] if opened is not None else None):
                message = f"`{name}` is opened as before, and not closed any more"
                spot = _new(opened[0]) if opened is not None else NOWHERE
                yield SideFinding("cleanup-dropped", message, _old(row), spot, within)

    def _opened(self, held: re.Match[str]) -> tuple[Row, str] | None:
        """The added row that opens what a removed one opened and held, and its name there."""
        for row in self.added:
            match = _SET.match(row.text) if len(row.text) <= MAX_LINE else None
            if match and plain(match["value"]) == plain(held["value"]) and not self._match("held", row.text):
                return row, match["name"]
        return None

    def _is_left_open(self, name: str, inside: Node, within: Rows, opened: Row | None) -> bool:
        """Whether a function opens something as before, keeps it to itself, and does the same but for closing it."""
        root = re.escape(name.partition(".")[0])
        before = [self.old.lines[row] for row in range(inside.start_point[0], inside.end_point[0] + 1)]
        now = self.new.lines[within[0] - 1 : within[1]]
        if max(map(len, now)) > MAX_LINE:
            return False
        given = ((text, _SET.match(text)) for text in now)
        sets = [text for text, match in given if match and re.search(rf"\b{root}\b", text[: match.start("value")])]
        handed_on = _uses("handed_on", root, "\n".join(now))
        if len(sets) != 1 or not self._match("opens", sets[0]) or handed_on:
            return False
        if opened is None and plain(sets[0]) not in map(plain, before):
            return False
        left = [each for each in before[1:-1] if not self._match("frame", each) and not self._is_closing(each, name)]
        frames = [row for row in self.added if len(plain(row.text)) < _BRACKETS or self._match("frame", row.text)]
        return self.does_only(within, left, [*frames, *([opened] if opened is not None else [])])

    def _is_closing(self, text: str, name: str) -> bool:
        closed = self._match("closes", text)
        return self._match("held", text) is not None or (closed is not None and closed["name"] == name)

    # --- what is waited for -----------------------------------------------------------------------------------------

    def awaits(self) -> Iterator[SideFinding]:
        """Yield calls that a function awaited, and makes as before without that. Raises OutOfSteps."""
        added = {plain(row.text): row for row in self.added}
        before = {plain(row.text) for row in self.removed}
        for row in self.removed if "awaits" in self._words else ():
            match = _AWAITED.match(row.text)
            text = plain(row.text.replace("await ", "", 1))
            now = added.get(text) if match is not None and text not in before else None
            if match is None or now is None or not self._is_async_around(now) or self._is_handed_on(match, now):
                continue
            callee = match["callee"].replace("?", "")
            is_async = self._is_async(callee)
            if is_async is False:
                continue
            used = bool(match["set"] or match["ask"])
            if not used and not self._is_statement(now):
                continue  # an element of a list, or an argument, that is handed on
            certain = "await-dropped" if is_async else "await-dropped-by-name"
            message = f"`{callee}` was awaited here and is not any more"
            yield SideFinding(certain if used else "await-not-waited", message, _old(row), _new(now))

    def _is_async_around(self, row: Row) -> bool:
        """Whether the function around an added row may still wait for something."""
        around = self.new.function_around((row.new or 0) - 1)
        return around is not None and re.match(r"(?:[\w$]+ )*async\b", self.new.text(around)) is not None

    def _is_statement(self, row: Row) -> bool:
        nodes = self.new.starting_on({(row.new or 0) - 1})
        return any(self.new.callee(node) and self.new.is_statement(node) for node in nodes)

    def _is_handed_on(self, match: re.Match[str], now: Row) -> bool:
        """Whether a promise is waited for in another way: by what follows the call, or by the name that it has."""
        following = self.new.lines[now.new or 0 : (now.new or 0) + 1]
        if any(re.search(r"\.(?:then|catch|finally)\b", text) for text in (now.text, *following)):
            return True
        name = re.escape(match["name"] or "")
        if not name or not re.fullmatch(r"[\w$]+", match["name"]):
            return "." in name  # a field of an object may be awaited anywhere
        around = self.new.function_around((now.new or 0) - 1)
        return _uses("waited", name, self.new.text(around))

    def _is_async(self, callee: str) -> bool | None:
        """Whether all functions that a call may mean give a promise, as they are defined; None where none is found."""
        owner, _, name = callee.rpartition(".")
        names, lines = new_names(self.file).symbols, self.new.lines
        here = [each for each in names.symbols if each.name == name and bool(each.container) == bool(owner)]
        if owner in {"", "this"} and here:
            return all(_is_async_at(lines, each) for each in here)
        taken = next((each for each in names.imports if each.local == name and not owner), None)
        text, path = self._imported(taken.module) if taken is not None else ("", "")
        there = [each for each in symbols_of(path, text).symbols if taken and each.name == taken.name] if text else []
        return all(_is_async_at(text.split("\n"), each) for each in there) if there else None

    def _imported(self, module: str) -> tuple[str, str]:
        """The text and the path of the one file that a relative import means; empty where it may be another."""
        stem = posixpath.normpath(posixpath.join(posixpath.dirname(self.file.path), module))
        if not module.startswith(".") or stem.startswith(".."):
            return "", ""
        stem = re.sub(r"\.[cm]?[jt]sx?$", "", stem)
        found = [(text, path) for end in ENDINGS if (text := self._snapshot.head(path := f"{stem}{end}")) is not None]
        return found[0] if len(found) == 1 and language_of(found[0][1]) in LANGUAGES else ("", "")


def _uses(key: str, name: str, text: str) -> bool:
    return re.search(packaged_table("cleanup")[key].replace("NAME", name), text) is not None


def _is_async_at(lines: list[str], symbol: Symbol) -> bool:
    return _ASYNC.search(lines[symbol.line - 1]) is not None


def _old(row: Row) -> Rows:
    return row.old or 0, row.old or 0


def _new(row: Row) -> Rows:
    return row.new or 0, row.new or 0


def removed_unlocks(file: ChangedFile) -> Iterator[SideFinding]:
    """Yield locks that a file of another language than Python takes as before, and gives back less often."""
    rows = [row for hunk in file.hunks for row in hunk_rows(hunk)]
    if file.base is None or file.head is None or any("nlock" in row.text for row in rows if row.kind == "+"):
        return
    for take, give in packaged_table("names/safeguards")["releases"].get(file.language, ()):
        for row in rows:
            match = re.search(rf"([\w.]{{1,80}})\.{give}\b", row.text) if row.kind == "-" else None
            if match is None:
                continue
            taken, given = (
                [_count(text, f"{match[1]}.{name}") for text in (file.base, file.head)] for name in (take, give)
            )
            if given[0] >= taken[0] and taken[1] > given[1]:
                message = f"`{match[1]}` is locked as before, and not unlocked here any more"
                yield SideFinding("removed-unlock", message, (row.old or 0, row.old or 0))


def _count(text: str, name: str) -> int:
    return len(re.findall(rf"(?<![\w.]){re.escape(name)}\b", text))
