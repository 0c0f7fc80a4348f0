"""What the tests of a fork's review are made of: ids, event files, a runner's environment."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HEAD, BASE = "a" * 40, "b" * 40
REPOSITORY_ID, FORK_ID, NUMBER = 501, 502, 7


def run_event(run: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """That a fork's trigger has run, as GitHub sends it: `pull_requests` is empty."""
    known_run = {
        "id": 9_001,
        "run_attempt": 1,
        "event": "pull_request",
        "conclusion": "success",
        "head_sha": HEAD,
        "head_branch": "patch-1",
        "head_repository": {"id": FORK_ID, "full_name": "mallory/shop", "owner": {"login": "mallory", "id": 9}},
        "pull_requests": [],
    }
    known = {
        "action": "completed",
        "repository": {"id": REPOSITORY_ID, "full_name": "acme/shop"},
        "workflow_run": known_run | dict(run or {}),
    }
    return known | fields


def an_environment(folder: Path, name: str, event: object, **more: str) -> dict[str, str]:
    """The runner's variables of a step, with the event written out."""
    for each in ("temp", "workspace"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    place = folder / "event.json"
    place.write_text(json.dumps(event))
    known = {
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(place),
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_WORKSPACE": str(folder / "workspace"),
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_API_URL": "https://api.github.com",
        "INPUT_GITHUB_TOKEN": "ghs_" + "r" * 36,
    }
    return known | more


def text_of(folder: Path, names: Sequence[str] = ("output", "summary")) -> str:
    """What a step wrote for the runner."""
    return "".join((folder / name).read_text("utf-8") for name in names if (folder / name).exists())
