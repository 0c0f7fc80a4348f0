"""The command line in one process: what is said, where it goes, and how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main
from reviewbot.cli.output.writing import write_file
from reviewbot.config import Settings
from reviewbot.config.providers import KEY_HINT
from reviewbot.delivery import exit_code
from reviewbot.domain.contracts import Finding, HumanItem, Review, Timings
from reviewbot.domain.errors import InputError
from reviewbot.review.combine.visibility import Rules, merge_and_sort
from tests.command_line import Run, git
from tests.git_repo import GitRepo
from tests.make import one_fast

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/orders/change.diff"

SMALL = b"""\
diff --git a/app.py b/app.py
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/app.py
@@ -0,0 +1,6 @@
+from flask import request
+
+
+def note(seen: list[str] = []) -> str:
+    seen.append(request.path)
+    return open(request.args["name"]).read()
"""
HARMLESS = b"""\
diff --git a/app.py b/app.py
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/app.py
@@ -0,0 +1,2 @@
+def double(number: int) -> int:
+    return number * 2
"""
BROKEN = SMALL.replace(b"+1,6 @@", b"+1,5 @@") + HARMLESS.replace(b"app.py", b"good.py")


# --- reading the change -------------------------------------------------------------------------------------------


def test_a_diff_file_is_reviewed_and_its_findings_name_their_lines(run: Run, home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)

    ended = run("review", "change.diff")

    assert ended.code == 0
    assert "app.py:4" in ended.out
    assert "app.py:6" in ended.out
    assert ended.err == ""


def test_without_a_change_the_branch_is_taken_and_named_on_standard_error(run: Run, repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "feature")
    (repository / "app.py").write_text("def add(item, items=[]):\n    items.append(item)\n")
    git(repository, "commit", "-qam", "two")

    ended = run("review", "--format", "json")

    assert [finding["rule"] for finding in ended.report["findings"]] == ["B006"]
    assert ended.err.startswith("reviewbot: the change is 1 commit of feature that main lacks (main...HEAD); ")
    assert run("plan").err == ended.err


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_is_mentioned(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "feature")
    git(repository, "commit", "-q", "--allow-empty", "-m", "two")
    command = [sys.executable, "-m", "reviewbot", "plan"]

    piped = subprocess.run(command, cwd=repository, input=b"x", capture_output=True, check=False).stderr
    quiet = subprocess.run(command, cwd=repository, stdin=subprocess.DEVNULL, capture_output=True, check=False).stderr

    assert b"give - for that" in piped
    assert b"give - for that" not in quiet


def test_title_and_description_may_be_given_and_win_over_those_of_a_mail(run: Run, home: Path) -> None:
    (home / "change.patch").write_bytes(b"From: a\nSubject: [PATCH] Mine\n\nWhy.\n---\n\n" + SMALL)

    assert json.loads(run("plan", "change.patch", "--format", "json").out)["goal"] == "Mine"
    assert json.loads(run("plan", "change.patch", "--format", "json", "--title", "Other").out)["goal"] == "Other"
    trace = home / "trace.json"
    assert run("review", "change.patch", "--description", "Because.", "--trace", trace).code == 0
    assert '"title":"Mine"' in trace.read_text()
    assert run("review", "--pr", "a/b#1", "--title", "x").err == (
        "reviewbot: --title and --description do not go with --pr: a pull request has its own\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reviw"], "there is no command 'reviw'; did you mean 'review'?; see reviewbot --help"),
        (["qqq"], "there is no command 'qqq'; choose from 'review', 'plan'"),
        (["review", "x", "--formt"], "unrecognized argument '--formt'; did you mean '--format'?"),
        (["review", "x", "--output-format=json"], "unrecognized argument '--output-format'"),
        (["review", "x", "y"], "unrecognized argument 'y'; see reviewbot review --help"),
        (["review", "x", "--format", "jsn"], "argument --format: invalid choice 'jsn'; did you mean 'json'?"),
        (["schema", "revew"], "argument contract: invalid choice 'revew'; did you mean 'review'?"),
        (["review", "--worker", "style", "x.diff"], "'x.diff' was taken for a name behind --worker or --results"),
    ],
)
def test_a_mistyped_word_is_told_with_the_nearest_one(run: Run, words: list[str], said: str) -> None:
    ended = run(*words)

    assert ended.code == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_a_mistyped_worker_is_told_with_the_nearest_one(run: Run) -> None:
    ended = run("review", "-", "--worker", "securty", stdin=SMALL)

    assert (ended.code, ended.err) == (
        2,
        "reviewbot: --worker: there is no worker 'securty'; did you mean 'security'?\n",
    )


def test_standard_input_is_reviewed(run: Run) -> None:
    report = run("review", "-", "--format", "json", stdin=SMALL).report

    assert {(f["rule"], f["line"], f["type"]) for f in report["findings"]} == {
        ("path-external", 6, "security"),
        ("B006", 4, "logic"),
    }


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"<html>not found</html>\n", "no unified diff"),
        (b"\x1f\x8b\x08\x00garbage", "gzip"),
    ],
)
def test_what_is_no_diff_is_one_line_and_exit_2(run: Run, data: bytes, says: str) -> None:
    ended = run("review", "-", stdin=data)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("\n") == 1
    assert says in ended.err


def test_a_folder_a_missing_file_and_an_impossible_name_are_one_line_and_exit_2(run: Run, home: Path) -> None:
    for name in (str(home), "missing.diff", "a\0b"):
        ended = run("review", name)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_the_names_of_the_tools_that_ran_are_told_where_they_are_asked_for(run: Run, home: Path) -> None:
    brief = run("review", "-", "--trace", "trace.json", stdin=SMALL).out
    replayed = run("replay", "trace.json", "--verbose").out

    assert "analyzers; scanned by 9 scans.\n" in brief
    assert "ruff-security" in " ".join(replayed.partition("Analyzed by")[2].split())
    assert "Analyzed by" in run("review", "-", "--verbose", stdin=SMALL).out
    assert "ruff-security" in (home / "trace.json").read_text()


@pytest.mark.parametrize("option", [("--estimate",), ("--dump-prompts", "prompts")], ids=lambda words: words[0])
def test_what_is_said_of_models_without_a_key_names_the_key(run: Run, option: tuple[str, ...]) -> None:
    ended = run("review", "-", *option, stdin=SMALL)

    assert ended.code == 0
    assert ended.err.startswith("reviewbot: there is no key of a model, so a review would run analyzers alone; with ")
    assert "there is no key" not in run("review", "-", "--engine", "analyzers", *option, stdin=SMALL).err


@pytest.mark.parametrize("command", ["review", "plan", "config", "runs", "eval", "version"])
def test_the_help_of_a_command_begins_with_its_purpose(run: Run, command: str) -> None:
    purpose = next(
        line.split(maxsplit=1)[1] for line in run("--help").out.split("\n") if line.startswith(f"    {command} ")
    )

    assert f"\n\n{purpose[0].upper()}{purpose[1:]}" in run(command, "--help").out


def test_help_has_examples_that_can_be_run(run: Run, repository: Path) -> None:
    lines = [line for line in run("review", "--help").out.split("\n") if line.startswith("  reviewbot review ")]
    named = [line.strip().partition("   ")[0].split()[1:] for line in lines if "--pr" not in line]
    git(repository, "checkout", "-q", "-b", "feature")
    (repository / "app.py").write_text("x = 1\n")
    git(repository, "commit", "-qam", "two")

    assert named == [["review"], ["review", "--staged"], ["review", "--git", "HEAD"]]
    assert [run(*words).code for words in named] == [0, 0, 0]


def test_a_folder_in_place_of_a_diff_is_answered_with_what_takes_one(run: Run) -> None:
    ended = run("review", ".")

    assert ended.err.startswith("reviewbot: '.' is a folder, and a diff is wanted; `reviewbot review` alone takes ")
    assert run("replay", ".").err == "reviewbot: '.' is a folder, and a file is wanted\n"


def test_a_file_that_is_no_diff_is_named(run: Run, home: Path) -> None:
    (home / "app.py").write_text("x = 1\n")

    named, piped = run("review", "app.py"), run("review", "-", stdin=b"x = 1\n")

    assert (named.code, piped.code) == (2, 2)
    assert named.err.startswith("reviewbot: 'app.py' cannot be read as a diff: No file section was found in 6 bytes")
    assert piped.err.startswith("reviewbot: standard input cannot be read as a diff: No file section")


def test_an_empty_diff_is_wrong_usage_and_nothing_staged_is_nothing_to_review(run: Run, repository: Path) -> None:
    empty = run("review", "-", stdin=b"")
    staged, range_ = run("review", "--staged", "--format", "json"), run("review", "--git", "HEAD..HEAD")

    assert (empty.code, empty.err.startswith("reviewbot: the diff is empty, so there is nothing to review;")) == (
        2,
        True,
    )
    assert (staged.code, staged.report["verdict"]) == (0, "nothing_to_review")
    assert staged.err == (
        "reviewbot: nothing is staged: `git add` stages changes, and --git RANGE reviews what is committed\n"
    )
    assert range_.code == 0
    assert range_.err.startswith("reviewbot: HEAD..HEAD changes no file; a range is BASE..HEAD or BASE...HEAD")

    (repository / "new.py").write_text("x = 1\n")
    git(repository, "add", "-A")

    assert run("review", "--staged").err == ""


def test_an_unreadable_file_is_one_line_and_exit_2(run: Run) -> None:
    """A socket, since the owner of a test machine may read any file."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("change.diff")
        ended = run("review", "change.diff")

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_no_change_or_two_changes_are_wrong_usage(run: Run) -> None:
    assert run("review").code == 2
    assert run("review", "a.diff", "--staged").code == 2
    assert run("review", "--nonsense").code == 2
    assert run("plan").code == 2


