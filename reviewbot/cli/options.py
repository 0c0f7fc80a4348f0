"""The options of a review's command line, as values."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from reviewbot import wiring
from reviewbot.cli.reading import SARIF_BYTES, read_input

if TYPE_CHECKING:
    from reviewbot.llm.providers.claude import Sdk


def given_of(arguments: argparse.Namespace, sdk: Sdk | None = None) -> wiring.Given:
    """What was handed in beside the change. Raises InputError where a log cannot be read."""
    results = tuple((name, read_input(name, SARIF_BYTES)) for name in arguments.sarif or ())
    return wiring.Given(script=arguments.script, results=results, environ=os.environ, sdk=sdk)


def flags_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Flags by the keys of `Settings`; None for a flag that is not given."""
    workers, rules = (getattr(arguments, name, None) for name in ("worker", "rule"))
    return {
        "engine": arguments.engine,
        "workers": None if workers is None else tuple(workers),
        "rules": None if rules is None else ",".join(rules),
        "fail_on": getattr(arguments, "fail_on", None),
        "min_confidence": getattr(arguments, "min_confidence", None),
        "deadline_s": getattr(arguments, "deadline", None),
        "allow_partial": getattr(arguments, "allow_partial", None),
        "max_cost": getattr(arguments, "max_cost", None),
        "concurrency": getattr(arguments, "concurrency", None),
        "effort": getattr(arguments, "effort", None),
    }
