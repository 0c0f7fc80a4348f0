from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.app.store.durable.database import Database, open_database
from tests.still_clock import Moment


@pytest.fixture
def database(tmp_path: Path, moment: Moment) -> Iterator[Database]:
    opened = open_database(str(tmp_path / "state" / "app.sqlite"), moment)
    yield opened
    opened.close()
