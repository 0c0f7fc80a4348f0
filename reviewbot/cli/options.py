"""The options of a review's command line, as values."""

from __future__ import annotations

import argparse
import os

from reviewbot import wiring
from reviewbot.cli.reading import SARIF_BYTES, read_input


def read_inputs(arguments: argparse.Namespace, preloaded: object = None) -> wiring.RunInputs:
    """What was handed in beside the change. Raises InputError where a log cannot be read."""
    results = tuple((name, read_input(name, SARIF_BYTES)) for name in arguments.sarif or ())
    return wiring.RunInputs(script=arguments.script, results=results, environ=os.environ, preloaded=preloaded)
