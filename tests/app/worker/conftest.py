"""A reviewed pull request of an App, for tests of what people write there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.worker.shop import Shop
from tests.app.worker.talking import Talk
from tests.github_api.apps import AppGithub


@pytest.fixture
def shop(tmp_path: Path, database: Any, pem: str) -> Iterator[Shop]:
    with AppGithub(pem) as github:
        yield Shop(github, tmp_path / "shop", database, pem)
    github.check()


@pytest.fixture
def talk(shop: Shop) -> Talk:
    return Talk(shop)
