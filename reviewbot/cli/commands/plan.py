"""`reviewbot plan`: print the plan of a review without running it."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from functools import partial

from reviewbot import delivery, wiring
from reviewbot.cli.checks import check_together
from reviewbot.cli.flags import flags_of
from reviewbot.cli.local_review import local_subject
from reviewbot.cli.options import read_inputs
from reviewbot.cli.output.delivering import ASKING
from reviewbot.cli.output.writing import say
from reviewbot.cli.reading import read_diff
from reviewbot.cli.running import run_to_end
from reviewbot.config.providers import EXAMPLE_KEY
from reviewbot.domain.errors import ExitCode
from reviewbot.report.json_report import render_json
from reviewbot.report.plan_report import render_plan
from reviewbot.report.terminal_style import style_of, write

WITH_MODELS = (
    f"There is no key of a model: a review runs these analyzers alone. With {EXAMPLE_KEY} set, this command shows "
    "the plan with models, and `reviewbot review --estimate` its cost; neither asks a model."
)
PLANNED_ANEW = (
    "A review of so many lines asks a model for a better plan than this one (see the setting plan_above); this command "
    "asks no model."
)


def plan_command(arguments: argparse.Namespace) -> int:
    """`reviewbot plan`. Asks no model and starts no analyzer."""
    check_together(arguments)
    with ExitStack() as closing:
        subject = _subject(arguments, closing)
        settings = wiring.settings_for(subject.base, os.environ, flags_of(arguments))
        run = wiring.setup(subject, settings, read_inputs(arguments))
        preview = run_to_end(partial(run.preview, subject.change))
    scope = (preview.plan.scope,) if preview.plan.scope else ()
    plan = preview.plan.model_copy(update={"notes": (*run.worker_set.notes, *scope)})
    plan = delivery.mask_plan(plan, run.trace.mask)
    if arguments.format == "json":
        sys.stdout.write(render_json(plan))
    else:
        style = style_of(sys.stdout, os.environ)
        hint = PLANNED_ANEW if preview.question is not None else ""
        if settings.engine is None and run.engine not in ASKING:
            hint = WITH_MODELS
        write(sys.stdout, render_plan(plan, width=style.width, colour=style.colour, hint=hint))
    return ExitCode.REVIEWED


def _subject(arguments: argparse.Namespace, closing: ExitStack) -> wiring.Subject:
    if arguments.pr is not None:
        # A host's client takes its time to load.
        from reviewbot.cli.commands.pull import subject_of_pull  # noqa: PLC0415

        return subject_of_pull(arguments, closing)
    data = None if arguments.diff is None else read_diff(arguments.diff)
    return local_subject(arguments, data, say, closing)
