"""Find names that one changed file defines and that changed lines of another one use, by the form of lines alone.

Any language in which a keyword stands before a definition's name is read, without a parser: this decides which files
are read together, and runs over changes of thousands of files before anything else begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reviewbot.diff.rows import SEPARATOR
from reviewbot.domain.contracts import Payload
from reviewbot.tables import words_in

MIN_CHARS = 4
"""Of a name; shorter ones are used everywhere and mean something else each time."""
MAX_DEFINERS = 2
"""Changed files that define a name; one that more of them define says nothing of where it is used."""
MAX_USERS = 30
"""Changed files that use a name; what more of them use belongs to none of them."""

COMMON_NAMES = words_in("names/plans", "common_names")
"""Words that are names in most programs, each of another thing, in lower case."""

_NAME = r"[A-Za-z_$][A-Za-z0-9_$]{0,79}"
_BEFORE = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|declare|readonly|override"
    r"|virtual|inline|pub(?:\([a-z]{1,9}\))?|unsafe)[ \t]{1,4}){0,5}"
)
_DEFINITION = re.compile(
    rf"^(?P<mark>[ +-]|{SEPARATOR})[ \t]{{0,80}}{_BEFORE}(?:"
    r"(?:def|class|func|function[ \t]{0,2}\*?|fn|interface|struct|trait|enum|type|record|protocol|object|namespace)"
    rf"[ \t]{{1,4}}(?:\([^)\n]{{0,100}}\)[ \t]{{0,4}})?(?P<kept>{_NAME})"
    rf"|(?P<constant>[A-Z][A-Z0-9_]{{3,79}})[ \t]{{0,20}}(?::[^=\n]{{1,60}})?=(?!=)"
    rf"|(?P<method>{_NAME})\([^;\n]{{0,200}}\)[ \t]{{0,4}}(?::[^\n;{{]{{1,60}})?\{{[ \t\r]{{0,9}}$)"
    rf"|^(?P<mark_of_value>[ +-])(?:export[ \t])?(?:const|let|var)[ \t]{{1,4}}(?P<value>{_NAME})"
    rf"|^(?P<mark_of_table>[ +-])[ \t]{{0,80}}(?i:create[ \t]{{1,4}}table[ \t]{{1,4}}(?:if[ \t]not[ \t]exists[ \t])?)"
    rf"[\"`\[]?(?:\w{{1,60}}\.)?(?P<table>{_NAME})",
    re.MULTILINE,
)
_KEYWORDS = frozenset({"catch", "else", "foreach", "function", "switch", "synchronized", "unless", "until", "while"})
_CHANGED = re.compile(r"^[+-](.*)", re.MULTILINE)
_IMPORT = re.compile(r"^\s{0,20}(?:import|from|export|use|require\w{0,9})\b")
_WORD = re.compile(rf"{_NAME}")
_WORD_IN_CODE = re.compile(rf"(?P<before>[:*\](<=] ?)?(?P<name>{_NAME})(?=(?P<after>[({{\[<]|\.\w)?)")
_COMPOUND = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
"""In a name of several words, which is a word of no text."""


class HunkRef(NamedTuple):
    """A hunk of one of some slices, by their positions."""

    at: int
    hunk: int


class NameUse(NamedTuple):
    """A name, the hunks in which it is defined, and those of other files of which changed lines use it."""

    name: str
    definitions: tuple[HunkRef, ...]
    uses: tuple[HunkRef, ...]
    changed: bool
    """Whether a line that defines it was added or removed, and not only something below it."""


def hunks_of(payload: Payload) -> list[str]:
    """The hunks of a slice as they stand in its code, each with its heading."""
    return [SEPARATOR + text for text in f"\n{payload.code}".split(f"\n{SEPARATOR}")[1:]]


def name_uses(slices: Sequence[Payload]) -> list[NameUse]:
    """All names that are defined in one file and used in another, in their alphabetical order."""
    hunks = [
        (HunkRef(part, hunk), text) for part, each in enumerate(slices) for hunk, text in enumerate(hunks_of(each))
    ]
    definitions: defaultdict[str, list[tuple[HunkRef, bool]]] = defaultdict(list)
    for ref, text in hunks:
        for name, changed in dict(definitions_of_hunk(text)).items():
            definitions[name].append((ref, changed))
    definers = {name: {slices[ref.at].file_path for ref, _ in found} for name, found in definitions.items()}
    known = {name for name, paths in definers.items() if len(paths) <= MAX_DEFINERS}
    uses: defaultdict[str, list[HunkRef]] = defaultdict(list)
    for ref, text in hunks:
        path = slices[ref.at].file_path
        for name in set(_used_names(text, known)):
            if path not in definers[name]:
                uses[name].append(ref)
    return [
        NameUse(name, tuple(ref for ref, _ in found), tuple(uses[name]), any(changed for _, changed in found))
        for name, found in sorted(definitions.items())
        if 0 < len({slices[ref.at].file_path for ref in uses.get(name, ())}) <= MAX_USERS
    ]


def definitions_of_hunk(hunk: str) -> Iterator[tuple[str, bool]]:
    """Yield the names that a hunk or its heading defines; whether on a changed line comes last for each name."""
    found: list[tuple[str, bool]] = []
    for match in _DEFINITION.finditer(hunk):
        groups = match.groupdict()
        name = next(groups[each] for each in ("kept", "constant", "method", "value", "table") if groups[each])
        mark = groups["mark"] or groups["mark_of_value"] or groups["mark_of_table"]
        if len(name) >= MIN_CHARS and not _is_common(name):
            found.append((name, mark in ("+", "-")))
    yield from sorted(found, key=lambda each: each[1])


def _used_names(hunk: str, known: set[str]) -> Iterator[str]:
    """Yield the known names that changed lines use. A plain word is one where it is called, or stands as types do."""
    lines = _CHANGED.findall(hunk)
    found = known.intersection(_WORD.findall("\n".join(lines)))
    plain = {name for name in found if not _COMPOUND.search(name)}
    yield from found - plain
    for line in lines if plain else ():
        is_import = _IMPORT.match(line) is not None
        for before, name, after in _WORD_IN_CODE.findall(line):
            is_type = name[0].isupper() and (before or after)
            if name in plain and (is_import or is_type or after == "("):
                yield name


def _is_common(name: str) -> bool:
    bare = name.strip("_$").lower()
    return bare in COMMON_NAMES or bare in _KEYWORDS or name.startswith(("__", "test"))
