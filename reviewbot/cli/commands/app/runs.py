"""`reviewbot runs`: show the App's runs: their state, their results and their traces."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import closing
from datetime import UTC, datetime

from reviewbot.app.store.durable.runs import RunRecord, Runs
from reviewbot.cli.commands.app.database import app_database
from reviewbot.cli.output.writing import write_records
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.hosts.registry import resolve_pull
from reviewbot.report.terminal_style import write
from reviewbot.report.text import escape_runner_commands, one_line
from reviewbot.strict_json import write_json

_NUMBER = re.compile(r"#?([1-9][0-9]{0,9})")
_HEAD = ("RUN", "STATE", "TRIES", "COST", "TOKENS", "BEGUN", "PULL REQUEST", "REASON")


def runs_command(arguments: argparse.Namespace) -> int:
    """List the newest runs, or show one. Raises InputError where there is none like that, and ConfigError."""
    with closing(app_database()) as database:
        runs = Runs(database)
        if arguments.run_id is None:
            if arguments.trace:
                raise InputError("--trace needs the ID of a run")
            records = runs.latest(arguments.limit)
            write_records(arguments.format, map(_fields_of, records), _HEAD, *map(_row, records))
        elif of_pull := _of_pull(runs, arguments):
            _show_pull(runs, of_pull, arguments)
        else:
            _show(runs, arguments)
    return ExitCode.REVIEWED


def _of_pull(runs: Runs, arguments: argparse.Namespace) -> tuple[RunRecord, ...]:
    """The runs of the pull request that is named, by its number alone or with its repository; none for another word.

    Raises InputError for a pull request with its repository that has no run.
    """
    text = str(arguments.run_id)
    number = _NUMBER.fullmatch(text)
    if number is not None:
        return runs.of_pull(int(number[1]), None, arguments.limit)
    if "/" not in text:
        return ()
    name = resolve_pull(text).name
    if found := runs.of_pull(name.number, name.repository, arguments.limit):
        return found
    raise InputError(f"there is no run of {name}")


def _show_pull(runs: Runs, records: tuple[RunRecord, ...], arguments: argparse.Namespace) -> None:
    """All runs of a pull request, or the trace of the newest one that has any."""
    if not arguments.trace:
        write_records(arguments.format, map(_fields_of, records), _HEAD, *map(_row, records))
        return
    traces = (runs.trace(record.run) for record in records)
    sys.stdout.write(_find_run(next((trace for trace in traces if trace is not None), None)))


def _find_run(trace: str | None) -> str:
    if trace is None:
        raise InputError("there is no trace of this run: it has not come to its review, or it was removed")
    return trace


def _show(runs: Runs, arguments: argparse.Namespace) -> None:
    found = runs.beginning(arguments.run_id)
    if not found:
        raise InputError(
            "there is no run whose id, or whose head, begins like this, and no pull request with a run of this number"
        )
    record = next((each for each in found if each.run == arguments.run_id), found[0])
    if len(found) > 1 and record.run != arguments.run_id:
        raise InputError(f"several runs begin like this, {found[0].run} and {found[1].run} among them")
    if arguments.trace:
        sys.stdout.write(_find_run(runs.trace(record.run)))
    elif arguments.format == "json":
        sys.stdout.write(write_json(_fields_of(record), indent=2) + "\n")
    else:
        text = "".join(f"{name:13} {one_line(str(value))}\n" for name, value in _fields_of(record).items())
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


def _fields_of(record: RunRecord) -> dict[str, object]:
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