def test_a_diff_that_does_not_fit_the_folder_is_refused_before_the_review(run: Run, home: Path) -> None:
    (home / "app.py").write_text("something else\n")
    (home / "change.diff").write_bytes(SMALL)

    ended = run("review", "change.diff", "--repo", home)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "app.py" in ended.err


def test_a_range_of_commits_is_reviewed_with_whole_files(run: Run, repository: Path) -> None:
    (repository / "app.py").write_text(
        "from flask import request\n\n\ndef note():\n    return open(request.args['name']).read()\n"
    )
    git(repository, "commit", "-qam", "two")

    report = run("review", "--git", "HEAD~1..HEAD", "--format", "json").report

    assert [(f["rule"], f["line"]) for f in report["findings"]] == [("path-external", 5)]


def test_what_is_staged_is_reviewed_and_what_is_not_is_ignored(run: Run, repository: Path) -> None:
    (repository / "app.py").write_text("def double(number, seen=[]):\n    seen.append(number)\n")
    git(repository, "add", "-A")
    (repository / "app.py").write_text("import hashlib\nhashlib.md5(b'')\n")

    report = run("review", "--staged", "--format", "json").report

    assert [f["rule"] for f in report["findings"]] == ["B006"]


def test_a_range_without_changes_has_nothing_to_review_and_is_no_error(run: Run, repository: Path) -> None:
    ended = run("review", "--git", "HEAD..HEAD", "--repo", repository)

    assert ended.code == 0
    assert "Nothing to review" in ended.out


