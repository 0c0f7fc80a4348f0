"""`reviewbot calibration`: what became known of reported findings: precision, and what was fixed before the merge."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from reviewbot.app.store.durable.labels import Labels
from reviewbot.cli.commands.app.database import open_app_database
from reviewbot.cli.labels_file import labels_path, read_labels
from reviewbot.cli.output.writing import write_table
from reviewbot.domain.contracts.feedback import Label
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.evaluate.feedback_fit import GroupRates, Interval, fit_feedback, rates
from reviewbot.evaluate.model_fit import MIN_CHANGES, MIN_CLAIMS
from reviewbot.memory.feedback import labels_of
from reviewbot.report.text import one_line
from reviewbot.strict_json import write_json

_HEAD = ("BY", "NAME", "REPORTED", "VERDICTS", "RIGHT", "WRONG", "PRECISION", "MERGED", "FIXED", "RESOLVED AT MERGE")
_NUMBERS = range(2, len(_HEAD))
_NAME_CHARS = 50


def calibration_command(arguments: argparse.Namespace) -> int:
    """`reviewbot calibration`. Raises InputError and ConfigError."""
    labels = _labels(arguments.source)
    found, table = rates(labels), fit_feedback(labels)
    if arguments.format == "json":
        value = {
            "schema_version": 1,
            "labels": len(labels),
            "rates": [_fields(rate) for rate in found],
            "fitted": table.model_dump(mode="json"),
        }
        sys.stdout.write(write_json(value, indent=2) + "\n")
        return ExitCode.REVIEWED
    needed = f"none: a model needs {MIN_CLAIMS} verdicts, or a rule 8, of {MIN_CHANGES} pull requests at least"
    below = ("", *(table.notes() or (f"Fitted numbers: {needed}",)))
    write_table(_HEAD, *(_row(rate) for rate in found), numbers=_NUMBERS, below=below)
    return ExitCode.REVIEWED


def _labels(source: Path | None) -> tuple[Label, ...]:
    """The labels of a file, of a folder of ledgers, of the App's database, or of this machine, in that order."""
    if source is not None:
        return _of_folder(source) if source.is_dir() else read_labels(source)
    if (database := open_app_database()) is not None:
        with closing(database):
            return Labels(database).list_labels()
    path = labels_path(os.environ)
    if not path.exists():
        raise InputError(f"no finding has a label yet: there is no database of the App, and no {path}")
    return read_labels(path)[::-1]


def _of_folder(folder: Path) -> tuple[Label, ...]:
    """The labels of ledgers, as `reviewbot ledger --format json` writes them; each file is a pull request."""
    labels: list[Label] = []
    for path in sorted(folder.glob("*.json")):
        try:
            ledger = Ledger.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            raise InputError(f"{path} is no ledger, as `reviewbot ledger --format json` writes it") from None
        labels += labels_of(ledger.records, pull=path.stem[:200])
    return tuple(labels)


def _row(rate: GroupRates) -> tuple[str, ...]:
    return (
        rate.by,
        one_line(rate.name)[:_NAME_CHARS],
        f"{rate.reported:,}",
        f"{rate.verdicts:,}",
        f"{rate.right:g}",
        f"{rate.wrong:g}",
        _share(rate.precision),
        f"{rate.merged:,}",
        f"{rate.acted:,}",
        _share(rate.resolution),
    )


def _share(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.share:.2f} ({interval.low:.2f}-{interval.high:.2f})"


def _fields(rate: GroupRates) -> dict[str, object]:
    fields: dict[str, object] = rate._asdict()
    for name in ("precision", "resolution"):
        interval = getattr(rate, name)
        fields[name] = None if interval is None else {key: round(value, 4) for key, value in interval._asdict().items()}
    return fields
