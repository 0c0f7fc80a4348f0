"""Parse the command of a comment: an address, a verb and an argument at the start of its first line. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from reviewbot.redact.mask import redact

READING = frozenset({"help", "explain"})
"""Verbs that change nothing: every person may use them."""

REVIEWING = frozenset({"review", "full review", "effort", "resume", "dismiss"})
"""Verbs after which the head is reviewed."""

VERBS = READING | REVIEWING | {"pause"}

REPLY = "reply"
"""In place of a verb: a reply in a thread at a line. Only the host knows whether reviewbot opened the thread."""

MAX_ARGUMENT = 300
"""Characters of an argument that are kept."""

_LOOK = 2_000
"""Characters of a comment that are looked at for a command."""

_INDENT = 3
"""Blanks at the start of a line of prose, at most, as CommonMark has it."""

_COMMAND = re.compile(
    r"(?P<to>@[A-Za-z0-9-]{1,40}(?:\[bot\])?|/reviewbot)[ \t]+"
    r"(?P<verb>full[ \t]{1,20}review|[A-Za-z]{1,20})(?![\w-])(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)


class Command(NamedTuple):
    """A command as it was written; nothing is known yet of who may give it."""

    verb: str
    """Lower case; any word."""
    argument: str = ""
    """The rest of the line: printable, on one line, masked. Data of its writer."""


def command_in(body: str, slug: str) -> Command | None:
    """The command of a comment: at the start of the first line that is not blank, so that no quotation holds one.

    Four blanks or a tab before it make it a block of code.
    """
    first = next((line.expandtabs() for line in body[:_LOOK].splitlines() if line.strip()), "")
    found = _COMMAND.match(first.strip()) if len(first) - len(first.lstrip()) <= _INDENT else None
    if found is None or found["to"].lower().removesuffix("[bot]") not in {"/reviewbot", f"@{slug.lower()}"}:
        return None
    rest = "".join(char if char.isprintable() else " " for char in found["rest"])
    return Command(" ".join(found["verb"].lower().split()), " ".join(redact(rest).split())[:MAX_ARGUMENT])
