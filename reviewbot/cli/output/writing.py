"""Write what a command outputs: standard output, whose reader may close it at any time, standard error, and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from reviewbot.domain.errors import InputError
from reviewbot.report.terminal_style import write
from reviewbot.report.text import escape_runner_commands, one_line
from reviewbot.strict_json import write_json


def say(message: str) -> None:
    """Print one line on standard error. A name from a checkout may hold what a terminal or a runner obeys."""
    sys.stderr.write(escape_runner_commands(f"reviewbot: {one_line(message)}\n"))


def write_file(path: Path, text: str) -> None:
    """Write a text file over what is there; through no link, wherever one has been put since. Raises InputError."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def write_table(*rows: Sequence[str], numbers: range = range(0), below: Sequence[str] = ()) -> None:
    """Print rows of cells in columns, each row on one line; the first row is the head.

    `numbers`: the columns that are set flush right. `below`: lines under the table.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) if n in numbers else cell.ljust(width) for n, (cell, width) in enumerate(cells))
        for cells in (zip(row, widths, strict=True) for row in rows)
    ]
    lines = [*(line.rstrip() for line in lines), *below]
    write(sys.stdout, escape_runner_commands("".join(f"{line}\n" for line in lines)))


def write_records(form: str, records: Iterable[Mapping[str, object]], *rows: Sequence[str]) -> None:
    """Print records as JSON, or, in any other form, the rows of their table; the first row is the head."""
    if form == "json":
        sys.stdout.write(write_json(list(records), indent=2) + "\n")
    else:
        write_table(*rows)


def write_report(text: str, output: Path | None) -> None:
    """Write a report to a file or, for None, to standard output. Raises InputError where it cannot be written."""
    with reader_may_leave():
        if output is None:
            write(sys.stdout, text)
        else:
            write_file(output, text)


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Write to standard output; where the reader has gone (`| head`), the rest is dropped and the work goes on."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
    except OSError as error:
        _forget()
        raise InputError(f"cannot write to standard output: {error.strerror}") from None


def _forget() -> None:
    """Python would complain once more when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
