"""`reviewbot review` and `reviewbot plan`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from reviewbot import outgoing, wiring
from reviewbot.adapters.claude import Sdk
from reviewbot.commands.reading import SARIF_BYTES, read_diff, read_input
from reviewbot.commands.running import run_to_end
from reviewbot.commands.writing import reader_may_leave
from reviewbot.config import Settings
from reviewbot.contracts import SEVERITY_ORDER, Review
from reviewbot.errors import ExitCode, InputError
from reviewbot.model.estimate import estimate
from reviewbot.model.planner import ModelPlanner
from reviewbot.output.annotations import render_annotations
from reviewbot.output.estimate_report import render_estimate
from reviewbot.output.json_report import render_json
from reviewbot.output.markdown import render_markdown
from reviewbot.output.plan_report import render_plan, render_plan_json
from reviewbot.output.progress import ProgressLine
from reviewbot.output.sarif import render_sarif_named
from reviewbot.output.terminal import render_terminal
from reviewbot.output.terminal.look import look_of, write
from reviewbot.output.text import one_line
from reviewbot.supervisor.synthesizer import Rules
from reviewbot.supervisor.verifier import by_a_model_alone
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


def review_command(arguments: argparse.Namespace) -> int:
    """`reviewbot review`."""
    _check_places(arguments)
    # Loading the models' SDK takes longer than reading most changes, so that it is begun first.
    sdk = wiring.loading(os.environ, arguments.engine)
    with ExitStack() as closing:
        subject = _subject(arguments, closing)
        settings = wiring.settings_for(subject.base, os.environ, _flags(arguments))
        progress = ProgressLine(sys.stderr)
        closing.callback(progress.close)
        journal = None
        if not arguments.no_cache:
            journal = closing.enter_context(wiring.open_journal(os.environ))
        given = _given(arguments, sdk)
        run = wiring.setup(subject, settings, given, journal=journal, listener=progress.on_event)
        if arguments.estimate:
            return _estimate(subject, settings, run)
        if journal is not None and not arguments.resume:
            journal.inner.forget(run.setup.run_id + "/")
        try:
            answer = run_to_end(partial(run.review, subject.change))
            told = outgoing.delivered(answer, subject.snapshot, run.trace, journal)
        except BaseException:
            # How far it came is in the trace; that it cannot be written must not hide why the run was cut short.
            with suppress(InputError):
                _write_trace(arguments, run.trace)
            raise
    answer = told.review
    code = exit_code(answer, settings, run.rules)
    with reader_may_leave():
        _deliver(answer, arguments, _renderer(arguments, told))
    _write_trace(arguments, run.trace)
    if code == ExitCode.INCOMPLETE:
        sys.stderr.write(f"reviewbot: {_what_is_missing(answer)}; --allow-partial ends with 0\n")
    return code


def plan_command(arguments: argparse.Namespace) -> int:
    """`reviewbot plan`."""
    with ExitStack() as closing:
        subject = _subject(arguments, closing)
        settings = wiring.settings_for(subject.base, os.environ, _flags(arguments))
        run = wiring.setup(subject, settings, _given(arguments))
        plan = run_to_end(partial(run.setup.planner.plan, subject.change))
    plan = outgoing.masked_plan(plan)
    if arguments.format == "json":
        sys.stdout.write(render_plan_json(plan))
    else:
        look = look_of(sys.stdout, os.environ)
        write(sys.stdout, render_plan(plan, width=look.width, colour=look.colour))
    return ExitCode.REVIEWED


def _estimate(subject: wiring.Subject, settings: Settings, run: wiring.Run) -> int:
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


def exit_code(answer: Review, settings: Settings, rules: Rules) -> ExitCode:
    """What a review ends with. The gate speaks before incompleteness does: its finding is certain."""
    found = [*answer.findings, *(entry.finding for entry in answer.withheld if entry.reason == "over_cap")]
    found += [finding for conflict in answer.conflicts for finding in conflict.findings]
    # A program's certain finding goes to a person where a model disputes it. No words of a model open the gate.
    people = [item.finding for item in answer.human if item.finding is not None]
    found += [finding for finding in people if not by_a_model_alone(finding)]
    if settings.fail_on is not None:
        worst_allowed = SEVERITY_ORDER[settings.fail_on]
        # A conflict is shown for the sake of one side; the other side may be a guess, and no guess closes the gate.
        if any(SEVERITY_ORDER[f.severity] <= worst_allowed for f in found if rules.let_through(f)):
            return ExitCode.GATE
    if answer.incomplete and not settings.allow_partial:
        return ExitCode.INCOMPLETE
    return ExitCode.REVIEWED


def _subject(arguments: argparse.Namespace, closing: ExitStack) -> wiring.Subject:
    given = [arguments.diff is not None, arguments.git is not None, arguments.staged]
    if sum(given) > 1:
        raise InputError("only one of DIFF, --git RANGE and --staged says what to review")
    if not any(given):
        hint = (
            "; what follows --worker or --sarif belongs to it, so give DIFF before it" if _takes_all(arguments) else ""
        )
        raise InputError(f"say what to review: a diff file, - for standard input, --git RANGE or --staged{hint}")
    folder = arguments.repo
    if arguments.git is not None:
        return wiring.from_range(folder or Path(), arguments.git, closing)
    if arguments.staged:
        return wiring.from_index(folder or Path(), os.environ, closing)
    return wiring.from_diff(read_diff(arguments.diff), folder)


def _what_is_missing(answer: Review) -> str:
    """Why a review is incomplete, in one line."""
    paths = {gap.path for gap in answer.gaps}
    if not paths:
        return "incomplete: no file was reviewed in full"
    first = one_line(min(paths))
    return f"incomplete: {first} was not read in full" + (
        f", nor were {len(paths) - 1} more" if paths - {min(paths)} else ""
    )


def _takes_all(arguments: argparse.Namespace) -> bool:
    """Whether an option was given that takes any number of words, and may have taken the diff."""
    return bool(arguments.worker or arguments.sarif)


def _given(arguments: argparse.Namespace, sdk: Sdk | None = None) -> wiring.Given:
    return wiring.Given(script=arguments.script, results=_results(arguments), environ=os.environ, sdk=sdk)


def _results(arguments: argparse.Namespace) -> tuple[tuple[str, bytes], ...]:
    """The logs of other programs, each with its name."""
    return tuple((name, read_input(name, SARIF_BYTES)) for name in arguments.sarif or ())


def _flags(arguments: argparse.Namespace) -> dict[str, object]:
    """What was said on the command line, by the keys of `Settings`; None where nothing was said."""
    workers = getattr(arguments, "worker", None)
    return {
        "engine": arguments.engine,
        "workers": None if workers is None else tuple(workers),
        "fail_on": getattr(arguments, "fail_on", None),
        "min_confidence": getattr(arguments, "min_confidence", None),
        "deadline_s": getattr(arguments, "deadline", None),
        "allow_partial": getattr(arguments, "allow_partial", None),
        "max_cost": getattr(arguments, "max_cost", None),
        "concurrency": getattr(arguments, "concurrency", None),
        "critic": getattr(arguments, "critic", None),
    }


def _check_places(arguments: argparse.Namespace) -> None:
    """Find out before the work, and not after it, that there is nowhere to put its result."""
    if arguments.resume and arguments.no_cache:
        raise InputError("--resume needs the progress that --no-cache does not keep; give only one of them")
    places = [path for path in (arguments.output, arguments.trace) if path is not None]
    read = [Path(arguments.diff)] if arguments.diff not in (None, "-") else []
    for path in places:
        try:
            _check_place(path)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
    if len(places) > 1 or (places and read):
        names = {os.path.realpath(str(path).replace("\0", "")) for path in (*places, *read)}
        if len(names) < len(places) + len(read):
            raise InputError("DIFF, --output and --trace must name different files")


def _check_place(path: Path) -> None:
    """In a checkout the author of a change may have put a link, or a pipe that never ends, where a report goes."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file")
    if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_char_device()):
        raise InputError(f"{path} is a link or no regular file; give the name of another file")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise InputError(f"cannot write {path}: no such folder, or no permission")


def _renderer(arguments: argparse.Namespace, told: outgoing.Delivered) -> Renderer | None:
    """What makes the report; None for text on a terminal."""
    if arguments.format == "sarif":
        return partial(render_sarif_named, fingerprints=told.fingerprints)
    return RENDERERS.get(arguments.format)


def _deliver(answer: Review, arguments: argparse.Namespace, render: Renderer | None) -> None:
    if render is not None:
        text = render(answer)
    else:
        look = look_of(sys.stdout, os.environ)
        text = render_terminal(answer, width=look.width, colour=look.colour and arguments.output is None)
    if arguments.output is None:
        write(sys.stdout, text)
    else:
        _write(arguments.output, text)


def _write_trace(arguments: argparse.Namespace, trace: Trace) -> None:
    if arguments.trace is not None:
        _write(arguments.trace, outgoing.masked_trace(trace))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
