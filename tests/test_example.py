"""The example, end to end without a model: what it says, what it keeps silent about, and what the documents promise."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli import main

ROOT = Path(__file__).parent.parent
ORDERS = ROOT / "examples/orders"
SAMPLE_LINES = 30
"""Of the report, in the README: the verdict and the first findings."""


def reviewed(*more: str, capsys: pytest.CaptureFixture[str], columns: int = 100) -> str:
    environ = {"COLUMNS": str(columns), "NO_COLOR": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.StringIO())
        code = main(["review", str(ORDERS / "change.diff"), "--no-cache", *more])
    assert code == 0
    return capsys.readouterr().out


def test_the_diff_of_the_example_is_the_difference_of_its_two_states() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/make_diff.py"), "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("repo", [None, "base", "head"])
def test_the_example_gives_what_is_expected_of_it_without_a_model(
    repo: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = tomllib.loads((ORDERS / "expected.toml").read_text())
    more = ["--repo", str(ORDERS / repo)] if repo else []

    report: dict[str, Any] = json.loads(reviewed("--format", "json", *more, capsys=capsys))
    found = {(f["path"], f["line"]): f for f in report["findings"]}
    certain = {(d["path"], d["line"]): d for d in expected["defect"] if d["without_a_model"]}
    for_a_person = {(d["path"], d["line"]) for d in expected["defect"] if d.get("keyless") == "person"}

    assert found.keys() == certain.keys()
    for place, defect in certain.items():
        assert found[place]["type"] in (defect["type"], *defect.get("also", ()))
        assert found[place]["confidence"] >= 80
    shown = [item["finding"] for item in report["human"]]
    assert len(shown) == len(for_a_person)
    for path, line in for_a_person:
        assert any(f["path"] == path and f["line"] <= line <= f["end_line"] for f in shown)
    assert {f["type"] for f in report["findings"]} == {"security", "performance", "style", "logic"}
    states = {c["path"]: c["state"] for c in report["coverage"]}
    assert {e["path"]: e["state"] for e in expected["left_out"]} == {
        p: s for p, s in states.items() if s == "generated"
    }
    assert not {path for path, _ in found} & {e["path"] for e in expected["quiet"]}


def test_every_defect_that_is_expected_stands_on_its_line() -> None:
    expected = tomllib.loads((ORDERS / "expected.toml").read_text())

    for defect in expected["defect"]:
        line = (ORDERS / "head" / defect["path"]).read_text().split("\n")[defect["line"] - 1]
        assert defect["quote"] in line, defect["id"]


def test_the_sample_in_the_readme_is_what_the_example_prints(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text()
    before, _, rest = readme.partition("<!-- sample:start -->\n")
    sample, _, after = rest.partition("<!-- sample:end -->")
    lines = reviewed("--repo", str(ORDERS / "base"), capsys=capsys).split("\n")[:SAMPLE_LINES]
    wanted = "\n".join(["```text", *lines, "...", "```", ""])
    if os.environ.get("UPDATE_SNAPSHOTS"):
        (ROOT / "README.md").write_text(f"{before}<!-- sample:start -->\n{wanted}<!-- sample:end -->{after}")
        sample = wanted

    assert sample == wanted
