from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import postgres, program
from tests.still_clock import Moment


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A Postgres of our own; the tests that need one are skipped where it is not installed."""
    if program("initdb") is None:
        pytest.skip("Postgres is not installed")
    with postgres() as url:
        yield url
