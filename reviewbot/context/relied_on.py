"""Find what the lines of a push rely on: functions that they call, and what else is done with their members. Blocks.

By the form of lines, in any language: a reader of a small push who looks nothing up is shown it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.context.dependents import COMMENT, Excerpt, TextOf, is_definition, lines_around
from reviewbot.diff.language import kind_of, language_of
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange
from reviewbot.domain.ports import Snapshot
from reviewbot.review.plan.name_uses import COMMON_NAMES, MIN_CHARS

MAX_NAMES, MAX_CALLED, MAX_FOUND = 6, 12, 120
"""Members of a file that are followed, functions of a whole push, and lines that are looked at for one of these."""
MAX_LINES = 40
"""Of all that is found."""
MAX_DEFINERS = 2
"""Functions of a name; where there are more, it is not known which one is called."""
SHORT, AROUND, BELOW = 20, 3, 12
"""Lines of a definition that is shown whole; of a longer one those around a use, and below its first line."""

_MEMBER = re.compile(r"(?:\b(?:this|self|cls)\.|@)([A-Za-z_]\w{2,79})|(?<![\w.])([a-z_]\w{2,79})\.\w{1,80}\(")
"""`this.rows`, and `byId` of `byId.get(`: what holds a value longer than a line does, or may."""
_CALL = re.compile(r"(?<![\w.])(?:\w{1,80}\.){0,3}([A-Za-z_]\w{2,79})\(")


def relied_on(push: ChangeSet, text: TextOf, snapshot: Snapshot) -> tuple[Excerpt, ...]:
    """Other lines of a pushed file with the members of pushed lines, and the definitions of what these call."""
    found: dict[Excerpt, None] = {}
    left = MAX_LINES
    for each in (*_members(push, text), *_called(push, snapshot)):
        left -= 0 if each in found else each.last - each.first + 1
        if left < 0:
            break
        found[each] = None
    return tuple(found)


def _rows(file: FileChange) -> list[Row]:
    if file.kind != "code":
        return []
    return [row for hunk in file.hunks for row in hunk_rows(hunk) if row.kind != " " and not COMMENT.match(row.text)]


def _members(push: ChangeSet, text: TextOf) -> Iterator[Excerpt]:
    for file in push.files:
        rows = _rows(file)
        pushed = {row.new for row in rows}
        names = dict.fromkeys(name for row in rows for pair in _MEMBER.findall(row.text) for name in pair if name)
        whole = text(file.path) or "" if names else ""
        for name in list(names)[:MAX_NAMES]:
            word = re.compile(rf"\b{re.escape(name)}\b")
            lines = [number for number, line in enumerate(whole.split("\n"), 1) if word.search(line)]
            for line in lines[:MAX_NAMES]:
                if line not in pushed:
                    yield Excerpt(file.path, *lines_around(whole, file.path, line, AROUND, AROUND, SHORT))


def _called(push: ChangeSet, snapshot: Snapshot) -> Iterator[Excerpt]:
    names = dict.fromkeys(name for file in push.files for row in _rows(file) for name in _CALL.findall(row.text))
    known = [each for each in names if len(each) >= MIN_CHARS and each.lower() not in COMMON_NAMES]
    for name in known[:MAX_CALLED]:
        yield from _definitions(name, snapshot)


def _definitions(name: str, snapshot: Snapshot) -> Iterator[Excerpt]:
    found = [
        each
        for each in snapshot.search(name, MAX_FOUND) or ()
        if kind_of(language_of(each.path)) == "code" and not is_test(each.path) and is_definition(each.text, name)
    ]
    for each in found if len(found) <= MAX_DEFINERS else ():
        yield Excerpt(each.path, *lines_around(snapshot.head(each.path) or "", each.path, each.line, 0, BELOW, SHORT))
