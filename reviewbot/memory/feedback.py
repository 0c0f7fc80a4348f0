"""What became known of a finding, as a label, and what a label says: one table, `reviewbot/data/feedback.toml`. Pure.

The first event of the table that holds for a label decides whether the finding is right, and with which weight;
likewise whether it was acted on before the merge. What a person decided stands before what a program concludes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, get_args

from reviewbot.domain.contracts.base import Cause
from reviewbot.domain.contracts.feedback import DismissedAs, Label
from reviewbot.domain.contracts.ledger import Record
from reviewbot.tables import packaged_table

_RIGHT: Mapping[str, bool | None] = {"yes": True, "no": False, "": None}
_ACTED: Mapping[str, bool | None] = {"yes": True, "no": False, "uncounted": None}
_PERSONS = frozenset({"comment", "decisions"})
"""Origins of dismissals by a person."""


def _dismissed(label: Label) -> bool:
    return label.state == "dismissed" and label.origin in _PERSONS


HOLDS: Mapping[str, Callable[[Label], bool]] = {
    "confirmed": lambda label: label.queue == "confirmed",
    "dismissed_in_queue": lambda label: label.queue == "dismissed",
    "dismissed_wrong": lambda label: _dismissed(label) and label.dismissed_as == "wrong",
    "dismissed_unwanted": lambda label: _dismissed(label) and label.dismissed_as == "unwanted",
    "dismissed": _dismissed,
    "thumbs_down": lambda label: label.down > label.up,
    "thumbs_up": lambda label: label.up > label.down,
    "silenced": lambda label: label.state == "dismissed",
    "refuted": lambda label: label.state == "refuted",
    "fixed": lambda label: label.state == "fixed",
    "outdated": lambda label: label.state == "outdated",
    "resolved_unchanged": lambda label: label.resolved,
    "ignored": lambda label: label.outcome == "merged",
}
"""When an event of the table holds."""


class Event(NamedTuple):
    """A row of the table."""

    name: str
    right: bool | None
    """Whether the finding is true; None: the event does not say."""
    weight: float
    """Of that, between 0 and 1."""
    acted: str
    """Whether it counts as resolved at the merge: "yes", "no", "uncounted"; empty: the event does not say."""
    why: str


class Verdict(NamedTuple):
    """What a label says."""

    right: bool | None
    """Whether the finding is true; None: nothing is known."""
    weight: float
    acted: bool | None
    """Whether it was resolved when its pull request was merged; None: it was not merged, or this one does not count."""
    events: tuple[str, ...]
    """The events that decided: of `right`, and of `acted`."""


@cache
def events() -> tuple[Event, ...]:
    """The table, in order of what counts first."""
    rows = packaged_table("feedback")["event"]
    return tuple(
        Event(row["name"], _RIGHT[row["right"]], float(row["weight"]), row["acted"], row["why"]) for row in rows
    )


def verdict_of(label: Label) -> Verdict:
    """What a label says of its finding."""
    held = [event for event in events() if HOLDS[event.name](label)]
    right = next((event for event in held if event.right is not None), None)
    acted = next((event for event in held if event.acted), None)
    return Verdict(
        None if right is None else right.right,
        0.0 if right is None else right.weight,
        None if acted is None or label.outcome != "merged" else _ACTED[acted.acted],
        tuple(event.name for event in (right, acted) if event is not None),
    )


def dismissed_as(reason: str) -> DismissedAs:
    """What the reason of a dismissal says. The reason itself is not kept."""
    for meaning, pattern in _reasons():
        if pattern.search(reason.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")):
            return meaning
    return "unclear"


def label_of(record: Record, repository: int = 0, pull: str = "") -> Label:
    """The label of a record of the ledger, as far as the ledger knows it."""
    return Label(
        repository=repository,
        pull=pull,
        finding=record.name,
        worker=record.type,
        rule=record.rule,
        kind=record.kind if record.by_model and record.kind in get_args(Cause) else "",
        source=record.source,
        by_model=record.by_model,
        severity=record.severity,
        stated=record.stated,
        state=record.state,
        origin=record.origin,
        dismissed_as=dismissed_as(record.reason) if record.state == "dismissed" else "",
    )


def labels_of(records: Iterable[Record], repository: int = 0, pull: str = "") -> tuple[Label, ...]:
    """The labels of a ledger's records."""
    return tuple(label_of(record, repository, pull) for record in records)


@cache
def _reasons() -> tuple[tuple[DismissedAs, re.Pattern[str]], ...]:
    table = packaged_table("feedback")["reasons"]
    return tuple(
        (meaning, re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, table[meaning]))})(?!\w)"))
        for meaning in ("wrong", "unwanted")
    )
