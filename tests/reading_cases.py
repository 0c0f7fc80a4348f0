"""Statements of engines about what was read, for tests that are not about lines."""

from __future__ import annotations

from reviewbot.domain.contracts import Reading, Span

EVERYTHING = Span(old_start=0, old_count=10**6, new_start=0, new_count=10**6)


def read(path: str = "src/app.py", **kinds: tuple[str, ...]) -> Reading:
    """Every hunk of a file, read by these: `models`, `analyzers` or `scans`."""
    return Reading(path=path, spans=(EVERYTHING,)).model_copy(update=kinds)
