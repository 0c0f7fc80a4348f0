"""The command line with results of other programs coming in, and with results for other programs going out."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.analyzers.ruff.run import find_ruff
from reviewbot.cli.main import main

BEFORE = "import sqlite3\n\n\ndef connect(path):\n    return sqlite3.connect(path)\n"
QUERY = '    return db.execute("SELECT * FROM users WHERE name = \'" + name + "\'").fetchall()\n'
AFTER = f"{BEFORE}\n\ndef named(db, name):\n{QUERY}"
SHOP = """import hashlib
import pickle
import subprocess

from flask import request


def users(db):
    name = request.args["name"]
    return db.execute("SELECT * FROM users WHERE name = '" + name + "'").fetchall()


def register(users, password):
    users.insert(name=request.args["name"], password=hashlib.sha256(password.encode()).hexdigest())


def restore(cache):
    return cache.update(pickle.loads(request.get_data()), source=request.args["source"])


def archive(folder):
    folder = request.args["folder"]
    subprocess.run(f"tar cf - {folder}", shell=True, check=True, capture_output=False)  # as it was
"""
SCRIPT = "export const total = (xs) => xs.map((x) => x == 0);\n"

Report = Callable[..., Any]


def new_file(path: str, text: str) -> str:
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}"


def log(rule: str, path: str, line: int, *, level: str = "error", tool: str = "other") -> str:
    """A log of SARIF with one result."""
    region = {"startLine": line}
    place = {"physicalLocation": {"artifactLocation": {"uri": path}, "region": region}}
    result = {"ruleId": rule, "level": level, "message": {"text": f"{rule} of another program"}, "locations": [place]}
    tags = {"properties": {"tags": ["external/cwe/cwe-089", "security"]}} if rule == "sqli" else {}
    driver = {"name": tool, "rules": [{"id": rule, **tags}]}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [result]}]})


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a review of some new files says; the names after them are more words of the command line."""
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def reviewed(files: dict[str, str], *more: str, code: int = 0) -> str:
        Path("change.diff").write_text("".join(new_file(path, text) for path, text in files.items()))
        assert main(["review", "change.diff", "--no-cache", *more]) == code
        captured = capsys.readouterr()
        return captured.out if code != 2 else captured.err

    return reviewed


@pytest.fixture
def report(said: Callable[..., str]) -> Report:
    def reported(files: dict[str, str], *more: str) -> Any:
        return json.loads(said(files, "--format", "json", *more))

    return reported


def test_a_result_of_another_program_confirms_one_of_ours(report: Report, tmp_path: Path) -> None:
    (tmp_path / "other.sarif").write_text(log("sqli", "app.py", 9))

    [alone] = [f for f in report({"app.py": AFTER})["findings"] + _told(report({"app.py": AFTER})) if f["cwe"] == 89][
        :1
    ]
    [together] = [f for f in report({"app.py": AFTER}, "--results", "other.sarif")["findings"] if f["cwe"] == 89]

    assert "imported:other" in together["sources"]
    assert together["confidence"] > alone["confidence"]
    assert together["symbol"] == "named"


WEAK = "import random\n\n\ndef session_token():\n    return random.choice('abc')\n"


