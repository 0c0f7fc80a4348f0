"""What the tests of a fork's two stages are made of: a change, an artifact as plain JSON, archives, event files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from reviewbot.action.artifact import FILE_NAME
from reviewbot.contracts import ChangeSet
from reviewbot.diff.parse import parse_diff

HEAD, BASE = "a" * 40, "b" * 40
REPOSITORY_ID, FORK_ID, NUMBER, RUN_ID = 501, 502, 7, 9_001

LINE = "    subprocess.run(name, shell=True)"
"""Line 3 of src/app.py, which the change adds."""

DIFF = f"""\
diff --git a/src/app.py b/src/app.py
--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,4 @@
 import subprocess
 def run(name):
+{LINE}
+    return name
""".encode()


def a_change(diff: bytes = DIFF) -> ChangeSet:
    return parse_diff(diff).model_copy(update={"head_sha": HEAD, "base_sha": BASE})


def a_claim(**fields: Any) -> dict[str, Any]:
    """A claim that holds for the change: ruff's S602 at line 3."""
    known = {
        "tool": "ruff-security",
        "rule": "S602",
        "path": "src/app.py",
        "line": 3,
        "end_line": 3,
        "quote": LINE,
        "severity": "warning",
        "confidence": 0,
    }
    return known | fields


def an_artifact(*claims: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    known = {
        "schema_version": "1",
        "identity": {"repository_id": REPOSITORY_ID, "number": NUMBER, "head_sha": HEAD, "base_sha": BASE},
        "findings": [*(claims or (a_claim(),))],
        "left_out": 0,
        "coverage": [{"path": "src/app.py", "state": "reviewed"}],
    }
    return known | fields


def as_json(value: object) -> bytes:
    return json.dumps(value).encode("ascii")


def an_entry(name: str = FILE_NAME, mode: int = 0o100_644, compression: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    """An entry of an archive; `mode` is Unix's, with its kind."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = mode << 16
    entry.compress_type = compression
    return entry


def zipped(*entries: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for entry, data in entries:
            archive.writestr(entry, data)
    return stream.getvalue()


def an_archive(value: object | None = None) -> bytes:
    """An artifact as GitHub hands it out."""
    return zipped((an_entry(), as_json(an_artifact() if value is None else value)))


def pull_event(**fields: Any) -> dict[str, Any]:
    """Of stage one. Texts that nobody may act on are hostile."""
    pull = {
        "number": NUMBER,
        "title": "$(touch /tmp/reviewbot-fork-canary-title)",
        "head": {"sha": HEAD, "ref": "`id`", "repo": {"id": FORK_ID, "full_name": "mallory/shop"}},
        "base": {"sha": BASE, "ref": "main"},
    }
    known = {"action": "opened", "repository": {"id": REPOSITORY_ID, "full_name": "acme/shop"}, "pull_request": pull}
    return known | fields


def run_event(run: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Of stage two, as GitHub sends it for a fork: `pull_requests` is empty."""
    known_run = {
        "id": RUN_ID,
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
    place.write_bytes(event if isinstance(event, bytes) else json.dumps(event).encode())
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
