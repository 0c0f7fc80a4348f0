"""The states of a remembered finding: one table, and one pure function that takes a record from one to the next."""

from __future__ import annotations

from typing import Literal, NamedTuple

from reviewbot.domain.contracts.ledger import FindingState, Origin, Record

Happening = Literal["found", "fixed", "outdated", "dismissed", "refuted", "reinstated"]
"""What a head, or a person, says of a finding. "reinstated": a decision against it was withdrawn."""

NEXT: dict[tuple[FindingState, Happening], FindingState] = {
    ("new", "found"): "open",
    ("new", "fixed"): "fixed",
    ("new", "outdated"): "outdated",
    ("new", "dismissed"): "dismissed",
    ("new", "refuted"): "refuted",
    ("open", "fixed"): "fixed",
    ("open", "outdated"): "outdated",
    ("open", "dismissed"): "dismissed",
    ("open", "refuted"): "refuted",
    ("fixed", "found"): "open",
    ("fixed", "dismissed"): "dismissed",
    ("outdated", "found"): "open",
    ("outdated", "dismissed"): "dismissed",
    ("refuted", "dismissed"): "dismissed",
    # A decision is about the code that it was made for.
    ("dismissed", "fixed"): "outdated",
    ("dismissed", "outdated"): "outdated",
    ("refuted", "fixed"): "outdated",
    ("refuted", "outdated"): "outdated",
    ("dismissed", "reinstated"): "open",
    ("refuted", "reinstated"): "open",
}
"""What is not listed leaves the state as it is: a dismissed finding that is found again stays dismissed."""


US = "reviewbot"
"""Who decides where a review does."""


class Event(NamedTuple):
    """Something that happened to a finding. `why` and `who` are never empty."""

    what: Happening
    why: str
    who: str
    head: str
    at: str
    origin: Origin = "review"


def advance(record: Record, event: Event) -> Record:
    """The record after an event. The same event a second time at the same head changes nothing.

    Raises ValueError for an event without a reason or an author.
    """
    if not (event.why and event.who):
        raise ValueError("a finding changes its state for a reason that is said, and by an author who is named")
    if event.what == "found" and record.state == "new" and record.head == event.head:
        return record
    state = NEXT.get((record.state, event.what))
    if state is None:
        return record
    return record.model_copy(
        update={
            "state": state,
            "reason": event.why,
            "who": event.who,
            "head": event.head,
            "at": event.at,
            "origin": event.origin,
            "settled": record.settled and state not in ("new", "open"),
            "commit": "",
        }
    )
