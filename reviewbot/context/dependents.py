"""Find the names that a push changed and the code that uses them, wherever it stands. Blocks.

Definitions are found by syntax tree or indentation, uses as whole words, in any language. A use that is not one costs
some tokens; what is shown decides nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from reviewbot.context.enclosing import enclosing
from reviewbot.context.receivers import other_things, symbols_in
from reviewbot.diff.language import kind_of, language_of
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import SEPARATOR, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk
from reviewbot.domain.ports import Occurrence, Snapshot
from reviewbot.review.plan.name_uses import COMMON_NAMES, MIN_CHARS, definitions_of_hunk

MAX_NAMES = 16
"""Names of a push that are followed: those of the files with the largest changes would crowd out the others."""

MAX_FOUND = 120
"""Lines that are looked at for one name."""

MAX_FILES = 40
"""Files of a name that are looked into for the module that defines it."""

MAX_USES, MAX_PLACES, MAX_CHARS = 60, 12, 10_000
"""Of code that uses what was pushed: lines that are looked at, what is shown around them, and characters of that."""

WHOLE_LINES, AROUND = 40, 8
"""Lines of a definition that is shown whole; of a longer one, lines on each side of one."""
MAX_DEFINITION = 60
"""Lines of a definition that is shown whole where a push touched it: its promise, and what it does with its input."""
SHORT_CALLER, ABOVE, BELOW = 20, 3, 22
"""The same of a use: what is done with a result stands below the call."""

ALL_USES = "All code that uses {} by name, but for imports and tests, is shown."
LEFT_OUT = "Used as well, and not shown: {}"
"""So that a reader need not search for them."""
MAX_NAME_CHARS = 80
"""A name of so many may be the beginning of a longer one, whose uses are not found."""

_IMPORT = re.compile(r"^\s{0,20}(?:import|from|export\s.{0,200}\sfrom|use|require\w{0,9}|#include)\b")
COMMENT = re.compile(r"\s*(?:#(?!\w)|//|/\*|\*(?=[ /]|$)|--\s|<!--)")
"""Not `#name` and `*name`, which are code in some languages."""
_MIN_CHARS = 3
_HEADING = "### "
"""In front of a path; a line of code has its number in front."""

TextOf = Callable[[str], str | None]


class Name(NamedTuple):
    """A name that a push changed or removed, and the file that defines it."""

    name: str
    path: str


class Excerpt(NamedTuple):
    """Lines of a file."""

    path: str
    first: int
    last: int


class Dependents(NamedTuple):
    """The uses of what a push changed."""

    excerpts: str
    """Code with its line numbers, and of which names this is every use; may be empty."""
    places: int
    """How many excerpts there are."""
    is_all: bool
    """Whether each use of each name is shown here or in the change."""


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
    names: Sequence[Name], snapshot: Snapshot, is_read: Callable[[str, int], bool], pushed: Sequence[Excerpt] = ()
) -> Dependents:
    """The uses of names; of tests where nothing else uses them.

    Args:
        names: from `changed_names`.
        snapshot: the head.
        is_read: whether readers are shown a line anyway, by path and line.
        pushed: what is shown in front of the uses, from `pushed_definitions` and `relied_on`.
    """
    ranked, followed = _ranked(names, snapshot)
    uses = [use for use in ranked if not is_read(use.path, use.line)]
    uses = [use for use in uses if not is_test(use.path)] or uses
    # A short function that uses a name in several lines is one place.
    places = list(dict.fromkeys(tuple(_excerpts_of(use, snapshot)) for use in uses[:MAX_USES]))
    around = [each for place in places[:MAX_PLACES] for each in place]
    texts = list(_texts([*pushed, *around], snapshot, is_read))
    excerpts = [text for text in texts if text]
    seen = {*numbered_lines("\n".join(excerpts))}
    hidden = [f"{use.path}:{use.line}" for use in uses if (use.path, use.line) not in seen]
    is_all = not hidden and len(texts) == len({each.path for each in (*pushed, *around)})
    note = [LEFT_OUT.format(", ".join(hidden[:MAX_USES]))] if hidden else []
    note += [ALL_USES.format(", ".join(followed))] if is_all and followed else []
    every = is_all and len(followed) == len({each.name for each in names}) > 0
    return Dependents("\n\n".join([*note, *excerpts]), len(excerpts), every)


def pushed_definitions(push: ChangeSet, text: TextOf) -> tuple[Excerpt, ...]:
    """The definitions around the lines of a push, those that are not much longer than what is shown of them."""
    found: dict[Excerpt, None] = {}
    for file in push.files:
        whole = text(file.path) if file.kind == "code" else None
        for line in touched_lines(file.hunks) if whole else ():
            around = enclosing(whole or "", file.language, line, line)
            if around is not None and around.last - around.first < MAX_DEFINITION:
                found[Excerpt(file.path, around.first, around.last)] = None
    return tuple(found)


def numbered_lines(excerpts: str) -> Iterator[tuple[str, int]]:
    """Yield path and number of each line that excerpts show."""
    path = ""
    for row in excerpts.split("\n"):
        if row.startswith(_HEADING):
            path = row.removeprefix(_HEADING)
        elif (number := row.partition(" ")[0]).isdecimal():
            yield path, int(number)


def lines_around(
    text: str, path: str, line: int, above: int = AROUND, below: int = AROUND, whole: int = WHOLE_LINES
) -> tuple[int, int]:
    """The lines around one that say what it is part of: its definition where that is short, else some on each side."""
    last = text.count("\n") + 1
    definition = enclosing(text, language_of(path), line, line)
    if definition is None:
        return max(1, line - above), min(last, line + below)
    if definition.last - definition.first < whole:
        return definition.first, definition.last
    return max(definition.first, line - above), min(definition.last, line + below)


def _names_in(file: FileChange, text: str) -> Iterator[str]:
    for hunk in file.hunks:
        heading = f"{SEPARATOR} {hunk.heading}\n{hunk.body}"
        yield from (name for name, changed in definitions_of_hunk(heading) if changed)
    lines = text.split("\n")
    for line in {code_line(lines, line) for line in touched_lines(file.hunks)} if text else ():
        definition = enclosing(text, file.language, line, line)
        if definition is not None:
            yield from _spoken(definition.name)


def code_line(lines: Sequence[str], line: int) -> int:
    """The line, or the next one of code: a comment above a method is about that, and not about its class."""
    while line < len(lines) and (COMMENT.match(lines[line - 1]) or not lines[line - 1].strip()):
        line += 1
    return line


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
    symbols_of = symbols_in(snapshot)
    for name, path in names:
        stem = PurePosixPath(path).stem
        stem = PurePosixPath(path).parent.name if stem in ("__init__", "index", "mod") else stem
        lines = snapshot.search(name, MAX_FOUND)
        is_other = other_things(name, path, snapshot, symbols_of)
        uses = [each for each in lines or () if _is_use(each, name) and not is_other(each)]
        is_common = len(name) < MIN_CHARS or name.lower() in COMMON_NAMES
        # `accounts.get` of Accounts, and not each other `get` of a file that names Accounts.
        named = [each for each in uses if is_common and stem and stem.lower() in each.text.lower()]
        uses = named or uses
        files = list(dict.fromkeys(each.path for each in uses))[:MAX_FILES]
        near = {each for each in files if named or each == path or (stem and stem in (snapshot.head(each) or ""))}
        is_known = lines is not None and len(lines) < MAX_FOUND and len(name) < MAX_NAME_CHARS
        if is_known and (named or not is_common):
            followed[f"{name} (on lines with {stem})" if named else name] = None
        for use in uses:
            if use.path in near or not is_common:
                rank = (is_test(use.path), use.path not in near, use.path, use.line)
                found.setdefault((use.path, use.line), (rank, use))
    return [use for _, use in sorted(found.values(), key=lambda each: each[0])], list(followed)


def _is_use(found: Occurrence, name: str) -> bool:
    if kind_of(language_of(found.path)) != "code" or _IMPORT.match(found.text) or COMMENT.match(found.text):
        return False
    return not is_definition(found.text, name)


def is_definition(line: str, name: str) -> bool:
    """Whether a line defines a name, by its form."""
    return any(defined == name for defined, _ in definitions_of_hunk(f"{SEPARATOR}\n+{line}"))


def _excerpts_of(use: Occurrence, snapshot: Snapshot) -> Iterator[Excerpt]:
    """The lines around a use, below the first line of a definition that is too long to be shown."""
    text = snapshot.head(use.path) or ""
    around = enclosing(text, language_of(use.path), use.line, use.line)
    if around is not None:
        yield Excerpt(use.path, around.first, around.first)
    yield Excerpt(use.path, *lines_around(text, use.path, use.line, ABOVE, BELOW, SHORT_CALLER))


def _texts(excerpts: Iterable[Excerpt], snapshot: Snapshot, is_read: Callable[[str, int], bool]) -> Iterator[str]:
    """Yield the numbered lines of each file, as long as there is room; empty where all of them are shown anyway."""
    left = MAX_CHARS
    wanted: dict[str, set[int]] = defaultdict(set)
    for path, first, last in excerpts:
        wanted[path].update(range(first, last + 1))
    for path, numbers in wanted.items():
        lines = (snapshot.head(path) or "").split("\n")
        kept = [number for number in sorted(numbers) if number <= len(lines) and not is_read(path, number)]
        text = "\n".join([f"{_HEADING}{path}", *(f"{number} {lines[number - 1][:300]}" for number in kept)])
        left -= len(text)
        if left < 0:
            return
        yield text if kept else ""
