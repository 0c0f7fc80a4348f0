"""Find entries of a lock file that no package manager writes: other content, or another package, under a known version.

A published version never gets other content, so a hash that changed while version and source stayed was edited by hand,
or what stands in the registry was replaced. Only the hunks are looked at,
and some lines above: a lock file may be too large to be read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table
from reviewbot.threads import stoppable

MAX_LINE = 2_000
"""Characters; no entry has a longer line."""


MAX_ABOVE = 100
"""Lines above a hunk that are read with it: Yarn writes what a package depends on between its version and its hash."""


class LockedEntry(NamedTuple):
    """An entry with what it is known by, at the line that says what is fetched."""

    key: tuple[str, ...]
    value: str
    row: Row


def odd_entries(file: ChangedFile) -> Iterator[tuple[str, str, str, ChangedLine]]:
    """Yield the rule, the package, what it is held against and the line of each entry that no tool writes."""
    name = file.path.rpartition("/")[2]
    if name in _patterns("hashes"):
        before: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for entry in _entries(file, "hashes", "-"):
            before[entry.key].update(entry.value.split())
        for entry in _entries(file, "hashes", "+"):
            known = before.get(entry.key, set())
            if entry.row.kind == "+" and _is_another(entry.value.split(), known):
                yield "lock-hash-changed", " ".join(entry.key), name, _line(entry.row)
    if name in _patterns("names"):
        for entry in _entries(file, "names", "+"):
            if entry.row.kind == "+" and _plain(entry.value) not in map(_plain, entry.key):
                yield "lock-name-differs", entry.key[0], entry.value, _line(entry.row)


def _plain(name: str) -> str:
    return name.lower().replace("%2f", "/")


def _is_another(now: list[str], known: set[str]) -> bool:
    """Whether hashes differ although one of the same kind was known before."""
    kinds = {_kind(each) for each in known}
    return not known.intersection(now) and any(_kind(each) in kinds for each in now)


def _kind(hashed: str) -> str:
    return re.split(r"[-:/]", hashed)[0] if re.match(r"\w{1,10}[-:/]", hashed) else str(len(hashed))


def _entries(file: ChangedFile, kind: str, sign: str) -> Iterator[LockedEntry]:
    """Yield the entries that the hunks show of one side."""
    pattern = _patterns(kind)[file.path.rpartition("/")[2]]
    side = (file.base if sign == "-" else file.head) or ""
    lines = side.split("\n") if "__metadata:\n" in side[:MAX_LINE] else []
    for hunk in file.hunks:
        first = max(0, (hunk.old_start if sign == "-" else hunk.new_start) - 1)
        above = (Row(" ", None, None, line) for line in lines[max(0, first - MAX_ABOVE) : first])
        rows = [row for row in chain(above, stoppable(hunk_rows(hunk))) if row.kind in {" ", sign}]
        rows = [row for row in rows if len(row.text) <= MAX_LINE]
        text = "\n".join(row.text for row in rows)
        at = line = 0
        for match in pattern.finditer(text):
            line, at = line + text.count("\n", at, match.start("value")), match.start("value")
            others = tuple(found for name, found in match.groupdict().items() if name != "value" and found)
            yield LockedEntry(others, match["value"], rows[line])


def _line(row: Row) -> ChangedLine:
    return ChangedLine(row.new or 0, row.text, added=True)


@cache
def _patterns(kind: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(text, re.MULTILINE) for name, text in packaged_table("dependencies")[kind].items()}
