"""The tool: compares both sides of a Python file and reports what was removed at an added line."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterable, Iterator, Mapping

from reviewbot.analyzers.both_sides.pair import Pair
from reviewbot.analyzers.both_sides.removed_awaits import removed_awaits, removed_escapes
from reviewbot.analyzers.both_sides.removed_blocks import (
    removed_closes,
    removed_handlers,
    removed_locks,
    removed_opens,
)
from reviewbot.analyzers.both_sides.removed_guards import (
    is_authorization,
    removed_checks,
    removed_decorators,
    removed_exits,
    removed_operands,
    speaks_of_authorization,
)
from reviewbot.analyzers.both_sides.removed_names import removed_names, removed_returns
from reviewbot.analyzers.both_sides.sides import Rows, SideFinding, Sides
from reviewbot.analyzers.both_sides.stale_callers import stale_callers
from reviewbot.analyzers.core.reports import OWN_VERSION, cap_candidates, gap, message_of, quote_of, report
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.core.texts import whole_source
from reviewbot.analyzers.python.reader import new_tree, old_tree
from reviewbot.analyzers.python.views import DEFAULT_STEPS, Budget, OutOfSteps
from reviewbot.context.uses import PythonFile
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import Candidate, Hunk, ToolRun
from reviewbot.domain.ports import ChangedFile, Snapshot, ToolReport
from reviewbot.review.finding_limits import Kept
from reviewbot.threads import in_thread

# Find losses in hunks where the whole file is not at hand: removed lines that came back without one thing.
#
# Nothing here is certain: what is gone may have gone to a place that the hunks do not show.

_AWAIT = re.compile(r"\bawait ")
_LOCK = re.compile(r"\s{0,80}(?:async )?with ([A-Za-z_][A-Za-z0-9_.]{0,80}(?:lock|mutex|semaphore))(?:\(\))?:\s{0,20}")
_DECORATOR = re.compile(r"\s{0,80}@([A-Za-z_][A-Za-z0-9_.]{0,80})")


def check_hunks(file: ChangedFile) -> Iterator[SideFinding]:
    """Yield what the hunks of a file show to be missing."""
    for hunk in file.hunks:
        rows = list(hunk_rows(hunk))
        removed = [row for row in rows if row.kind == "-"]
        added = [row for row in rows if row.kind == "+"]
        if removed and added:
            yield from _awaits(removed, added)
            yield from _locks(removed, added)
            yield from _decorators(rows, removed, added)


def _awaits(removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    now = {row.text.strip(): row for row in added}
    for row in removed:
        found = now.get(_AWAIT.sub("", row.text.strip(), count=1)) if _AWAIT.search(row.text) else None
        # A function that is not asynchronous any more has no `await` left.
        if found is not None and not any("async def" in each.text for each in removed):
            yield SideFinding(
                "removed-await-by-name", "What was awaited here is not awaited any more", _old(row), _new(found)
            )


def _locks(removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    cap_candidates = {row.text.strip() for row in added}
    if any(word in row.text.lower() for row in added for word in ("lock", "mutex", "semaphore", "acquire")):
        return
    for at, row in enumerate(removed):
        match = _LOCK.fullmatch(row.text)
        after = removed[at + 1] if match and at + 1 < len(removed) else None
        if match and after is not None and after.text.strip() in cap_candidates:
            first = next(each for each in added if each.text.strip() == after.text.strip())
            yield SideFinding(
                "removed-lock-by-name", f"This is done without holding `{match[1]}` now", _old(row), _new(first)
            )


def _decorators(rows: list[Row], removed: list[Row], added: list[Row]) -> Iterator[SideFinding]:
    if any(speaks_of_authorization(row.text) for row in added):
        return
    for row in removed:
        match = _DECORATOR.match(row.text)
        if match and is_authorization(match[1]) and _definition_stays(rows, row):
            yield SideFinding(
                "removed-authorization-by-name", f"What stood behind `@{match[1]}` does not any more", _old(row)
            )


def _definition_stays(rows: list[Row], row: Row) -> bool:
    """Whether the next definition below a removed line is on the new side."""
    below = (each for each in rows[rows.index(row) + 1 :] if re.match(r"\s{0,80}(?:async )?(?:def|class) ", each.text))
    found = next(below, None)
    return found is not None and found.kind != "-"


def _old(row: Row) -> Rows:
    return row.old or 0, row.old or 0


def _new(row: Row) -> Rows:
    return row.new or 0, row.new or 0


# All checks in order, over both sides of one file.

_STEPS_PER_PAIR = 4_000
"""What holding two functions against each other is counted as, beside one step for each row of them."""

_IN_ANY = (removed_decorators, removed_awaits, removed_escapes)
_IN_KEPT = (
    removed_exits,
    removed_operands,
    removed_checks,
    removed_locks,
    removed_opens,
    removed_closes,
    removed_handlers,
)
"""These reason from what is still there, and say nothing of a function that was written anew."""


def compare(sides: Sides, budget: Budget) -> tuple[tuple[SideFinding, ...], bool]:
    """Run all checks on a file; their findings, and whether they gave up before the end of it."""
    found: list[SideFinding] = []
    try:
        for finding in _all(sides, budget):
            found.append(finding)  # noqa: PERF402 - what was found before it gave up counts
    except (OutOfSteps, RecursionError):
        return tuple(found), True
    return tuple(found), False


def _all(sides: Sides, budget: Budget) -> Iterator[SideFinding]:
    yield from removed_names(sides, budget)
    yield from stale_callers(sides, budget)
    for old, new in sides.pairs:
        budget.spend(_STEPS_PER_PAIR + old.rows[1] - old.rows[0] + new.rows[1] - new.rows[0])
        pair = Pair(sides, old, new)
        for check in _IN_ANY if pair.is_rewritten else _IN_ANY + _IN_KEPT:
            yield from check(pair)
        yield from removed_returns(pair, budget)


NAME = "diff-semantics"

_Compared = tuple[tuple["SideFinding", ...], bool]


class DiffSemantics:
    """Reports what a change of Python removes or alters that other code relies on.

    Args:
        rules: the table's rules by code.
        steps: the work that may be done for one file.
    """

    name = NAME
    languages: frozenset[str] | None = frozenset({"python"})

    def __init__(self, rules: Mapping[str, Rule], steps: int = DEFAULT_STEPS) -> None:
        self._rules = rules
        self._steps = steps

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Compare both sides of the file; without them only its hunks are checked."""
        began = time.monotonic()
        found, tired = await in_thread(lambda: self._checked(file, snapshot))
        spent = round((time.monotonic() - began) * 1000)
        run = ToolRun(tool=self.name, version=OWN_VERSION, duration_ms=spent)
        why = f"{self.name} gave up on code that takes too long to follow"
        missed = gap(file.path, self.name, "timeout", why) if tired else None
        return report(file.path, run, found, missed)

    def _checked(self, file: ChangedFile, snapshot: Snapshot) -> tuple[Kept, bool]:
        findings, tired = self._compare(file, snapshot)
        return cap_candidates(self._candidates(file, findings)), tired

    def _compare(self, file: ChangedFile, snapshot: Snapshot) -> _Compared:
        if file.base is None or whole_source(file) is None:
            return _check_hunks(file) if file.head is None else (), False
        # Loaded with the first pair of sides: a review of a bare diff, and the way to a model's first call, need none.
        from reviewbot.analyzers.both_sides.sides import Sides  # noqa: PLC0415
        from reviewbot.analyzers.both_sides.tool import compare  # noqa: PLC0415

        old = _side(file.path, file.base, old_tree(file))
        new = _side(file.path, file.head, new_tree(file)[0])
        if old is None or new is None:  # other tools report what does not parse
            return (), False
        return compare(Sides(old, new, snapshot), Budget(self._steps))

    def _candidates(self, file: ChangedFile, findings: Iterable[SideFinding]) -> Iterable[Candidate]:
        places = Places(file.hunks)
        seen: set[tuple[str, int]] = set()
        for each in findings:
            rule, row = self._rules[each.rule], places.of(each)
            if row is None or row.new is None or not rule.speaks_on(row.text, in_tests=is_test(file.path)):
                continue
            if (each.rule, row.new) not in seen:
                seen.add((each.rule, row.new))
                yield self._candidate(file.path, rule, each, row)

    def _candidate(self, path: str, rule: Rule, finding: SideFinding, row: Row) -> Candidate:
        return Candidate(
            severity=rule.severity,
            path=path,
            quote=quote_of(row.text),
            message=message_of(f"{finding.message}."),
            confidence=rule.confidence,
            source=self.name,
            category=rule.category,
            rule=rule.code,
            line=row.new,
            end_line=row.new,
            trigger=rule.trigger,
            cwe=rule.cwe,
        )


def _side(path: str, text: str | None, tree: ast.Module | None) -> PythonFile | None:
    """A side with its tree, whose rows are lines; a lone CR ends a row for Python and no line for git."""
    if text is None or tree is None or "\r" in text.replace("\r\n", "\n"):
        return None
    return PythonFile(path, text, tree)


def _check_hunks(file: ChangedFile) -> tuple[SideFinding, ...]:
    from reviewbot.analyzers.both_sides.tool import check_hunks  # noqa: PLC0415 - as above

    return tuple(check_hunks(file))


class Places:
    """The rows of a changed file, hunk by hunk."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        self._hunks = [list(hunk_rows(hunk)) for hunk in hunks]

    def of(self, finding: SideFinding) -> Row | None:
        """An added row: at fault itself, else the nearest one to what is gone in its hunk, else one of the definition.

        None where no hunk shows anything of it.
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
                return next((row for row in self._added() if _is_in(row.new, finding.within)), None)
        return None

    def _added(self) -> Iterable[Row]:
        return (row for hunk in self._hunks for row in hunk if row.kind == "+" and row.text.strip())


def _is_in(number: int | None, rows: Rows) -> bool:
    return number is not None and rows[0] <= number <= rows[1]
