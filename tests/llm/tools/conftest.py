"""A repository in memory, and its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import ToolLimits, ToolResult
from tests.snapshots import InMemorySnapshot


def _repository(head: Mapping[str, str | bytes], base: Mapping[str, str] | None = None, *, whole: bool = True) -> Any:
    return InMemorySnapshot(head, base, whole=whole)


Call = Callable[..., ToolResult]


@pytest.fixture
def repository() -> Callable[..., InMemorySnapshot]:
    return _repository


@pytest.fixture
def calls() -> Callable[..., Call]:
    """Tools over a snapshot, as a function from a call to its result."""

    def make(snapshot: Any, limits: ToolLimits | None = None, **options: Any) -> Call:
        tools = RepositoryTools(snapshot, limits, **{"symbols": True, **options})
        return lambda tool, /, **arguments: asyncio.run(tools.call(tool, arguments))

    return make
