"""Labelled cases as a reviewer may see them: the change, what is around it, and its title. Never its labels.

A folder of cases holds `GROUP/CASE/`, each with `change.diff`, `meta.json`, and perhaps the changed files before and
after in `base/` and `head/`.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from reviewbot.domain.errors import InputError

DIFF, META = "change.diff", "meta.json"

SIDES = ("base", "head")
"""Folders that may stand beside the diff, the better one first: the base side of a change configures its review."""


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
        return _read(self.folder / DIFF)

    def sides(self) -> tuple[Path, ...]:
        """The folders at a side of the change that the case has."""
        return tuple(self.folder / name for name in SIDES if (self.folder / name).is_dir())

    def words(self) -> dict[str, str]:
        """The title and the description of the change; empty where there is none. Raises InputError."""
        path = self.folder / META
        try:
            meta = json.loads(_read(path))
        except (ValueError, RecursionError):
            raise InputError(f"{path} is no JSON") from None
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


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
