"""Commits as every snapshot tells of them, whoever was asked for them."""

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
