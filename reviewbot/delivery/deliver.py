"""Complete and mask a review for output, and make the same review again from a trace.

Secrets are masked in everything that leaves the process: reviews, plans and traces. What a replay cannot find without
the files around the change is written into the trace when the review is delivered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from reviewbot import __version__
from reviewbot.config import Settings
from reviewbot.delivery.places import add_symbols, places, set_symbols
from reviewbot.domain.contracts import SEVERITY_ORDER, Finding, Plan, Review, Withheld
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.errors import ExitCode, InputError, ReviewbotError
from reviewbot.domain.ports import RepositorySnapshot, Snapshot
from reviewbot.journal.sqlite import SteadyJournal
from reviewbot.memory.carried_findings import Carried, with_carried
from reviewbot.memory.confirmations import confirmed_findings, with_confirmed
from reviewbot.memory.fingerprints import all_of, identities, of_review
from reviewbot.memory.grave_notes import grave_notes
from reviewbot.memory.incremental import convergence_note
from reviewbot.memory.recall import Recall, recall, withhold
from reviewbot.memory.standing_code import Listing
from reviewbot.redact.mask import Mask, mask_json, redact
from reviewbot.replay.replay_review import recorded_review
from reviewbot.report.costs import anomalies
from reviewbot.report.json_report import render_json
from reviewbot.review.combine.synthesizer import recount
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.trace import Event, Trace, write_trace
from reviewbot.review.verify.verifier import by_a_model_alone


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
    return write_trace(mask_json(event, mask) for event in trace)


class DeliveredReview(NamedTuple):
    """A review that may be shown, and what each of its findings is called from one run to the next."""

    review: Review
    fingerprints: Mapping[Finding, str]
    ledger: Ledger | None = None
    """The ledger after the review; None where the review was compared with none."""


def deliver(
    answer: Review,
    snapshot: Snapshot,
    trace: Trace,
    journal: SteadyJournal | None = None,
    notes: Sequence[str] = (),
    memory: Recall | None = None,
) -> DeliveredReview:
    """Complete and mask a review, with a note for each worker that cost unusually much.

    `notes` is what the entry point adds. With a `memory`, what earlier heads and decisions are against is withheld.
    """
    whole = add_symbols(answer, snapshot)
    whole = whole.model_copy(update={"notes": (*whole.notes, *notes, *anomalies(whole.workers))})
    review = mask_review(whole, journal, trace.mask)
    names = identities(all_of(review), place_of=places(review, snapshot))
    held: list[dict[str, object]] = []
    carried: tuple[Carried, ...] = ()
    confirmed: dict[Finding, Finding] = {}
    ledger = None
    fingerprints = {finding: each.name for finding, each in names.items()}
    if memory is not None:
        found = recall(review, names, memory, snapshot.head, _listing(snapshot))
        ledger, carried = found.ledger, found.carried
        held = [{"finding": n, "reason": found.held[each].reason, "message": found.held[each].message}
                for n, each in enumerate(dict.fromkeys(all_of(review))) if each in found.held]  # fmt: skip
        fingerprints = {each.finding: each.name for each in carried} | fingerprints
        shown = with_carried(withhold(review, found.held), (each.finding for each in carried))
        confirmed = dict(confirmed_findings(shown, memory.confirmed, _all_names(fingerprints, ledger)))
        if found.held or carried or confirmed:
            review = recount(with_confirmed(shown, confirmed), memory.change)
        said = (f"{each.path}:{each.line}: {each.judgement}" for each in confirmed.values())
        review = review.model_copy(
            update={"notes": (*review.notes, *grave_notes(found, names), *said, *_converged(found.ledger))}
        )
    fingerprints |= {after: fingerprints[before] for before, after in confirmed.items()}
    trace.record(
        "delivered",
        symbols=[
            {"path": path, "line": line, "end_line": end_line, "symbol": symbol}
            for (path, line, end_line), symbol in _symbols(whole).items()
        ],
        notes=list(review.notes[len(answer.notes) :]),
        fingerprints=[fingerprints[finding] for finding in dict.fromkeys(all_of(review))],
        digest=_digest(review),
        **({"carried": [each.finding.model_dump(mode="json") for each in carried]} if carried else {}),
        **(
            {"confirmed": [[each.model_dump(mode="json") for each in pair] for pair in confirmed.items()]}
            if confirmed
            else {}
        ),
        **(
            {"held": held, "counted": {key: getattr(review, key) for key in _COUNTED}}
            if held or carried or confirmed
            else {}
        ),
    )
    return DeliveredReview(review, fingerprints, ledger)


def _all_names(fingerprints: Mapping[Finding, str], ledger: Ledger) -> dict[Finding, tuple[str, ...]]:
    """The fingerprints that each finding has, and had at earlier heads."""
    known = {name: record.names for record in ledger.records for name in record.names}
    return {finding: known.get(name, (name,)) for finding, name in fingerprints.items()}


def _converged(ledger: Ledger) -> tuple[str, ...]:
    return (note,) if (note := convergence_note(ledger)) else ()


def _listing(snapshot: Snapshot) -> Listing:
    """What lists the files of the head, once, where that is asked."""
    return cache(snapshot.files) if isinstance(snapshot, RepositorySnapshot) else lambda: None


_COUNTED = ("verdict", "headline", "summary")
"""What is counted again where findings are withheld for the sake of earlier heads."""


def _withhold_again(review: Review, event: Event) -> Review:
    """The review of a trace with what was withheld when it was delivered. Raises KeyError, TypeError, ValueError."""
    if "held" not in event:
        return review
    findings = list(dict.fromkeys(all_of(review)))
    held = {findings[each["finding"]]: Withheld(finding=findings[each["finding"]], reason=each["reason"],
            message=each["message"]) for each in event["held"]}  # fmt: skip
    carried = [Finding.model_validate_json(json.dumps(each)) for each in event.get("carried", ())]
    read = Finding.model_validate_json
    pairs = {read(json.dumps(before)): read(json.dumps(after)) for before, after in event.get("confirmed", ())}
    again = with_confirmed(with_carried(withhold(review, held), carried), pairs)
    return again.model_copy(update={key: event["counted"][key] for key in _COUNTED})


def replay_delivery(events: Sequence[Event], again: Review) -> DeliveredReview:
    """Make the review of a trace again, as it was delivered then.

    Raises ReviewbotError where it is not, to the byte, what the trace says that it was; and InputError.
    """
    review = mask_review(again)
    if review != mask_review(recorded_review(events)):
        raise _other_version(events)
    delivered = _as_delivered(events, review)
    event = _delivery_event(events)
    if event is not None and _digest(delivered.review) != event.get("digest"):
        raise _other_version(events)
    return delivered


def recorded_delivery(events: Sequence[Event]) -> DeliveredReview:
    """The review that a trace holds, as it was delivered; nothing is decided again. Raises ReviewbotError."""
    return _as_delivered(events, mask_review(recorded_review(events)))


def _delivery_event(events: Sequence[Event]) -> Event | None:
    return next((event for event in reversed(events) if event["event"] == "delivered"), None)


def _as_delivered(events: Sequence[Event], review: Review) -> DeliveredReview:
    """A masked review with what its delivery added: symbols, notes, fingerprints, and what was withheld by then."""
    event = _delivery_event(events)
    if event is None:
        # It was stopped between the review and its delivery: there is nothing else to compare with.
        return DeliveredReview(review, of_review(review))
    try:
        symbols = {(one["path"], one["line"], one["end_line"]): str(one["symbol"]) for one in event["symbols"]}
        notes = tuple(str(note) for note in event["notes"])
        fingerprints = [str(name) for name in event["fingerprints"]]
    except (KeyError, TypeError):
        raise InputError("what this trace says of the delivery is not what this version writes") from None
    review = set_symbols(review, lambda finding: symbols.get((finding.path, finding.line, finding.end_line)))
    review = mask_review(review.model_copy(update={"notes": (*review.notes, *notes)}))
    try:
        review = _withhold_again(review, event)
        return DeliveredReview(review, dict(zip(dict.fromkeys(all_of(review)), fingerprints, strict=True)))
    except (KeyError, IndexError, TypeError, ValueError):
        raise _other_version(events) from None


def _symbols(review: Review) -> dict[tuple[str, int, int], str]:
    """By place. All findings of one place stand in one definition."""
    return {(each.path, each.line, each.end_line): each.symbol for each in all_of(review) if each.symbol}


def _digest(review: Review) -> str:
    return hashlib.sha256(render_json(review).encode()).hexdigest()


def _other_version(events: Sequence[Event]) -> ReviewbotError:
    made_by = next((str(event.get("version")) for event in events if event["event"] == "rules"), "unknown")
    return ReviewbotError(
        f"this trace gives another review than the one recorded in it: version {made_by[:40]} wrote it, "
        f"and this is {__version__}"
    )


def exit_code(answer: Review, settings: Settings, rules: Rules) -> ExitCode:
    """The exit code of a review. A closed gate takes precedence over incompleteness: its finding is certain."""
    found = [*answer.findings, *(entry.finding for entry in answer.withheld if entry.reason in ("over_cap", "minor"))]
    found += [finding for conflict in answer.conflicts for finding in conflict.findings]
    # A program's certain finding goes to a person where a model disputes it. No words of a model open the gate.
    people = [item.finding for item in answer.human if item.finding is not None]
    found += [finding for finding in people if not by_a_model_alone(finding)]
    if settings.fail_on is not None:
        worst_allowed = SEVERITY_ORDER[settings.fail_on]
        # A conflict is shown for the sake of one side; the other side may be a guess, and no guess closes the gate.
        if any(SEVERITY_ORDER[f.severity] <= worst_allowed for f in found if rules.reaches_threshold(f)):
            return ExitCode.GATE
    if not answer.incomplete or settings.allow_partial:
        return ExitCode.REVIEWED
    return ExitCode.PROVIDER if answer.provider_failure else ExitCode.INCOMPLETE
