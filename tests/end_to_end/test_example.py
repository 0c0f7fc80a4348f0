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

from reviewbot.cli.main import main
from tests.make import one_fast

ROOT = Path(__file__).parents[2]
ORDERS = ROOT / "examples/orders"
CERTAIN = 80
"""From here on a finding is posted without anything that confirms it."""

MAX_COMMENT = 5_711
"""60% of the 9,519 characters that the comment took when it listed each file with its analyzers, although a finding in
TypeScript and a fix of each finding have come since."""
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


@pytest.mark.parametrize("repo", one_fast([None, "base", "head"]))
def test_the_example_gives_what_is_expected_of_it_without_a_model(
    repo: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = tomllib.loads((ORDERS / "expected.toml").read_text())
    fates = {d["id"]: d["repo" if repo else "diff"] for d in expected["defect"]}
    more = ["--repo", str(ORDERS / repo)] if repo else []

    report: dict[str, Any] = json.loads(reviewed("--format", "json", *more, capsys=capsys))
    said = said_of(expected, report)

    assert {defect: fate for defect, (fate, _) in said.items()} == {d: f for d, f in fates.items() if f != "missed"}
    for defect in expected["defect"]:
        _, finding = said.get(defect["id"], ("missed", None))
        if finding is not None:
            assert finding["type"] in (defect["type"], *defect.get("also", ()))
            assert finding["rule"] == defect.get("rule", finding["rule"])
            assert (finding["confidence"] >= CERTAIN) == (fates[defect["id"]] == "reported")
    assert {f["type"] for f in report["findings"]} == {"security", "performance", "style", "logic"}


@pytest.mark.parametrize("repo", one_fast([None, "base", "head"]))
def test_of_the_example_nothing_else_is_said_and_what_needs_scans_alone_is_named(
    repo: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = tomllib.loads((ORDERS / "expected.toml").read_text())
    more = ["--repo", str(ORDERS / repo)] if repo else []

    report: dict[str, Any] = json.loads(reviewed("--format", "json", *more, capsys=capsys))
    besides = [(fate, f) for fate, f in everything(report) if not defects_at(expected, f)]

    asides = {(a["path"], a["line"], a["rule"]) for a in expected["aside"]}
    assert {fate for fate, _ in besides} == {"withheld"}
    assert {(f["path"], f["line"], f["rule"]) for _, f in besides} == asides
    assert (report["gaps"], report["conflicts"]) == ([], [])
    enough = {c["path"]: c["reason"] for c in report["coverage"] if (c["state"], c["need"]) == ("scanned", "scan")}
    assert {e["path"]: e["why"] for e in expected["scanned"]} == enough
    assert not {f["path"] for _, f in everything(report)} & {e["path"] for e in expected["quiet"]}


def everything(report: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """All findings of a report, wherever it has them, each with what became of it."""
    return [
        *(("reported", finding) for finding in report["findings"]),
        *(("person", item["finding"]) for item in report["human"]),
        *(("withheld", item["finding"]) for item in report["withheld"]),
    ]


def defects_at(expected: dict[str, Any], finding: dict[str, Any]) -> list[str]:
    """The defects on whose line a finding stands."""
    first, last = finding["line"], finding["end_line"]
    return [d["id"] for d in expected["defect"] if d["path"] == finding["path"] and first <= d["line"] <= last]


def said_of(expected: dict[str, Any], report: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """What became of each defect that the report speaks of, and the finding; no defect is told twice."""
    said: dict[str, tuple[str, dict[str, Any]]] = {}
    for fate, finding in everything(report):
        for defect in defects_at(expected, finding):
            assert defect not in said
            said[defect] = (fate, finding)
    return said


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


@pytest.mark.slow
def test_the_comment_of_the_example_is_short_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    text = reviewed("--repo", str(ORDERS / "base"), "--format", "markdown", capsys=capsys)

    assert len(text) <= MAX_COMMENT
    assert text.count("*Impact:*") == 7
    assert text.count("*Fix:*") == 7
    assert text.count("<details>") == text.count("</details>") == 4
    for link in ("https://docs.astral.sh/ruff/rules/ASYNC251", "https://cwe.mitre.org/data/definitions/798.html"):
        assert f"]({link})" in text
