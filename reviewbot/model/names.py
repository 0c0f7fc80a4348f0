"""Names that a finding speaks of and that stand nowhere: what a model has made up, as far as a search can tell."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from typing import NamedTuple

from reviewbot.context.symbols import SEARCHED
from reviewbot.contracts import Finding, ReviewTask
from reviewbot.ports import Snapshot

MAX_SEARCHED = 6
"""Names of one message that are searched for; each search may read the whole repository."""

_MARKED = re.compile(r"`([^`\n]{1,200})`")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,79}")
_WISHED = re.compile(
    r"\b(?:uses?|using|prefer|should|must|instead|rather|consider|replaced?|adding|add|needs?|such as|expected|missing|"
    r"without|lacks?|raises?|throws?|renamed?)\b[^`.;]{0,40}$",
    re.IGNORECASE,
)
"""What stands before a name that need not exist: one that is suggested, missed, or made at run time."""

_KNOWN = (
    frozenset(keyword.kwlist)
    | frozenset(keyword.softkwlist)
    | frozenset(dir(builtins))
    | sys.stdlib_module_names
    | frozenset({"null", "undefined", "true", "false", "nil", "void", "this", "NaN", "string", "number", "boolean",
                 "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"})
)  # fmt: skip
"""Names that no repository has to spell."""

_RUNTIME = ("Error", "Exception", "Warning", "Interrupt", "Panic")
"""How the names of what is thrown end; nobody has to spell these either."""


class Lookup(NamedTuple):
    """What became of the names in one message."""

    missing: tuple[str, ...] = ()
    """Names that a search of everything did not find."""
    baseless: bool = False
    """The message names nothing else: what it speaks of does not exist."""


def looked_up(finding: Finding, task: ReviewTask, snapshot: Snapshot) -> Lookup:
    """Search the change and the repository for the names between backticks in a finding's message. It may block.

    Names that the message only suggests, misses or expects to be thrown are left out, and so are those that belong to
    the language. Where the snapshot cannot search everything, nothing is missing.
    """
    here = "\n".join([finding.path, *(f"{each.file_path}\n{each.code}" for each in task.slices)])
    words = frozenset(_NAME.findall(here))
    named = _named(finding.message)
    wanted = list(dict.fromkeys(name for name, asked in named if asked and name not in words))[:MAX_SEARCHED]
    places = {name: snapshot.search(name, SEARCHED) for name in wanted}
    if None in places.values():
        return Lookup()
    missing = tuple(name for name in wanted if not places[name])
    others = any(name in words or places.get(name) for name, _ in named)
    return Lookup(missing, bool(missing) and not others)


def _named(message: str) -> list[tuple[str, bool]]:
    """The names in a message, and whether each must exist if the message is right."""
    names: list[tuple[str, bool]] = []
    for match in _MARKED.finditer(message):
        text = match[1].strip().removesuffix("()")
        asked = _NAME.fullmatch(text) is not None and not _WISHED.search(message[: match.start()][-80:])
        own = (name for name in _NAME.findall(text) if name not in _KNOWN and not name.endswith(_RUNTIME))
        names += [(name, asked) for name in own]
    return names