def test_a_folder_that_is_no_repository_and_an_unknown_commit_are_one_line(run: Run, home: Path) -> None:
    assert run("review", "--git", "HEAD", "--repo", home).code == 2
    GitRepo(home)
    ended = run("review", "--git", "nowhere..HEAD")
    assert (ended.code, ended.err.count("\n")) == (2, 1)


# --- how it ends --------------------------------------------------------------------------------------------------


def test_the_gate_ends_with_1_at_its_severity_and_with_0_above_it(run: Run) -> None:
    assert run("review", "-", "--fail-on", "warning", stdin=SMALL).code == 1
    assert run("review", "-", "--fail-on", "critical", stdin=HARMLESS).code == 0


def test_a_file_that_cannot_be_read_makes_the_review_incomplete(run: Run) -> None:
    ended = run("review", "-", stdin=BROKEN)

    assert ended.code == 4
    assert "Incomplete: no issues found in what was read; 1 of 2 files reviewed (1 not reviewed)" in ended.out
    assert "app.py" in ended.out
    assert run("review", "-", "--allow-partial", stdin=BROKEN).code == 0


def test_a_bare_diff_whose_hunks_do_not_parse_names_the_option_that_shows_whole_files(run: Run) -> None:
    ended = run("review", "-", stdin=b"--- a/a.go\n+++ b/a.go\n@@ -7,2 +7,3 @@\n \t\t},\n+\t\tclose(done),\n \t}\n")

    assert (ended.code, "nothing in this run understands its lines" in ended.out) == (4, True)
    assert ended.err.endswith("reviewed in full; --repo DIR shows analyzers whole files; --allow-partial ends with 0\n")


