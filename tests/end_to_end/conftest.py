from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.messages_api import MessagesApi
from tests.model_reviews import CANARY, FOUND, KEY, Door, Team


@pytest.fixture
def door(
    messages_api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Door:
    """The command line with a key for an API that answers as readers and judge do."""
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    monkeypatch.setenv("DATABASE_PASSWORD", CANARY)
    monkeypatch.setenv("REVIEWBOT_REQUESTS_PER_MINUTE", "60000")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    messages_api.otherwise = Team([FOUND])
    return Door(messages_api, tmp_path / "here", capsys)
