"""`reviewbot action`: the entry point of the GitHub Action. action.yml starts it; it is not meant for people."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack
from functools import partial
from typing import TextIO

from reviewbot.action.inputs import MARKER_KEY, PREFIX, read_inputs
from reviewbot.action.outcome import STOPPED
from reviewbot.action.pulls import ActionPulls
from reviewbot.action.run import WorkflowStep, act, report_failure
from reviewbot.action.runner import StepOutput, disable_ptrace, runner_of
from reviewbot.cli.running import run_to_end
from reviewbot.config.providers import SDK_PREFIXES, SECRET_VARIABLES
from reviewbot.domain.errors import ConfigError


def action_command(_arguments: argparse.Namespace) -> int:
    """`reviewbot action`."""
    environ = dict(os.environ)
    forget(os.environ)
    # What a process was started with stays readable for its user under /proc, also after it has been taken out.
    disable_ptrace()
    return run_step(environ, sys.stdout)


def run_step(environ: Mapping[str, str], log: TextIO) -> int:
    """Carry out the step that the environment describes; the result is the exit code. Raises as a command does."""
    runner = runner_of(environ)
    try:
        inputs = read_inputs(environ)
    except ConfigError as error:
        report_failure(StepOutput(runner, log), str(error))
        return error.exit_code
    voice = StepOutput(runner, log, (*inputs.secrets, *(environ.get(name, "") for name in SECRET_VARIABLES)))
    ended = False
    try:
        with ExitStack() as closing:
            pulls = partial(ActionPulls, runner, inputs, run_to_end, closing)
            code = act(WorkflowStep(runner, inputs, voice, run_to_end, pulls))
        ended = True
    finally:
        if not ended:
            report_failure(voice, STOPPED)
    return code


def forget(environ: MutableMapping[str, str]) -> None:
    """Take out of the environment what no code below may find there: secrets, and what steers the models' SDK.

    The SDK reads an address and further headers by itself where we name none; what an earlier step has put there must
    not see the key.
    """
    for name in list(environ):
        if name.startswith((PREFIX, *SDK_PREFIXES)) or name == MARKER_KEY:
            del environ[name]
