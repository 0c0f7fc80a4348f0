"""A change whose names and lines are commands for the runner of a CI service, in whose log a report may stand."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from reviewbot.cli.main import main
from reviewbot.cli.output.writing import say
from reviewbot.report.formats import FORMATS

NAMES = (
    "::set-output name=verdict::clean.py",
    "##[add-mask]x.py",
    "##vso[task.setvariable variable=x]y.py",
    "a #[b.py",
)
LINES = (
    'eval("::stop-commands::x" + input())',
    'eval(f"##[add-mask]x {input()}")',
    "::warning::x ##[group]y",
)


def commands_in(log: str) -> list[str]:
    """Lines of a log that a runner would obey, read as its source does: `::` opens a line, `##[` stands anywhere."""
    lines = re.split(r"\r\n|\r|\n", re.sub(r"\x1b\[[0-9;]*m", "", log))
    opened = [line for line in lines if line.lstrip().startswith("::")]
    return opened + [line for line in lines if re.search(r"##(?:\[|vso\[|teamcity\[)", line)]


@pytest.fixture
def change(tmp_path: Path) -> Path:
    body = "".join(f"+{line}\n" for line in ("import os", *LINES[:2]))
    files = [
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\t\n@@ -0,0 +1,3 @@\n{body}"
        for name in NAMES
    ]
    # A key makes a finding of any line; the one below it is quoted at the first column of a block of code.
    token = "gh" + "p_c4nAryc4nAryc4nAryc4nAryc4nAryc4nAry"
    files.append(
        "diff --git a/x.c b/x.c\nnew file mode 100644\n--- /dev/null\n+++ b/x.c\n@@ -0,0 +1 @@\n"
        f"+  {LINES[2]} {token}\n"
    )
    path = tmp_path / "change.diff"
    path.write_text("".join(files), encoding="utf-8")
    return path


@pytest.fixture
def trace(change: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The trace of its review, from which a report is made without reviewing again."""
    path = tmp_path / "trace.json"
    main(["review", str(change), "--engine", "analyzers", "--no-cache", "--trace", str(path)])
    told = capsys.readouterr()
    assert NAMES[0].replace("::set", r"\x3a:set") in told.out
    assert not commands_in(told.out + told.err)
    return path


@pytest.mark.slow
def test_no_report_of_a_review_holds_a_command_but_those_that_it_is_made_of(
    trace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for colour in ("0", "1"):
        monkeypatch.setenv("FORCE_COLOR", colour)
        for form in FORMATS:
            assert main(["replay", str(trace), "--format", form]) == 0
            told = capsys.readouterr().out
            ours = [
                line for line in told.splitlines() if form == "annotations" and re.match("::(error|notice|warn)", line)
            ]
            assert [line for line in commands_in(told) if line not in ours] == []
            assert len(told) > 500


def test_a_report_in_json_loses_nothing_by_it(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["replay", str(trace), "--format", "json"])

    review = json.loads(capsys.readouterr().out)

    assert {NAMES[0], NAMES[1]} <= {finding["path"] for finding in review["findings"]}
    assert LINES[1] in {finding["evidence"] for finding in review["findings"]}


def test_neither_trace_nor_timeline_nor_plan_nor_parse_hold_one(
    change: Path, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not commands_in(trace.read_text(encoding="ascii"))
    for arguments in (
        ["trace", str(trace)],
        ["plan", str(change)],
        ["plan", str(change), "--format", "json"],
        ["parse", str(change)],
    ):
        assert main(arguments) == 0
        told = capsys.readouterr().out
        assert "set-output" in told
        assert not commands_in(told)


@pytest.mark.parametrize("name", NAMES)
def test_a_message_on_standard_error_holds_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["review", f"no such {name}\r{name}\n{name}"])
    say(name)

    told = capsys.readouterr().err
    assert told.count("\n") == 2
    assert not commands_in(told)


def test_settings_of_a_repository_are_printed_without_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".reviewbot.toml").write_text('ignore = ["##[add-mask]x"]\n', encoding="utf-8")

    for form in ("terminal", "json"):
        assert main(["config", "--repo", str(tmp_path), "--format", form]) == 0
        told = capsys.readouterr().out
        assert "add-mask" in told
        assert not commands_in(told)
        assert form != "json" or json.loads(told)["ignore"]["value"] == ["##[add-mask]x"]
        assert form != "terminal" or tomllib.loads(told)["ignore"] == ["##[add-mask]x"]
