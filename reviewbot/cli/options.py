"""The options of a review's command line, as values."""

from __future__ import annotations

import argparse
import os

from reviewbot import wiring
from reviewbot.cli.labels_file import local_feedback
from reviewbot.cli.reading import MAX_RESULT_BYTES, read_input


def read_inputs(arguments: argparse.Namespace) -> wiring.RunInputs:
    """What was handed in beside the change. Raises InputError where a log cannot be read."""
    results = tuple((name, read_input(name, MAX_RESULT_BYTES)) for name in arguments.results or ())
    feedback = local_feedback(os.environ)
    return wiring.RunInputs(script=arguments.script, results=results, environ=os.environ, feedback=feedback)
