"""The second step: review one head, from the host's data alone."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.delivery import DeliveredReview, deliver, exit_code
from reviewbot.domain.contracts.pulls import PullRef, PullReview
from reviewbot.domain.errors import ExitCode, ReviewbotError
from reviewbot.domain.ports import Snapshot
from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.journal.sqlite import SteadyJournal
from reviewbot.publish import policy_of
from reviewbot.publish.suggestions import Prover
from reviewbot.pull_requests.check_run import Check, abandon_check, start_check
from reviewbot.pull_requests.fetch import fetch_again
from reviewbot.pull_requests.host_session import READING_S, HostSession, RunOptions
from reviewbot.pull_requests.values import names_of, part_with_findings
from reviewbot.report.text import short_line
from reviewbot.review.trace import Trace
from reviewbot.wiring.checking import analyzers_check
from reviewbot.wiring.pulls import from_pull
from reviewbot.wording import counted

NO_TREE = "the whole repository could not be looked through, only single files of it"

MAX_NAMES = 3
"""Files that are named; the others are counted."""

_NAME_CHARS, _REASON_CHARS = 120, 300

_STOPPED = "the review was stopped before its end"
_FAULT = "the review broke off; the log of its run says why"


@dataclass(frozen=True)
class Prepared:
    """A pull request, read, with everything that its review takes."""

    ref: PullRef
    pull: PullRequest
    subject: wiring.Subject
    settings: Settings
    run: wiring.Run
    terms: RunOptions
    policy: str
    """What decides the review, see `reviewbot.publish.policy_of`."""


@dataclass(frozen=True)
class Reviewed:
    """A finished review: `value` for the next step, the rest for the caller that shows it."""

    value: PullReview
    delivered: DeliveredReview
    code: ExitCode
    trace: Trace


def prepare(office: HostSession, ref: PullRef, terms: RunOptions, closing: ExitStack) -> Prepared:
    """Read the pull request; settings, cards and conventions come from its base side. Blocking.

    Raises HostMovedError where the head that `ref` names is no longer the head, and ReviewbotError.
    """
    office.client.within(READING_S)
    pull = fetch_again(office, ref)
    subject = from_pull(office.client, pull, closing, terms.given.environ, terms.given.checkout)
    read = terms.settings or partial(wiring.settings_for, environ=terms.given.environ, flags=terms.flags)
    settings = read(subject.base)
    run = wiring.setup(subject, settings, terms.given, journal=terms.journal, listener=terms.listener)
    start_check = subject.snapshot.merge_base if isinstance(subject.snapshot, GithubSnapshot) else ""
    policy = policy_of(settings, run.crew, run.engine, start_check)
    return Prepared(ref, pull, subject, settings, run, terms, policy)


async def carry_out(office: HostSession, prepared: Prepared) -> Reviewed:
    """Review what was read, within a check run where it is going to be posted and the token may have one."""
    terms, settings = prepared.terms, prepared.settings
    office.client.within(READING_S)
    check = await start_check(office, prepared.ref) if terms.to_post and settings.check else Check()
    why, done = _FAULT, False
    try:
        reviewed = await _review(office, prepared, check)
        done = True
    except asyncio.CancelledError:
        why = _STOPPED
        raise
    except ReviewbotError as error:
        why = str(error)
        raise
    finally:
        if not done:
            await abandon_check(office, prepared.ref, check, why, "cancelled" if why is _STOPPED else "neutral")
    return reviewed


async def _review(office: HostSession, prepared: Prepared, check: Check) -> Reviewed:
    run, subject, settings, terms = prepared.run, prepared.subject, prepared.settings, prepared.terms
    # Files are read as the workers ask for them, and no wait for one may outlast the review.
    office.client.within(settings.deadline_s)
    answer = await run.review(subject.change)
    office.client.within(READING_S)
    journal = terms.journal if isinstance(terms.journal, SteadyJournal) else None
    delivered = await asyncio.to_thread(
        deliver, answer, subject.snapshot, run.trace, journal, read_warnings(subject.snapshot)
    )
    code = exit_code(delivered.review, settings, run.rules)
    suggestions = await _proven(prepared, delivered) if terms.to_post and settings.inline else {}
    value = PullReview(
        pull=prepared.ref,
        review=delivered.review,
        fingerprints=names_of(delivered),
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


async def _proven(prepared: Prepared, delivered: DeliveredReview) -> dict[str, str]:
    """The replacements that hold, by fingerprint; what became of each one is in the trace."""
    subject = prepared.subject
    prover = Prover(subject.change, subject.snapshot, analyzers_check())
    proofs = await prover.proven(delivered.review.findings)
    for finding, proof in proofs.items():
        name = delivered.fingerprints[finding]
        prepared.run.trace.record("suggestion", finding=name, offered=proof.text is not None, reason=proof.reason)
    return {delivered.fingerprints[finding]: proof.text for finding, proof in proofs.items() if proof.text is not None}


def read_warnings(snapshot: Snapshot) -> tuple[str, ...]:
    """Notes, one line each."""
    if not isinstance(snapshot, GithubSnapshot):
        return ()
    notes = []
    if snapshot.failures:
        since = f"GitHub gave no more files from some point on{_which(snapshot.missed)}"
        notes.append(f"{since}: {_why(snapshot.failures[0])}")
    if snapshot.tree_gap:
        notes.append(f"{NO_TREE}: {_why(snapshot.tree_gap)}")
    if snapshot.absent:
        notes.append(f"these files of the head could not be had, and were not searched{_which(snapshot.absent)}")
    return tuple(notes)


def _which(missed: tuple[str, ...]) -> str:
    names = ", ".join(short_line(path, _NAME_CHARS) for path in missed[:MAX_NAMES])
    more = ", ..." if len(missed) > MAX_NAMES else ""
    return f"; {counted(len(missed), 'file')} could not be read ({names}{more})"


def _why(reason: str) -> str:
    return short_line(reason, _REASON_CHARS)
