"""Adapters that need nothing but memory: a bare diff's snapshot, a journal of one process, the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator

from reviewbot.diff.apply import NO_FILES, added_text, old_side
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.ports import Commit, Occurrence


class DiffSnapshot:
    """The whole files that a bare diff holds: new sides of added files, old sides of deleted ones."""

    def __init__(self, change: ChangeSet) -> None:
        self._head: dict[str, str | None] = {}
        self._base: dict[str, str | None] = {}
        for file, parsed in zip(change.files, change.parsed, strict=True):
            if parsed.state != "read" or file.minified or file.mode in NO_FILES or not file.hunks:
                continue
            if file.status == "added":
                self._head[file.path] = added_text(file)
            elif file.status == "deleted":
                self._base[file.path] = old_side(file, "")

    def head(self, path: str) -> str | None:
        """The text of an added file, from its own hunks; None for any other."""
        return self._head.get(path)

    def base(self, path: str) -> str | None:
        """The text of a deleted file; None for any other."""
        return self._base.get(path)

    def search(self, _word: str, _limit: int) -> tuple[Occurrence, ...] | None:
        """None: a diff alone does not show what is around it."""
        return None

    def files(self) -> tuple[str, ...] | None:
        """None, as for `search`."""
        return None

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text of added files."""
        found = ((path, self.head(path)) for path in paths)
        return ((path, text.encode("utf-8", "replace")) for path, text in found if text is not None)

    def history(self, _path: str, _limit: int) -> tuple[Commit, ...]:
        """Nothing: a diff alone has no history."""
        return ()


class MemoryJournal:
    """A `Journal` that is gone with the process."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """The value, or None."""
        return self._values.get(key)

    def put(self, key: str, value: str) -> None:
        """Remember a value."""
        self._values[key] = value


class NoJournal(MemoryJournal):
    """A `Journal` that keeps nothing: for progress that no later run can go on from."""

    def put(self, key: str, value: str) -> None:
        """Keep nothing."""
        del key, value


class SystemClock:
    """The `Clock` of the system."""

    def monotonic(self) -> float:
        """Seconds since some moment, never going back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking other tasks."""
        await asyncio.sleep(seconds)