def test_a_severity_or_number_that_does_not_exist_is_exit_2(run: Run) -> None:
    for words in (["--fail-on", "blocker"], ["--min-confidence", "101"], ["--deadline", "soon"], ["--engine", "gpt"]):
        ended = run("review", "-", *words, stdin=HARMLESS)
        assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_an_unknown_worker_is_exit_2_and_the_known_ones_are_named(run: Run) -> None:
    ended = run("review", "-", "--worker", "securty", stdin=HARMLESS)

    assert ended.code == 2
    assert "security" in ended.err


def test_python_in_an_encoding_of_its_own_is_never_called_reviewed(run: Run) -> None:
    hidden = HARMLESS.replace(b"def double(number: int) -> int:", b"# coding: utf-7 +AAo-import os")
    hidden = hidden.replace(b"    return number * 2", b"x = 1")

    ended = run("review", "-", "--format", "json", stdin=hidden)

    assert ended.code == 4
    assert "utf-7" in ended.report["gaps"][0]["message"]


def test_a_deadline_that_is_reached_gives_what_there_is_and_names_the_rest(run: Run, home: Path) -> None:
    (home / "script.json").write_text('{"answers": [{"worker": "logic", "replies": [{"hang": true}]}]}')

    ended = run(
        "review",
        "-",
        "--engine",
        "scripted",
        "--script",
        "script.json",
        "--deadline",
        "1",
        "--format",
        "json",
        stdin=SMALL,
    )

    assert ended.code == 4
    assert [(g["worker"], g["reason"]) for g in ended.report["gaps"]] == [("logic", "deadline")]


def test_an_unforeseen_error_becomes_one_line_a_log_file_and_exit_3(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.TextIOWrapper):
        def write(self, text: str) -> int:
            raise RuntimeError("no such luck")

    monkeypatch.setattr(sys, "stdout", Broken(io.BytesIO()))

    assert main(["version"]) == 3
    log = (home.parent / "cache/reviewbot/fault.log").read_text()
    assert "no such luck" in log
    assert re.search(
        r"^reviewbot: \d.*\ncommand: version\nPython: 3\..*\nplatform: .*\ngit: git version \d", log, re.MULTILINE
    )


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_the_log_of_a_fault_is_written_to_no_file_of_another_name(
    kind: str, run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log, other = home.parent / "cache/reviewbot/fault.log", home.parent / "precious"
    log.parent.mkdir(parents=True)
    other.write_text("kept")
    plant: dict[str, Callable[[], object]] = {
        "link": lambda: log.symlink_to(other),
        "hard link": lambda: log.hardlink_to(other),
        "pipe": lambda: os.mkfifo(log),
        "folder": log.mkdir,
    }
    plant[kind]()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedReader(io.BytesIO())))

    assert main(["version"]) == 3
    assert other.read_text() == "kept"
    assert ("its log file could not be written" in capsys.readouterr().err) == (kind == "folder")
    assert kind == "folder" or (log.is_file() and not log.is_symlink() and log.stat().st_mode & 0o777 == 0o600)


def test_the_log_of_a_fault_is_never_in_the_folder_that_is_reviewed(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(home.parent / "own"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedReader(io.BytesIO())))

    assert main(["version"]) == 3
    assert (home.parent / "own/.cache/reviewbot/fault.log").is_file()
    assert not list(home.iterdir())


@pytest.mark.slow
def test_a_parent_that_ignores_its_children_does_not_make_programs_fail(home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)
    start = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    review = [sys.executable, "-m", "reviewbot", "review", "change.diff", "--format", "json", "--no-cache"]

    done = subprocess.run([sys.executable, "-c", start, *review], cwd=home, capture_output=True, text=True, check=False)

    assert json.loads(done.stdout)["gaps"] == []
    assert "Unknown child process" not in done.stderr


def test_a_report_goes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "report").symlink_to(tmp_path / "precious")

    with pytest.raises(InputError, match=r"cannot write .*report: Too many levels of symbolic links"):
        write_file(tmp_path / "report", "text")
    assert not (tmp_path / "precious").exists()


