"""A file of results, one JSON object per line and per case, with which a stopped run can be resumed.

Each row carries the digest of the run that made it: what a row was made with must never be guessed from its place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import read_text
from reviewbot.evaluate.rows import Json

_TEXTS = ("file", "rule", "type", "severity", "category", "text")
_NUMBERS = ("line", "end_line", "confidence")


def _line(row: Json) -> bytes:
    return json.dumps(row).encode() + b"\n"


_LISTS: dict[str, type] = {"sources": str, "also": int, "stated": dict}
"""What the fields of a finding are, as far as it has them. A file of results may come from anywhere."""


class ResultsFile:
    """The rows of one run. A row is whole on disk when `add` returns, or not there at all after a restart."""

    def __init__(self, path: Path, descriptor: int, run: str, kept: list[Json]) -> None:
        self._path = path
        self._descriptor = descriptor
        self._run = run
        self.rows = kept
        """Of this run, with those that were there before."""

    @property
    def done(self) -> frozenset[str]:
        """The keys of the cases that have their row."""
        return frozenset(row["case"] for row in self.rows)

    def add(self, row: Json) -> None:
        """Append one row. Raises InputError."""
        marked = {**row, "run": self._run}
        left = memoryview(_line(marked))
        try:
            while left:  # the first write takes it all unless the disk is full
                left = left[os.write(self._descriptor, left) :]
        except OSError as error:
            raise InputError(f"cannot write {self._path}: {error.strerror}") from None
        self.rows.append(marked)


@contextmanager
def open_results(path: Path, run: str, *, fresh: bool) -> Iterator[ResultsFile]:
    """The file for the rows of `run`, with those that it holds already; `fresh` empties it first.

    Rows that a stop cut off and rows of cases that failed are left out, so that these are done again.

    Raises:
        InputError: it cannot be read or written, or it holds something else than rows of this run.
    """
    try:
        kept = [] if fresh else _read_rows(path, run)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if fresh else 0)
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        yield ResultsFile(path, descriptor, run, kept)
    finally:
        os.close(descriptor)


def read_rows(path: Path) -> list[Json]:
    """Read all rows of a finished file. Raises InputError."""
    return [_row(path, line) for line in read_text(path).split("\n") if line.strip()]


def _read_rows(path: Path, run: str) -> list[Json]:
    """The rows to go on from; the file is cut down to them."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    rows = [_row(path, line) for line in whole.decode("utf-8", "replace").split("\n") if line.strip()]
    if any(row.get("run") != run for row in rows):
        raise InputError(
            f"{path} holds results of another version or with other settings; give --fresh to start anew, or another"
            " --out"
        )
    kept = [row for row in rows if "error" not in row]
    if len(whole) < len(data) or len(kept) < len(rows):
        beside = path.with_name(path.name + ".part")
        beside.write_bytes(b"".join(_line(row) for row in kept))
        beside.replace(path)
    return kept


def _row(path: Path, line: str) -> Json:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    findings = row.get("findings") if isinstance(row, dict) and isinstance(row.get("case"), str) else None
    if not isinstance(findings, list) or not all(isinstance(finding, dict) for finding in findings):
        raise InputError(f"{path} is no file of results: each line should be an object with 'case' and 'findings'")
    if not all(_is_finding(finding) for finding in findings):
        raise InputError(f"{path} holds a finding of {row['case']!r:.80} in an unknown form: a field has an odd type")
    return dict(row)


def _is_finding(value: Json) -> bool:
    """Whether the fields of a finding, as far as it has them, are of the types that `rows` writes."""
    texts = all(isinstance(value.get(name) or "", str) for name in _TEXTS)
    numbers = all(isinstance(value.get(name) or 0, int | float) for name in _NUMBERS)
    return texts and numbers and all(_is_list(value.get(name) or [], kind) for name, kind in _LISTS.items())


def _is_list(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)
