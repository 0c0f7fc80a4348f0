"""`reviewbot eval` and `reviewbot calibrate` on small labelled cases."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.commands.evaluate import calibrate_command, eval_command
from reviewbot.domain.errors import ConfigError, ExitCode, InputError
from reviewbot.review.calibration import read_calibration

WEAK = """\
from flask import request


def note() -> str:
    return open(request.args["name"]).read()
"""
HARMLESS = "def double(number: int) -> int:\n    return number * 2\n"

OPENED: list[str] = []
"""What was opened while a test listens; a hook of the interpreter can never be taken out again."""


def added(text: str, path: str = "app.py") -> bytes:
    """The diff that adds a file."""
    lines = text.splitlines()
    head = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    )
    return (head + "".join(f"+{line}\n" for line in lines)).encode()


CHANGED = b"""\
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 def double(number: int) -> int:
-    return number * 2
+    return 2 * number
"""


class Bench:
    """A folder of cases, and runs over it."""

    def __init__(self, folder: Path) -> None:
        self.cases = folder / "cases"
        self.out = folder / "results.jsonl"

    def add(self, key: str, diff: bytes, golden: Any = (), **meta: Any) -> Path:
        """Write one case, beside files that nobody may open."""
        folder = self.cases / key
        folder.mkdir(parents=True)
        (folder / "change.diff").write_bytes(diff)
        (folder / "meta.json").write_text(json.dumps(meta))
        (folder / "golden.json").write_text(json.dumps(list(golden)))
        (folder / "fix.diff").write_text("what was wrong")
        (folder / "peers.json").write_text("{}")
        return folder

    def run(self, **flags: Any) -> int:
        """`reviewbot eval` in this process, unless jobs are asked for."""
        known: dict[str, Any] = {
            "cases": self.cases,
            "out": self.out,
            "engine": None,
            "script": None,
            "group": None,
            "limit": None,
        }
        known |= {"stage": "synthesis", "jobs": 1, "calibration": None, "fresh": False}
        known |= {"baseline": None, "effort": None, "deadline": None, "repo": None, "check": False}
        return eval_command(argparse.Namespace(**{**known, **flags}))

    def calibrate(self, *results: Path, **flags: Any) -> int:
        """`reviewbot calibrate`."""
        known = {
            "results": results or (self.out,),
            "cases": [self.cases],
            "group": None,
            "type": None,
            "leave_out": None,
            "models": False,
        }
        return calibrate_command(argparse.Namespace(**{**known, "out": None, **flags}))

    @property
    def rows(self) -> dict[str, Any]:
        """The rows by their cases."""
        return {row["case"]: row for row in map(json.loads, self.out.read_text().splitlines())}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Two groups: one with a planted defect, one that is clean."""
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)
    made = Bench(tmp_path)
    made.add("bad/path", added(WEAK), [{"file": "app.py", "line": 5, "cwe": "CWE-22"}])
    made.add("clean/double", added(HARMLESS))
    return made


# --- eval -----------------------------------------------------------------------------------------------------------


