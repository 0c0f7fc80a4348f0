"""Labels: the known defects of a case. Read to judge results that are there already, never to make them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.cases import META

LABELS = "golden.json"

_NUMBER = re.compile(r"\d{1,6}")


@dataclass(frozen=True)
class Place:
    """Where a defect can be seen. `first` is None where only the file is known."""

    file: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Golden:
    """One known defect; any of its places counts."""

    file: str | None
    places: tuple[Place, ...]
    cwe: int | None
    counted: bool
    """False: whether it is a defect is disputed, so finding it is neither right nor wrong."""

    @property
    def checkable(self) -> bool:
        """Whether a finding can be held against it at all."""
        return any(place.first is not None for place in self.places) or (bool(self.places) and self.cwe is not None)


@dataclass(frozen=True)
class Labels:
    """All that is known of one case; without goldens it is clean."""

    goldens: tuple[Golden, ...] = ()
    tested_cwe: int | None = None
    """The only kind of weakness that the case says anything about; None for all of them."""


def read_labels(folder: Path) -> Labels:
    """The labels of the case in this folder. Raises InputError."""
    goldens, meta = _json(folder / LABELS), _json(folder / META)
    try:
        return Labels(tuple(_golden(entry) for entry in goldens), cwe_number(meta.get("tested_cwe")))
    except (AttributeError, TypeError, KeyError, ValueError):
        raise InputError(f"{folder / LABELS} or {META} beside it does not have the form of labels") from None


def cwe_number(value: object) -> int | None:
    """89 for "CWE-89" or 89; None where there is no number."""
    found = _NUMBER.search(str(value)) if value is not None else None
    return int(found[0]) if found else None


def _golden(entry: dict[str, Any]) -> Golden:
    named = [place for place in (entry, *(entry.get("other_locations") or ())) if place.get("file")]
    lines = [(_text(place["file"]), _number(place.get("line")), _number(place.get("end_line"))) for place in named]
    return Golden(
        file=_text(entry["file"]) if entry.get("file") else None,
        places=tuple(Place(file, line, last or line) for file, line, last in lines),
        cwe=cwe_number(entry.get("cwe")),
        counted=entry.get("status", "golden") == "golden" and not entry.get("disputed"),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object) -> int | None:
    if value is not None and type(value) is not int:
        raise TypeError
    return value


def _json(path: Path) -> Any:  # noqa: ANN401 - any JSON; who asked looks at its form
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON") from None
