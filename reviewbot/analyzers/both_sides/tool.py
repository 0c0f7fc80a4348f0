"""The tool: compares both sides of a file and reports what was removed, at an added line where there is one."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Mapping

from reviewbot.analyzers.both_sides.sides import Rows, SideFinding, Sides
from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import (
    cap_candidates,
    gap,
    own_run,
    report,
    rule_candidate,
)
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.core.texts import whole_source
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.analyzers.python.reader import new_tree, old_tree
from reviewbot.analyzers.python.views import DEFAULT_STEPS, Budget
from reviewbot.context.uses import PythonFile
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import Candidate, Hunk
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.review.finding_limits import CappedCandidates
from reviewbot.threads import in_thread

NAME = "diff-semantics"

_Compared = tuple[tuple[SideFinding, ...], bool]


class DiffSemantics:
    """Reports what a change removes or alters that other code relies on.

    Args:
        rules: the table's rules by code.
        steps: the work that may be done for one file.
    """

    name = NAME
    languages: frozenset[str] | None = frozenset({"python", *TABLES})

    def __init__(self, rules: Mapping[str, Rule], steps: int = DEFAULT_STEPS) -> None:
        self._rules = rules
        self._steps = steps

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Compare both sides of the file; without them only its hunks are checked."""
        began = time.monotonic()
        found, tired = await in_thread(lambda: self._checked(file, snapshot))
        why = f"{self.name} gave up on code that takes too long to follow"
        missed = gap(file.path, self.name, "timeout", why) if tired else None
        # In other languages what was removed alone is looked at: that is no reading of what is there.
        return report(file.path, own_run(self.name, began, parsed=file.language == "python"), found, missed)

    def _checked(self, file: ChangedFile, snapshot: Snapshot) -> tuple[CappedCandidates, bool]:
        from reviewbot.analyzers.both_sides.stale_texts import stale_texts  # noqa: PLC0415 - as below
        from reviewbot.analyzers.both_sides.weakened_tests import weakened_tests  # noqa: PLC0415 - as below

        findings, tired = self._compare(file, snapshot)
        findings = (*findings, *weakened_tests(file), *stale_texts(file, snapshot))
        return cap_candidates(self._candidates(file, findings)), tired

    def _compare(self, file: ChangedFile, snapshot: Snapshot) -> _Compared:
        if file.language != "python":
            from reviewbot.analyzers.both_sides.dropped_checks import dropped_checks  # noqa: PLC0415 - as below
            from reviewbot.analyzers.both_sides.dropped_cleanup import dropped_cleanup  # noqa: PLC0415 - as below
            from reviewbot.analyzers.both_sides.stale_overrides import stale_uses  # noqa: PLC0415 - as below

            findings, tired = dropped_checks(file, snapshot)
            return (*findings, *dropped_cleanup(file, snapshot), *stale_uses(file, snapshot)), tired
        if file.base is None or whole_source(file) is None:
            return _check_hunks(file) if file.head is None else (), False
        # Loaded with the first pair of sides: a review of a bare diff, and the way to a model's first call, need none.
        from reviewbot.analyzers.both_sides.checks import compare  # noqa: PLC0415

        old = _side(file.path, file.base, old_tree(file))
        new = _side(file.path, file.head, new_tree(file)[0])
        # Other tools report what does not parse.
        return compare(Sides(old, new, snapshot), Budget(self._steps)) if old and new else ((), False)

    def _candidates(self, file: ChangedFile, findings: Iterable[SideFinding]) -> Iterable[Candidate]:
        places = Places(file.hunks)
        seen: set[tuple[str, int]] = set()
        for each in findings:
            rule, row = self._rules[each.rule], places.of(each)
            if row is None or not rule.speaks_on(row.text, in_tests=is_test(file.path)):
                continue
            if (each.rule, row.new or -(row.old or 0)) not in seen:
                seen.add((each.rule, row.new or -(row.old or 0)))
                yield self._candidate(file.path, rule, each, row)

    def _candidate(self, path: str, rule: Rule, finding: SideFinding, row: Row) -> Candidate:
        line = ChangedLine(row.new or row.old or 0, row.text, added=row.new is not None)
        found = rule_candidate(rule, path, line, f"{finding.message}.")
        # A removed line has no number on the new side: it is looked for on the old one, and reported at the line below.
        old = {"side": "old", "line": None, "end_line": None, "near": row.old}
        return found if line.added else found.model_copy(update=old)


def _side(path: str, text: str | None, tree: ast.Module | None) -> PythonFile | None:
    """A side with its tree, whose rows are lines; a lone CR ends a row for Python and no line for git."""
    if text is None or tree is None or "\r" in text.replace("\r\n", "\n"):
        return None
    return PythonFile(path, text, tree)


def _check_hunks(file: ChangedFile) -> tuple[SideFinding, ...]:
    from reviewbot.analyzers.both_sides.checks import check_hunks  # noqa: PLC0415 - as above

    return tuple(check_hunks(file))


class Places:
    """The rows of a changed file, hunk by hunk."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        self._hunks = [list(hunk_rows(hunk)) for hunk in hunks]

    def of(self, finding: SideFinding) -> Row | None:
        """An added row: at fault itself, else the nearest one to what is gone in its hunk, else one of the definition.

        The first removed row where nothing was added there; None where no hunk shows anything of it.
        """
        at_fault = next((row for row in self._added() if _is_in(row.new, finding.spot)), None)
        if at_fault is not None:
            return at_fault
        for hunk in self._hunks:
            gone = [at for at, row in enumerate(hunk) if row.kind == "-" and _is_in(row.old, finding.gone)]
            added = [at for at, row in enumerate(hunk) if row.kind == "+" and row.text.strip()]
            inside = [at for at in added if _is_in(hunk[at].new, finding.within)]
            if gone and added:
                return hunk[min(inside or added, key=lambda at: (min(abs(at - each) for each in gone), at))]
            if gone:
                return next((row for row in self._added() if _is_in(row.new, finding.within)), hunk[gone[0]])
        return None

    def _added(self) -> Iterable[Row]:
        return (row for hunk in self._hunks for row in hunk if row.kind == "+" and row.text.strip())


def _is_in(number: int | None, rows: Rows) -> bool:
    return number is not None and rows[0] <= number <= rows[1]
