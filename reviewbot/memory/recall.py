"""Hold a review against what is remembered of earlier heads: one pure function from both to what is said, and kept.

    sightings -> matched with records -> dismissed, refuted and late ones withheld -> records advanced -> verdict again

Nothing that is true is dropped: what is not said again stands in the review's withheld findings, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from reviewbot.coverage.verdict import is_sufficient
from reviewbot.domain.contracts import DESCRIPTION, SURE, TITLE, ChangeSet, Finding, Review, Suppression, Withheld
from reviewbot.domain.contracts.ledger import MAX_NAMES, HeadEntry, HeadOutcome, Ledger, Record
from reviewbot.memory.carried_findings import Carried, carried_findings
from reviewbot.memory.decisions import Decision, covering, dismissal, event_of_unseen, reinstated
from reviewbot.memory.fingerprints import Identity, all_of
from reviewbot.memory.incremental import entry_of
from reviewbot.memory.matching import Sighting, Surroundings, match_names, match_others
from reviewbot.memory.packing import NAME_DIGITS, decode_names, encode_names, keep_within
from reviewbot.memory.relocation import relocate
from reviewbot.memory.seen_rows import MAX_MARKS, Marks, decode, encode, in_files, marks_of, shows, stands_on_seen_rows
from reviewbot.memory.standing_code import CurrentLine, Listing, Text, gone_check, standing_codes
from reviewbot.memory.states import US, Event, advance
from reviewbot.review.combine.visibility import PERSON_FROM
from reviewbot.review.feedback import source_of
from reviewbot.review.verify.verifier import by_a_model_alone

CODE_GONE = "its code was changed or removed"
"""Why a finding is fixed whose code the head does not have any more."""

RETURNED = "found again after it was closed"
"""Why a finding is open that was fixed, or no longer a part of the change."""

MAX_RECORDS = 400
"""Of one change; beyond them closed records are forgotten, the oldest first, and counted."""

MAX_HEADS, MAX_UNPOSTED = 100, 10
"""Of a ledger, and of one entry of it."""

_SAID_CHARS = 300
_MESSAGE_CHARS = 600

_KEPT = frozenset({"review", "comment"})
"""Origins of dismissals that hold by themselves; others only as long as the base branch has what led to them."""


@dataclass(frozen=True)
class Recall:
    """The memory of earlier heads that a review is compared with."""

    change: ChangeSet
    head: str
    at: str
    """Now, in UTC."""
    ledger: Ledger = field(default_factory=Ledger)
    decisions: tuple[Decision, ...] = ()
    policy: str = ""
    """What decided the review but for where the change starts: under another one, new findings may be late."""
    withholds_late: bool = True
    """Whether new findings on code that was reviewed before are withheld, unless they are critical."""
    base: str = ""
    """The commit from which the change starts; empty where later heads' reviews are not to rest on this one."""
    confirmed: tuple[Decision, ...] = ()
    """Findings that a person holds to be true, see `reviewbot.memory.confirmations`."""
    unposted: tuple[str, ...] = ()
    """Heads whose reviews were begun and are known not to have been posted, oldest first."""


class Recalled(NamedTuple):
    """What a ledger makes of a review, and the ledger after it."""

    held: Mapping[Finding, Withheld]
    """What is withheld for the sake of earlier heads and decisions, and would have been shown otherwise."""
    ledger: Ledger
    carried: tuple[Carried, ...] = ()
    """Findings of earlier heads that stand, and that this review had no reason to read again."""


class _Head(NamedTuple):
    """What is known of the head: its review, its changed rows, the files that were read in full, and names."""

    review: Review
    marks: Marks
    read: Collection[str]
    around: Surroundings
    left_out: Collection[str]
    """Starts of the fingerprints of open findings for whose records the ledger had no room."""


