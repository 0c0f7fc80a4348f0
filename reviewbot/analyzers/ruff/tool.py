"""Run ruff as one tool for each worker, with rules that no other worker's tool has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewbot.analyzers.core.changed_lines import ChangedLine, ShownLines
from reviewbot.analyzers.core.preexisting import token_of
from reviewbot.analyzers.core.process import ProgramError
from reviewbot.analyzers.core.reports import (
    cap_candidates,
    failed_report,
    gap,
    message_of,
    quote_of,
    report,
    rule_candidate,
    unread_gap,
)
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.python.lines import odd_coding
from reviewbot.analyzers.python.reader import old_tree
from reviewbot.analyzers.ruff.confidence import NEED_TREES, ReportContext, doubt_of
from reviewbot.analyzers.ruff.fixes import replacement_of
from reviewbot.analyzers.ruff.run import SYNTAX, RuffAnswer, RuffDiagnostic, RuffRunner
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, Gap, ToolRun
from reviewbot.domain.contracts.results import NOT_RUN
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.threads import in_thread

_MAX_REPORT_LINES = 30
"""Lines. A longer one is about a whole block, and an added line somewhere in it is not its cause."""

_OF_ARGUMENTS = frozenset({"command-injection", "sql-injection", "code-injection", "xss", "deserialization"})
"""Categories of flaws that lie in what a call is given, and not in that it is called."""

_NAMED = 5
"""Rules that a gap names."""

_SEEMS_SAFE = "seems safe"
"""Ruff's words for a command that is one literal: nothing from outside can be in it."""

_SEEMS_SAFE_CONFIDENCE = 40
_BROKEN_CONFIDENCE = 90
"""The old side parses and the new side does not."""


class RuffTool:
    """The rules of one worker. It shares its runner with the tools of the other workers."""

    languages: frozenset[str] | None = frozenset({"python"})

    def __init__(self, name: str, rules: Mapping[str, Rule], runner: RuffRunner, *, broken_files: bool = False) -> None:
        """`broken_files`: whether this is the tool that reports a file that no longer parses."""
        self.name = name
        self._rules = rules
        self._runner = runner
        self._broken_files = broken_files

    async def run(self, file: ChangedFile, _snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file of Python, in the whole file where the snapshot has it."""
        shown = ShownLines.of(file)
        if not shown:
            return report(file.path, ToolRun(tool=self.name, version=NOT_RUN, duration_ms=0))
        try:
            answer = await self._runner.read(file)
        except ProgramError as error:
            return failed_report(self.name, file.path, error)
        # Thousands of reports take their time: beside the loop, so that they cannot hold up the clock of the review.
        ask = any(found.code in NEED_TREES and found.code in self._rules for found in answer.reports)
        around = ReportContext(shown, (await self._runner.parse_file(file)).pieces if ask else ())
        broken = self._broken(file, answer.syntax, shown) if answer.syntax is not None and self._broken_files else []
        found = await in_thread(lambda: cap_candidates([*self._candidates(file.path, answer, around), *broken]))
        missed = self._unread_gap(file.path, answer) or self._other_text(file, shown)
        return report(file.path, answer.run(self.name), found, missed)

    def _other_text(self, file: ChangedFile, shown: ShownLines) -> Gap | None:
        """Python runs another text than the one that is read here, where a line at the top names another encoding."""
        top = [shown[n].text for n in (1, 2) if n in shown] if file.head is None else file.head.split("\n", 2)[:2]
        coding = odd_coding(top)
        if coding is None:
            return None
        return gap(file.path, self.name, "unreadable", f"it says that it is written in {coding}, and was read as UTF-8")

    def _candidates(self, path: str, answer: RuffAnswer, around: ReportContext) -> Iterator[Candidate]:
        seen: set[str] = set()
        for found in answer.reports:
            candidate = None if found.code in seen else self._candidate(path, found, around)
            if candidate is not None:
                yield candidate
                if self._rules[found.code].once:
                    seen.add(found.code)

    def _candidate(self, path: str, found: RuffDiagnostic, around: ReportContext) -> Candidate | None:
        """A report as a candidate on the first added line of it; None where this tool does not report it."""
        rule, shown = self._rules.get(found.code), around.shown
        if rule is None or not (found.whole or rule.fragments):
            return None
        line = _anchor(found, rule, shown)
        if line is None or not rule.speaks_on(line.text, in_tests=is_test(path)):
            return None
        literal = _SEEMS_SAFE in found.message
        doubt = doubt_of(found, line, around)
        if not doubt.most:
            return None
        end = shown.reach(line, max(found.last, found.call_end))
        rows = [shown[number].text for number in range(line.number, end + 1)]
        trusted = min(doubt.most, rule.confidence_on(line.text, whole=found.whole))
        return rule_candidate(
            rule,
            path,
            line,
            message_of(rule.message_for(found.message)),
            severity="info" if literal else doubt.severity or rule.severity_on(line.text),
            confidence=_SEEMS_SAFE_CONFIDENCE if literal else trusted,
            end_line=end,
            replacement=replacement_of(found.edits, line.number, rows),
            token=_token(found, rule),
            at=found.first,
            brought=shown.first_added(range(found.first, found.last + 1)) is not None,
        )

    def _broken(self, file: ChangedFile, found: RuffDiagnostic, shown: ShownLines) -> list[Candidate]:
        """A file that the change broke. Other reasons not to parse (Python 2, a template) were there before it."""
        line = shown.get(found.first)
        if line is None or not line.added or old_tree(file) is None:
            return []
        message = f"The file no longer parses: {found.message}"
        broken = Candidate(
            severity="critical",
            path=file.path,
            quote=quote_of(line.text),
            message=message_of(message),
            confidence=_BROKEN_CONFIDENCE,
            source=self.name,
            category="syntax",
            rule=SYNTAX,
            line=line.number,
            trigger="SyntaxError as soon as the file is imported.",
        )
        return [broken]

    def _unread_gap(self, path: str, answer: RuffAnswer) -> Gap | None:
        """The gap of a file that was not read to its end."""
        if loud := [code for code in answer.loud if code in self._rules]:
            message = f"ruff wrote more than it may; of {', '.join(loud[:_NAMED])} only the first reports were read"
            return gap(path, self.name, "flooded", message)
        fault = ""
        if answer.syntax is not None:
            fault = f"the file does not parse at {f'line {answer.syntax.first}' if answer.syntax.first else 'its end'}"
        return unread_gap(path, self.name, fault, answer.unread, answer.hunks)


def _anchor(found: RuffDiagnostic, rule: Rule, shown: ShownLines) -> ChangedLine | None:
    """The first added line of a report, or None: what stands on lines that the change left alone is not its fault."""
    last = found.call_end if rule.call else found.last
    numbers = range(found.first, last + 1) if last - found.first <= _MAX_REPORT_LINES else (found.first,)
    return shown.first_added(numbers)


def _token(found: RuffDiagnostic, rule: Rule) -> str:
    """What the same flaw is known by on the other side of the file: of what runs a text, the whole statement."""
    if found.part is None:
        return ""
    return token_of(found.part.statement if rule.category in _OF_ARGUMENTS else found.part.text)
