"""Write a finished review to where the command line asks for it; or print an estimate in place of it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot import delivery, wiring
from reviewbot.cli.output.writing import reader_may_leave, say, write_file
from reviewbot.cli.running import run_to_end
from reviewbot.config import Settings
from reviewbot.config.providers import EXAMPLE_KEY
from reviewbot.domain.contracts import Review
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.report.terminal_style import style_of, write
from reviewbot.report.text import one_line
from reviewbot.review.trace import Trace
from reviewbot.wording import with_count

if TYPE_CHECKING:
    from reviewbot.llm.estimate import Estimate

ASKING = frozenset({"models"})
"""Engines that ask models."""
NO_KEY = (
    f"there is no key of a model, so a review would run analyzers alone; with {EXAMPLE_KEY} set, --estimate and "
    "--dump-prompts are about a review with models, and ask none"
)


MAX_NAME = 80
"""Characters of a file's name that say who asks and for which workers."""
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def is_preview(arguments: argparse.Namespace) -> bool:
    """Whether an estimate or the first requests are asked for in place of a review."""
    return arguments.dump_prompts is not None or bool(arguments.estimate)


def preview(arguments: argparse.Namespace, subject: wiring.Subject, settings: Settings, run: wiring.PreparedRun) -> int:
    """Print an estimate or write the first requests, whichever is asked for; and of what, where that is not all."""
    if settings.engine is None and run.engine not in ASKING:
        say(NO_KEY)
    if subject.change.read_before is not None and subject.change.read_before.note:
        say(subject.change.read_before.note)
    if arguments.dump_prompts is not None:
        return dump_prompts(subject, run, arguments.dump_prompts)
    return print_estimate(subject, settings, run)


def print_estimate(subject: wiring.Subject, settings: Settings, run: wiring.PreparedRun) -> int:
    """Print what the review would cost. Asks no model."""
    from reviewbot.report.estimate_report import render_estimate  # noqa: PLC0415 - loaded for an estimate alone

    costs = estimate_of(subject, settings, run)
    style = style_of(sys.stdout, os.environ)
    text = render_estimate(costs.headline, costs.parts, costs.assumptions, width=style.width, colour=style.colour)
    with reader_may_leave():
        write(sys.stdout, text)
    return ExitCode.REVIEWED


def estimate_of(subject: wiring.Subject, settings: Settings, run: wiring.PreparedRun) -> Estimate:
    """Estimate what the review would cost. Asks no model: plans by rules, and adds an estimate of the planner."""
    from reviewbot.llm.estimate import estimate  # noqa: PLC0415 - reviews without models load nothing that asks one

    preview = run_to_end(partial(run.preview, subject.change))
    asked = run.engine in ASKING
    models = wiring.tiers_of(settings) if asked else {}
    return estimate(preview, wiring.prices_of(settings).cost, models, settings.max_cost)


def dump_prompts(subject: wiring.Subject, run: wiring.PreparedRun, folder: Path) -> int:
    """Write the first request of each reader, with the names of its workers, and the planner's, as text. Asks no model.

    Raises InputError where a file cannot be written.
    """
    from reviewbot.llm.client.requests import request_text  # noqa: PLC0415 - as above

    preview = run_to_end(partial(run.preview, subject.change))
    requests = [*([preview.question] if preview.question else []), *preview.requests]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, request in enumerate(requests, 1):
            workers = [task.worker for task in preview.plan.tasks if (task.reader or task.task_id) == request.subject]
            name = _NO_FILE_NAME.sub("-", "-".join([request.purpose, *workers]))[:MAX_NAME]
            (folder / f"{number}-{name}.txt").write_text(request_text(request), "utf-8", "replace")
    except OSError as error:
        raise InputError(f"cannot write the prompts to {one_line(str(folder))}: {error.strerror}") from None
    written = f"{with_count(len(requests), 'request')} written to {one_line(str(folder))}"
    say(f"{written}; the readers' lack the analyzers' results")
    return ExitCode.REVIEWED


def write_trace(arguments: argparse.Namespace, trace: Trace) -> None:
    """Write the masked trace, where one was asked for. Raises InputError where it cannot be written."""
    if arguments.trace is not None:
        write_file(arguments.trace, delivery.mask_trace(trace))


def shortfall(code: ExitCode, answer: Review, *, bare: bool = False) -> str:
    """Why a review is incomplete, in one line: the provider's failure in any case; empty where nothing does.

    `bare`: a diff stands alone, without a repository.
    """
    missing = ""
    if answer.provider_failure:
        missing = f"the model provider could not be used: {one_line(answer.provider_failure)}"
    elif code == ExitCode.INCOMPLETE:
        missing = _what_is_missing(answer)
        missing += "; --repo DIR shows analyzers whole files" if bare and not answer.gaps else ""
    way_out = "; --allow-partial ends with 0" if code in (ExitCode.INCOMPLETE, ExitCode.PROVIDER) else ""
    return f"{missing}{way_out}" if missing else ""


def _what_is_missing(answer: Review) -> str:
    """Why a review is incomplete, in one line."""
    paths = {gap.path for gap in answer.gaps}
    if not paths:
        return "incomplete: no file was reviewed in full"
    others = f", and neither {_were(len(paths) - 1)}" if len(paths) > 1 else ""
    return f"incomplete: {one_line(min(paths))} was not read in full{others}"


def _were(others: int) -> str:
    return f"{'was' if others == 1 else 'were'} {with_count(others, 'other file')}"
