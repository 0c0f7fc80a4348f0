"""Real payloads of GitHub's, where they are at hand: each is taken, or ignored by name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.triggers.values import Refusal, Trigger
from reviewbot.app.web.body import read_object
from reviewbot.app.web.events import AppIdentity, decide_trigger
from reviewbot.config import Settings

FOLDER = Path(__file__).parents[4] / "shared" / "contracts" / "webhooks"
WHO = AppIdentity(app_id=29_310, slug="reviewbot")

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="GitHub's own payloads are not at hand")


def judged(payload: dict[str, Any], name: str) -> Trigger | Refusal:
    # They are of several Apps; an installation's own events say of which.
    who = replace(WHO, app_id=payload["installation"]["app_id"]) if name == "installation" else WHO
    return decide_trigger(name, payload, "d-1", who, Settings(review_bots=True))


def test_each_real_payload_is_taken_or_ignored_by_name() -> None:
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        name, action, _, _ = path.name.split(".")
        found[path.name] = judged(read_object(path.read_bytes()), name), name, action

    assert len(found) == 98
    for decision, _, _ in found.values():
        assert isinstance(decision, Trigger) or decision.reason
    taken = {(name, action) for decision, name, action in found.values() if isinstance(decision, Trigger)}
    assert {
        ("pull_request", action) for action in ("opened", "reopened", "ready_for_review", "synchronize", "closed")
    } < taken
    assert ("check_suite", "rerequested") in taken
    assert ("installation", "deleted") in taken


def test_each_is_read_to_its_end_when_it_comes_through_an_installation() -> None:
    ignored = "it does not come through an installation of the App"
    for path in sorted(FOLDER.glob("*.json")):
        payload = json.loads(path.read_bytes())
        if "repository" in payload:
            decision = judged({**payload, "installation": {"id": 1}}, path.name.split(".")[0])

            assert isinstance(decision, Trigger) or decision.reason != ignored