@pytest.mark.slow
def test_a_closed_pipe_is_no_traceback(home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)
    command = f"{sys.executable} -m reviewbot review change.diff --format json | true"

    done = subprocess.run(["bash", "-c", command], cwd=home, capture_output=True, text=True, check=False)

    assert done.stderr == ""


STREAMS = [("2>&-", 1), (">&-", 1), ("| true", 1)]
if Path("/dev/full").exists():  # Linux alone has it
    STREAMS.append((">/dev/full", 2))


@pytest.mark.parametrize(("closed", "code"), one_fast(STREAMS))
def test_the_gate_holds_wherever_the_streams_go(home: Path, closed: str, code: int) -> None:
    (home / "change.diff").write_bytes(SMALL)
    command = f"{sys.executable} -P -m reviewbot review change.diff --no-cache --fail-on warning {closed}"

    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"], cwd=home, capture_output=True, text=True, check=False
    )

    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_run_that_is_told_to_stop_tidies_up_and_says_how_to_go_on(home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)
    (home / "script.json").write_text('{"answers": [{"replies": [{"hang": true}]}]}')
    command = [sys.executable, "-P", "-m", "reviewbot", "review", "change.diff", "--engine", "scripted"]

    process = subprocess.Popen([*command, "--script", "script.json"], cwd=home, stderr=subprocess.PIPE, text=True)
    journal = home.parent / "cache/reviewbot/journal.sqlite"
    until = time.monotonic() + 120
    while not journal.exists() and time.monotonic() < until:  # it is made when everything is set up
        time.sleep(0.05)
    process.terminate()
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert said.count("\n") == 1
    assert "--resume" in said


