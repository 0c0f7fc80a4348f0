"""Format commits in the same way for every kind of snapshot."""

from __future__ import annotations

MAX_SUBJECT = 200
"""Characters."""


def subject_of(message: str) -> str:
    """The first paragraph of a commit's message in one line, as `git log` shows it."""
    found: list[str] = []
    for line in message.split("\n"):
        if line.strip():
            found.append(line)
        elif found:
            break
    return " ".join(" ".join(found).split())[:MAX_SUBJECT]
