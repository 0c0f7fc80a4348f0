from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.web.pages import DESCRIPTION, EVENTS, PERMISSIONS, SENT_ANYWAY, manifest

yaml = pytest.importorskip("yaml")


def stored() -> dict[str, Any]:
    loaded = yaml.safe_load((Path(__file__).parents[3] / "app.yaml").read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_the_file_says_what_the_code_asks_for() -> None:
    found = stored()

    assert found["default_permissions"] == dict(PERMISSIONS)
    assert found["default_events"] == list(EVENTS)
    assert (found["description"], found["public"]) == (DESCRIPTION, False)


def test_it_asks_for_no_more_than_it_needs() -> None:
    assert PERMISSIONS == {"contents": "read", "pull_requests": "write", "checks": "write", "metadata": "read"}


def test_the_host_is_not_asked_for_what_it_sends_to_every_app() -> None:
    made = manifest("my-bot", "https://a.example", "http://localhost:1/setup/callback")

    assert made["hook_attributes"] == {"url": "https://a.example/webhook", "active": True}
    assert made["callback_urls"] == ["https://a.example/sign-in/callback"]
    assert made["setup_url"] == "https://a.example/"
    assert made["redirect_url"] == "http://localhost:1/setup/callback"
    assert made["default_events"] == [event for event in EVENTS if event not in SENT_ANYWAY]
    assert made["public"] is False
