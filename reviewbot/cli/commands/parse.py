"""`reviewbot parse`: how a diff is read, file by file."""

from __future__ import annotations

import argparse
import os
import sys

from reviewbot.cli.reading import read_diff
from reviewbot.diff.parser.protocol import answer
from reviewbot.domain.errors import ExitCode
from reviewbot.strict_json import write_json


def parse_command(arguments: argparse.Namespace) -> int:
    """Print the answer; an unreadable diff is an answer here, and no error."""
    files = answer(read_diff(arguments.diff), os.environ.get("PATCH_FILENAME"))
    sys.stdout.write(write_json(files, indent=1) + "\n")
    return ExitCode.REVIEWED