def test_each_case_becomes_a_row(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run() == ExitCode.REVIEWED

    bad, clean = bench.rows["bad/path"], bench.rows["clean/double"]
    assert [(f["file"], f["line"], f["rule"], f["place"]) for f in bad["findings"]] == [
        ("app.py", 5, "path-external", "shown")
    ]
    assert clean["findings"] == []
    assert bad["run"] == clean["run"]
    assert (bad["engine"], bad["stage"], bad["around"], bad["gaps"]) == ("analyzers", "synthesis", "nothing", 0)
    assert bad["tool_versions"].keys() >= {"ruff-security", "secrets"}
    assert bad["seconds"] > 0
    said = capsys.readouterr()
    assert said.out.startswith("2 cases (0 from before), 0 with gaps, 0 failed; 1 finding; written to ")
    assert said.err == ""


@pytest.mark.slow
def test_cases_run_in_other_processes_to_the_same_rows(bench: Bench) -> None:
    bench.run()
    alone = bench.rows

    bench.run(jobs=2, fresh=True)

    timeless = [{key: {**row, "seconds": 0} for key, row in rows.items()} for rows in (alone, bench.rows)]
    assert timeless[0] == timeless[1]


@pytest.mark.slow
def test_no_number_of_jobs_means_all_processors(bench: Bench) -> None:
    assert bench.run(jobs=None) == ExitCode.REVIEWED
    assert len(bench.rows) == 2


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The paths that this process opens."""
    listening = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if listening and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            OPENED.append(os.fsdecode(arguments[0]))

    OPENED.clear()
    sys.addaudithook(hook)
    yield OPENED
    listening.clear()


@pytest.mark.parametrize("stage", ["plan", "workers", "synthesis"])
def test_the_labels_are_never_opened(bench: Bench, opened: list[str], stage: str) -> None:
    folder = bench.add("bad/based", CHANGED)
    (folder / "base").mkdir()
    (folder / "base/app.py").write_text(HARMLESS)

    opened.clear()

    bench.run(stage=stage)

    read = {os.path.relpath(path, bench.cases) for path in opened if path.startswith(str(bench.cases))}
    cases = ("bad/based", "bad/path", "clean/double")
    # Files below a folder are opened by their own names, from the folder on.
    assert read - {"bad/based/base"} == {f"{case}/{name}" for case in cases for name in ("change.diff", "meta.json")}
    names = {os.path.basename(path) for path in opened}  # noqa: PTH119 - a text from the interpreter
    assert names >= {"change.diff", "meta.json", "app.py"}
    assert names.isdisjoint({"golden.json", "fix.diff", "peers.json"})
    assert bench.rows["bad/based"]["around"] == "base"


def test_the_folder_that_the_change_fits_is_used(bench: Bench) -> None:
    for name, sides in {"head": ["head"], "both": ["base", "head"], "neither": ["other"]}.items():
        folder = bench.add(f"side/{name}", CHANGED)
        for side in sides:
            (folder / side).mkdir()
    (bench.cases / "side/head/head/app.py").write_text(HARMLESS.replace("number * 2", "2 * number"))
    (bench.cases / "side/both/base/app.py").write_text("something else\n")
    (bench.cases / "side/both/head/app.py").write_text(HARMLESS.replace("number * 2", "2 * number"))

    assert bench.run(group=["side"]) == ExitCode.REVIEWED

    around = {key: row["around"] for key, row in bench.rows.items()}
    assert around == {"side/head": "head", "side/both": "head", "side/neither": "nothing"}


def test_findings_of_the_workers_come_with_one_source_each(bench: Bench) -> None:
    bench.run(stage="workers")

    findings = bench.rows["bad/path"]["findings"]
    assert [(f["rule"], f["sources"], f["place"]) for f in findings] == [("path-external", ["taint"], "worker")]


def test_a_plan_has_no_findings_yet(bench: Bench) -> None:
    bench.run(stage="plan")

    row = bench.rows["bad/path"]
    assert row["findings"] == []
    assert {task["worker"] for task in row["plan"]["tasks"]} >= {"security", "logic"}


def test_the_title_is_that_of_the_case(bench: Bench, tmp_path: Path) -> None:
    bench.add("titled/a", added(HARMLESS), title="Double it", description="As asked.")
    script = tmp_path / "script.json"
    script.write_text('{"answers": []}')

    assert bench.run(engine="scripted", script=script, group=["titled"]) == ExitCode.REVIEWED
    assert bench.rows["titled/a"]["engine"] == "scripted"


def test_a_second_run_does_only_what_is_left(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.run(limit=1)
    first = bench.out.read_bytes()

    bench.run()

    assert bench.out.read_bytes().startswith(first)
    assert sorted(bench.rows) == ["bad/path", "clean/double"]
    assert "2 cases (1 from before)" in capsys.readouterr().out


def test_a_run_of_another_stage_is_not_mixed_in(bench: Bench) -> None:
    bench.run(stage="plan")

    with pytest.raises(InputError, match="give --fresh"):
        bench.run(stage="workers")
    assert bench.run(stage="workers", fresh=True) == ExitCode.REVIEWED


def test_other_settings_are_another_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.run()
    monkeypatch.setenv("REVIEWBOT_MIN_CONFIDENCE", "99")

    with pytest.raises(InputError, match="give --fresh"):
        bench.run()
    bench.run(fresh=True)

    assert bench.rows["bad/path"]["findings"][0]["place"] == "person"


def test_a_case_that_fails_is_named_and_stops_no_other(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    for n in range(7):
        bench.add(f"broken/{n}", b"")

    assert bench.run() == ExitCode.INCOMPLETE

    assert bench.rows["bad/path"]["findings"]
    assert bench.rows["broken/0"]["error"].startswith("the diff is empty")
    assert bench.rows["broken/0"]["findings"] == []
    said = capsys.readouterr()
    assert "9 cases (0 from before), 0 with gaps, 7 failed" in said.out
    assert said.err.splitlines()[0].startswith("reviewbot: broken/0: the diff is empty")
    assert said.err.splitlines()[5:] == ["reviewbot: and 2 more"]


def test_another_table_changes_how_far_a_rule_is_trusted(bench: Bench, tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    row = 'tool = "taint", rule = "path-external", version = "1", true = 1, false = 9, confidence = 4'
    table.write_text(f"schema = 1\ndate = 2026-01-01\nrow = [ {{ {row} }} ]\n")

    bench.run(calibration=table)

    assert [f["confidence"] for f in bench.rows["bad/path"]["findings"]] == [4]


@pytest.mark.parametrize(
    "text",
    ["row = 3 =", "schema = 2", "schema = 1\ndate = 2026-01-01\nrow = [{}]", "schema = 1", f"row = {'[' * 3_000}"],
    ids=["no TOML", "another schema", "no row", "no date", "deeply nested"],
)
def test_a_table_that_is_none_is_an_error(bench: Bench, tmp_path: Path, text: str) -> None:
    (tmp_path / "table.toml").write_text(text)

    with pytest.raises(InputError, match="is no table of calibration"):
        bench.run(calibration=tmp_path / "table.toml")
    with pytest.raises(InputError, match=r"cannot read .*missing"):
        bench.run(calibration=tmp_path / "missing")


def test_what_cannot_work_in_any_case_is_an_error_before_the_first(bench: Bench) -> None:
    with pytest.raises(ConfigError, match="engine"):
        bench.run(engine="oracle")
    with pytest.raises(ConfigError, match="--script"):
        bench.run(engine="scripted")
    assert not bench.out.exists()


@pytest.mark.parametrize("flags", [{"jobs": 0}, {"jobs": -1}, {"limit": 0}])
def test_a_number_below_one_is_an_error(bench: Bench, flags: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"--(jobs|limit) must be 1 or more"):
        bench.run(**flags)


def test_an_unknown_group_is_an_error(bench: Bench) -> None:
    with pytest.raises(InputError, match="known: bad, clean"):
        bench.run(group=["good"])


# --- calibrate ------------------------------------------------------------------------------------------------------


def test_a_table_is_counted_from_results_and_labels(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.add("clean/checksum", added(WEAK))
    bench.run(stage="workers")
    capsys.readouterr()

    assert bench.calibrate() == ExitCode.REVIEWED

    said = capsys.readouterr()
    row = read_calibration(said.out).rows["taint", "path-external"]
    assert (row.true, row.false) == (1, 1)
    assert row.version == "1"
    assert said.err == "reviewbot: 1 row counted in 3 cases, 0 that failed left out\n"


def test_groups_can_be_chosen_and_left_out(bench: Bench, tmp_path: Path) -> None:
    bench.add("clean/checksum", added(WEAK))
    bench.run(stage="workers")
    out = tmp_path / "table.toml"

    def counted() -> list[tuple[int, int]]:
        return [(row.true, row.false) for row in read_calibration(out.read_text()).rows.values()]

    bench.calibrate(leave_out=["clean"], out=out)
    assert counted() == [(1, 0)]
    bench.calibrate(group=["clean"], out=out)
    assert counted() == [(0, 1)]
    bench.calibrate(group=["clean"], leave_out=["clean"], out=out)
    assert counted() == []
    with pytest.raises(InputError, match="no group 'good'; known: bad, clean"):
        bench.calibrate(leave_out=["good"])


def test_cases_may_stand_in_several_folders(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other")
    other.add("more/path", added(WEAK))
    bench.run(stage="workers")
    other.run(stage="workers")

    with pytest.raises(InputError, match="the results hold more/path, which is in none of the folders"):
        bench.calibrate(bench.out, other.out)
    bench.calibrate(bench.out, other.out, cases=[bench.cases, other.cases], out=tmp_path / "t.toml")

    (row,) = read_calibration((tmp_path / "t.toml").read_text()).rows.values()
    assert (row.true, row.false) == (1, 1)


def test_cases_that_failed_count_for_nothing(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.add("broken/a", b"")
    bench.run(stage="workers")

    bench.calibrate()

    assert "counted in 2 cases, 1 that failed left out" in capsys.readouterr().err


def test_a_table_that_cannot_be_written_is_an_error(bench: Bench, tmp_path: Path) -> None:
    bench.run(stage="workers")

    with pytest.raises(InputError, match=r"cannot write .*: Is a directory"):
        bench.calibrate(out=tmp_path)
