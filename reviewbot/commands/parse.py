"""`reviewbot parse`: how a diff is read, file by file."""

from __future__ import annotations

import argparse
import json
import os
import sys

from reviewbot.commands.reading import read_diff
from reviewbot.diff.protocol import answer
from reviewbot.errors import ExitCode


def parse_command(arguments: argparse.Namespace) -> int:
    """Print the answer; an unreadable diff is an answer here, and no error."""
    files = answer(read_diff(arguments.diff), os.environ.get("PATCH_FILENAME"))
    sys.stdout.write(json.dumps(files, indent=1) + "\n")
    return ExitCode.REVIEWED
