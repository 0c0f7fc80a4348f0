"""Account for a finding or a line from the trace of a run: why it was shown or withheld, without asking a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewbot.config.messages import quote
from reviewbot.delivery.deliver import recorded_delivery
from reviewbot.domain.errors import InputError
from reviewbot.replay.recorded_inputs import read_recorded_inputs
from reviewbot.replay.replay_review import recorded_results
from reviewbot.report.explain import ExplainedRun, Explanation, explain, place_named
from reviewbot.review.trace import Event

_FINGERPRINT = re.compile(r"[0-9a-f]{8,32}")
_PLACE = re.compile(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})", re.DOTALL)


def explained_run(events: Sequence[Event]) -> ExplainedRun:
    """The review of a trace as it was delivered, with how it came about. Raises InputError where it holds no review."""
    change, given = read_recorded_inputs(events)
    delivered = recorded_delivery(events)
    return ExplainedRun(
        review=delivered.review,
        names=delivered.fingerprints,
        change=change,
        thresholds=given.rules.thresholds,
        results=recorded_results(events),
        events=events,
    )


def account_of(events: Sequence[Event], place: str) -> list[Explanation]:
    """What a trace says of a place: PATH:LINE, or the first digits of a finding's fingerprint. Raises InputError."""
    run = explained_run(events)
    if _FINGERPRINT.fullmatch(place):
        return explain(run, *place_named(run, place))
    named = _PLACE.fullmatch(place)
    if named is None:
        raise InputError(f"{quote(place)} is no place; name one as PATH:LINE, or a finding by its fingerprint")
    return explain(run, named["path"], int(named["line"]))
