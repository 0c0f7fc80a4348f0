"""`reviewbot review --pr`: review a pull request from its host, and post the review there where that is asked for."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from reviewbot import wiring
from reviewbot.cli.flags import flags_of
from reviewbot.cli.labels_file import keep_labels
from reviewbot.cli.options import read_inputs
from reviewbot.cli.output.delivering import is_preview, preview, shortfall, write_trace
from reviewbot.cli.output.reports import render
from reviewbot.cli.output.writing import say, write_report
from reviewbot.cli.running import run_to_end
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted, PullRef
from reviewbot.domain.errors import ExitCode, HostError, HostUnknownError, InputError
from reviewbot.domain.ports import Clock
from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.pull_name import PullName
from reviewbot.hosts.registry import NamedPull, links_of, resolve_pull
from reviewbot.journal.sqlite import SteadyJournal
from reviewbot.memory.feedback import labels_of
from reviewbot.publish.intents import JournalIntents, MemoryIntents
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.check_run import Check, abandon_check
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import Prepared, Reviewed, carry_out, change_to_read, prepare
from reviewbot.report.progress import Progress
from reviewbot.sources.memory import SystemClock

WORDS = {
    "posted": "posted",
    "already_posted": "it was posted before, and was not posted again",
    "stands": "this head has its review already; it was not reviewed and was not posted again",
    "head_moved": "nothing was posted: the head of the pull request moved on meanwhile; review it again",
    "busy": "nothing was posted: another run is posting this review",
}
"""The outcome of posting, as a message."""

UNKNOWN = "it is not known whether it was posted; a second run finds out, and posts it at most once"

UNSHOWN = "the report could not be written to where the one who ran the review wanted it"


def review_pull(arguments: argparse.Namespace, clock: Clock | None = None) -> int:
    """`reviewbot review --pr`. Raises HostError, InputError and ConfigError. `clock` is for the waits of posting."""
    pull = resolve_pull(arguments.pr)
    with ExitStack() as closing:
        progress = Progress(sys.stderr, os.environ, quiet=arguments.quiet)
        closing.callback(progress.close)
        journal = None if arguments.no_cache else closing.enter_context(wiring.open_journal(os.environ))
        session = _session(pull, journal, closing, clock)
        options = RunOptions(
            flags=flags_of(arguments),
            inputs=replace(read_inputs(arguments), checkout=Path()),
            journal=journal,
            listener=progress.on_event,
            anew=_anew(arguments),
            to_post=arguments.post,
        )
        prepared = prepare(session, _fetch(session, pull.name), options, closing)
        if is_preview(arguments):
            return preview(arguments, _subject_to_read(session, prepared), prepared.settings, prepared.run)
        before = run_to_end(partial(find_posted, session, prepared))
        if before is not None:
            progress.close()
            say(f"{WORDS['stands']}: {before.url}")
            return ExitCode.REVIEWED
        if journal is not None and not arguments.resume:
            journal.inner.forget(prepared.run.run_id + "/")
        reviewed = _review(arguments, session, prepared)
        progress.close()
        _show(arguments, session, reviewed, prepared.pull)
        code = reviewed.code
        if missing := shortfall(code, reviewed.delivered.review):
            say(missing)
        return _post(arguments, session, reviewed, code) if arguments.post else code


def subject_of_pull(arguments: argparse.Namespace, closing: ExitStack) -> wiring.Subject:
    """The change of a pull request for `plan --pr`. Raises as `review_pull`."""
    pull = resolve_pull(arguments.pr)
    session = _session(pull, None, closing)
    options = RunOptions(flags_of(arguments), read_inputs(arguments), anew=_anew(arguments), to_post=False)
    return _subject_to_read(session, prepare(session, _fetch(session, pull.name), options, closing))


def _anew(arguments: argparse.Namespace) -> str:
    return "--full" if arguments.full else ""


def _subject_to_read(session: HostSession, prepared: Prepared) -> wiring.Subject:
    change, notes = run_to_end(partial(change_to_read, session, prepared))
    for note in notes:
        say(note)
    return replace(prepared.subject, change=change)


def _session(
    pull: NamedPull, journal: SteadyJournal | None, closing: ExitStack, clock: Clock | None = None
) -> HostSession:
    host = closing.enter_context(pull.open_host(os.environ))
    signer = Signer.from_environment(os.environ)
    intents = MemoryIntents() if journal is None else JournalIntents(journal)
    return HostSession(host, signer, intents, clock or SystemClock())


def _fetch(session: HostSession, name: PullName) -> PullRef:
    return run_to_end(partial(fetch, session, name.repository, name.number))


def _review(arguments: argparse.Namespace, session: HostSession, prepared: Prepared) -> Reviewed:
    try:
        return run_to_end(partial(carry_out, session, prepared))
    except BaseException:
        # How far it came is in the trace; that it cannot be written must not hide why the run was cut short.
        with suppress(InputError):
            write_trace(arguments, prepared.run.trace)
        raise


def _show(arguments: argparse.Namespace, session: HostSession, reviewed: Reviewed, pull: PullRequest) -> None:
    """Print it. What could not be shown here is not posted, and its check run must not stay in progress for ever."""
    try:
        links = links_of(pull.url, pull.head_sha, pull.base_sha)

        def address_of(finding: Finding) -> str:
            return links.lines(finding.path, finding.line, finding.end_line) if links else ""

        text = render(arguments, reviewed.delivered, address_of)
        write_report(text, arguments.output)
        write_trace(arguments, reviewed.trace)
    except InputError:
        check = Check(reviewed.value.check_id)
        run_to_end(partial(abandon_check, session, reviewed.value.pull, check, UNSHOWN, title="Not posted"))
        raise


def _post(arguments: argparse.Namespace, session: HostSession, reviewed: Reviewed, code: ExitCode) -> ExitCode:
    """Post it and print the outcome. What cannot be posted was printed anyway, and a closed gate stays closed."""
    try:
        posted = run_to_end(partial(post, session, reviewed.value))
    except HostError as error:
        unknown = isinstance(error, HostUnknownError)
        say(f"{UNKNOWN if unknown else 'nothing was posted'}: {error}")
        return code if code == ExitCode.GATE else ExitCode.HOST
    _tell(posted)
    if posted.outcome == "posted" and not arguments.no_cache and (ledger := reviewed.value.ledger) is not None:
        ref = reviewed.value.pull
        keep_labels(os.environ, labels_of(ledger.records, ref.repository_id, str(ref.number)))
    return code if posted.outcome in ("posted", "already_posted") or code == ExitCode.GATE else ExitCode.HOST


def _tell(posted: PullPosted) -> None:
    for note in posted.notes:
        say(note)
    where = f": {posted.url}" if posted.url else ""
    say(f"{WORDS[posted.outcome]}{where}")
