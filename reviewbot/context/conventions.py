"""Read the files in which a repository states rules for its code and its reviewers; from the base side only.

A change could otherwise instruct its own reviewer to overlook something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.domain.ports import Snapshot

TOP = (".github/copilot-instructions.md", "CONTRIBUTING.md")
"""Files that count at the top alone."""

ANYWHERE = ("AGENTS.md", "CLAUDE.md", "REVIEW.md")
"""Files that count for the folder in which they stand, and below it."""

MAX_FILE = 8_000
"""Characters of one file."""

MAX_TOTAL = 24_000
"""Of all of them; the nearest ones are kept."""

MAX_DEPTH = 12
"""Folders above a path that are looked into."""


class Convention(NamedTuple):
    """One file, or its start."""

    path: str
    text: str


class Conventions(NamedTuple):
    """Files that apply to a path, the most general first and the nearest last."""

    files: tuple[Convention, ...]


def conventions(snapshot: Snapshot, path: str) -> Conventions:
    """The conventions that apply to a path of the change."""
    found = list(dict.fromkeys(_found(snapshot, path)))
    kept: list[Convention] = []
    seen: set[str] = set()
    left = MAX_TOTAL
    for text in reversed(found):
        if text.text in seen:  # one file under the names of several programs
            continue
        seen.add(text.text)
        if len(text.text) > left:
            break
        left -= len(text.text)
        kept.insert(0, text)
    return Conventions(tuple(kept))


def _found(snapshot: Snapshot, path: str) -> Iterator[Convention]:
    folders = path.split("/")[:-1]
    above = ["/".join(folders[:depth]) for depth in range(1, len(folders) + 1)]
    names = [*TOP, *ANYWHERE, *(f"{folder}/{name}" for folder in above[-MAX_DEPTH:] for name in ANYWHERE)]
    for name in names:
        text = _start(snapshot.base(name) or "")
        if text.strip():
            yield Convention(name, text)


def _start(text: str) -> str:
    """At most `MAX_FILE` characters, up to a whole line."""
    return text if len(text) <= MAX_FILE else text[: text.rfind("\n", 0, MAX_FILE) + 1 or MAX_FILE]
