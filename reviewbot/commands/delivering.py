"""A finished review to where the command line was told to put it; and what a review would take, in place of one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from reviewbot import outgoing, wiring
from reviewbot.commands.running import run_to_end
from reviewbot.commands.writing import reader_may_leave
from reviewbot.config import Settings
from reviewbot.contracts import Review
from reviewbot.errors import ExitCode, InputError
from reviewbot.model.estimate import estimate
from reviewbot.model.planner import ModelPlanner
from reviewbot.output.annotations import render_annotations
from reviewbot.output.estimate_report import render_estimate
from reviewbot.output.json_report import render_json
from reviewbot.output.markdown import render_markdown
from reviewbot.output.sarif import render_sarif_named
from reviewbot.output.terminal import render_terminal
from reviewbot.output.terminal.look import look_of, write
from reviewbot.output.text import one_line
from reviewbot.trace import Trace

Renderer = Callable[[Review], str]

ASKING = frozenset({"claude"})
"""Engines that ask models."""

RENDERERS: dict[str, Renderer] = {
    "json": render_json,
    "markdown": render_markdown,
    "annotations": render_annotations,
}
"""What a report can be besides text for a terminal and SARIF, which needs more than the review."""


def estimated(subject: wiring.Subject, settings: Settings, run: wiring.Run) -> int:
    """Print what the review would take. The plan is the routed one: to plan with a model would cost already."""
    planner = run.setup.planner
    routed = planner.routed if isinstance(planner, ModelPlanner) else planner
    plan = run_to_end(partial(routed.plan, subject.change))
    asked = run.setup.engine.name in ASKING
    models = wiring.tiers_of(settings) if asked else {}
    told = estimate(
        plan if asked else plan.model_copy(update={"tasks": ()}),
        run.setup.crew,
        wiring.prices_of(settings).cost,
        models,
    )
    look = look_of(sys.stdout, os.environ)
    text = render_estimate(told.headline, told.parts, told.assumptions, width=look.width, colour=look.colour)
    with reader_may_leave():
        write(sys.stdout, text)
    return ExitCode.REVIEWED


def delivered(told: outgoing.Delivered, arguments: argparse.Namespace) -> None:
    """The report in its format, to a file or standard output. Raises InputError where it cannot be written."""
    render = _renderer(arguments, told)
    with reader_may_leave():
        if render is not None:
            text = render(told.review)
        else:
            look = look_of(sys.stdout, os.environ)
            text = render_terminal(told.review, width=look.width, colour=look.colour and arguments.output is None)
        if arguments.output is None:
            write(sys.stdout, text)
        else:
            _write(arguments.output, text)


def write_trace(arguments: argparse.Namespace, trace: Trace) -> None:
    """The trace, masked, where one was asked for. Raises InputError where it cannot be written."""
    if arguments.trace is not None:
        _write(arguments.trace, outgoing.masked_trace(trace))


def ended(code: ExitCode, answer: Review) -> ExitCode:
    """The code, and on standard error why it is that of an incomplete review."""
    if code == ExitCode.INCOMPLETE:
        sys.stderr.write(f"reviewbot: {_what_is_missing(answer)}; --allow-partial ends with 0\n")
    return code


def _what_is_missing(answer: Review) -> str:
    """Why a review is incomplete, in one line."""
    paths = {gap.path for gap in answer.gaps}
    if not paths:
        return "incomplete: no file was reviewed in full"
    first = one_line(min(paths))
    return f"incomplete: {first} was not read in full" + (
        f", nor were {len(paths) - 1} more" if paths - {min(paths)} else ""
    )


def _renderer(arguments: argparse.Namespace, told: outgoing.Delivered) -> Renderer | None:
    """What makes the report; None for text on a terminal."""
    if arguments.format == "sarif":
        return partial(render_sarif_named, fingerprints=told.fingerprints)
    return RENDERERS.get(arguments.format)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
