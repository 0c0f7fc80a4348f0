"""Mask secrets in everything that leaves the process: reviews, plans and traces."""

from __future__ import annotations

import json

from reviewbot.domain.contracts import Plan, Review
from reviewbot.journal.sqlite import SteadyJournal
from reviewbot.redact import Mask, mask_json, redact
from reviewbot.review.trace import Trace, write_trace


def mask_review(answer: Review, journal: SteadyJournal | None = None, mask: Mask | None = None) -> Review:
    """The review with every secret in its texts masked. No entry point shows a review that did not pass here."""
    if journal is not None and journal.trouble is not None:
        answer = answer.model_copy(update={"notes": (*answer.notes, journal.trouble)})
    return Review.model_validate_json(json.dumps(mask_json(answer.model_dump(mode="json"), mask or redact)))


def mask_plan(plan: Plan, mask: Mask | None = None) -> Plan:
    """The plan, masked likewise: its tasks hold the code of the change."""
    return Plan.model_validate_json(json.dumps(mask_json(plan.model_dump(mode="json"), mask or redact)))


def mask_trace(trace: Trace) -> str:
    """The trace as JSON, masked likewise. Its hashes are of what is written: they betray nothing of what is not."""
    mask = trace.mask or redact
    return write_trace(mask_json(event, mask) for event in trace.events)