def test_ruffs_own_log_and_one_of_what_its_rules_were_made_from_confirm_nothing(report: Report, tmp_path: Path) -> None:
    ruff = find_ruff()
    assert ruff is not None
    (tmp_path / "app.py").write_text(WEAK)
    command = [str(ruff), "check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "sarif"]
    done = subprocess.run([*command, "--select", "S311", "app.py"], capture_output=True, check=True, cwd=tmp_path)
    (tmp_path / "ruff.sarif").write_bytes(done.stdout)
    (tmp_path / "bandit.sarif").write_text(log("B311", "app.py", 5, tool="Bandit"))

    def weak(*more: str) -> Any:
        answer = report({"app.py": WEAK}, *more)
        [found] = [f for f in answer["findings"] + _told(answer) if f["category"] == "weak-random"]
        return found

    alone, together = weak(), weak("--results", "ruff.sarif", "bandit.sarif")

    assert set(together["sources"]) == {*alone["sources"], "imported:ruff", "imported:Bandit"}
    assert together["confidence"] == alone["confidence"]


def _told(answer: Any) -> list[Any]:
    return [item["finding"] for item in answer["human"] if item["finding"]] + [w["finding"] for w in answer["withheld"]]


def test_a_result_on_a_line_that_the_change_left_alone_is_only_counted(report: Report, tmp_path: Path) -> None:
    (tmp_path / "other.sarif").write_text(log("x1", "elsewhere.py", 9))

    answer = report({"app.py": BEFORE}, "--results", "other.sarif")

    assert not [f for f in answer["findings"] + _told(answer) if "imported:other" in f["sources"]]
    assert any("about other files" in note for note in answer["notes"])


def test_a_result_in_a_language_that_nothing_here_reads_is_told_and_does_not_count_as_a_look(
    report: Report, tmp_path: Path
) -> None:
    (tmp_path / "lint.sarif").write_text(log("eqeqeq", "web/cart.ts", 1, tool="lint"))

    without = report({"web/cart.ts": SCRIPT, "app.py": BEFORE})
    answer = report({"web/cart.ts": SCRIPT, "app.py": BEFORE}, "--results", "lint.sarif")

    [told] = [f for f in answer["findings"] + _told(answer) if f["rule"] == "eqeqeq"]
    assert (told["type"], told["path"], told["line"]) == ("logic", "web/cart.ts", 1)
    assert answer["unlooked"] == without["unlooked"]
    assert answer["coverage"] == without["coverage"]


@pytest.mark.parametrize("run", ['"results":[],"invocations":[{"executionSuccessful":false}]', '"invocations":[]'])
def test_a_program_that_did_not_look_to_the_end_leaves_the_review_incomplete(
    said: Callable[..., str], tmp_path: Path, run: str
) -> None:
    log_text = '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"other"}},' + run + "}]}"
    (tmp_path / "other.sarif").write_text(log_text)

    answer = json.loads(said({"app.py": BEFORE}, "--format", "json", "--results", "other.sarif", code=4))

    assert "other (other.sarif)" in answer["gaps"][0]["message"]
    assert answer["verdict"] != "clean"


def test_a_log_that_is_none_is_refused_before_anything_is_reviewed(said: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "other.sarif").write_text("{}")

    message = said({"app.py": BEFORE}, "--results", "other.sarif", code=2)

    assert message.startswith("reviewbot: ")
    assert "other.sarif" in message
    assert message.count("\n") == 1


def test_a_log_that_is_not_there_is_named(said: Callable[..., str]) -> None:
    assert "cannot read 'missing.sarif'" in said({"app.py": BEFORE}, "--results", "missing.sarif", code=2)


def test_a_fingerprint_survives_lines_above_another_layout_and_other_names_of_the_file_around(
    said: Callable[..., str],
) -> None:
    moved = AFTER.replace("def named", "# a line\n" * 20 + "def named")
    laid_out = moved.replace(
        QUERY, '    return db.execute(\n        "SELECT * FROM users WHERE name = \'" + name + "\'"\n    ).fetchall()\n'
    )

    prints = [_fingerprints(said({"app.py": text}, "--format", "sarif")) for text in (AFTER, moved, laid_out)]

    assert prints[0]
    assert prints[0] == prints[1]
    assert prints[0] <= prints[2]


@pytest.mark.slow
def test_fingerprints_survive_lines_above_and_a_real_formatter(said: Callable[..., str], tmp_path: Path) -> None:
    moved = SHOP.replace("def users", "# a line\n" * 20 + "def users")
    texts = [SHOP, moved, _formatted(moved, tmp_path, "40"), _formatted(moved, tmp_path, "60")]

    logs = [said({"shop.py": text}, "--format", "sarif") for text in texts]

    assert len({result["ruleId"] for result in json.loads(logs[0])["runs"][0]["results"]}) >= 4
    assert len(_fingerprints(logs[0])) >= 4
    assert len(set(texts)) == 4
    assert [_fingerprints(log) for log in logs[1:]] == [_fingerprints(logs[0])] * 3


def _formatted(text: str, folder: Path, length: str) -> str:
    ruff = find_ruff()
    assert ruff is not None
    file = folder / "formatted.py"
    file.write_text(text)
    subprocess.run([ruff, "format", "--isolated", "--no-cache", "--line-length", length, file], check=True)
    return file.read_text()


def _fingerprints(text: str) -> set[str]:
    run = json.loads(text)["runs"][0]
    return {mark for result in run["results"] for mark in result["partialFingerprints"].values()}


def test_annotations_name_the_line_of_each_finding(said: Callable[..., str]) -> None:
    out = said(
        {"app.py": "import jwt\n\n\ndef user_of(t):\n    return jwt.decode(t, options={'verify_signature': False})\n"},
        "--format",
        "annotations",
    )

    assert "::error file=app.py,line=5" in out


def test_results_can_be_written_to_a_file(said: Callable[..., str], tmp_path: Path) -> None:
    assert said({"app.py": BEFORE}, "--format", "sarif", "--output", "out.sarif") == ""
    assert json.loads((tmp_path / "out.sarif").read_text())["version"] == "2.1.0"


def test_a_page_for_a_browser_is_not_written_to_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "reviewbot", "review", str(tmp_path / "none.diff"), "--format", "html"]
    try:
        done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(theirs)
        os.close(ours)

    assert done.returncode == 2
    assert done.stderr == "reviewbot: --format html is not readable in a terminal; add --output report.html\n"
