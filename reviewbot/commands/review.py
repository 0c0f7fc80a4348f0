"""`reviewbot review` and `reviewbot plan`."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from reviewbot import outgoing, wiring
from reviewbot.commands.delivering import ASKING, delivered, ended, previewed, write_trace
from reviewbot.commands.options import check_places, check_together, flags_of, given_of
from reviewbot.commands.reading import is_piped, read_diff
from reviewbot.commands.running import run_to_end
from reviewbot.commands.writing import say
from reviewbot.errors import DiffError, ExitCode, InputError
from reviewbot.output.plan_report import render_plan, render_plan_json
from reviewbot.output.progress import ProgressLine
from reviewbot.output.terminal.look import look_of, write

WITH_MODELS = (
    "There is no key of a model: a review runs these analyzers alone. With ANTHROPIC_API_KEY set, this command shows "
    "the plan with models, and `reviewbot review --estimate` its cost; neither asks a model."
)
PLANNED_ANEW = (
    "A review of so many lines asks a model for a better plan than this one (see the setting plan_above); this command "
    "asks no model."
)


def review_command(arguments: argparse.Namespace) -> int:
    """`reviewbot review`."""
    check_together(arguments)
    check_places(arguments)
    if arguments.pr is not None:
        # A host's client takes its time to load, and most reviews need none.
        from reviewbot.commands.pull import review_pull  # noqa: PLC0415

        return review_pull(arguments)
    # Loading the models' SDK takes longer than reading most changes, so that it is begun first.
    sdk = wiring.loading(os.environ, arguments.engine)
    with ExitStack() as closing:
        subject = _subject(arguments, closing)
        settings = wiring.settings_for(subject.base, os.environ, flags_of(arguments))
        progress = ProgressLine(sys.stderr)
        closing.callback(progress.close)
        journal = None
        if not arguments.no_cache:
            journal = closing.enter_context(wiring.open_journal(os.environ))
        run = wiring.setup(subject, settings, given_of(arguments, sdk), journal=journal, listener=progress.on_event)
        if (instead := previewed(arguments, subject, settings, run)) is not None:
            return instead
        if journal is not None and not arguments.resume:
            journal.inner.forget(run.run_id + "/")
        try:
            answer = run_to_end(partial(run.review, subject.change))
            told = outgoing.delivered(answer, subject.snapshot, run.trace, journal)
        except BaseException:
            # How far it came is in the trace; that it cannot be written must not hide why the run was cut short.
            with suppress(InputError):
                write_trace(arguments, run.trace)
            raise
    code = outgoing.exit_code(told.review, settings, run.rules)
    delivered(told, arguments)
    write_trace(arguments, run.trace)
    return ended(code, told.review)


def plan_command(arguments: argparse.Namespace) -> int:
    """`reviewbot plan`. Asks no model and starts no analyzer."""
    check_together(arguments)
    with ExitStack() as closing:
        subject = _subject(arguments, closing)
        settings = wiring.settings_for(subject.base, os.environ, flags_of(arguments))
        run = wiring.setup(subject, settings, given_of(arguments))
        preview = run_to_end(partial(run.preview, subject.change))
    plan = outgoing.masked_plan(preview.plan, run.trace.mask)
    if arguments.format == "json":
        sys.stdout.write(render_plan_json(plan))
    else:
        look = look_of(sys.stdout, os.environ)
        hint = PLANNED_ANEW if preview.question is not None else ""
        if settings.engine is None and run.engine not in ASKING:
            hint = WITH_MODELS
        write(sys.stdout, render_plan(plan, width=look.width, colour=look.colour, hint=hint))
    return ExitCode.REVIEWED


def _subject(arguments: argparse.Namespace, closing: ExitStack) -> wiring.Subject:
    if arguments.pr is not None:
        from reviewbot.commands.pull import subject_of_pull  # noqa: PLC0415 - as above

        return subject_of_pull(arguments, closing)
    return wiring.with_words(_local_subject(arguments, closing), arguments.title, arguments.description)


def _local_subject(arguments: argparse.Namespace, closing: ExitStack) -> wiring.Subject:
    folder = arguments.repo or Path()
    if arguments.diff is not None:
        return _subject_of_diff(arguments)
    if arguments.git is not None:
        subject = wiring.from_range(folder, arguments.git, closing)
        _say_if_empty(
            subject, f"{arguments.git} changes no file; a range is BASE..HEAD or BASE...HEAD, the older first"
        )
        return subject
    if arguments.staged:
        subject = wiring.from_index(folder, os.environ, closing)
        _say_if_empty(subject, "nothing is staged: `git add` stages changes, and --git RANGE reviews what is committed")
        return subject
    subject, taken = wiring.from_branch(folder, closing)
    unread = "; standard input is not read: give - for that" if is_piped() else ""
    say(f"the change is {taken}; what is not committed is not in it{unread}")
    return subject


def _subject_of_diff(arguments: argparse.Namespace) -> wiring.Subject:
    data = read_diff(arguments.diff)
    try:
        subject = wiring.from_diff(data, arguments.repo)
    except DiffError as error:
        name = "standard input" if arguments.diff == "-" else repr(arguments.diff)
        raise DiffError(f"{name} cannot be read as a diff: {error}") from None
    if arguments.repo is None and (here := wiring.configured_repository(Path())) is not None:
        # The folder may hold the head of the change, whose author would then set the gate of its review.
        ours = "the settings and workers of this repository"
        say(f"{ours} do not count for a diff alone; --repo {here} takes them from the base side of the change")
    return subject


def _say_if_empty(subject: wiring.Subject, message: str) -> None:
    if not subject.change.files:
        say(message)
