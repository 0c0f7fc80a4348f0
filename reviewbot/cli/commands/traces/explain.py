"""`reviewbot explain`: why a finding of a recorded run was shown or withheld, or why there is none at a line."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

from reviewbot.cli.commands.traces.replay import events_of
from reviewbot.cli.output.writing import reader_may_leave
from reviewbot.config.messages import quote
from reviewbot.delivery import recorded_delivery
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.replay.recorded_inputs import read_recorded_inputs
from reviewbot.replay.replay_review import recorded_results
from reviewbot.report.explain import Account, ExplainedRun, explain, place_named
from reviewbot.report.terminal.explanation import render_explanation
from reviewbot.report.terminal_style import style_of, write
from reviewbot.review.trace import Event

_FINGERPRINT = re.compile(r"[0-9a-f]{8,32}")
_PLACE = re.compile(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})", re.DOTALL)


def explain_command(arguments: argparse.Namespace) -> int:
    """Print the account. Raises InputError for what is no trace of a whole review, and for a place it does not know."""
    accounts = account_of(events_of(arguments.trace), arguments.place)
    style = style_of(sys.stdout, os.environ)
    with reader_may_leave():
        write(sys.stdout, render_explanation(accounts, width=style.width, colour=style.colour))
    return ExitCode.REVIEWED


def account_of(events: Sequence[Event], place: str) -> list[Account]:
    """What a trace says of a place: PATH:LINE, or the first digits of a finding's fingerprint. Raises InputError."""
    change, given = read_recorded_inputs(events)
    delivered = recorded_delivery(events)
    run = ExplainedRun(
        review=delivered.review,
        names=delivered.fingerprints,
        change=change,
        thresholds=given.rules.thresholds,
        results=recorded_results(events),
        events=events,
    )
    if _FINGERPRINT.fullmatch(place):
        return explain(run, *place_named(run, place))
    named = _PLACE.fullmatch(place)
    if named is None:
        raise InputError(f"{quote(place)} is no place; name one as PATH:LINE, or a finding by its fingerprint")
    return explain(run, named["path"], int(named["line"]))
