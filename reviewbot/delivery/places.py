"""Find the definition and the statement around each finding, from the files around a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from reviewbot.context.enclosing import enclosing
from reviewbot.context.statements import Statements
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Finding, Review
from reviewbot.domain.ports import Snapshot
from reviewbot.memory.fingerprints import CodePlace, PlaceOf, all_of, known_place

MAX_WITHHELD = 500
"""Withheld findings whose definition is looked up: each look parses a file, and no reader looks at more of them."""

_STATEMENT_CHARS = 4_000
"""A longer statement is a table of data: a change of one entry must not rename what is found in the others."""

SymbolFor = Callable[[Finding], str | None]
"""The name of the definition around a finding; None leaves the finding as it is."""


def add_symbols(answer: Review, snapshot: Snapshot) -> Review:
    """The review with the definition around each finding, as far as the whole files tell it."""
    symbols: dict[tuple[str, int, int], str] = {}

    def add_symbol(finding: Finding) -> None:
        if finding.path not in (TITLE, DESCRIPTION):
            text = snapshot.head(finding.path)
            definition = text and enclosing(text, language_of(finding.path), finding.line, finding.end_line)
            if definition:
                symbols[_lines_of(finding)] = definition.name

    # File by file: what is parsed of one is let go with the next.
    for finding in sorted(set(_named_findings(answer)), key=_lines_of):
        add_symbol(finding)
    return set_symbols(answer, lambda finding: symbols.get(_lines_of(finding)))


def _lines_of(finding: Finding) -> tuple[str, int, int]:
    return finding.path, finding.line, finding.end_line


def _named_findings(answer: Review) -> Iterator[Finding]:
    """Yield the findings whose definition is looked up."""
    yield from answer.findings
    yield from (finding for conflict in answer.conflicts for finding in conflict.findings)
    yield from (item.finding for item in answer.human if item.finding is not None)
    yield from (entry.finding for entry in answer.withheld[:MAX_WITHHELD])


def set_symbols(answer: Review, symbol_for: SymbolFor) -> Review:
    """The review with a name for the definition around each finding.

    Withheld findings are named as well: one that crosses the threshold tomorrow must be the same defect as today.
    """

    def name_one(finding: Finding) -> Finding:
        symbol = symbol_for(finding)
        return finding if symbol is None else finding.model_copy(update={"symbol": symbol})

    return answer.model_copy(
        update={
            "findings": tuple(name_one(finding) for finding in answer.findings),
            "conflicts": tuple(
                conflict.model_copy(update={"findings": tuple(name_one(finding) for finding in conflict.findings)})
                for conflict in answer.conflicts
            ),
            "human": tuple(
                item if item.finding is None else item.model_copy(update={"finding": name_one(item.finding)})
                for item in answer.human
            ),
            "withheld": (
                *(
                    entry.model_copy(update={"finding": name_one(entry.finding)})
                    for entry in answer.withheld[:MAX_WITHHELD]
                ),
                *answer.withheld[MAX_WITHHELD:],
            ),
        }
    )


def places(answer: Review, snapshot: Snapshot) -> PlaceOf:
    """The statement around each finding of a review, for its fingerprint.

    Where none is known (another language, a file that does not parse, a very long statement) the finding's own lines
    are its place.
    """
    known: dict[Finding, CodePlace] = {}
    for path, findings in groupby(sorted(set(all_of(answer)), key=_lines_of), key=lambda finding: finding.path):
        statements = Statements(snapshot.head(path) if language_of(path) == "python" else None)
        for finding in findings:
            over = statements.over(finding.line, finding.end_line)
            if over and sum(len("".join(each.code.split())) for each in over) <= _STATEMENT_CHARS:
                known[finding] = CodePlace("\n".join(each.code for each in over), over[0].first)
    return lambda finding: known.get(finding) or known_place(finding)