def test_a_closed_standard_input_is_one_line_and_exit_2(home: Path) -> None:
    command = f"{sys.executable} -P -m reviewbot review - <&-"

    done = subprocess.run(["bash", "-c", command], cwd=home, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_only_the_certain_side_of_a_conflict_closes_the_gate(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = {"logic": ("info", 95), "security": ("critical", 60)}
    found = {"quote": "    return number * 2", "message": "doubles the number twice", "category": "maths"}
    answers = [
        {"worker": name, "replies": [{"findings": [{**found, "severity": severity, "confidence": confidence}]}]}
        for name, (severity, confidence) in sides.items()
    ]
    (home / "script.json").write_text(json.dumps({"answers": answers}))
    scripted = ["review", "-", "--engine", "scripted", "--script", "script.json"]

    assert len(run(*scripted, "--format", "json", stdin=HARMLESS).report["conflicts"]) == 1
    assert run(*scripted, "--fail-on", "critical", stdin=HARMLESS).code == 0
    assert run(*scripted, "--fail-on", "info", stdin=HARMLESS).code == 1
    monkeypatch.setenv("REVIEWBOT_MAX_FINDINGS", "1")
    two = HARMLESS + HARMLESS.replace(b"app.py", b"too.py")
    assert run(*scripted, "--fail-on", "critical", stdin=two).code == 0, "nor behind the cap"


@pytest.mark.parametrize(
    ("fields", "fail_on", "code"),
    [
        ({"confidence": 99}, "critical", 1),
        ({"confidence": 99}, "info", 1),
        ({"confidence": 79}, "critical", 0),
        ({"confidence": 99}, None, 0),
        ({"confidence": 79, "disputed": "", "sources": ("model:x",)}, "critical", 0),
    ],
    ids=["certain", "any severity", "a guess", "no gate", "a model's"],
)
def test_no_words_of_a_model_open_the_gate_that_a_programs_finding_closes(
    fields: dict[str, Any], fail_on: Any, code: int, a_finding: Callable[..., Finding]
) -> None:
    told = {"severity": "critical", "disputed": "a comment says it is a test key", **fields}
    rules = Rules({"security": 80}, max_findings=1)

    weighed = merge_and_sort([a_finding(**told)], rules)
    answer = _review(human=tuple(weighed.human))

    assert [item.path for item in answer.human] == ["src/app.py"]
    assert exit_code(answer, Settings(fail_on=fail_on), rules) == code


def test_what_a_person_is_told_of_a_model_or_of_a_file_does_not_close_the_gate(
    a_finding: Callable[..., Finding],
) -> None:
    guess = a_finding(severity="critical", sources=("model:x",))
    items = (HumanItem(path="a.py", reason="look", finding=guess), HumanItem(path="b", reason="a symbolic link"))

    assert exit_code(_review(human=items), Settings(fail_on="info"), Rules({"security": 80}, 9)) == 0


def _review(**fields: Any) -> Review:
    """A review that tells only what is asked for."""
    timings = Timings(wall_ms=0, critical_path_ms=0, sequential_ms=0)
    known = {"engine": "models", "verdict": "needs_person", "headline": "", "summary": "", "timings": timings}
    return Review(**{**known, **fields})


def test_what_workers_hand_to_a_person_was_not_reviewed(run: Run, home: Path) -> None:
    said = {"reason": "out_of_scope", "message": "not mine"}
    (home / "script.json").write_text(json.dumps({"answers": [{"replies": [{"escalate": said}]}]}))

    ended = run("review", "-", "--engine", "scripted", "--script", "script.json", "--format", "json", stdin=HARMLESS)

    assert ended.code == 4
    assert ended.report["incomplete"]
    assert {gap["reason"] for gap in ended.report["gaps"]} == {"unsettled"}


# --- where things go ----------------------------------------------------------------------------------------------


def test_the_report_can_go_to_a_file_and_standard_output_stays_empty(run: Run, home: Path) -> None:
    ended = run("review", "-", "--format", "markdown", "--output", "out.md", stdin=SMALL)

    assert (ended.code, ended.out) == (0, "")
    assert "app.py" in (home / "out.md").read_text()


def test_a_place_that_cannot_be_written_is_found_before_the_work(run: Run, home: Path) -> None:
    (home / "link").symlink_to(home / "elsewhere")
    os.mkfifo(home / "pipe")
    for place in (str(home), "missing/folder/out.md", "link", "pipe", "n" * 300):
        for option in ("--output", "--trace"):
            ended = run("review", "-", option, place, stdin=SMALL)
            assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_the_trace_tells_the_plan_the_tool_runs_and_the_results(run: Run, home: Path) -> None:
    run("review", "-", "--trace", "trace.json", stdin=SMALL)

    events = json.loads((home / "trace.json").read_text())["events"]
    kinds = {event["event"] for event in events}
    runs = [
        entry for event in events if event["event"] == "result" for entry in event["outcome"]["metadata"]["tool_runs"]
    ]
    assert {"plan_made", "task_started", "step", "result", "task_finished", "review"} <= kinds
    assert any(entry["tool"] == "ruff-security" and entry["version"] for entry in runs)


def test_a_secret_is_masked_in_every_output_and_in_the_trace(run: Run, home: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    change = HARMLESS.replace(b"number * 2", b'"' + token.encode() + b'"')

    for form in ("terminal", "json", "markdown"):
        ended = run("review", "-", "--format", form, "--trace", "trace.json", stdin=change)
        assert "app.py" in ended.out
        assert token not in ended.out
        assert token not in (home / "trace.json").read_text()


def test_a_secret_is_masked_in_the_plan_as_well(run: Run) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    change = HARMLESS.replace(b"number * 2", b'"' + token.encode() + b'"')

    for form in ("terminal", "json"):
        assert token not in run("plan", "-", "--format", form, stdin=change).out


def test_the_report_the_trace_and_the_diff_are_different_files(run: Run, home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)

    assert run("review", "change.diff", "--output", "change.diff").code == 2
    assert run("review", "change.diff", "--output", "o", "--trace", "./o").code == 2
    assert (home / "change.diff").read_bytes() == SMALL


def test_an_error_is_one_line_that_no_terminal_obeys(run: Run) -> None:
    ended = run("review", "x\x1b[31m\nfoo")

    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "\x1b" not in ended.err


def test_resume_without_a_cache_is_wrong_usage(run: Run) -> None:
    assert run("review", "-", "--resume", "--no-cache", stdin=SMALL).code == 2


@pytest.mark.slow
def test_a_journal_that_fails_in_the_middle_costs_only_the_resuming(home: Path) -> None:
    (home / "change.diff").write_bytes(SMALL)
    command = f"ulimit -f 40; {sys.executable} -P -m reviewbot review change.diff --format json | cat"

    done = subprocess.run(["bash", "-c", command], cwd=home, capture_output=True, text=True, check=False)

    report = json.loads(done.stdout)
    assert report["gaps"] == []
    assert len(report["findings"]) == 2
    assert "cannot be resumed" in report["notes"][-1]


def test_a_second_run_with_resume_runs_no_finished_task_again(run: Run, home: Path) -> None:
    first = run("review", "-", "--format", "json", stdin=SMALL).report
    second = run("review", "-", "--format", "json", "--resume", "--trace", "trace.json", stdin=SMALL).report

    events = json.loads((home / "trace.json").read_text())["events"]
    assert {event["event"] for event in events} >= {"resumed"}
    assert not [event for event in events if event["event"] == "task_started"]
    assert first["findings"] == second["findings"]


def test_a_damaged_journal_is_set_aside_and_the_report_says_so(run: Run, home: Path) -> None:
    run("review", "-", stdin=SMALL)
    journal = home.parent / "cache/reviewbot/journal.sqlite"
    journal.write_bytes(journal.read_bytes()[:5000])

    ended = run("review", "-", "--resume", "--format", "json", stdin=SMALL)

    assert ended.code == 0
    assert "damaged" in ended.report["notes"][0]


def test_without_a_cache_nothing_is_written_to_disk(run: Run, home: Path) -> None:
    run("review", "-", "--no-cache", stdin=SMALL)

    assert not (home.parent / "cache").exists()


# --- the other commands -------------------------------------------------------------------------------------------


def test_plan_prints_the_tasks_and_runs_nothing(run: Run, home: Path) -> None:
    ended = run("plan", "-", "--format", "json", stdin=SMALL)

    plan = ended.report
    assert {task["worker"] for task in plan["tasks"]} == {"security", "performance", "style", "logic"}
    assert plan["origin"] == "rules"
    assert all(task["programs_only"] for task in plan["tasks"])
    assert not (home.parent / "cache").exists()


def test_a_plan_without_a_key_is_that_of_analyzers_and_says_how_to_see_the_one_with_models(run: Run) -> None:
    told = run("plan", "-", stdin=SMALL).out

    assert told.count("by      analyzers alone, within 10 min\n") == 4
    assert "tier" not in told
    assert "With ANTHROPIC_API_KEY set, this command shows the plan with models" in " ".join(told.split())
    assert "ANTHROPIC_API_KEY" not in run("plan", "-", "--engine", "analyzers", stdin=SMALL).out


def test_parse_answers_in_the_protocol_even_where_nothing_can_be_read(run: Run) -> None:
    good = run("parse", "-", "--format", "json", stdin=SMALL)
    bad = run("parse", "-", stdin=b"nonsense\n")

    assert good.report["files"] == [
        {"path": "app.py", "old_path": None, "status": "added", "added": 6, "removed": 0, "state": "ok", "reason": ""}
    ]
    assert (bad.code, bad.report["files"]) == (0, [])
    assert bad.report["error"]


def test_workers_lists_the_four_and_a_repositorys_own(run: Run, home: Path) -> None:
    (home / ".reviewbot/workers").mkdir(parents=True)
    (home / ".reviewbot/prompts").mkdir(parents=True)
    (home / ".reviewbot/workers/house-license.toml").write_text(CARD)
    (home / ".reviewbot/prompts/house-license.md").write_text("Look for licences.\n")

    cards = run("workers", "--format", "json", "--repo", ".").report
    listed = run("workers").out
    assert "waits for security" in listed

    shipped = {path.stem for path in (ROOT / "workers").glob("*.toml")}
    assert {card["name"] for card in cards if card["origin"] == "package"} == shipped
    assert [card["name"] for card in cards if card["origin"] == "repository"] == ["house-license"]
    assert "house-license (from the repository)" in listed
    assert run("workers", "--repo", ".").out == listed


@pytest.mark.parametrize("contract", ["review", "plan", "card"])
def test_the_stored_schemas_are_those_that_are_printed(run: Run, contract: str) -> None:
    assert run("schema", contract).out == (ROOT / f"docs/schemas/{contract}.json").read_text()


def test_version_is_printed(run: Run) -> None:
    assert run("version").out == run("--version").out
    assert run("version").out.startswith("reviewbot ")


# --- workers of a repository --------------------------------------------------------------------------------------

CARD = """\
depends_on = ["security"]
name = "house-license"
description = "Looks for leftover debugging in files that carry a licence."
task_type = "house-license"
prompt = "house-license.md"
success_criterion = "Every added line was looked at for leftover debugging."
tools = ["debug-leftovers"]
applies_to = ["*.py"]
"""


def test_a_worker_of_the_base_side_is_planned_run_and_reported(run: Run, repository: Path) -> None:
    (repository / ".reviewbot/workers").mkdir(parents=True)
    (repository / ".reviewbot/prompts").mkdir(parents=True)
    (repository / ".reviewbot/workers/house-license.toml").write_text(CARD)
    (repository / ".reviewbot/prompts/house-license.md").write_text("Look for licences.\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a worker")
    (repository / "app.py").write_text("def double(number):\n    breakpoint()\n    return number * 2\n")
    git(repository, "commit", "-qam", "a change")

    plan = run("plan", "--git", "HEAD~1..HEAD", "--format", "json").report
    report = run("review", "--git", "HEAD~1..HEAD", "--format", "json", "--worker", "house-license", "security").report

    assert "house-license" in {task["worker"] for task in plan["tasks"]}
    assert [(f["type"], f["path"], f["line"]) for f in report["findings"]] == [("house-license", "app.py", 2)]
    assert [worker["worker"] for worker in report["workers"]] == ["security", "house-license"]


def test_a_worker_that_needs_a_model_is_named_once_without_a_key_and_takes_nothing_from_the_review(
    run: Run, repository: Path
) -> None:
    (repository / ".reviewbot/workers").mkdir(parents=True)
    (repository / ".reviewbot/prompts").mkdir(parents=True)
    card = CARD.replace('tools = ["debug-leftovers"]', "").replace("house-license", "currency")
    (repository / ".reviewbot/workers/currency.toml").write_text(card)
    (repository / ".reviewbot/prompts/currency.md").write_text("Look at currencies.\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a worker")
    for name in ("app.py", "other.py"):
        (repository / name).write_text("def double(number):\n    return number * 2\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a change")

    ended = run("review", "--git", "HEAD~1..HEAD", "--format", "json")
    alone = run("review", "--git", "HEAD~1..HEAD", "--format", "json", "--worker", "currency")

    assert (ended.code, ended.report["verdict"], ended.report["gaps"], ended.report["unlooked"]) == (0, "clean", [], [])
    note = f"This worker needs a model key (such as {KEY_HINT}) and did not run: currency"
    assert ended.report["notes"] == [note]
    assert (alone.code, alone.report["verdict"], alone.report["notes"]) == (4, "not_reviewed", [note])


HIDDEN = {
    "binary": "index 1111111..2222222 100644\nBinary files a/.reviewbot.toml and b/.reviewbot.toml differ\n",
    "a submodule": "old mode 100644\nnew mode 160000\n",
    "a copy": "similarity index 100%\ncopy from a.py\ncopy to .reviewbot.toml\n",
    "a huge line": (
        f'--- a/.reviewbot.toml\n+++ b/.reviewbot.toml\n@@ -1 +1,2 @@\n fail_on = "critical"\n+# {"x" * 30_000}\n'
    ),
}


@pytest.mark.parametrize("how", HIDDEN)
def test_a_change_that_hides_the_settings_of_the_base_is_refused(run: Run, home: Path, how: str) -> None:
    (home / ".reviewbot.toml").write_text('fail_on = "critical"\n')
    old, new = ("a.py", ".reviewbot.toml") if how == "a copy" else (".reviewbot.toml",) * 2
    change = f"diff --git a/{old} b/{new}\n{HIDDEN[how]}".encode() + SMALL

    ended = run("review", "-", "--repo", ".", stdin=change)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ".reviewbot.toml" in ended.err


def test_a_worker_of_the_head_side_is_ignored_and_named(run: Run, repository: Path) -> None:
    (repository / ".reviewbot/workers").mkdir(parents=True)
    (repository / ".reviewbot/workers/house-license.toml").write_text(CARD)
    (repository / ".reviewbot.toml").write_text('ignore = ["*"]\n')
    (repository / "app.py").write_text("def double(number):\n    breakpoint()\n    return number * 2\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a change that configures its own review")

    report = run("review", "--git", "HEAD~1..HEAD", "--format", "json").report

    assert "house-license" not in {worker["worker"] for worker in report["workers"]}
    assert [f["line"] for f in report["findings"]] == [2]
    assert [note.split(":")[0] for note in report["notes"]] == [
        ".reviewbot.toml",
        ".reviewbot/workers/house-license.toml",
    ]
    assert all("ignored" in note for note in report["notes"])
