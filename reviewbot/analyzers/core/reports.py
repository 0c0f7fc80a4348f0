"""Make candidates, gaps and reports; shared by all tools."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.process import ProgramError
from reviewbot.analyzers.core.rules import Rule
from reviewbot.domain.contracts import Candidate, Gap, GapReason, ToolRun
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.redact.mask import redact
from reviewbot.review.finding_limits import MAX_PER_FILE, CappedCandidates, keep
from reviewbot.threads import in_thread, stoppable
from reviewbot.wording import with_count

OWN_VERSION = "1"
"""Of the scans of our own; raised when what they find changes."""

_QUOTE, _MESSAGE = 4_000, 2_000
"""The longest quote and message that a candidate may have."""

MAX_CLEAN_REPORTS = 4_096
"""Of about 1 kB each. Equal runs of a tool differ in their milliseconds."""


def quote_of(text: str) -> str:
    """Quote a line of the change as evidence: without its indentation, secrets masked, not too long."""
    return redact(text.strip())[:_QUOTE]


def message_of(text: str) -> str:
    """Turn a text of a program into a message: on one line, secrets masked, not too long and never empty."""
    return redact(" ".join(text.split()))[:_MESSAGE] or "no message"


def gap(path: str, tool: str, reason: GapReason, message: str) -> Gap:
    """Make the gap of a tool; the caller that knows the worker and the task fills them in."""
    return Gap(path=path, worker="", reason=reason, message=message, tool=tool)


def rule_candidate(
    rule: Rule,
    path: str,
    line: ChangedLine,
    message: str = "",
    *,
    whole: bool = True,
    most: int = 100,
    **others: object,
) -> Candidate:
    """Make the candidate of a rule on a line, in the rule's own words where there is no message.

    `whole` as `Rule.confidence_on` has it; `most`: how far it is trusted at most, 0-100; `others` are further fields,
    or stand in place of the rule's.
    """
    fields: dict[str, Any] = {
        "severity": rule.severity_on(line.text),
        "path": path,
        "quote": quote_of(line.text),
        "message": message_of(message or rule.message),
        "confidence": min(most, rule.confidence_on(line.text, whole=whole)),
        "source": rule.tool,
        "category": rule.category,
        "rule": rule.name_on(line.text),
        "line": line.number,
        "end_line": line.number,
        "trigger": rule.trigger,
        "suggestion": rule.fix,
        "cwe": rule.cwe,
    }
    fields.update(others)
    return Candidate(**fields)


def own_run(tool: str, began: float, *, parsed: bool = True) -> ToolRun:
    """The run of a scan of our own that began at this time of the monotonic clock."""
    spent = round((time.monotonic() - began) * 1000)
    return ToolRun(tool=tool, version=OWN_VERSION, duration_ms=spent, parsed=parsed)


def cap_candidates(candidates: Iterable[Candidate], room: int = MAX_PER_FILE) -> CappedCandidates:
    """Cap the candidates of one tool for one file; an iterator may be of any length."""
    return keep(stoppable(candidates), min(room, MAX_PER_FILE))


class LineScan:
    """A tool that scans plain lines of files in any language."""

    name: str
    languages: frozenset[str] | None = None

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file."""
        del snapshot
        return await scan(self.name, file.path, self.find_candidates(file))

    def find_candidates(self, file: ChangedFile) -> Iterable[Candidate]:
        """The candidates on the added lines of a file."""
        raise NotImplementedError


class RuleScan(LineScan):
    """A scan of plain lines whose rules stand in a table."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules` by code."""
        self._rules = rules


class RepositoryScan:
    """A scan whose rules stand in a table and that also reads other files of the repository."""

    name: str
    languages: frozenset[str] | None = None

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules` by code."""
        self._rules = rules

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at a file and at what uses it."""
        return await scan(self.name, file.path, self.find_candidates(file, snapshot))

    def find_candidates(self, file: ChangedFile, snapshot: Snapshot) -> Iterable[Candidate]:
        """The candidates in a file."""
        raise NotImplementedError


def failed_report(tool: str, path: str, error: ProgramError) -> ToolReport:
    """The report of a tool whose program gave no usable answer."""
    run = ToolRun(tool=tool, version="unknown", duration_ms=error.duration_ms, exit_code=error.status)
    return report(path, run, missed=gap(path, tool, error.reason, str(error)))


def unread_gap(path: str, tool: str, fault: str, unread: int, hunks: int) -> Gap | None:
    """The gap of a file whose hunks were read on their own. `fault`: why not all of it; empty where it is not there."""
    apart = f"{unread} of {with_count(hunks, 'hunk')} could not be read in full on their own"
    if fault or unread:
        why = f"{apart}; with --repo or --git the whole file is read"
        if fault:
            why = f"{fault}; {apart if unread else 'only its hunks were read, on their own'}"
        return gap(path, tool, "unreadable", why)
    return None


async def scan(tool: str, path: str, candidates: Iterable[Candidate], missed: Gap | None = None) -> ToolReport:
    """The report of a scan of our own; the candidates are made beside the loop."""
    began = time.monotonic()
    found = await in_thread(lambda: cap_candidates(candidates))
    return report(path, own_run(tool, began), found, missed)


def report(path: str, run: ToolRun, found: CappedCandidates | None = None, missed: Gap | None = None) -> ToolReport:
    """A report in the order of the lines; what was not kept of a flood is a gap where nothing else is."""
    if found is None or not (found.candidates or found.flood):
        return _clean_report(run) if missed is None else ToolReport(candidates=(), run=run, gap=missed)
    if found.flood:
        flood = f"{run.tool} has {found.flood}"
        missed = (
            gap(path, run.tool, "flooded", flood)
            if missed is None
            else missed.model_copy(update={"message": f"{missed.message}; {flood}"})
        )
    ordered = sorted(found.candidates, key=lambda each: (each.line or 0, each.rule))
    return ToolReport(candidates=tuple(ordered), run=run, gap=missed)


@lru_cache(MAX_CLEAN_REPORTS)
def _clean_report(run: ToolRun) -> ToolReport:
    """The report of a run that found nothing. Equal runs share one: a large change has a hundred thousand of them."""
    return ToolReport(candidates=(), run=run)
