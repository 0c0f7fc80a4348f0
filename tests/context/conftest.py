"""Files in memory as a snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.snapshots import InMemorySnapshot


def _snapshot(head: Mapping[str, str], base: Mapping[str, str] | None = None) -> InMemorySnapshot:
    """Without a base of its own both sides are the same."""
    return InMemorySnapshot(head, head if base is None else base, searchable=True)


@pytest.fixture(scope="session")
def snapshot_with() -> Callable[..., Any]:
    return _snapshot
