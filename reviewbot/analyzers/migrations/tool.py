"""Report steps of a migration that drop or rewrite what is stored, outside of its way back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import RepositoryScan, rule_candidate
from reviewbot.analyzers.migrations.rebuilt_tables import rebuilt_tables
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile, Snapshot
from reviewbot.tables import packaged_table
from reviewbot.threads import stoppable

MAX_LINE = 2_000
"""Characters; a longer line holds data."""


_TABLE = re.compile(r"""(?i)\bdrop[_ ]table(?: IF EXISTS)?[\s("'`:]{1,4}(\w{1,100})""")


class Migrations(RepositoryScan):
    """The tool `migrations`: a scan of plain lines, and of what other tables lose."""

    name = "migrations"

    def find_candidates(self, file: ChangedFile, snapshot: Snapshot) -> Iterator[Candidate]:
        """As `RepositoryScan.find_candidates`."""
        kind = next((each for each in _kinds() if each["path"].search(file.path)), None)
        if kind is None or is_test(file.path):
            return
        added = list(stoppable(_lines(file, kind)))
        for each in rebuilt_tables(file.path, added, file.head or "", snapshot):
            rule = self._rules["rebuild-cascades"]
            message = rule.message.format(table=each.table, child=each.child, place=each.place)
            yield rule_candidate(rule, file.path, each.line, message)
        lines = [line for line in added if not _is_made_here(line.text, file.head or "")]
        for code in ("data-dropped", "data-rewritten"):
            # The first of them says what kind of migration it is.
            line = next((line for line in lines if kind[code].search(line.text)), None)
            if line is not None:
                yield rule_candidate(self._rules[code], file.path, line)


def _is_made_here(text: str, head: str) -> bool:
    """Whether a line drops a table that the same file makes, or one that was put aside."""
    match = _TABLE.search(text)
    name = match[1] if match else ""
    made = rf"""(?i)\b(?:CREATE TABLE(?: IF NOT EXISTS)?|RENAME TO|create_table)[\s("'`:]{{1,4}}{re.escape(name)}\b"""
    return bool(name) and (
        re.search(r"(?i)_?(?:old|tmp|temp|backup|bak)_?", name) is not None or re.search(made, head) is not None
    )


@cache
def _kinds() -> tuple[Mapping[str, re.Pattern[str]], ...]:
    tables = packaged_table("migrations").values()
    return tuple({key: re.compile(text) for key, text in table.items()} for table in tables)


def _lines(file: ChangedFile, kind: Mapping[str, re.Pattern[str]]) -> Iterator[ChangedLine]:
    """Yield the added lines that the migration runs when it is applied."""
    for hunk in file.hunks:
        # A hunk that begins inside of the way back is known by the head alone; without it the hunk speaks for itself.
        above = (file.head or "").split("\n")[: max(0, hunk.new_start - 1)]
        is_undone = False
        for text in above:
            is_undone = _turn(kind, text, is_undone=is_undone)
        for row in hunk_rows(hunk):
            if row.new is not None and len(row.text) <= MAX_LINE:
                is_undone = _turn(kind, row.text, is_undone=is_undone)
                if row.kind == "+" and not is_undone:
                    yield ChangedLine(row.new, row.text, added=True)


def _turn(kind: Mapping[str, re.Pattern[str]], text: str, *, is_undone: bool) -> bool:
    """Whether the lines from this one on take the migration back."""
    if kind["undone"].match(text):
        return True
    return is_undone and not kind["done"].match(text)
