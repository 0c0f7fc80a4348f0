"""What all tools share: how a candidate, a gap and a report are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.contracts import SEVERITY_ORDER, Candidate, Gap, ToolRun
from reviewbot.ports import ToolReport
from reviewbot.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reviewbot.contracts import GapReason

MAX_CANDIDATES = 100
"""Of one tool for one file. Whoever reads a review stops long before; the rest is counted in a gap."""

OWN_VERSION = "1"
"""Of the scans of our own; raised when what they find changes."""

_QUOTE, _MESSAGE = 4_000, 2_000
"""The longest quote and message that a candidate may have."""


def quote_of(text: str) -> str:
    """A line of the change as evidence: without its indentation, secrets masked, not too long."""
    return redact(text.strip())[:_QUOTE]


def message_of(text: str) -> str:
    """A text of a program as a message: on one line, secrets masked, not too long and never empty."""
    return redact(" ".join(text.split()))[:_MESSAGE] or "no message"


def gap(path: str, tool: str, reason: GapReason, message: str) -> Gap:
    """A gap as a tool knows it; the worker and the task are filled in where they are known."""
    return Gap(path=path, worker="", reason=reason, message=message, tool=tool)


def report(path: str, run: ToolRun, candidates: Sequence[Candidate], missed: Gap | None = None) -> ToolReport:
    """A report of at most MAX_CANDIDATES candidates, the worst kept and in the order of their lines."""
    if len(candidates) > MAX_CANDIDATES:
        worst = sorted(
            candidates, key=lambda found: (SEVERITY_ORDER[found.severity], -found.confidence, found.line or 0)
        )
        flood = f"{run.tool} has {len(candidates)} findings here; the {MAX_CANDIDATES} worst are kept"
        missed = missed or gap(path, run.tool, "flooded", flood)
        candidates = worst[:MAX_CANDIDATES]
    ordered = sorted(candidates, key=lambda found: (found.line or 0, found.rule))
    return ToolReport(candidates=tuple(ordered), run=run, gap=missed)
