"""What is remembered of the findings of one change from one push to the next."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import SURE, Confidence, Contract, Count, LineNumber, Severity

LEDGER_VERSION = 1
"""Of the stored form. What another version has written is not read, and the ledger begins anew."""

FindingState = Literal["new", "open", "fixed", "dismissed", "refuted", "outdated"]
"""new: first reported at the newest head. open: reported at an earlier one. fixed: its code is gone, or the program
that found it no longer does. dismissed: a person, or a setting of the base side, decided against it. refuted: the judge
of a later head holds it to be wrong. outdated: its code is no longer a part of the change, or a decision about it
expired."""

Origin = Literal["review", "comment", "decisions", "settings"]
"""What led to a state: a review, a person's command in a comment, the file of decisions on the base branch, or another
setting or comment there."""

HeadOutcome = Literal["reviewed", "partial", "not_reviewed"]

MAX_NAMES = 8
"""Fingerprints of one record: one more for each rename and each edit that it was followed through."""

Fingerprint = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Record(Contract):
    """One finding of a change, in the state that it is in now, and how it came there."""

    names: Annotated[tuple[Fingerprint, ...], Field(min_length=1, max_length=MAX_NAMES)]
    """Its fingerprint now, then those that it had before."""
    path: str
    symbol: str = ""
    kind: str = ""
    code: str = ""
    """Digest of the normal form of its code; empty where it is only known from a comment."""
    line: LineNumber = 1
    """On the new side of the head at which it was seen last."""
    rows: LineNumber = 1
    row_codes: tuple[str, ...] = ()
    """Digests of its rows, where it has several: an edit of one of them need not be its fix."""
    title: str = ""
    type: str = ""
    rule: str = ""
    severity: Severity = "warning"
    confidence: Confidence = SURE
    message: str = ""
    """What the report said of it; left out first where the ledger needs room."""
    by_model: bool = True
    """Whether no program stands behind it: what a model leaves out once is not gone."""
    source: str = ""
    """The model that claimed it, or the programs that found it, joined by "+"; empty where that is not known."""
    stated: Confidence | None = None
    """Its confidence when it was first reported, before feedback was counted."""
    state: FindingState
    reason: Annotated[str, Field(min_length=1)]
    who: Annotated[str, Field(min_length=1)]
    at: str
    """When it came into this state, in UTC; empty where that is not known."""
    head: str
    """The commit at which it came into this state."""
    since: str
    """The commit at which it was first reported."""
    commit: str = ""
    """Of a fixed one: the commit of the push that removed its code; empty where only the head is known."""
    origin: Origin = "review"
    disputed: str = ""
    """Who disputes it in its thread, where that was not decided by a judge."""
    settled: bool = False
    """Whether its thread was seen resolved since it came into this state: one that is open later was opened again."""

    @property
    def name(self) -> str:
        """Its fingerprint now."""
        return self.names[0]

    @property
    def is_open(self) -> bool:
        """Whether it still waits to be dealt with."""
        return self.state in ("new", "open")


class HeadEntry(Contract):
    """The outcome for one head."""

    head: str
    outcome: HeadOutcome
    at: str
    policy: str = ""
    """What decided its review but for where the change starts, see `reviewbot.publish.options.policy_of`."""
    base: str = ""
    """The commit from which its change starts; empty where it is not known what its review has read."""
    since: str = ""
    """The earlier head on whose review this one rests; empty where the whole change was read."""
    files: tuple[str, ...] = ()
    """Of a review that rests on an earlier one: the files of which models read something at this head."""
    lacking: tuple[str, ...] = ()
    """Files that no model has read to the end, at this head or before; in the marker of a short comment `seen_last`
    names them."""
    new: Count = 0
    open: Count = 0
    """Those of earlier heads."""
    closed: Count = 0
    """How many this head fixed, refuted or left behind."""
    unposted: tuple[str, ...] = ()
    """Heads between the one before and this one whose reviews were not posted, as far as that is known."""


class Ledger(Contract):
    """All records of a change, oldest first, and its heads in the order of their reviews."""

    version: Annotated[int, Field(ge=LEDGER_VERSION, le=LEDGER_VERSION)] = LEDGER_VERSION
    records: tuple[Record, ...] = ()
    heads: tuple[HeadEntry, ...] = ()
    seen: str = ""
    """Rows of the change that reviews before that of the last head have read, see `reviewbot.memory.seen_rows`."""
    seen_last: str = ""
    """Further ones that the last head's review has read."""
    forgotten: Count = 0
    """Records that were left out for want of room."""
    left_out: str = ""
    """The open ones of them, as `reviewbot.memory.packing.encode_names` writes their fingerprints."""

    def last_before(self, head: str) -> HeadEntry | None:
        """The newest entry of another head than this one."""
        return next((each for each in reversed(self.heads) if each.head != head), None)

    def find(self, name: str) -> Record | None:
        """The record that has, or had, this fingerprint."""
        return next((each for each in self.records if name in each.names), None)