def recall(
    review: Review,
    names: Mapping[Finding, Identity],
    memory: Recall,
    text: Text,
    listing: Listing = lambda: None,
) -> Recalled:
    """Hold a review against a ledger. Pure but for `text` and `listing`, which read the head.

    The same review a second time at the same head, with the ledger that this has given, gives the same ledger.
    """
    records = relocate(memory.ledger.records, memory.change, text)
    memory = replace(memory, ledger=memory.ledger.model_copy(update={"records": records}))
    sightings = [Sighting(finding, names[finding]) for finding in dict.fromkeys(all_of(review)) if finding in names]
    matched = match_names(sightings, memory.ledger.records)
    known = {record.name for record in matched.values()}
    others = [record for record in memory.ledger.records if record.name not in known]
    around = _surroundings(memory, others, text, listing)
    matched |= match_others([each for each in sightings if each.finding not in matched], others, around)
    marks = marks_of(memory.change)
    left_out = decode_names(memory.ledger.left_out)
    held = _held(review, sightings, matched, memory, marks)
    head = _Head(withhold(review, held), marks, _read_paths(review), around, left_out)
    advanced = _advanced(head, sightings, matched, held, memory)
    before, rows = seen_before(memory), in_files(marks, head.read)
    fits = len(before | rows) <= MAX_MARKS
    entry = _entry(head.review, advanced, memory)
    if memory.base:
        entry = entry_of(entry, review, memory.change, memory.base)
    seen_names = {record.name for record in matched.values()} | {each.identity.name for each in sightings}
    carried = tuple(carried_findings(advanced, seen_names, around.standing, memory.change, text))
    standing = {each.name for each in carried}
    event = Event("found", "its code stands as it was read", US, memory.head, memory.at)
    again = left_out & {each.identity.name[:NAME_DIGITS] for each in sightings}
    ledger = Ledger(
        records=tuple(advance(each, event) if each.name in standing else each for each in advanced),
        heads=(*(each for each in memory.ledger.heads if each.head != memory.head), entry)[-MAX_HEADS:],
        seen=encode(before) if fits else "",
        seen_last=encode(rows - before) if fits else "",
        forgotten=max(0, memory.ledger.forgotten - len(again)),
        left_out=encode_names(left_out - again),
    )
    ledger = keep_within(ledger, MAX_RECORDS)
    return Recalled(held, ledger, carried)


def _surroundings(memory: Recall, records: Collection[Record], text: Text, listing: Listing) -> Surroundings:
    files = memory.change.files
    old_paths = {file.path: file.old_path for file in files if file.old_path and file.status == "renamed"}
    path_now = {old: new for new, old in old_paths.items()}
    against = {decision.finding for decision in memory.decisions}
    closed = (each for each in records if each.state in ("dismissed", "refuted") or not against.isdisjoint(each.names))
    standing = standing_codes(records, path_now, text, gone_check(files, listing))
    return Surroundings(old_paths, standing, frozenset(each.name for each in closed))


def _held(
    review: Review,
    sightings: Sequence[Sighting],
    matched: Mapping[Finding, Record],
    memory: Recall,
    marks: Marks,
) -> dict[Finding, Withheld]:
    """What is not said again: dismissed and refuted findings, and late ones on code that was read before."""
    decided = covering(memory.decisions)
    seen, left_out = seen_before(memory), decode_names(memory.ledger.left_out)
    shown = set(reported_findings(review))
    held: dict[Finding, Withheld] = {}
    for finding, identity in sightings:
        if finding not in shown:
            continue
        record = matched.get(finding)
        names = {identity.name, *(record.names if record else ())}
        if decision := decided(finding, names):
            why = f"dismissed by {decision.author} in {decision.source}: {decision.reason}"
            held[finding] = Withheld(finding=finding, reason="dismissed", message=why)
        elif record is not None and _stays_closed(record, finding):
            why = f"{record.reason} ({record.who})"
            held[finding] = Withheld(
                finding=finding, reason="dismissed" if record.state == "dismissed" else "refuted", message=why
            )
        elif record is not None or identity.name[:NAME_DIGITS] in left_out:
            continue
        elif not _may_be_late(finding) and stands_on_seen_rows(finding, marks, seen):
            message = "first found in a later round, on code that did not change since it was reviewed"
            held[finding] = Withheld(finding=finding, reason="late", message=message)
    return held


def _may_be_late(finding: Finding) -> bool:
    """Whether it is said although its code was reviewed before: it is critical, and of a model the judge is sure of it.

    The judge rules twice on such a claim, and its lower confidence counts.
    """
    ruled = bool(finding.judgement) and finding.confidence >= SURE
    return finding.severity == "critical" and (ruled or not by_a_model_alone(finding))


