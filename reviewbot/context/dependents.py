"""Find the names that a push changed and the code that uses them, in the change and in the rest of the tree. Blocks.

Definitions are found by syntax tree or indentation, uses as whole words, in any language. A use that is not one costs
some tokens; what is shown decides nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from reviewbot.context.enclosing import enclosing
from reviewbot.diff.language import kind_of, language_of
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import SEPARATOR, commentable, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk
from reviewbot.domain.ports import Occurrence, Snapshot
from reviewbot.review.plan.name_uses import COMMON_NAMES, MIN_CHARS, definitions_of_hunk

MAX_NAMES = 16
"""Names of a push that are followed: those of the files with the largest changes would crowd out the others."""

MAX_FOUND = 120
"""Lines that are looked at for one name."""

MAX_FILES = 40
"""Files of a name that are looked into for the module that defines it."""

MAX_PLACES, MAX_CHARS = 12, 10_000
"""Of code outside of the change that is shown; MAX_PLACES also of uses in the change that are read again."""

WHOLE_LINES, AROUND = 40, 8
"""Lines of a definition that is shown whole; of a longer one, lines on each side of a use."""

ALL_USES = "Every line of code that uses {} by name, but for imports, is shown here or in the change."
"""So that a reader need not search for them."""
MAX_NAME_CHARS = 80
"""A name of so many may be the beginning of a longer one, whose uses are not found."""

_IMPORT = re.compile(r"^\s{0,20}(?:import|from|export\s.{0,200}\sfrom|use|require\w{0,9}|#include)\b")
_MIN_CHARS = 3
_HEADING, _NUMBER = "### ", 5
"""In front of a path; columns of a line's number."""

TextOf = Callable[[str], str | None]


class Name(NamedTuple):
    """A name that a push changed or removed, and the file that defines it."""

    name: str
    path: str


class Dependents(NamedTuple):
    """The uses of what a push changed."""

    in_change: Mapping[str, tuple[int, ...]]
    """Lines of the new side that hunks of the change show, by path."""
    excerpts: str
    """Code outside of these hunks, with its line numbers, and of which names this is every use; may be empty."""
    places: int
    """How many excerpts there are."""


def touched_lines(hunks: Iterable[Hunk]) -> tuple[int, ...]:
    """The lines of the new side that are added, or above which lines are removed."""
    lines: dict[int, None] = {}
    for hunk in hunks:
        after = hunk.new_start
        for row in hunk_rows(hunk):
            if row.kind != " ":
                lines[after if row.new is None else row.new] = None
            after = after if row.new is None else row.new + 1
    return tuple(lines)


def changed_names(push: ChangeSet, text: TextOf) -> tuple[Name, ...]:
    """The definitions that a push changed or removed, by file."""
    found: dict[Name, None] = {}
    for file in push.files:
        if file.kind == "code":
            path = file.path if file.status != "deleted" else (file.old_path or file.path)
            mine = list(dict.fromkeys(_names_in(file, text(file.path) or "")))[:MAX_NAMES]
            found |= dict.fromkeys(Name(name, path) for name in mine)
    return tuple(found)[:MAX_NAMES]


def dependents_of(
    names: Sequence[Name], change: ChangeSet, snapshot: Snapshot, is_read: Callable[[str, int], bool]
) -> Dependents:
    """The uses of names.

    Args:
        names: from `changed_names`.
        change: the whole change, as it is now.
        snapshot: the head.
        is_read: whether readers are shown a line anyway, by path and line.
    """
    shown = {file.path: commentable(file.hunks) for file in change.files}
    ranked, followed = _ranked(names, snapshot)
    uses = [use for use in ranked if not is_read(use.path, use.line)]
    inside = [use for use in uses if use.line in shown.get(use.path, ())]
    outside = [use for use in uses if use.line not in shown.get(use.path, ())]
    in_change: dict[str, dict[int, None]] = defaultdict(dict)
    for use in inside[:MAX_PLACES]:
        in_change[use.path][use.line] = None
    excerpts = list(_excerpts(outside[:MAX_PLACES], snapshot))
    is_all = max(len(inside), len(outside)) <= MAX_PLACES and len(excerpts) == len({use.path for use in outside})
    note = [ALL_USES.format(", ".join(followed))] if is_all and followed else []
    text = "\n\n".join([*note, *excerpts])
    return Dependents({path: tuple(lines) for path, lines in in_change.items()}, text, len(excerpts))


