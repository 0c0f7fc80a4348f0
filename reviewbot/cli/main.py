"""The command line: its arguments, and the exit code of each ending. Imports nothing heavy: `--help` is quick."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from reviewbot import __version__
from reviewbot.cli.arguments import build_parser
from reviewbot.cli.output.writing import reader_may_leave, say
from reviewbot.domain.errors import ExitCode, InputError, ReviewbotError
from reviewbot.report.formats import FORMATS
from reviewbot.wording import install_command

SERVER_PARTS = ("dbos", "flask", "prometheus_client", "psycopg", "sqlalchemy", "waitress")
EXTRAS = {"mcp": "mcp", "mcp_types": "mcp", **dict.fromkeys(SERVER_PARTS, "server")}
"""What comes with an extra alone, and with which."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code."""
    # A caller may have closed them (`2>&-`); what is said then goes nowhere, and the exit code still counts.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the same
    command = "unknown"
    try:
        # What a stop has begun is tidied up, like after Ctrl-C: copies of the reviewed files must not stay behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        words = sys.argv[1:] if argv is None else argv
        arguments = build_parser(*words[:1]).parse_args(words)
        command = arguments.run
        code: int = ExitCode.REVIEWED  # where the reader goes before the command could say more
        with reader_may_leave():
            code = _run(arguments)
    except ReviewbotError as error:
        say(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted; review with --resume, or eval again, goes on from here (not with --no-cache)")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a door: our fault becomes one line
        from reviewbot.cli.output.fault_report import write_fault_report

        say(f"internal fault ({type(error).__name__}); {write_fault_report(command)}")
        return ExitCode.FAULT
    return code


def _run(arguments: argparse.Namespace) -> int:
    """Run the command that was asked for. Each loads what it needs here: pydantic alone outlasts all of --help."""
    if arguments.run == "version":
        sys.stdout.write(f"reviewbot {__version__}\n")
        return ExitCode.REVIEWED
    form = FORMATS.get(getattr(arguments, "format", ""))
    if form and not form.for_terminals and arguments.output is None and sys.stdout.isatty():
        raise InputError(f"--format {form.name} is not readable in a terminal; add --output report{form.suffix}")
    name = str(arguments.run).replace("-", "_")
    try:
        command: Callable[[argparse.Namespace], int] = getattr(
            import_module(f"reviewbot.cli.commands.{arguments.module}"), f"{name}_command"
        )
        return command(arguments)
    except ModuleNotFoundError as error:
        # The name may be of a module inside of a part, such as `mcp.server`.
        if (extra := EXTRAS.get((error.name or "").partition(".")[0])) is None:
            raise
        raise InputError(
            f"{arguments.run} needs the extra '{extra}', which was not installed: {install_command(extra)}, in a clone"
        ) from None
