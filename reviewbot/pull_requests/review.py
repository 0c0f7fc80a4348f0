"""The second step: review one head, from the host's data alone."""

from __future__ import annotations

import asyncio
import datetime as dt
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.delivery import DeliveredReview, deliver, exit_code
from reviewbot.domain.contracts import ChangeSet, ReadBefore
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.contracts.pulls import PullRef, PullReview
from reviewbot.domain.errors import ExitCode, HostError, ReviewbotError
from reviewbot.hosts.base import HostedChange, PullRequest, Workspace
from reviewbot.journal.sqlite import SteadyJournal
from reviewbot.memory.decisions import Decision, decisions_of
from reviewbot.memory.incremental import Scope, scope_of, standing_findings, unchanged_lines
from reviewbot.memory.recall import Recall, seen_before
from reviewbot.memory.seen_rows import WHOLE, marks_of, with_rows
from reviewbot.publish.options import policy_of
from reviewbot.publish.rebuild_ledger import remember
from reviewbot.publish.suggestions.prover import Prover
from reviewbot.pull_requests.check_run import Check, abandon_check, start_check
from reviewbot.pull_requests.fetch import fetch_again
from reviewbot.pull_requests.fixing_commits import fixed_at, name_fixing_commits
from reviewbot.pull_requests.host_session import READING_S, HostSession, RunOptions
from reviewbot.pull_requests.review_scope import MODELS, Known, read_before
from reviewbot.pull_requests.values import names_of, part_with_findings
from reviewbot.review.trace import Trace
from reviewbot.wiring.analyzers_check import analyzers_check

_STOPPED = "the review was stopped before its end"
_FAULT = "the review broke off; the log of its run says why"


@dataclass(frozen=True)
class Prepared:
    """A pull request, read, with everything that its review takes."""

    ref: PullRef
    pull: PullRequest
    hosted: HostedChange
    subject: wiring.Subject
    settings: Settings
    run: wiring.PreparedRun
    options: RunOptions
    policy: str
    """What decides the review, see `reviewbot.publish.options.policy_of`."""
    decisions: tuple[Decision, ...] = ()
    """Of the base side, about findings."""
    remarks: tuple[str, ...] = ()
    """Decisions that do not count, one line each."""


@dataclass(frozen=True)
class Reviewed:
    """A finished review: `value` for the next step, the rest for the caller that shows it."""

    value: PullReview
    delivered: DeliveredReview
    code: ExitCode
    trace: Trace


def prepare(session: HostSession, ref: PullRef, options: RunOptions, closing: ExitStack) -> Prepared:
    """Read the pull request; settings, cards and conventions come from its base side. Blocking.

    Raises HostMovedError where the head that `ref` names is no longer the head, and ReviewbotError.
    """
    session.host.within(READING_S)
    pull = fetch_again(session, ref)
    hosted = session.host.change(pull, Workspace(options.inputs.environ or {}, options.inputs.checkout, closing))
    subject = wiring.Subject(hosted.change, hosted.digest, hosted.snapshot, hosted.snapshot, hosted.notes)
    read = options.settings or partial(wiring.settings_for, environ=options.inputs.environ, flags=options.flags)
    settings = read(subject.base)
    run = wiring.setup(subject, settings, options.inputs, journal=options.journal, listener=options.listener)
    decisions, notes = decisions_of(subject.base, dt.datetime.now(dt.UTC).date())
    decisions = (*options.decisions, *decisions)
    # With another decision, or asked for anew, the review of the same head is another one.
    start = f"{hosted.merge_base}{decisions or ''}{options.confirmed or ''}{options.anew}"
    policy = policy_of(settings, run.worker_set, run.engine, start)
    return Prepared(ref, pull, hosted, subject, settings, run, options, policy, decisions, notes)


async def carry_out(session: HostSession, prepared: Prepared) -> Reviewed:
    """Review what was read, within a check run where it is going to be posted and the token may have one."""
    options, settings = prepared.options, prepared.settings
    session.host.within(READING_S)
    check = await start_check(session, prepared.ref) if options.to_post and settings.check else Check()
    why, done = _FAULT, False
    try:
        reviewed = await _review(session, prepared, check)
        done = True
    except asyncio.CancelledError:
        why = _STOPPED
        raise
    except ReviewbotError as error:
        why = str(error)
        raise
    finally:
        if not done:
            await abandon_check(session, prepared.ref, check, why, "cancelled" if why is _STOPPED else "neutral")
    return reviewed


async def _review(session: HostSession, prepared: Prepared, check: Check) -> Reviewed:
    run, subject, settings, options = prepared.run, prepared.subject, prepared.settings, prepared.options
    memory, remarks = await _recall(session, prepared)
    # Files are read as the workers ask for them, and no wait for one may outlast the review.
    session.host.within(settings.deadline_s)
    answer = await run.review(memory.change)
    session.host.within(READING_S)
    journal = options.journal if isinstance(options.journal, SteadyJournal) else None
    notes = (*prepared.hosted.snapshot.read_warnings(), *remarks)
    delivered = await asyncio.to_thread(deliver, answer, subject.snapshot, run.trace, journal, notes, memory)
    delivered = await asyncio.to_thread(_with_fixing_commits, session, prepared, memory.ledger, delivered)
    code = exit_code(delivered.review, settings, run.rules)
    suggestions = await _proven(prepared, delivered) if options.to_post and settings.inline else {}
    value = PullReview(
        pull=prepared.ref,
        review=delivered.review,
        fingerprints=names_of(delivered),
        ledger=delivered.ledger,
        change=part_with_findings(subject.change, delivered.review),
        policy=prepared.policy,
        exit_code=code,
        gate_closed=code == ExitCode.GATE,
        suggestions=suggestions,
        inline=settings.inline,
        request_changes=settings.request_changes,
        check_id=check.check_id,
        notes=(check.note,) if check.note else (),
    )
    return Reviewed(value, delivered, code, run.trace)


