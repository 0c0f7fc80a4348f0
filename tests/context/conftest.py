"""Files in memory as a snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reviewbot.domain.ports import Commit, Occurrence


class Files:
    """A snapshot of texts by path; without a base of its own both sides are the same."""

    def __init__(
        self,
        head: Mapping[str, str],
        base: Mapping[str, str] | None = None,
    ) -> None:
        self._head = head
        self._base = head if base is None else base

    def head(self, path: str) -> str | None:
        return self._head.get(path)

    def base(self, path: str) -> str | None:
        return self._base.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        whole = re.compile(rf"\b{re.escape(word)}\b")
        found = [
            Occurrence(path, number, line)
            for path, text in sorted(self._head.items())
            for number, line in enumerate(text.split("\n"), 1)
            if whole.search(line)
        ]
        return tuple(found[:limit])

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        del path, limit
        return ()


@pytest.fixture(scope="session")
def snapshot_with() -> Callable[..., Any]:
    return Files
