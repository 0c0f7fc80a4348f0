from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.app.store.durable import Database, open_database
from tests.postgres_server import postgres, program


class Moment:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
def database(tmp_path: Path, moment: Moment) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "state" / "app.sqlite"), moment)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A Postgres of our own; the tests that need one are skipped where it is not installed."""
    if program("initdb") is None:
        pytest.skip("Postgres is not installed")
    with postgres() as url:
        yield url
