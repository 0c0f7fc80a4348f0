from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.domain.ports import Clock
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.options import PublishContext
from tests.publishing import RecordingHost


@pytest.fixture
def host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture
def context(host: RecordingHost, clock: Clock) -> PublishContext:
    return PublishContext(host, MemoryIntents(clock.monotonic), clock, "this run")


@pytest.fixture
def is_three(a_finding: Callable[..., Finding]) -> Callable[..., Finding]:
    """What a model says of the line with the literal, and what it would put there."""

    def make(replacement: str | None = "    if x == 3:", **fields: Any) -> Finding:
        known = {"line": 5, "evidence": "    if x is 3:", "sources": ("model:x",), "replacement": replacement}
        return a_finding(**{**known, **fields})

    return make
