"""`reviewbot runs`: what the App's runs are at, what came of them, and their traces."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from reviewbot.adapters.durable import RunRecord, Runs, open_database
from reviewbot.errors import ExitCode, InputError
from reviewbot.jobs.options import JobOptions
from reviewbot.output.terminal.look import write
from reviewbot.output.text import escape_runner_commands, one_line
from reviewbot.strict_json import write_json

_HEAD = ("RUN", "STATE", "TRIES", "COST", "TOKENS", "BEGUN", "PULL REQUEST", "REASON")


def runs_command(arguments: argparse.Namespace) -> int:
    """List the newest runs, or show one. Raises InputError where there is none like that, and ConfigError."""
    options = JobOptions.of(os.environ)
    if not options.several and not Path(options.database).exists():
        raise InputError(f"no run has been made yet: there is no {options.database}")
    database = open_database(options.database)
    try:
        runs = Runs(database)
        if arguments.run_id is None:
            if arguments.trace:
                raise InputError("--trace needs the ID of a run")
            _list(runs.latest(arguments.limit), arguments.format)
        else:
            _show(runs, arguments)
    finally:
        database.close()
    return ExitCode.REVIEWED


def _list(records: tuple[RunRecord, ...], form: str) -> None:
    if form == "json":
        sys.stdout.write(write_json([_told(each) for each in records], indent=2) + "\n")
        return
    rows = [_HEAD, *(_row(each) for each in records)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEAD))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    write(sys.stdout, escape_runner_commands("".join(f"{line}\n" for line in lines)))


def _show(runs: Runs, arguments: argparse.Namespace) -> None:
    found = runs.beginning(arguments.run_id)
    if not found:
        raise InputError("there is no run whose id, or whose head, begins like this")
    record = next((each for each in found if each.run == arguments.run_id), found[0])
    if len(found) > 1 and record.run != arguments.run_id:
        raise InputError(f"several runs begin like this, {found[0].run} and {found[1].run} among them")
    if arguments.trace:
        trace = runs.trace(record.run)
        if trace is None:
            raise InputError("there is no trace of this run: it has not come to its review, or it was removed")
        sys.stdout.write(trace)
    elif arguments.format == "json":
        sys.stdout.write(write_json(_told(record), indent=2) + "\n")
    else:
        text = "".join(f"{name:13} {one_line(str(value))}\n" for name, value in _told(record).items())
        write(sys.stdout, escape_runner_commands(text))


def _row(record: RunRecord) -> tuple[str, ...]:
    return (
        one_line(record.run),
        record.state,
        str(record.attempts),
        f"${record.dollars:.2f}",
        f"{record.tokens:,}",
        _time(record.started),
        one_line(f"{record.name}#{record.number}"),
        one_line(record.reason or record.url),
    )


def _told(record: RunRecord) -> dict[str, object]:
    return {
        "run": record.run,
        "state": record.state,
        "reason": record.reason,
        "repository": record.name,
        "number": record.number,
        "head": record.head,
        "installation": record.installation,
        "attempts": record.attempts,
        "dollars": round(record.dollars, 4),
        "tokens": record.tokens,
        "url": record.url,
        "created": _time(record.created),
        "started": _time(record.started),
        "ended": _time(record.ended),
    }


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
