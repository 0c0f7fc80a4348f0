"""Secrets out of everything that leaves: reviews, plans and traces."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from reviewbot.contracts import Plan, Review
from reviewbot.redact import redact
from reviewbot.trace import Event, Trace, write_trace

if TYPE_CHECKING:
    from reviewbot.adapters.sqlite import SteadyJournal

NAME_FIELDS = frozenset(
    {"path", "paths", "file_path", "old_path", "task_id", "task_ids", "root", "depends_on", "worker", "type"}
)
"""Fields of a review or trace that name something and hold no text of the change."""

_CHOSEN = "arguments"
"""The field of what a model gave to a tool. A name in it is the model's, and says nothing of what stands there."""

_SHORTEST_SECRET = 16
"""Characters. The name of a field is masked from there on: a model may choose those of a tool's arguments."""

_DEEPEST = 40
"""No value of ours is nested half as deep. A tool's arguments are what a model made of them, and may be."""
_TOO_DEEP = "(nested too deeply)"


def masked_review(answer: Review, journal: SteadyJournal | None = None) -> Review:
    """The review with every secret in its texts masked. The one way out: no door shows a review that did not pass."""
    if journal is not None and journal.trouble is not None:
        answer = answer.model_copy(update={"notes": (*answer.notes, journal.trouble)})
    return Review.model_validate_json(json.dumps(_masked(answer.model_dump(mode="json"))))


def masked_plan(plan: Plan) -> Plan:
    """The plan, masked likewise: its tasks hold the code of the change."""
    return Plan.model_validate_json(json.dumps(_masked(plan.model_dump(mode="json"))))


def masked_trace(trace: Trace) -> str:
    """The trace as JSON, masked likewise. Its hashes are of what is written: they betray nothing of what is not."""
    return write_trace(_event(event) for event in trace.events)


def _event(event: Event) -> Event:
    return {key: _masked(value, key) for key, value in event.items()}


def _masked(value: object, key: str = "", depth: int = 0) -> object:
    """The same JSON value with its texts masked. Names are left alone: they must go on fitting the change."""
    if depth > _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, dict):
        return {
            _name(name): _masked(inner, key if key == _CHOSEN else name, depth + 1) for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_masked(inner, key, depth + 1) for inner in value]
    if key == "replacement" and isinstance(value, str) and redact(value) != value:
        # Code with a mask in it is no replacement of anything.
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return redact(value) if isinstance(value, str) and key not in NAME_FIELDS else value


def _name(name: str) -> str:
    return name if len(name) < _SHORTEST_SECRET else redact(name)
