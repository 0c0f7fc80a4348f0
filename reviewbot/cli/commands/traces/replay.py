"""`reviewbot replay`: make the review of a trace again, without a model and without the change."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from reviewbot.cli.output.reports import render
from reviewbot.cli.output.writing import write_report
from reviewbot.cli.reading import read_input
from reviewbot.cli.running import run_to_end
from reviewbot.delivery import replay_delivery
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.domain.ports import Synthesizer
from reviewbot.llm.agents.calibrator import Calibrator
from reviewbot.llm.agents.judge import JudgingSynthesizer
from reviewbot.replay.model import RecordedModel, RecordedUsage
from reviewbot.replay.recorded_inputs import RecordedInputs
from reviewbot.replay.replay_review import NullRecorder, by_rules, replay
from reviewbot.review.combine.synthesizer import ReviewFacts
from reviewbot.review.trace import Event, read_trace

MAX_TRACE_BYTES = 256 * 1024 * 1024
"""A run of thousands of tasks writes a tenth of it."""


def replay_command(arguments: argparse.Namespace) -> int:
    """Print the same review, byte for byte. Raises InputError for a trace that does not hold one."""
    _check_output(arguments.output, arguments.trace)
    events = events_of(arguments.trace)
    again = replay_delivery(events, run_to_end(partial(replay, events, synthesizer_of)))
    text = render(arguments, again)
    write_report(text, arguments.output)
    return ExitCode.REVIEWED


def synthesizer_of(given: RecordedInputs, events: Sequence[Event]) -> Synthesizer:
    """The synthesizer of a replay: rules, or a judge's recorded answers. Raises InputError for any other."""
    if given.synthesizer not in ("judge", "claims"):
        return by_rules(given, events)
    # Without a prompt: the answers are there, whatever the question was.
    said, silent = RecordedModel(events), NullRecorder()
    return JudgingSynthesizer(
        rules=given.rules,
        model=said,
        prompt="",
        trace=silent,
        facts=ReviewFacts(given.engine, given.notes, RecordedUsage(events), given.refused),
        calibrator=Calibrator(silent, given.number_maps),
        judging=given.synthesizer == "judge",
    )


def events_of(path: Path) -> list[Event]:
    """Read the events of a trace from a file. Raises InputError in one line."""
    try:
        text = read_input(str(path), MAX_TRACE_BYTES).decode("ascii")
    except UnicodeDecodeError:
        raise InputError("this is no trace: it holds bytes that no trace has") from None
    return read_trace(text)


def _check_output(output: Path | None, trace: Path) -> None:
    """The trace is read to its end before anything is written, and it must still be there afterwards."""
    if output is not None and os.path.realpath(output) == os.path.realpath(trace):
        raise InputError("TRACE and --output must name different files")
