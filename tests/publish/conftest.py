from __future__ import annotations

import pytest

from reviewbot.ports import Clock
from reviewbot.publish import Desk, MemoryIntents
from tests.publishing import RecordingHost


@pytest.fixture
def host() -> RecordingHost:
    return RecordingHost()


@pytest.fixture
def desk(host: RecordingHost, clock: Clock) -> Desk:
    return Desk(host, MemoryIntents(clock.monotonic), clock, "this run")
