"""A second review of what has not changed, as a person runs it: the same report, and no analyzer at work again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main

Json = dict[str, Any]

LINES = ("import os", "def run(name):", "    return os.system('ls ' + name)")
DIFF = "diff --git a/shop/run.py b/shop/run.py\nnew file mode 100644\n--- /dev/null\n+++ b/shop/run.py\n"
DIFF += f"@@ -0,0 +1,{len(LINES)} @@\n" + "".join(f"+{line}\n" for line in LINES)


def review(folder: Path, *options: str) -> Json:
    """The report, with the time that each analyzer took in place of what differs from run to run."""
    (folder / "change.diff").write_text(DIFF, "utf-8")
    given = ["--engine", "analyzers", "--format", "json", "--output", str(folder / "report.json")]
    assert main(["review", str(folder / "change.diff"), *given, "--trace", str(folder / "trace.json"), *options]) == 0
    report: Json = json.loads((folder / "report.json").read_text("utf-8"))
    report.pop("timings")
    for worker in report["workers"]:
        worker.pop("duration_ms")
    events = json.loads((folder / "trace.json").read_text("utf-8"))["events"]
    results = [event["outcome"] for event in events if event["event"] == "result"]
    report["spent"] = {run["tool"]: run["duration_ms"] for each in results for run in each["metadata"]["tool_runs"]}
    return report


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_the_second_review_runs_no_analyzer_and_says_the_same(home: Path) -> None:
    first, second = review(home), review(home)

    assert first["findings"] or first["human"] or first["withheld"]
    assert first.pop("spent")["ruff-security"] > 0
    assert set(second.pop("spent").values()) == {0}
    assert second == first


def test_without_a_cache_nothing_is_kept_and_all_is_done_again(home: Path) -> None:
    for _ in range(2):
        assert review(home, "--no-cache")["spent"]["ruff-security"] > 0

    assert not (home / "cache").exists()
