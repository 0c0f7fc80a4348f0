"""A tool that walks Python's syntax trees: a pure check, its rules, and the reader that it shares with the others."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from reviewbot.analyzers.core.changed_lines import ChangedLine, ShownLines
from reviewbot.analyzers.core.preexisting import token_of
from reviewbot.analyzers.core.reports import (
    cap_candidates,
    gap,
    message_of,
    own_run,
    report,
    rule_candidate,
    unread_gap,
)
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.python.reader import ParsedPython, Piece, PythonReader
from reviewbot.analyzers.python.views import DEFAULT_STEPS, Budget, Check, Found, OutOfSteps, View
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, Gap
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.threads import in_thread

_MAX_ROWS = 30
"""Of code that a finding is known by; of longer code its first row."""

_FLOW_LINES = 20
"""Of a flow that are named."""

_FLOW_TEXT = 900
"""Characters of a flow that is shown; a candidate's trigger has room for 1,000."""


class PythonTool:
    """One check as a tool."""

    languages: frozenset[str] | None = frozenset({"python"})

    def __init__(
        self,
        name: str,
        check: Check,
        rules: Mapping[str, Rule],
        reader: PythonReader,
        *,
        steps: int = DEFAULT_STEPS,
    ) -> None:
        self.name = name
        self._check = check
        self._rules = rules
        self._reader = reader
        self._steps = steps

    async def run(self, file: ChangedFile, _snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file of Python, in the whole file where the snapshot has it."""
        began = time.monotonic()
        shown = ShownLines.of(file)
        read = await self._reader.read(file)
        tired: list[Piece] = []
        found = await in_thread(lambda: cap_candidates(self._candidates(file, read, shown, tired)))
        return report(file.path, own_run(self.name, began), found, self._missed(file.path, read, bool(tired)))

    def _candidates(
        self, file: ChangedFile, read: ParsedPython, shown: ShownLines, tired: list[Piece]
    ) -> Iterator[Candidate]:
        """Yield what the check finds in all pieces; those that it did not follow to the end are added to `tired`."""
        seen: set[tuple[str, int]] = set()
        for piece in read.pieces:
            view = _view(file.path, piece, shown)
            if not view.added:
                continue
            all_found, stopped = self._found(view)
            if stopped:
                tired.append(piece)
            for found in all_found:
                candidate = self._candidate(view, piece, found, shown)
                if candidate is None:
                    continue
                key = (candidate.rule, 0 if self._rules[found.rule].once else candidate.line or 0)
                if key not in seen:
                    seen.add(key)
                    yield candidate

    def _found(self, view: View) -> tuple[list[Found], bool]:
        """All that the check finds, and whether it stopped before the end."""
        all_found: list[Found] = []
        try:
            for found in self._check(view, Budget(self._steps)):
                all_found.append(found)  # noqa: PERF402 - what was found before it stops counts
        except (OutOfSteps, RecursionError):
            return all_found, True
        return all_found, False

    def _candidate(self, view: View, piece: Piece, found: Found, shown: ShownLines) -> Candidate | None:
        """A finding as a candidate on the first added line of it; None where this tool does not report it."""
        rule = self._rules[found.rule]
        if not (view.whole or rule.fragments):
            return None
        line = _anchor(piece, found, shown)
        if line is None or not rule.speaks_on(line.text, in_tests=is_test(view.path)):
            return None
        last = piece.source.lines(found.row, found.end_row or found.row)
        own = _own_rows(found)
        return rule_candidate(
            rule,
            view.path,
            line,
            found.message,
            whole=view.whole,
            most=found.most,
            end_line=shown.reach(line, max(last, default=0)),
            also=_also(piece, found, line.number),
            trigger=_trigger(rule, piece, found),
            token=_token(view, found),
            at=next(iter(piece.source.lines(own.start, own.start)), None),
            brought=not view.added.isdisjoint(own) or (bool(found.flow) and found.flow[0].row in view.added),
        )

    def _missed(self, path: str, read: ParsedPython, tired: bool) -> Gap | None:  # noqa: FBT001 - named by its caller
        """The gap of a file that was not read to its end."""
        if tired:
            return gap(path, self.name, "timeout", f"{self.name} gave up on code that takes too long to follow")
        return unread_gap(path, self.name, read.fault, read.unread, read.hunks)


def _view(path: str, piece: Piece, shown: ShownLines) -> View:
    source = piece.source
    numbered = ((row, shown.get(number or 0)) for row, number in enumerate(source.numbers, 1))
    added = frozenset(row for row, line in numbered if line is not None and line.added)
    return View(path, piece.tree, source.text, source.whole, added)


def _anchor(piece: Piece, found: Found, shown: ShownLines) -> ChangedLine | None:
    """The added line on which a finding is reported; None where the change added none of its rows."""
    rows = (*range(found.row, (found.end_row or found.row) + 1), *(step.row for step in reversed(found.flow)))
    numbers = (number for row in rows for number in piece.source.lines(row, row))
    return shown.first_added(numbers)


def _own_rows(found: Found) -> range:
    """The rows of the code at fault."""
    node = found.code if isinstance(found.code, (ast.expr, ast.stmt, ast.keyword)) else None
    first, last = (found.row, found.end_row or found.row) if node is None else (node.lineno, node.end_lineno or 0)
    return range(first, last + 1)


def _token(view: View, found: Found) -> str:
    """What the same flaw is known by on the other side of the file."""
    node = found.code
    long = node is not None and (getattr(node, "end_lineno", 0) or 0) - getattr(node, "lineno", 0) > _MAX_ROWS
    code = view.row(found.row)
    if node is not None and not long:
        with suppress(RecursionError):
            code = ast.unparse(node)
    return token_of(code, found.flow[0].what if found.flow else "")


def _also(piece: Piece, found: Found, line: int) -> tuple[int, ...]:
    """The other lines of a flow, in order."""
    lines = {number for step in found.flow for number in piece.source.lines(step.row, step.row)}
    return tuple(sorted(lines - {line}))[:_FLOW_LINES]


def _trigger(rule: Rule, piece: Piece, found: Found) -> str:
    """The impact: the rule's own words, then the way of the value where there is one."""
    steps = []
    for step in found.flow:
        at = piece.source.lines(step.row, step.row)
        steps.append(f"line {at[0]}: {step.what}" if at else step.what)
    flow = message_of(" -> ".join(steps))[:_FLOW_TEXT] if steps else ""
    return f"{rule.trigger} Flow: {flow}."[:1_000].strip() if flow else rule.trigger
