"""Reviews of changes whose names, title and description are what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewbot.cli.main import main

RENAMED = "diff --git a/app.py b/a\u202epp.py\nsimilarity index 100%\nrename from app.py\nrename to a\u202epp.py\n"
MOVED = "diff --git a/x\u200by.sh b/x\u200by.sh\nold mode 100644\nnew mode 100755\n"


@pytest.fixture
def change(tmp_path: Path) -> Path:
    path = tmp_path / "change.diff"
    path.write_text(RENAMED + MOVED, encoding="utf-8")
    return path


def test_a_rename_and_a_change_of_mode_without_a_line_are_findings_and_close_the_gate(
    change: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    given = ["review", str(change), "--engine", "analyzers", "--no-cache", "--format", "json"]

    assert main([*given, "--trace", str(trace), "--fail-on", "critical"]) == 1
    review = capsys.readouterr().out

    told = json.loads(review)["findings"]
    assert [(one["path"], one["rule"], one["line"]) for one in told] == [
        ("a\u202epp.py", "hidden-in-name", 1),
        ("x\u200by.sh", "hidden-in-name", 1),
    ]
    assert main(["replay", str(trace), "--format", "json"]) == 0
    assert capsys.readouterr().out == review


def test_where_the_worker_of_these_scans_is_left_out_nothing_is_told(
    change: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["review", str(change), "--engine", "analyzers", "--no-cache", "--format", "json", "--worker", "style"])

    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_rule_that_is_off_is_silent_about_names_as_well(
    change: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    given = ["review", str(change), "--engine", "analyzers", "--no-cache", "--format", "json", "--trace", str(trace)]

    main([*given, "--rule", "hidden-in-name=off"])
    review = capsys.readouterr().out

    assert json.loads(review)["findings"] == []
    assert len(json.loads(review)["suppressed"]) == 2
    assert main(["replay", str(trace), "--format", "json"]) == 0
    assert capsys.readouterr().out == review
