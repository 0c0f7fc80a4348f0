"""A repository in memory, and its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import ToolLimits, ToolResult


class InMemoryRepository:
    """A `RepositorySnapshot` of texts. `whole`: the tree of the head is at hand."""

    def __init__(
        self, head: Mapping[str, str | bytes], base: Mapping[str, str] | None = None, *, whole: bool = True
    ) -> None:
        self.texts = {path: text if isinstance(text, bytes) else text.encode() for path, text in head.items()}
        self.old = dict(base or {})
        self.whole = whole
        self.commits: tuple[Commit, ...] = ()
        self.asked: list[tuple[object, ...]] = []

    def head(self, path: str) -> str | None:
        return self.texts[path].decode("utf-8", "replace") if path in self.texts else None

    def base(self, path: str) -> str | None:
        return self.old.get(path)

    def files(self) -> tuple[str, ...] | None:
        return tuple(sorted(self.texts)) if self.whole else None

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        return ((path, self.texts[path]) for path in paths)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        return None

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        self.asked.append((path, limit))
        return self.commits


Call = Callable[..., ToolResult]


@pytest.fixture
def repository() -> Callable[..., InMemoryRepository]:
    return InMemoryRepository


@pytest.fixture
def calls() -> Callable[..., Call]:
    """Tools over a snapshot, as a function from a call to its result."""

    def make(snapshot: Any, limits: ToolLimits | None = None, **options: Any) -> Call:
        tools = RepositoryTools(snapshot, limits, **{"symbols": True, **options})
        return lambda tool, /, **arguments: asyncio.run(tools.call(tool, arguments))

    return make
