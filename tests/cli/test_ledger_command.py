"""`reviewbot ledger` and `reviewbot dismiss` in a repository, and what a review makes of a decision."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.command_line import Run, git

BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"
"""Ruff's F632: a literal is compared by identity."""


def commit(repository: Path, **files: str) -> None:
    for name, text in files.items():
        (repository / f"{name}.py").write_text(text)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "a commit")


@pytest.fixture
def branch(repository: Path) -> Path:
    """A branch "feature" with a defect."""
    commit(repository, pay=BEFORE)
    git(repository, "checkout", "--quiet", "-b", "feature")
    commit(repository, pay=AFTER)
    return repository


def states(run: Run) -> list[tuple[str, str]]:
    return [(each["state"], each["reason"]) for each in run("ledger", "--format", "json").report["records"]]


def test_a_branch_is_remembered_over_its_commits(run: Run, branch: Path) -> None:
    run("review")
    assert states(run) == [("new", "first reported")]

    commit(branch, pay=f"import os\n\n\n{AFTER}")
    run("review")
    assert states(run) == [("open", "found again")]

    commit(branch, pay=BEFORE + "\n\ndef more():\n    return 1\n")
    run("review")
    assert states(run) == [("fixed", "its code was changed or removed")]


@pytest.mark.slow
def test_the_ledger_is_a_table_for_people(run: Run, branch: Path) -> None:
    run("review")
    head, row = run("ledger").out.splitlines()

    assert head.split()[:3] == ["STATE", "FINDING", "PLACE"]
    assert row.split()[0] == "new"
    assert row.split()[2] == "pay.py:2"


def test_what_the_ledger_of_the_branch_lacks_is_said(run: Run, branch: Path) -> None:
    assert (run("ledger").out, run("ledger").err) == ("", "reviewbot: no finding is remembered\n")
    ended = run("dismiss", "a33bb251a9", "meant so")
    assert (ended.code, "`reviewbot ledger PR` has all digits" in ended.err) == (2, True)
    assert not (branch / ".reviewbot").exists()


@pytest.mark.slow
def test_another_branch_and_a_review_that_keeps_nothing_leave_the_ledger_alone(run: Run, branch: Path) -> None:
    run("review", "--no-cache")
    assert states(run) == []

    run("review")
    git(branch, "checkout", "--quiet", "-b", "other")
    assert states(run) == []


def test_what_is_staged_is_reviewed_without_a_ledger(run: Run, branch: Path) -> None:
    (branch / "pay.py").write_text(AFTER + AFTER)
    git(branch, "add", "--all")
    run("review", "--staged")

    assert states(run) == []


@pytest.mark.slow
def test_a_dismissed_finding_is_withheld_once_the_base_branch_has_the_decision(run: Run, branch: Path) -> None:
    run("review", "--fail-on", "warning")
    [record] = run("ledger", "--format", "json").report["records"]
    ended = run("dismiss", record["names"][0][:10], "three is the only one", "--author", "jo")
    assert ended.code == 0
    assert "it counts once the base branch has it" in ended.err
    text = (branch / ".reviewbot" / "decisions.toml").read_text()
    [entry] = tomllib.loads(text)["decision"]
    assert (entry["finding"], entry["author"]) == (record["names"][0], "jo")
    assert "pay.py, pay" in entry["about"]

    commit(branch)
    assert run("review", "--fail-on", "warning").code == 1, "the change cannot dismiss what is found in it"

    git(branch, "checkout", "--quiet", "main")
    git(branch, "checkout", "--quiet", "feature", "--", ".reviewbot")
    git(branch, "commit", "--quiet", "--message", "a decision")
    git(branch, "checkout", "--quiet", "feature")
    git(branch, "rebase", "--quiet", "main")
    ended = run("review", "--fail-on", "warning", "--format", "json")

    assert ended.code == 0
    assert ended.report["findings"] == []
    [held] = [each for each in ended.report["withheld"] if each["reason"] == "dismissed"]
    assert held["message"] == "dismissed by jo in .reviewbot/decisions.toml: three is the only one"
    assert "No open issues" in ended.report["headline"]
    assert [state for state, _ in states(run)] == ["dismissed"]


def test_decisions_about_rules_are_added_below_those_that_stand_there(run: Run, branch: Path) -> None:
    run("dismiss", "F632", "we like it", "--path", "tests/*", "--until", "2999-01-01")
    run("dismiss", "0" * 32, "we like it too")
    path = branch / ".reviewbot" / "decisions.toml"

    first, second = tomllib.loads(path.read_text())["decision"]
    assert (first["rule"], first["path"], str(first["until"])) == ("F632", "tests/*", "2999-01-01")
    assert second["finding"] == "0" * 32


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("F632", ""), "no `reason`"),
        (("a b", "why"), "is no name of a rule"),
        (("F632", "why", "--until", "soon"), "is no date"),
        (("0" * 32, "why", "--path", "a/*"), "without `path`"),
    ],
)
def test_what_no_file_could_hold_is_refused(run: Run, branch: Path, words: tuple[str, ...], why: str) -> None:
    ended = run("dismiss", *words)

    assert (ended.code, why in ended.err) == (2, True)
    assert not (branch / ".reviewbot" / "decisions.toml").exists()


def test_a_file_that_is_broken_or_a_link_is_not_written(run: Run, branch: Path, tmp_path: Path) -> None:
    folder = branch / ".reviewbot"
    folder.mkdir()
    (folder / "decisions.toml").write_text("[[decision")
    assert run("dismiss", "F632", "why").code == 2

    (folder / "decisions.toml").unlink()
    (folder / "decisions.toml").symlink_to(tmp_path / "elsewhere")
    ended = run("dismiss", "F632", "why")
    assert (ended.code, "behind a link" in ended.err) == (2, True)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (b"\xff\xfe", "is no text in UTF-8"),
        (None, "is no file"),
        (b'decision = [{ rule = "F1", author = "a", reason = "b" }]\n', "cannot be added to"),
    ],
)
def test_a_file_to_which_nothing_can_be_added_is_left_as_it_is(
    run: Run, branch: Path, before: bytes | None, why: str
) -> None:
    path = branch / ".reviewbot" / "decisions.toml"
    path.parent.mkdir()
    if before is None:
        path.mkdir()
    else:
        path.write_bytes(before)
    ended = run("dismiss", "F632", "why")

    assert (ended.code, "decisions.toml" in ended.err, why in ended.err) == (2, True, True)
    assert before is None or path.read_bytes() == before


def test_a_file_in_the_place_of_the_folder_is_named(run: Run, branch: Path) -> None:
    (branch / ".reviewbot").write_text("")
    ended = run("dismiss", "F632", "why")

    assert (ended.code, f"{branch / '.reviewbot'} is no folder" in ended.err) == (2, True)


@pytest.mark.parametrize("words", [("F632", "caf\udce9"), ("F632", "why", "--until", "2020-01-01")])
def test_a_decision_that_would_break_the_file_or_never_count_is_refused(
    run: Run, branch: Path, words: tuple[str, ...]
) -> None:
    assert run("dismiss", *words).code == 2
    assert not (branch / ".reviewbot" / "decisions.toml").exists()


def test_outside_of_a_repository_both_say_what_to_give(run: Run, home: Path) -> None:
    for words in (("ledger",), ("dismiss", "F632", "why")):
        ended = run(*words)
        assert (ended.code, "--repo DIR" in ended.err) == (2, True)
