"""Count a run for the metrics: by worker and model, never by repository or person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from reviewbot.app.store.inbox.counters import Tally
from reviewbot.domain.contracts import Review
from reviewbot.review.trace import Event

OWN_MODEL = "none"
"""Of costs that the trace names no model for."""


def tallies_of(review: Review, events: Sequence[Event]) -> list[Tally]:
    """The counts of one finished review."""
    findings = Counter((each.type, each.severity) for each in review.findings)
    gaps = Counter((each.worker, each.reason) for each in review.gaps)
    found = [Tally("findings", {"worker": worker, "severity": level}, n) for (worker, level), n in findings.items()]
    found += [Tally("gaps", {"worker": worker, "reason": reason}, n) for (worker, reason), n in gaps.items()]
    found += [Tally("tasks", {"worker": row.worker}, row.tasks) for row in review.workers if row.tasks]
    return [*found, *tallies_of_calls(events)]


def tallies_of_calls(events: Sequence[Event]) -> list[Tally]:
    """Tokens and dollars, from what the trace says of each call that was made and paid for."""
    tokens: Counter[tuple[str, str, str]] = Counter()
    dollars: dict[tuple[str, str], float] = {}
    for event in events:
        usage = event.get("usage")
        if event.get("event") != "call" or event.get("stored") or not isinstance(usage, Mapping):
            continue
        who, model = str(event.get("purpose", "")), str(event.get("model") or OWN_MODEL)
        read = sum(int(usage.get(name, 0)) for name in ("input_tokens", "cached_tokens", "cache_write_tokens"))
        tokens[who, model, "in"] += read
        tokens[who, model, "out"] += int(usage.get("output_tokens", 0))
        dollars[who, model] = dollars.get((who, model), 0.0) + float(usage.get("cost_usd", 0.0))
    counted = [Tally("tokens", {"worker": w, "model": m, "direction": d}, n) for (w, m, d), n in tokens.items() if n]
    return counted + [Tally("dollars", {"worker": w, "model": m}, n) for (w, m), n in dollars.items() if n]
