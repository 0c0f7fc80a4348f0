"""Where a name is defined and who uses it, told from the lines that hold it. Classified by form, not resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from posixpath import commonprefix
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reviewbot.ports import Occurrence, Snapshot

SEARCHED = 400
"""Lines that are looked at."""

SHOWN: dict[str, int] = {"definition": 6, "call": 15, "import": 8, "mention": 6}
"""Lines of each kind that are handed on."""

MAX_LINE = 300
"""Characters of a line that is handed on."""

Kind = Literal["definition", "call", "import", "mention"]
_KINDS: tuple[Kind, ...] = ("definition", "call", "import", "mention")

_IMPORTS = re.compile(
    r"\s{0,80}(?:from|import|use|using|require|require_relative|include|#\s?include|export\s.{0,200}\bfrom)\b"
)
_DEFINES = (
    r"\b(?:def|class|func|function|fn|interface|struct|type|trait|enum|const|let|var|val|sub|module|impl|object)\s{{1,4}}"
    r"(?:\([^)]{{0,100}}\)\s{{0,4}})?(?:self\.)?{word}\b"
    r"|^\s{{0,80}}{word}\s{{0,4}}(?::\s{{0,4}}[^=]{{1,100}})?=(?!=)"
)


@dataclass(frozen=True)
class Reference:
    """A line with a name in it."""

    path: str
    line: int
    text: str
    kind: Kind


@dataclass(frozen=True)
class Symbol:
    """What is known of a name: definitions first, then calls, imports and the rest, the nearest files first."""

    name: str
    references: tuple[Reference, ...]
    searched: bool
    """All text files were looked at; without that a missing reference means nothing."""
    truncated: bool
    """There are more than are shown."""

    def of(self, kind: Kind) -> tuple[Reference, ...]:
        """The references of one kind."""
        return tuple(each for each in self.references if each.kind == kind)


def symbol(snapshot: Snapshot, name: str, near: str = "") -> Symbol:
    """Look a name up in all text files of the new side; `near` is the path from which it is looked at."""
    found = snapshot.search(name, SEARCHED)
    kinds = _classified(name, found or (), near)
    shown = [each for kind in _KINDS for each in kinds[kind][: SHOWN[kind]]]
    more = sum(len(kinds[kind]) for kind in _KINDS) > len(shown) or len(found or ()) == SEARCHED
    return Symbol(name, tuple(shown), found is not None, more)


def _classified(name: str, found: Iterable[Occurrence], near: str) -> dict[Kind, list[Reference]]:
    defines = re.compile(_DEFINES.format(word=re.escape(name)))
    calls = re.compile(rf"(?<!\w){re.escape(name)}\s{{0,4}}\(")
    kinds: dict[Kind, list[Reference]] = {kind: [] for kind in _KINDS}
    for each in sorted(found, key=lambda each: (-len(commonprefix([each.path, near])), each.path, each.line)):
        text = each.text[:MAX_LINE]
        kind: Kind = "call" if calls.search(text) else "mention"
        if _IMPORTS.match(text):
            kind = "import"
        elif defines.search(text):
            kind = "definition"
        kinds[kind].append(Reference(each.path, each.line, text.strip(), kind))
    return kinds
