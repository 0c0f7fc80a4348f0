"""Labelled cases: the change as a reviewer may see it, and, apart from it, the known defects (labels).

A folder of cases holds `GROUP/CASE/`, each with `change.diff`, `meta.json`, and perhaps the changed files before and
after in `base/` and `head/`. Labels are read to judge finished results, never to make them.

A finding is right where it matches a label (golden) by place: the same file, and lines at most three apart; for a label
without a line, the same file and the same CWE. The text of a finding is not compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.rows import Json

DIFF, META = "change.diff", "meta.json"

SIDES = ("base", "head")
"""Folders that may stand beside the diff, the better one first: the base side of a change configures its review."""

WINDOW = 3
"""Lines between a finding and a golden that still count as the same place: a call and its argument, for instance."""

MAX_SPAN = 30
"""Lines of a finding that count. One that points at half a file would match whatever is in it."""

Ruling = Literal["true", "false", "neutral"]


@dataclass(frozen=True)
class Case:
    """One case. Only its key and place: what it holds is read when it is its turn, where it runs."""

    key: str
    """GROUP/CASE."""
    folder: Path

    @property
    def group(self) -> str:
        """The first half of its key."""
        return self.key.partition("/")[0]

    def diff(self) -> bytes:
        """The change. Raises InputError."""
        return read_bytes(self.folder / DIFF)

    def sides(self) -> tuple[Path, ...]:
        """The folders at a side of the change that the case has."""
        return tuple(self.folder / name for name in SIDES if (self.folder / name).is_dir())

    def words(self) -> dict[str, str]:
        """The title and the description of the change; empty where there is none. Raises InputError."""
        path = self.folder / META
        meta = _json(path)
        if not isinstance(meta, dict):
            raise InputError(f"{path} must hold an object")
        return {name: str(meta.get(name) or "") for name in ("title", "description")}


def list_cases(folder: Path, groups: Collection[str] = (), limit: int | None = None) -> list[Case]:
    """The cases of a folder by key: of some groups, where they are named, and the first `limit` of them.

    Raises:
        InputError: there is no case, or no such group.
    """
    found = sorted(folder.glob(f"*/*/{DIFF}"))
    cases = [Case(f"{path.parent.parent.name}/{path.parent.name}", path.parent) for path in found]
    if not cases:
        raise InputError(f"there is no case in {folder}; it should hold GROUP/CASE/{DIFF}")
    known = dict.fromkeys(case.group for case in cases)
    if unknown := [name for name in groups if name not in known]:
        raise InputError(f"there is no group {unknown[0]!r} in {folder}; known: {', '.join(known)}")
    return [case for case in cases if not groups or case.group in groups][:limit]


def read_bytes(path: Path) -> bytes:
    """A whole file. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def read_text(path: Path) -> str:
    """The same of a text in UTF-8."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}: it is no text") from None


LABELS = "golden.json"

_NUMBER = re.compile(r"\d{1,6}")


@dataclass(frozen=True)
class LabelPlace:
    """Where a defect can be seen. `first` is None where only the file is known."""

    file: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Golden:
    """One known defect; any of its places counts."""

    file: str | None
    places: tuple[LabelPlace, ...]
    cwe: int | None
    counted: bool
    """False: whether it is a defect is disputed, so finding it is neither right nor wrong."""

    @property
    def checkable(self) -> bool:
        """Whether a finding can be compared with it at all."""
        return any(place.first is not None for place in self.places) or (bool(self.places) and self.cwe is not None)


@dataclass(frozen=True)
class CaseLabels:
    """All that is known of one case; without goldens it is clean."""

    goldens: tuple[Golden, ...] = ()
    tested_cwe: int | None = None
    """The only kind of weakness that the case says anything about; None for all of them."""


def read_labels(folder: Path) -> CaseLabels:
    """The labels of the case in this folder. Raises InputError."""
    goldens, meta = _json(folder / LABELS), _json(folder / META)
    try:
        return CaseLabels(tuple(_golden(entry) for entry in goldens), cwe_number(meta.get("tested_cwe")))
    except (AttributeError, TypeError, KeyError, ValueError):
        raise InputError(f"{folder / LABELS} or {META} beside it does not have the form of labels") from None


def labelled_rows(rows: Iterable[Json], labels: Mapping[str, CaseLabels]) -> Iterator[tuple[str, Json]]:
    """Yield the case and the row of each result. Raises InputError for a case twice, and one without labels."""
    seen: set[str] = set()
    for row in rows:
        case = row["case"]
        if case in seen:
            raise InputError(f"the results hold {case} twice")
        if case not in labels:
            raise InputError(f"the results hold {case}, which is in none of the folders of --cases")
        seen.add(case)
        yield case, row


def cwe_number(value: object) -> int | None:
    """89 for "CWE-89" or 89; None where there is no number."""
    found = _NUMBER.search(str(value)) if value is not None else None
    return int(found[0]) if found else None


def _golden(entry: dict[str, Any]) -> Golden:
    named = [place for place in (entry, *(entry.get("other_locations") or ())) if place.get("file")]
    lines = [(_text(place["file"]), _number(place.get("line")), _number(place.get("end_line"))) for place in named]
    return Golden(
        file=_text(entry["file"]) if entry.get("file") else None,
        places=tuple(LabelPlace(file, line, last or line) for file, line, last in lines),
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
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no JSON") from None


def judge(findings: Sequence[Json], labels: CaseLabels) -> list[Ruling]:
    """One ruling for each finding of a case, in their order.

    Neutral is what the labels cannot say anything about: a finding of another CWE than the tested one, one that matches
    a disputed golden, and for each golden that has no place one finding in its file, the surest first.
    """
    rulings: list[Ruling] = ["neutral"] * len(findings)
    excuses = [golden for golden in labels.goldens if golden.counted and not golden.checkable]
    by_confidence = sorted(range(len(findings)), key=lambda n: -findings[n].get("confidence", 100))
    for n in by_confidence:
        finding = findings[n]
        if labels.tested_cwe in (None, cwe_number(finding.get("cwe"))):
            rulings[n] = _ruling(finding, labels.goldens, excuses)
    return rulings


def matches(finding: Json, golden: Golden) -> bool:
    """Whether a finding is at a place of a golden."""
    return any(_at(finding, place, golden.cwe) for place in golden.places)


def _ruling(finding: Json, goldens: Sequence[Golden], excuses: list[Golden]) -> Ruling:
    """The ruling on one finding; an excuse that it uses up is taken off the list."""
    hit = [golden.counted for golden in goldens if matches(finding, golden)]
    if hit:
        return "true" if any(hit) else "neutral"
    excuse = next((golden for golden in excuses if golden.file in (None, _file(finding))), None)
    if excuse is None:
        return "false"
    excuses.remove(excuse)
    return "neutral"


def _at(finding: Json, place: LabelPlace, cwe: int | None) -> bool:
    if place.file != _file(finding):
        return False
    if place.first is None or place.last is None:
        return cwe is not None and cwe_number(finding.get("cwe")) == cwe
    start = finding.get("line")
    if start is None:
        return False
    end = min(max(start, finding.get("end_line") or start), start + MAX_SPAN - 1)
    return bool(start <= place.last + WINDOW and place.first - WINDOW <= end)


def _file(finding: Json) -> str | None:
    file = finding.get("file")
    return str(file).removeprefix("./").lstrip("/") if file else None
