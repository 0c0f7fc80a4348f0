"""Find tables of SQLite that a migration rebuilds while foreign keys are on, so that rows of other tables go with them.

With `PRAGMA foreign_keys = ON`, SQLite deletes the rows of a table before it drops the table, and `ON DELETE` acts
(https://www.sqlite.org/lang_droptable.html). The usual way to change a constraint (a new table, a copy, DROP, RENAME)
then empties the tables that refer to the old one. The tree has to show the pragma, the reference and the copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.diff.paths import is_example, is_test
from reviewbot.domain.ports import Occurrence, Snapshot

MAX_FOUND = 400
"""Lines with a word; with more of them nothing is certain about the tree."""

MAX_TABLES = 20
"""Tables that one migration rebuilds and that are looked at."""

_NAME = r"""["'`\[]?(\w{1,100})["'`\]]?"""
_RENAMED = re.compile(rf"(?i)\bALTER\s+TABLE\s+{_NAME}\s+RENAME\s+TO\s+{_NAME}")
_DROPPED = re.compile(rf"(?i)\bDROP\s+TABLE\s+(?:IF\s+EXISTS\s+)?{_NAME}")
_SWITCHED_ON = re.compile(r"(?i)(?:foreign_keys|\b_fk)\W{0,4}(?:on|1|true)\b")
_SWITCHED_OFF = re.compile(r"(?i)(?:foreign_keys|\b_fk)\W{0,4}(?:off|0|false)\b")
_ACTS = re.compile(r"(?i)\bON\s+DELETE\s+(?:CASCADE|SET\s+NULL)\b")
_OTHER = re.compile(r"(?i)postgres|pgsql|mysql|maria|mssql|oracle")
_MAKES = re.compile(rf"(?i)\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}")


class Rebuilt(NamedTuple):
    """A table that is dropped with the rows of another one."""

    line: ChangedLine
    table: str
    child: str
    place: str
    """Where the other table refers to this one, as `path:line`."""


def rebuilt_tables(path: str, lines: list[ChangedLine], head: str, snapshot: Snapshot) -> Iterator[Rebuilt]:
    """Yield what the added `lines` of a migration drop in the middle of a rebuild. Blocks."""
    back = {new.lower(): old.lower() for old, new in _RENAMED.findall(head)}
    dropped = {name.lower(): line for line in lines for name in _DROPPED.findall(line.text)}
    copied = {name: line for name, line in dropped.items() if _is_copied(name, back.get(name, ""), head)}
    if not copied or _SWITCHED_OFF.search(head) or not _keys_are_on(snapshot):
        return
    found = snapshot.search("REFERENCES", MAX_FOUND) or ()
    found += snapshot.search("references", MAX_FOUND) or ()
    earlier = [each for each in found if _is_earlier(each.path, path)]
    for name, line in list(copied.items())[:MAX_TABLES]:
        for each in earlier:
            child = _child(name, each, snapshot)
            # One that the migration makes, drops or fills again itself is not emptied, or comes back.
            if child and child not in back and not re.search(_touched(child), head):
                yield Rebuilt(line, name, child, f"{each.path}:{each.line}")
                break


def _is_copied(name: str, other: str, head: str) -> bool:
    """Whether the rows of a table are copied into another one, in one of the first few statements that fill that."""
    fills = islice(re.finditer(rf"(?i)\bINSERT\s+INTO\s+\W?{re.escape(other)}\b([^;]*)", head), MAX_TABLES)
    takes = re.compile(rf"(?i)\bFROM\s+\W?{re.escape(name)}\b")
    return bool(other) and any(takes.search(each[1]) for each in fills)


def _keys_are_on(snapshot: Snapshot) -> bool:
    """Whether the program switches foreign keys on, and nothing switches them off for its migrations."""
    words = ("foreign_keys", "_foreign_keys", "_fk")
    found = [each for word in words for each in snapshot.search(word, MAX_FOUND) or () if _is_code(each)]
    is_on = any(_SWITCHED_ON.search(each.text) for each in found)
    return is_on and not any(_SWITCHED_OFF.search(each.text) for each in found)


def _is_earlier(path: str, migration: str) -> bool:
    """Whether what a file makes is there when a migration runs: not a later one, nor of another database."""
    folder, _, name = path.rpartition("/")
    here, _, own = migration.rpartition("/")
    return name < own if folder == here else not _OTHER.search(path)


def _is_code(each: Occurrence) -> bool:
    return not (is_test(each.path) or is_example(each.path) or each.path.endswith((".md", ".rst", ".txt", ".lock")))


def _child(name: str, each: Occurrence, snapshot: Snapshot) -> str:
    """The table that refers to another one on a line and loses rows with it; empty for none."""
    refers = re.search(rf"""(?i)\bREFERENCES\s+["'`\[]?{re.escape(name)}\b["'`\]]?(.*)""", each.text)
    if refers is None or not _is_code(each):
        return ""
    rows = (snapshot.head(each.path) or "").split("\n")
    # The action may stand some lines below, before the comma or the bracket that ends the column.
    action = re.split(
        r",|\n\s*\)", "\n".join([re.sub(r"^\s*\([^)]*\)", "", refers[1]), *rows[each.line : each.line + 4]])
    )[0]
    made = _MAKES.findall("\n".join(rows[max(0, each.line - 100) : each.line]))
    child = made[-1].lower() if made else ""
    return child if child != name and _ACTS.search(action) else ""


def _touched(child: str) -> str:
    statement = r"(?:INTO|TABLE(?:\s+IF\s+(?:NOT\s+)?EXISTS)?)"
    return rf"(?i)\b{statement}\s+\W?{re.escape(child)}\b(?!\W?\s+(?:ADD|RENAME\s+COLUMN))"
