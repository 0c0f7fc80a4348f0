"""`reviewbot review`. Imports nothing heavy itself, so that printing the stored report of the same review is quick."""

from __future__ import annotations

import argparse
import os

from reviewbot.cli.checks import check_places, check_together
from reviewbot.cli.output.kept_report import find, identify
from reviewbot.cli.output.writing import say, write_report
from reviewbot.llm.preload import preload_models


def review_command(arguments: argparse.Namespace) -> int:
    """`reviewbot review`."""
    check_together(arguments)
    check_places(arguments)
    if arguments.pr is not None:
        # A host's client takes its time to load, and most reviews need none.
        preload_models(os.environ, arguments.engine)
        from reviewbot.cli.commands.pull import review_pull  # noqa: PLC0415

        return review_pull(arguments)
    asked = identify(arguments, os.environ)
    if (kept := find(asked, os.environ)) is None:
        # The models' SDK takes longer to load than all else, and most changes to be read, so that it is begun first.
        preload_models(os.environ, arguments.engine)
        from reviewbot.cli.local_review import review_change  # noqa: PLC0415 - not for a kept report

        return review_change(arguments, asked)
    write_report(kept.text, arguments.output)
    for message in (*kept.said, "this review was made before, and its report kept; --no-cache reviews again"):
        say(message)
    return kept.code