async def change_to_read(session: HostSession, prepared: Prepared) -> tuple[ChangeSet, tuple[str, ...]]:
    """The change as a review with models would read it now: what was pushed since the last one, or all of it.

    With a note for each thing that does not count.
    """
    session.host.within(READING_S)
    memory, notes = await _recall(session, prepared)
    return memory.change, notes


async def _recall(session: HostSession, prepared: Prepared) -> tuple[Recall, tuple[str, ...]]:
    """The memory of the review: earlier heads, where that costs or says less, and decisions of the base side.

    With a note for each thing that does not count.
    """
    ledger, notes, unposted = Ledger(), prepared.remarks, prepared.options.unposted
    if prepared.options.to_post or prepared.run.engine == MODELS:
        host = session.host.reviews(prepared.pull)
        try:
            found = await remember(prepared.pull, session.signer, host)
            ledger = await asyncio.to_thread(_with_rows, session, prepared, found.ledger)
            notes, unposted = (*notes, *found.notes), (*unposted, *found.unposted)
        except HostError as error:
            notes = (*notes, f"what earlier reviews of this pull request said is not known: {error}")
    policy = policy_of(prepared.settings, prepared.run.worker_set, prepared.run.engine)
    at = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    late, base = not prepared.options.anew, prepared.hosted.merge_base
    head, change = prepared.ref.head_sha, prepared.subject.change
    if prepared.run.engine == MODELS:
        scope = scope_of(ledger, head, policy, base, asked=not late)
        change = await asyncio.to_thread(_with_scope, session, prepared, scope, ledger)
    confirmed = prepared.options.confirmed
    return Recall(change, head, at, ledger, prepared.decisions, policy, late, base, confirmed, unposted), notes


def _with_rows(session: HostSession, prepared: Prepared, ledger: Ledger) -> Ledger:
    """The ledger with the rows that the first review has read, where its comment left them to the host. Blocking."""
    if not ledger.seen_last.startswith(WHOLE) or ledger.heads[-1].head == prepared.ref.head_sha:
        return ledger
    first = ledger.heads[-1]
    try:
        push = session.host.push(replace(prepared.pull, head_sha=first.head), first.base)
    except HostError:
        push = None
    return with_rows(ledger, push.change if push else None)


def _with_scope(session: HostSession, prepared: Prepared, scope: Scope, ledger: Ledger) -> ChangeSet:
    """The change with what of it an earlier head's review has read. Blocking."""
    from reviewbot.llm.tools.view import withheld  # noqa: PLC0415 - a review without models loads nothing of theirs

    subject, private = prepared.subject, prepared.settings.private
    known = Known(ledger, subject.change, subject.snapshot, lambda path: withheld(path, private) is not None)
    found = read_before(session.host, prepared.pull, scope, known)
    policy = policy_of(prepared.settings, prepared.run.worker_set, prepared.run.engine)
    recalled = Recall(subject.change, prepared.ref.head_sha, "", ledger, policy=policy)
    unchanged = unchanged_lines(marks_of(subject.change), seen_before(recalled))
    if found is None and not unchanged:
        return subject.change
    standing = standing_findings(ledger.records, subject.snapshot.head)
    found = (found or ReadBefore()).model_copy(update={"unchanged": unchanged, "standing": standing})
    return subject.change.model_copy(update={"read_before": found})


def _with_fixing_commits(
    session: HostSession, prepared: Prepared, before: Ledger, delivered: DeliveredReview
) -> DeliveredReview:
    """The same with the commits that fixed findings, where this head fixed some and the host tells. Blocking."""
    head, pull, host = prepared.ref.head_sha, prepared.pull, session.host
    earlier = before.last_before(head)
    if delivered.ledger is None or earlier is None or not fixed_at(delivered.ledger, head):
        return delivered
    try:
        push = host.push(pull, earlier.head)
    except HostError:
        push = None
    if push is None:
        return delivered
    text = partial(host.text_at, pull)
    return delivered._replace(ledger=name_fixing_commits(delivered.ledger, head, push.commits, push.change, text))


async def _proven(prepared: Prepared, delivered: DeliveredReview) -> dict[str, str]:
    """The replacements that hold, by fingerprint; the outcome of each is in the trace."""
    subject = prepared.subject
    prover = Prover(subject.change, subject.snapshot, analyzers_check())
    proofs = await prover.proven(delivered.review.findings)
    for finding, proof in proofs.items():
        name = delivered.fingerprints[finding]
        prepared.run.trace.record("suggestion", finding=name, offered=proof.text is not None, reason=proof.reason)
    return {delivered.fingerprints[finding]: proof.text for finding, proof in proofs.items() if proof.text is not None}
