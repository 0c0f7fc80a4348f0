"""The tools `patterns-security`, `patterns-performance` and `patterns-logic`: one search of a file for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_lines, new_side
from reviewbot.analyzers.core.preexisting import MAX_TOKEN
from reviewbot.analyzers.core.reports import (
    cap_candidates,
    gap,
    own_run,
    report,
    rule_candidate,
)
from reviewbot.analyzers.core.rules import Rule, packaged_rules
from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.analyzers.core.texts import is_same_commit
from reviewbot.analyzers.patterns.languages import TABLES, Syntax, syntax_of
from reviewbot.analyzers.patterns.matching import Hit, Matches, Text, find
from reviewbot.analyzers.patterns.trees import MAX_CHARS, new_tree
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, Gap
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.review.calibration import Calibration
from reviewbot.threads import in_thread

PATTERN_TOOLS = ("patterns-security", "patterns-performance", "patterns-logic")


@dataclass(frozen=True)
class _Piece:
    """One text of a file, and the lines of the new side that its rows are."""

    text: Text
    first: int
    lines: Mapping[int, ChangedLine]
    """By row."""
    matches: Matches


class PatternTool:
    """The rules of one worker in every language that has a table."""

    languages: frozenset[str] | None = frozenset(TABLES)

    def __init__(self, name: str, calibration: Calibration | None = None) -> None:
        self.name = name
        self._calibration = calibration

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file, in the whole file where the snapshot has it."""
        del snapshot
        began = time.monotonic()
        pieces, rules = await in_thread(lambda: (_pieces(file), self._rules(file.language)))
        found = cap_candidates(self._candidates(file, pieces, rules))
        run = own_run(self.name, began, parsed=all(piece.matches.parsed for piece in pieces))
        return report(file.path, run, found, self._missed(file.path, pieces))

    def _rules(self, language: str) -> Mapping[str, Rule]:
        table = TABLES.get(language)
        return {} if table is None else packaged_rules(table, self._calibration).of_tool(self.name)

    def _candidates(
        self, file: ChangedFile, pieces: Sequence[_Piece], rules: Mapping[str, Rule]
    ) -> Iterator[Candidate]:
        """Yield one candidate for each category and line: of two rules that match, the one that is trusted more."""
        best: dict[tuple[str, int], Candidate] = {}
        for piece in pieces:
            for hit in piece.matches.hits:
                rule = rules.get(hit.rule)
                line = next((piece.lines[row] for row in range(hit.row, hit.end_row + 1) if row in piece.lines), None)
                if (
                    rule is None
                    or line is None
                    or not rule.speaks_on(line.text, in_tests=hit.in_test or is_test(file.path))
                ):
                    continue
                found = self._candidate(file.path, piece, hit, rule, line)
                known = best.get((found.category, line.number))
                if known is None or known.confidence < found.confidence:
                    best[found.category, line.number] = found
        yield from best.values()

    def _candidate(self, path: str, piece: _Piece, hit: Hit, rule: Rule, line: ChangedLine) -> Candidate:
        token, at = " ".join(hit.text.split())[:MAX_TOKEN], piece.first + hit.row - 1
        return rule_candidate(rule, path, line, whole=piece.text.whole, token=token, at=at)

    def _missed(self, path: str, pieces: Sequence[_Piece]) -> Gap | None:
        if any(piece.matches.stopped for piece in pieces):
            return gap(path, self.name, "timeout", "patterns gave up on code that takes too long to follow")
        return None


@once_per_file
def _pieces(file: ChangedFile) -> tuple[_Piece, ...]:
    """Search a file, or each of its hunks where the file is not at hand; nothing in other languages. Blocks."""
    table = TABLES.get(file.language)
    if table is None:
        return ()
    rules, syntax = packaged_rules(table).rules.values(), syntax_of(table)
    return tuple(
        _Piece(text, first, lines, _matches(file, text, syntax, rules))
        for text, first, lines in _texts(file)
        if text.rows
    )


def _matches(file: ChangedFile, text: Text, syntax: Syntax, rules: Iterable[Rule]) -> Matches:
    tree = new_tree(file) if text.whole else None
    if not text.text or (text.whole and tree is None):
        return Matches((), parsed=False, stopped=text.whole)
    return find(text, file.language, syntax, rules, tree)


def _texts(file: ChangedFile) -> Iterator[tuple[Text, int, Mapping[int, ChangedLine]]]:
    """The texts to search; a hunk that is too long has none."""
    if file.head is not None and len(file.head) <= MAX_CHARS and is_same_commit(file):
        lines = {line.number: line for line in added_lines(file)}
        yield Text(file.head, sorted(lines), whole=True), 1, lines
        return
    for hunk in new_side(file):
        text = "\n".join(line.text for line in hunk)
        lines = {row: line for row, line in enumerate(hunk, 1) if line.added}
        yield Text(text if len(text) <= MAX_CHARS else "", sorted(lines), whole=False), hunk[0].number, lines