def _stays_closed(record: Record, finding: Finding) -> bool:
    """Whether a decision of an earlier head still holds: one of the file counts only as long as the file has it.

    What our own judge refuted, and now holds to be critical, is reported: a wrong ruling must not hide it.
    """
    if record.state == "dismissed":
        return record.origin in _KEPT
    return record.state == "refuted" and finding.severity != "critical"


def seen_before(memory: Recall) -> frozenset[bytes]:
    """The rows that reviews of earlier heads have read, where the same settings and program decided the last one."""
    if not (memory.withholds_late and _is_same_policy(memory)):
        return frozenset()
    seen = decode(memory.ledger.seen)
    return seen if memory.ledger.heads[-1].head == memory.head else seen | decode(memory.ledger.seen_last)


def _is_same_policy(memory: Recall) -> bool:
    return bool(memory.ledger.heads) and memory.ledger.heads[-1].policy == memory.policy


def reported_findings(review: Review) -> Iterable[Finding]:
    """What a review reports: the certain findings, contradictions, and what is for a person."""
    yield from review.findings
    for conflict in review.conflicts:
        yield from conflict.findings
    yield from (item.finding for item in review.human if item.finding is not None)


def withhold(review: Review, held: Mapping[Finding, Withheld]) -> Review:
    """The review with these findings among its withheld ones. Its verdict is not counted again."""
    if not held:
        return review
    left = [[each for each in conflict.findings if each not in held] for conflict in review.conflicts]
    kept = zip(review.conflicts, left, strict=True)
    conflicts = [each.model_copy(update={"findings": tuple(rest)}) for each, rest in kept if len(rest) > 1]
    single = [rest[0] for rest in left if len(rest) == 1]
    return review.model_copy(
        update={
            "findings": (*(each for each in review.findings if each not in held), *single),
            "conflicts": tuple(conflicts),
            "human": tuple(item for item in review.human if item.finding is None or item.finding not in held),
            "withheld": (*held.values(), *review.withheld),
        }
    )


def _advanced(
    head: _Head,
    sightings: Sequence[Sighting],
    matched: Mapping[Finding, Record],
    held: Mapping[Finding, Withheld],
    memory: Recall,
) -> list[Record]:
    """All records after this head: those that were seen, those that were not, and new ones."""
    by_record = {record.name: finding for finding, record in matched.items()}
    identities = dict(sightings)
    withheld = {entry.finding: entry for entry in head.review.withheld}
    decided = covering(memory.decisions)
    records: list[Record] = []
    for record in memory.ledger.records:
        finding = by_record.get(record.name)
        if finding is None:
            event = _of_unseen(record, head, memory)
            event = event or event_of_unseen(record, memory.decisions, memory.head, memory.at)
            records.append(record if event is None else advance(record, event))
            continue
        followed = _followed(record, finding, identities[finding])
        event = _of_seen(followed, withheld.get(finding), decided(finding, followed.names), memory)
        records.append(followed if event is None else advance(followed, event))
    for finding, identity in sightings:
        if finding in matched or (finding in held and held[finding].reason == "late"):
            continue
        entry = withheld.get(finding)
        if entry is None or entry.reason in ("over_cap", "dismissed"):
            record = _new_record(finding, identity, memory)
            if identity.name[:NAME_DIGITS] in head.left_out:
                record = record.model_copy(update={"state": "open", "reason": "reported at an earlier head"})
            event = _of_seen(record, entry, decided(finding, record.names), memory)
            records.append(record if event is None else advance(record, event))
    return records


def _new_record(finding: Finding, identity: Identity, memory: Recall) -> Record:
    return Record(
        names=(identity.name,),
        path=identity.path,
        symbol=identity.symbol,
        kind=identity.kind,
        code=_code_of(finding, identity),
        line=identity.line,
        rows=identity.rows,
        row_codes=identity.row_codes if identity.rows > 1 else (),
        title=(finding.title or finding.message)[:_SAID_CHARS],
        type=finding.type,
        rule=finding.rule,
        severity=finding.severity,
        confidence=finding.confidence,
        message=finding.message[:_MESSAGE_CHARS],
        by_model=by_a_model_alone(finding),
        source=source_of(finding),
        stated=finding.confidence if finding.uncounted is None else finding.uncounted,
        state="new",
        reason="first reported",
        who=US,
        at=memory.at,
        head=memory.head,
        since=memory.head,
    )


def _code_of(finding: Finding, identity: Identity) -> str:
    """The digest of the code that the head has; empty for code that the change removes: it is looked for in no file."""
    return identity.code if finding.side == "new" else ""


