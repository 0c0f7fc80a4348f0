"""The workers of a run as a list for a terminal."""

from __future__ import annotations

from textwrap import fill

from reviewbot.domain.ports import WorkerSet
from reviewbot.report.text import one_line

INDENT = "    "


def render_workers(worker_set: WorkerSet, *, width: int) -> str:
    """Each worker with where it comes from, what it applies to, what it works with and what it costs at most."""
    lines: list[str] = []
    for card in worker_set.cards:
        origin = "" if worker_set.origin[card.name] == "package" else f" (from the {worker_set.origin[card.name]})"
        facts = [
            card.description,
            f"applies to {' '.join(card.applies_to)}",
            f"tools: {', '.join(card.tools) or 'none'}",
            f"tiers: {' > '.join(card.tiers)}; shown from {card.threshold}; {card.budget.timeout_ms / 1000:g} s a task",
        ]
        if card.depends_on:
            facts.append(f"waits for {', '.join(card.depends_on)}")
        lines.append(f"{card.name}{origin}")
        lines += [fill(one_line(text), width, initial_indent=INDENT, subsequent_indent=INDENT) for text in facts]
    return "\n".join(lines) + "\n"
