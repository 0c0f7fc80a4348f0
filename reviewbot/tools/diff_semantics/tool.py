"""The tool: both sides of a file compared once, and told slice by slice."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from reviewbot.context.uses import python_file
from reviewbot.contracts import Candidate, ToolRun
from reviewbot.diff.paths import is_test
from reviewbot.threads import in_thread
from reviewbot.tools.diff_semantics.places import Places
from reviewbot.tools.memo import SharedRuns
from reviewbot.tools.python_reader import digest
from reviewbot.tools.reports import OWN_VERSION, gap, message_of, quote_of, report
from reviewbot.tools.slices import new_side
from reviewbot.tools.sources import whole_source
from reviewbot.tools.views import DEFAULT_STEPS, Budget

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reviewbot.contracts import Payload
    from reviewbot.diff.rows import Row
    from reviewbot.ports import Snapshot, ToolReport
    from reviewbot.tools.diff_semantics.sides import Told
    from reviewbot.tools.rules import Rule

NAME = "diff-semantics"

_FILES_HELD = 16
"""What was told of a file is small; a long file comes in several slices."""

_Compared = tuple[tuple["Told", ...], bool]


class DiffSemantics:
    """Tells what a change of Python takes away or alters that something else relies on.

    Args:
        rules: the table's rules by code.
        steps: the work that may be done for one file.
    """

    name = NAME
    languages: frozenset[str] | None = frozenset({"python"})

    def __init__(self, rules: Mapping[str, Rule], steps: int = DEFAULT_STEPS) -> None:
        self._rules = rules
        self._steps = steps
        self._files: SharedRuns[_Compared] = SharedRuns(_FILES_HELD)

    async def run(self, payload: Payload, snapshot: Snapshot) -> ToolReport:
        """Hold both sides of the slice's file against each other; without them only what the slice itself shows."""
        began = time.monotonic()
        told, tired = await self._told(payload, snapshot)
        candidates = list(self._candidates(payload, told))
        spent = round((time.monotonic() - began) * 1000)
        run = ToolRun(tool=self.name, version=OWN_VERSION, duration_ms=spent)
        why = f"{self.name} gave up on code that takes too long to follow"
        missed = gap(payload.file_path, self.name, "timeout", why) if tired else None
        return report(payload.file_path, run, candidates, missed)

    async def _told(self, payload: Payload, snapshot: Snapshot) -> _Compared:
        path, before = payload.file_path, payload.old_path or payload.file_path
        base, head = await in_thread(lambda: (snapshot.base(before), snapshot.head(path)))
        if base is None or whole_source(head, new_side(payload)) is None:
            return _told_of_hunks(payload) if head is None else (), False
        key = digest(path, base, head or "")
        return await self._files.get(key, lambda: in_thread(lambda: self._compared(path, (base, head), snapshot)))

    def _compared(self, path: str, texts: tuple[str | None, str | None], snapshot: Snapshot) -> _Compared:
        # Loaded with the first pair of sides: a review of a bare diff, and the way to a model's first call, need none.
        from reviewbot.tools.diff_semantics.checks import compare  # noqa: PLC0415
        from reviewbot.tools.diff_semantics.sides import Sides  # noqa: PLC0415

        old, new = (python_file(path, text) for text in texts)
        if old is None or new is None:  # what does not parse is told by others
            return (), False
        return compare(Sides(old, new, snapshot), Budget(self._steps))

    def _candidates(self, payload: Payload, told: Iterable[Told]) -> Iterable[Candidate]:
        places = Places(payload)
        seen: set[tuple[str, int]] = set()
        for each in told:
            rule, row = self._rules[each.rule], places.of(each)
            if row is None or row.new is None or not rule.speaks_on(row.text, in_tests=is_test(payload.file_path)):
                continue
            if (each.rule, row.new) not in seen:
                seen.add((each.rule, row.new))
                yield self._candidate(payload.file_path, rule, each, row)

    def _candidate(self, path: str, rule: Rule, told: Told, row: Row) -> Candidate:
        return Candidate(
            severity=rule.severity,
            path=path,
            quote=quote_of(row.text),
            message=message_of(f"{told.message}."),
            confidence=rule.confidence,
            source=self.name,
            category=rule.category,
            rule=rule.code,
            line=row.new,
            end_line=row.new,
            trigger=rule.trigger,
            cwe=rule.cwe,
        )


def _told_of_hunks(payload: Payload) -> tuple[Told, ...]:
    from reviewbot.tools.diff_semantics.hunks import told_of_hunks  # noqa: PLC0415 - as above

    return tuple(told_of_hunks(payload))
