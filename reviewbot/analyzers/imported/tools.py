"""ImportedFinding results as tools, one for each worker: what other programs said of the added lines of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ShownLines
from reviewbot.analyzers.core.reports import gap, message_of, quote_of, scan
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.imported.descriptors import match_paths
from reviewbot.analyzers.imported.kinds import WORKERS, Kinds, ResultKind, slug
from reviewbot.analyzers.imported.results import ProgramRun, Result
from reviewbot.domain.contracts import Candidate, Severity
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.threads import stoppable

CONFIDENCE = {"security": 65, "performance": 65, "style": 60, "logic": 65}
"""How often these programs are right is not measured: below every threshold, until a built-in tool agrees."""

_HIGH = 7.0
"""From this security-severity on GitHub calls an alert high or critical."""

_REACH = 50
"""Lines of a result that are looked at for an added one. A result about a whole class is not about its last line."""


_TELLER = "security"
"""The worker that reports failed runs: it looks at every file. All four would report the same thing four times."""

_NAMED = 5
"""Failed runs that a gap names."""


class ImportedFinding(NamedTuple):
    """One result in the change, ready to be reported."""

    path: str
    line: int
    end_line: int
    rule: str
    severity: Severity
    message: str
    source: str
    kind: ResultKind


class ImportedFindings:
    """What other programs have found for one worker. Without any it understands no language and is never run.

    Args:
        name: As cards write it.
        findings: What it reports.
        failed: Runs that did not look to the end. That is a gap in each file: which of them were looked at is unknown.
        unseen: The files that they should have looked at.
    """

    def __init__(
        self, name: str, findings: Iterable[ImportedFinding], failed: Sequence[str] = (), unseen: Collection[str] = ()
    ) -> None:
        self.name = name
        self._failed = _failure(failed) if failed else None
        self._unseen = frozenset(unseen) if failed else frozenset()
        self._by_path: dict[str, list[ImportedFinding]] = defaultdict(list)
        for found in findings:
            self._by_path[found.path].append(found)
        self.languages: frozenset[str] | None = None if self._by_path or failed else frozenset()

    @property
    def paths(self) -> frozenset[str]:
        """The files that it has something to say of."""
        return self._unseen.union(self._by_path)

    @property
    def rules(self) -> dict[str, str]:
        """The category of each rule of which it has a result."""
        return {found.rule: found.kind.category for group in self._by_path.values() for found in group}

    async def run(self, file: ChangedFile, _snapshot: Snapshot) -> ToolReport:
        """Report the results on added lines of a file."""
        missed = gap(file.path, self.name, "crashed", self._failed) if self._failed else None
        return await scan(self.name, file.path, self._candidates(file), missed)

    def _candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        shown = ShownLines.of(file)
        seen: set[tuple[str, str, int]] = set()
        for found in stoppable(self._by_path.get(file.path, ())):
            candidate = _candidate(found, shown)
            key = ("", "", 0) if candidate is None else (candidate.source, candidate.rule, candidate.line or 0)
            if candidate is not None and key not in seen:
                seen.add(key)
                yield candidate


def imported_tools(
    files: Sequence[tuple[str, bytes]], paths: Collection[str]
) -> tuple[list[ImportedFindings], list[str]]:
    """One tool for each worker, and a note for each run that counts what was done with its results.

    Args:
        files: The logs, each with the name that a person knows it by.
        paths: The files of the change.

    Raises:
        InputError: One of them has no format that is known.
    """
    kinds = Kinds(packaged_rules("ruff_rules").rules)
    known = frozenset(paths)
    found: list[ImportedFinding] = []
    notes: list[str] = []
    failed: list[str] = []
    for name, run in _read(files):
        here = match_paths((result.uri for result in run.results), known)
        of_run = [_imported(run, result, here[result.uri], kinds) for result in run.results if result.uri in here]
        found += of_run
        notes.append(_note(name, run, len(of_run)))
        failed += [_who(name, run)] if run.failed else []
    tools = []
    for worker in WORKERS:
        of_worker = (each for each in found if each.kind.worker == worker)
        tools.append(ImportedFindings(f"imported-{worker}", of_worker, failed if worker == _TELLER else (), known))
    return tools, notes


def _read(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, ProgramRun]]:
    if not files:
        return []
    # The parsers of all formats, and the library of expressions, are loaded where there is a file to read.
    from reviewbot.analyzers.imported.reading import read_results  # noqa: PLC0415 - as above

    return read_results(files)


def _imported(run: ProgramRun, result: Result, path: str, kinds: Kinds) -> ImportedFinding:
    return ImportedFinding(
        path=path,
        line=result.line,
        end_line=result.end_line,
        rule=kinds.rule(run.tool, result),
        severity=_severity(result),
        message=message_of(result.message),
        source=slug(f"imported:{run.tool}"),
        kind=kinds.of(run.tool, result),
    )


def _severity(result: Result) -> Severity:
    if result.level == "error" and result.score >= _HIGH:
        return "critical"
    return "warning" if result.level in {"error", "warning"} else "info"


def _note(name: str, run: ProgramRun, here: int) -> str:
    elsewhere = {"about other files": len(run.results) - here}
    left = [f"{number} {reason}" for reason, number in (*elsewhere.items(), *sorted(run.omitted.items())) if number]
    rest = f"; not read: {', '.join(left)}" if left else ""
    failed = "; its run failed, so it did not look at everything" if run.failed else ""
    return message_of(f"{_who(name, run)}: {here} of its results are about files of this change{rest}{failed}")


def _who(name: str, run: ProgramRun) -> str:
    return f"{run.tool[:80]} ({name})"


def _failure(failed: Sequence[str]) -> str:
    more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
    return message_of(f"the run failed of {', '.join(failed[:_NAMED])}{more}")


def _candidate(found: ImportedFinding, shown: ShownLines) -> Candidate | None:
    """The result on the first of its lines that was added; None where none was."""
    line = shown.first_added(range(found.line, min(found.end_line, found.line + _REACH) + 1))
    if line is None:
        return None
    return Candidate(
        severity=found.severity,
        path=found.path,
        quote=quote_of(line.text),
        message=found.message,
        confidence=CONFIDENCE[found.kind.worker],
        source=found.source,
        category=found.kind.category,
        rule=found.rule,
        line=line.number,
        end_line=shown.reach(line, found.end_line),
        cwe=found.kind.cwe,
    )
