"""`reviewbot review` of what is on this machine: a range of commits, what is staged, a diff."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from reviewbot import delivery, wiring
from reviewbot.analyzers.core.report_cache import LASTING_GAPS
from reviewbot.cli.flags import flags_of
from reviewbot.cli.labels_file import branch_name, keep_labels
from reviewbot.cli.local_memory import local_memory
from reviewbot.cli.options import read_inputs
from reviewbot.cli.output.delivering import is_preview, preview, shortfall, write_trace
from reviewbot.cli.output.kept_report import Asked, KeptReport, keep
from reviewbot.cli.output.reports import render
from reviewbot.cli.output.writing import say, write_report
from reviewbot.cli.reading import is_piped
from reviewbot.cli.repository import find_repository, top_of
from reviewbot.cli.running import run_to_end
from reviewbot.domain.contracts import Gap
from reviewbot.domain.errors import DiffError, InputError
from reviewbot.domain.ports import IdentifiedSnapshot
from reviewbot.memory.feedback import labels_of
from reviewbot.report.findings.links import file_url
from reviewbot.report.progress import Progress

Say = Callable[[str], None]


def review_change(arguments: argparse.Namespace, asked: Asked) -> int:
    """Review a change, write the report, and keep it where the next review of the same would say the same."""
    said: list[str] = []

    def note(message: str) -> None:
        said.append(message)
        say(message)

    with ExitStack() as closing:
        subject = local_subject(arguments, asked.diff, note, closing)
        settings = wiring.settings_for(subject.base, os.environ, flags_of(arguments))
        progress = Progress(sys.stderr, os.environ, quiet=arguments.quiet)
        closing.callback(progress.close)
        journal = None
        if not arguments.no_cache:
            journal = closing.enter_context(wiring.open_journal(os.environ))
        inputs = read_inputs(arguments)
        run = wiring.setup(subject, settings, inputs, journal=journal, listener=progress.on_event)
        if is_preview(arguments):
            return preview(arguments, subject, settings, run)
        if journal is not None and not arguments.resume:
            journal.inner.forget(run.run_id + "/")
        try:
            answer = run_to_end(partial(run.review, subject.change))
            memory = local_memory(subject, settings, run, arguments.repo or Path(), journal)
            delivered = delivery.deliver(answer, subject.snapshot, run.trace, journal, memory.notes, memory.recall)
        except BaseException:
            # How far it came is in the trace; that it cannot be written must not hide why the run was cut short.
            with suppress(InputError):
                write_trace(arguments, run.trace)
            raise
        code = delivery.exit_code(delivered.review, settings, run.rules)
        text = render(arguments, delivered, partial(file_url, _folder_of(arguments)))
        missing = shortfall(code, delivered.review, bare=arguments.diff is not None and arguments.repo is None)
        if journal is not None and memory.key and delivered.ledger is not None:
            journal.put(memory.key, delivered.ledger.model_dump_json(exclude_defaults=True))
            keep_labels(os.environ, labels_of(delivered.ledger.records, pull=branch_name(memory.key)))
        lasts = memory.lasts and is_lasting(run.engine, delivered.review.gaps)
        if journal is not None and lasts and _is_of(subject, asked):
            keep(asked, KeptReport(text, code, (*said, missing) if missing else tuple(said)), journal)
    write_report(text, arguments.output)
    write_trace(arguments, run.trace)
    if missing:
        say(missing)
    return code


def _folder_of(arguments: argparse.Namespace) -> str:
    """The folder that holds the reviewed files, absolute; empty where a diff stands alone."""
    if arguments.diff is not None and arguments.repo is None:
        return ""
    with suppress(InputError, OSError):
        return str(top_of(arguments.repo or Path()).resolve())
    return ""


def is_lasting(engine: str, gaps: Iterable[Gap]) -> bool:
    """Whether a review of the same would say the same: no model was asked, and no circumstance left a gap."""
    return engine == "analyzers" and all(gap.reason in LASTING_GAPS for gap in gaps)


def _is_of(subject: wiring.Subject, asked: Asked) -> bool:
    """Whether the change is still the one that was asked about: a branch may have moved on meanwhile."""
    if asked.ends is None:
        return True
    return isinstance(subject.snapshot, IdentifiedSnapshot) and subject.snapshot.identity == asked.ends


def local_subject(arguments: argparse.Namespace, data: bytes | None, note: Say, closing: ExitStack) -> wiring.Subject:
    """The subject of a review. `data` are the bytes of DIFF, if given; `note` prints what the user should know.

    Raises InputError.
    """
    subject = _subject(arguments, data, note, closing)
    return wiring.with_words(subject, arguments.title, arguments.description)


def _subject(arguments: argparse.Namespace, data: bytes | None, note: Say, closing: ExitStack) -> wiring.Subject:
    folder = arguments.repo or Path()
    if data is not None:
        return _subject_of_diff(arguments, data, note)
    if arguments.git is not None:
        subject = wiring.from_range(folder, arguments.git, closing)
        _note_if_empty(
            note, subject, f"{arguments.git} changes no file; a range is BASE..HEAD or BASE...HEAD, the older first"
        )
        return subject
    if arguments.staged:
        subject = wiring.from_index(folder, os.environ, closing)
        _note_if_empty(
            note, subject, "nothing is staged: `git add` stages changes, and --git RANGE reviews what is committed"
        )
        return subject
    subject, taken = wiring.from_branch(folder, closing)
    unread = "; standard input is not read: give - for that" if is_piped() else ""
    note(f"the change is {taken}; what is not committed is not in it{unread}")
    return subject


def _subject_of_diff(arguments: argparse.Namespace, data: bytes, note: Say) -> wiring.Subject:
    try:
        subject = wiring.from_diff(data, arguments.repo)
    except DiffError as error:
        name = "standard input" if arguments.diff == "-" else repr(arguments.diff)
        raise DiffError(f"{name} cannot be read as a diff: {error}") from None
    if arguments.repo is None and (here := find_repository(Path())) is not None:
        # The folder may hold the head of the change, whose author would then set the gate of its review.
        ours = "the settings and workers of this repository"
        note(f"{ours} do not count for a diff alone; --repo {here} takes them from the base side of the change")
    return subject


def _note_if_empty(note: Say, subject: wiring.Subject, message: str) -> None:
    if not subject.change.files:
        note(message)