def numbered_lines(excerpts: str) -> Iterator[tuple[str, int]]:
    """Yield path and number of each line that excerpts show."""
    path = ""
    for row in excerpts.split("\n"):
        if row.startswith(_HEADING):
            path = row.removeprefix(_HEADING)
        elif row[:_NUMBER].strip().isdecimal():
            yield path, int(row[:_NUMBER])


def lines_around(text: str, path: str, line: int) -> tuple[int, int]:
    """The lines around one that say what it is part of: its definition where that is short, else some on each side."""
    last = text.count("\n") + 1
    definition = enclosing(text, language_of(path), line, line)
    if definition is not None and definition.last - definition.first < WHOLE_LINES:
        return definition.first, definition.last
    return max(1, line - AROUND), min(last, line + AROUND)


def _names_in(file: FileChange, text: str) -> Iterator[str]:
    for hunk in file.hunks:
        heading = f"{SEPARATOR} {hunk.heading}\n{hunk.body}"
        yield from (name for name, changed in definitions_of_hunk(heading) if changed)
    for line in touched_lines(file.hunks) if text else ():
        definition = enclosing(text, file.language, line, line)
        if definition is not None:
            yield from _spoken(definition.name)


def _spoken(name: str) -> Iterator[str]:
    """The name by which a definition is used: of a constructor that of its class."""
    *outer, last = name.split(".")
    if last.startswith("__") or last == "constructor":
        last = outer[-1] if outer else ""
    if len(last) >= _MIN_CHARS:
        yield last


def _ranked(names: Sequence[Name], snapshot: Snapshot) -> tuple[list[Occurrence], list[str]]:
    """The uses of all names: in files that name the defining module first, tests last. No imports, no definitions.

    With the names of which none was left out.
    """
    found: dict[tuple[str, int], tuple[tuple[bool, bool, str, int], Occurrence]] = {}
    followed: dict[str, None] = {}
    for name, path in names:
        stem = PurePosixPath(path).stem
        stem = PurePosixPath(path).parent.name if stem in ("__init__", "index", "mod") else stem
        lines = snapshot.search(name, MAX_FOUND)
        uses = [each for each in lines or () if _is_use(each, name)]
        files = list(dict.fromkeys(each.path for each in uses))[:MAX_FILES]
        near = {each for each in files if each == path or (stem and stem in (snapshot.head(each) or ""))}
        is_common = len(name) < MIN_CHARS or name.lower() in COMMON_NAMES
        if lines is not None and len(lines) < MAX_FOUND and not is_common and len(name) < MAX_NAME_CHARS:
            followed[name] = None
        for use in uses:
            if use.path in near or not is_common:
                rank = (is_test(use.path), use.path not in near, use.path, use.line)
                found.setdefault((use.path, use.line), (rank, use))
    return [use for _, use in sorted(found.values(), key=lambda each: each[0])], list(followed)


def _is_use(found: Occurrence, name: str) -> bool:
    if kind_of(language_of(found.path)) != "code" or _IMPORT.match(found.text):
        return False
    return all(defined != name for defined, _ in definitions_of_hunk(f"{SEPARATOR}\n+{found.text}"))


def _excerpts(uses: Sequence[Occurrence], snapshot: Snapshot) -> Iterator[str]:
    left = MAX_CHARS
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for use in uses:
        span = lines_around(snapshot.head(use.path) or "", use.path, use.line)
        if span not in spans[use.path]:
            spans[use.path].append(span)
    for path, found in spans.items():
        lines = (snapshot.head(path) or "").split("\n")
        numbers = sorted(
            {number for first, last in found for number in range(first, last + 1)} & set(range(1, len(lines) + 1))
        )
        rows = [f"{number:{_NUMBER}} {lines[number - 1][:300]}" for number in numbers]
        text = "\n".join([f"{_HEADING}{path}", *rows])
        left -= len(text)
        if left < 0:
            return
        yield text