def _followed(record: Record, finding: Finding, identity: Identity) -> Record:
    """The record at the place where its finding is now, with its words as they were said first."""
    return record.model_copy(
        update={
            "names": tuple(dict.fromkeys((identity.name, *record.names)))[:MAX_NAMES],
            "path": identity.path,
            "symbol": identity.symbol,
            "kind": identity.kind,
            "code": _code_of(finding, identity),
            "line": identity.line,
            "rows": identity.rows,
            "row_codes": identity.row_codes if identity.rows > 1 else (),
            "title": record.title or (finding.title or finding.message)[:_SAID_CHARS],
            "type": finding.type,
            "rule": finding.rule,
            "severity": finding.severity,
            "by_model": by_a_model_alone(finding),
        }
    )


def _of_seen(record: Record, entry: Withheld | None, decision: Decision | None, memory: Recall) -> Event | None:
    """What happened to a record whose finding this review has, shown or withheld."""
    at = (memory.head, memory.at)
    again = RETURNED if record.state in ("fixed", "outdated") else "found again"
    if decision is not None:
        return dismissal(decision, *at)
    if record.state == "dismissed" and record.origin not in _KEPT:
        return reinstated(*at)
    if entry is None:
        if record.state == "refuted":
            return Event("reinstated", "the judge holds it to be true and critical now", US, *at)
        return Event("found", again, US, *at)
    if entry.reason == "below_threshold" and record.by_model and entry.finding.judgement:
        if not record.is_open:
            return None
        if entry.finding.confidence < PERSON_FROM:
            return Event("refuted", entry.finding.judgement[:_SAID_CHARS], f"{US}'s judge", *at)
    return None if entry.reason in ("dismissed", "refuted") else Event("found", again, US, *at)


def _of_unseen(record: Record, head: _Head, memory: Recall) -> Event | None:
    """What happened to a record that this review does not report; None: nothing that is known."""
    at = (memory.head, memory.at)
    around = head.around
    standing: CurrentLine = around.standing.get(record.name, "unknown")
    path = next((new for new, old in around.old_paths.items() if old == record.path), record.path)
    is_read = path in head.read or path in (TITLE, DESCRIPTION)
    unheard = not record.by_model and is_read and _is_same_policy(memory)
    if standing == "gone":
        return Event("fixed", CODE_GONE, US, *at)
    if isinstance(standing, int):
        if entry := _silencing(head.review.suppressed, path, standing, record):
            return Event("dismissed", entry.reason or f"{entry.action} by {entry.by}", entry.by, *at, "settings")
        if not shows(memory.change, head.marks, path, range(standing, standing + record.rows)):
            return Event("outdated", "its code is no longer a part of the change", US, *at)
    return Event("fixed", "what found it no longer does", US, *at) if unheard else None


def _silencing(entries: Iterable[Suppression], path: str, line: int, record: Record) -> Suppression | None:
    lines = range(line, line + record.rows)
    silenced = (each for each in entries if each.is_silenced and each.path == path and each.line in lines)
    return next((each for each in silenced if each.rule == record.rule), None)


def _read_paths(review: Review) -> Collection[str]:
    """The files that got all that they need, and of which no tool or worker is missing."""
    missing = {gap.path for gap in review.gaps}
    return {entry.path for entry in review.coverage if is_sufficient(entry) and entry.path not in missing}


def _entry(review: Review, records: Sequence[Record], memory: Recall) -> HeadEntry:
    outcome: HeadOutcome = "partial" if review.incomplete else "reviewed"
    if review.verdict == "not_reviewed":
        outcome = "not_reviewed"
    here = [each for each in records if each.head == memory.head]
    others = [each for each in memory.ledger.heads if each.head != memory.head]
    named = {memory.head, *(each.head for each in others), *(head for each in others for head in each.unposted)}
    return HeadEntry(
        head=memory.head,
        outcome=outcome,
        at=memory.at,
        policy=memory.policy,
        new=sum(each.state == "new" for each in here),
        open=sum(each.is_open for each in records) - sum(each.state == "new" for each in here),
        closed=sum(not each.is_open for each in here),
        unposted=tuple(head for head in dict.fromkeys(memory.unposted) if head not in named)[-MAX_UNPOSTED:],
    )
