"""Look up what the traces of a pull request's runs say of a finding; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewbot.app.store.durable.runs import Runs
from reviewbot.delivery.deliver import recorded_delivery
from reviewbot.delivery.explain_place import account_of
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.ledger import Record
from reviewbot.domain.errors import ReviewbotError
from reviewbot.hosts.base import PullRequest
from reviewbot.report.text import md, short_line
from reviewbot.review.trace import Event, read_trace

_ROWS, _ROW_CHARS, _RUNS = 12, 500, 20


def evidence_of(runs: Runs, pull: PullRequest, record: Record) -> Sequence[str]:
    """Rows of escaped Markdown: what the trace of the newest run that knows a finding says of it."""
    for events in _traces(runs, pull):
        try:
            accounts = account_of(events, record.name)
        except ReviewbotError:
            continue  # of another version, or of a head that did not have it
        if accounts:
            rows = [row for account in accounts for row in (account.heading, *account.rows)]
            return [md(short_line(row, _ROW_CHARS)) for row in rows[:_ROWS]]
    return ["The trace of its run is not kept any more."]


def finding_of(runs: Runs, pull: PullRequest, record: Record) -> Finding | None:
    """The finding with its proof, as the newest run that knows it has reported it; None where none is kept."""
    for events in _traces(runs, pull):
        try:
            names = recorded_delivery(events).fingerprints
        except ReviewbotError:
            continue
        if found := next((finding for finding, name in names.items() if name in record.names), None):
            return found
    return None


def _traces(runs: Runs, pull: PullRequest) -> Iterator[Sequence[Event]]:
    """The traces of the last runs on a pull request, the newest first."""
    for run in runs.of_pull(pull.number, pull.repository, _RUNS):
        trace = runs.trace(run.run) if run.repository == pull.repository_id else None
        if trace:
            try:
                yield read_trace(trace)
            except ReviewbotError:
                continue
