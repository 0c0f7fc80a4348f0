"""Labels of findings in a file, one JSON object per line: beside the ledgers of this machine, or where a user says."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from reviewbot.cli.output.kept_report import feedback_path
from reviewbot.cli.output.writing import say, write_file
from reviewbot.domain.contracts.feedback import Label
from reviewbot.domain.errors import ConfigError, InputError
from reviewbot.evaluate.feedback_fit import MAX_LABELS, fit_feedback
from reviewbot.journal.sqlite import default_path
from reviewbot.review.feedback import NO_FEEDBACK, FeedbackTable

MAX_BYTES = 32 * 1024 * 1024


def labels_path(environ: Mapping[str, str]) -> Path:
    """The file beside the journal, which holds the ledgers."""
    return default_path(environ).with_name("labels.jsonl")


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labels of a file. Raises InputError for one that cannot be read, with the first line that is no label."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES:,} bytes")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or 'it is no UTF-8'}") from None
    labels = []
    for number, line in enumerate(lines, 1):
        try:
            labels.append(Label.model_validate_json(line))
        except ValidationError:
            raise InputError(f"line {number} of {path} is no label") from None
    return tuple(labels)


def keep_labels(environ: Mapping[str, str], labels: Iterable[Label]) -> None:
    """Add labels to those of this machine, and fit its table. That they cannot be kept is said, and costs no review."""
    try:
        path, table = labels_path(environ), feedback_path(environ)
        add_labels(path, labels)
        fitted = fit_feedback(read_labels(path)[::-1])
        if fitted.notes():
            _replace(table, fitted.model_dump_json())
        else:
            table.unlink(missing_ok=True)
    except (InputError, OSError) as error:
        say(f"labels of findings are not kept: {error}")


def add_labels(path: Path, labels: Iterable[Label]) -> None:
    """Put labels in the place of those of the same pull requests; the newest last. Raises InputError and OSError."""
    new = tuple(labels)
    pulls = {(each.repository, each.pull) for each in new}
    before = read_labels(path) if path.exists() else ()
    kept = [*(each for each in before if (each.repository, each.pull) not in pulls), *new][-MAX_LABELS:]
    _replace(path, "".join(f"{each.model_dump_json(exclude_defaults=True)}\n" for each in kept))


def _replace(path: Path, text: str) -> None:
    """Write a file in one step: a reader finds the former text or the new one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(draft, text)
    draft.replace(path)


def branch_name(key: str) -> str:
    """The name of a branch in place of a pull request: a digest of the key of its ledger."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def local_feedback(environ: Mapping[str, str]) -> FeedbackTable:
    """What is known of earlier findings on this machine; a file that cannot be read is treated as missing."""
    try:
        return FeedbackTable.model_validate_json(feedback_path(environ).read_bytes())
    except (OSError, ValidationError, ConfigError):
        return NO_FEEDBACK
