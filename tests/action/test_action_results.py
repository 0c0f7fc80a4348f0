"""Results that earlier steps of the job wrote: read where a step wrote them, refused where a commit did."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.action.inputs import read_inputs
from reviewbot.action.results import MAX_FILES, read_step_results
from reviewbot.action.runner import JobRunner
from reviewbot.analyzers.imported.results import MAX_BYTES
from reviewbot.domain.errors import ConfigError, InputError
from tests.action_runner import BEFORE, DEFECT, ActionRunner, MakeRunner, pushed
from tests.git_repo import GitRepo

Read = Callable[..., dict[str, bytes]]


@pytest.fixture
def workspace(tmp_path: Path) -> GitRepo:
    """A checkout with a log that a commit brought."""
    made = GitRepo(tmp_path / "work")
    made.commit({"app.py": BEFORE, "reports/committed.sarif": "{}"})
    return made


@pytest.fixture
def read(tmp_path: Path, workspace: GitRepo) -> Read:
    temp = tmp_path / "temp"
    temp.mkdir()
    runner = JobRunner("push", tmp_path / "e", "acme/shop", workspace.folder, temp, None, None, "http://127.0.0.1:1")

    def of(*patterns: str) -> dict[str, bytes]:
        return dict(read_step_results(patterns, runner))

    return of


def test_what_steps_wrote_into_the_workspace_and_the_temporary_folder_is_read(
    read: Read, workspace: GitRepo, tmp_path: Path
) -> None:
    (workspace.folder / "out").mkdir()
    (workspace.folder / "out" / "a.sarif").write_text("a")
    (workspace.folder / "reports" / "b.sarif").write_text("b")
    (tmp_path / "temp" / "c.xml").write_text("c")

    assert read("out/*.sarif", "**/b.sarif", f"{tmp_path}/temp/*.xml", "out/a.sarif") == {
        "out/a.sarif": b"a",
        "reports/b.sarif": b"b",
        "c.xml": b"c",
    }


def test_a_file_that_a_commit_holds_is_refused(read: Read) -> None:
    with pytest.raises(InputError, match=r"'reports/committed\.sarif', which is committed"):
        read("reports/*.sarif")


def test_a_committed_folder_that_looks_like_a_repository_hides_nothing(read: Read, workspace: GitRepo) -> None:
    bare = {"HEAD": "ref: refs/heads/main\n", "config": "[core]\nbare = true\n", "objects/x": "", "refs/x": ""}
    workspace.commit({f"out/{name}": text for name, text in bare.items()} | {"out/a.sarif": "{}"})

    with pytest.raises(InputError, match="which is committed"):
        read("out/a.sarif")


def test_a_file_of_a_submodule_is_refused(read: Read, workspace: GitRepo, tmp_path: Path) -> None:
    other = GitRepo(tmp_path / "other")
    other.commit({"a.sarif": "{}"})
    workspace.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other.folder), "sub")

    with pytest.raises(InputError, match="which is committed"):
        read("sub/a.sarif")


@pytest.mark.parametrize("target", ["/etc/passwd", "app.py", "missing"])
def test_a_link_is_refused(read: Read, workspace: GitRepo, target: str) -> None:
    (workspace.folder / "link.sarif").symlink_to(target)

    with pytest.raises(InputError, match="which is a link or no file"):
        read("*.sarif")


def test_a_file_behind_a_folder_that_is_a_link_is_refused(read: Read, workspace: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.sarif").write_text("{}")
    (workspace.folder / "out").symlink_to(tmp_path / "outside")

    with pytest.raises(InputError, match="lies behind a link"):
        read("out/a.sarif")


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../x", "a/../../x", "/tmp/*"])
def test_a_pattern_that_leads_outside_is_refused(read: Read, pattern: str) -> None:
    with pytest.raises(InputError, match="name files below the workspace or RUNNER_TEMP"):
        read(pattern)


@pytest.mark.parametrize("pattern", ["**x", "a\0b", "a**/b"])
def test_a_pattern_that_cannot_be_used_is_refused_or_finds_nothing(read: Read, pattern: str) -> None:
    with pytest.raises(InputError, match="the input results"):
        read(pattern)


def test_a_pattern_without_a_file_is_an_error_that_names_it(read: Read) -> None:
    with pytest.raises(InputError, match=r"names 'lint\.sarif', and no such file is there; did its step run\?"):
        read("lint.sarif")


def test_too_many_files_and_a_fork_are_refused(read: Read, workspace: GitRepo) -> None:
    for number in range(MAX_FILES + 1):
        (workspace.folder / f"{number}.sarif").write_text("{}")

    with pytest.raises(InputError, match="names more than 50 files"):
        read("*.sarif")
    with pytest.raises(ConfigError, match="does not go with mode fork-review"):
        read_inputs({"INPUT_MODE": "fork-review", "INPUT_RESULTS": "x.sarif"})


def test_no_more_of_a_file_is_read_than_shows_that_it_is_too_large(read: Read, workspace: GitRepo) -> None:
    with (workspace.folder / "a.sarif").open("wb") as file:
        file.truncate(MAX_BYTES * 3)

    assert len(read("a.sarif")["a.sarif"]) == MAX_BYTES + 1


@pytest.mark.slow
def test_a_linter_of_an_earlier_step_speaks_in_the_review(make_runner: MakeRunner) -> None:
    runner: ActionRunner = make_runner()
    made = GitRepo(runner.workspace)
    before = made.commit({"app.py": BEFORE})
    head = made.commit({"run.py": DEFECT})
    place = {"path": "run.py", "range": {"start": {"line": 5}}}
    found = {"message": "a shell runs it", "location": place, "severity": "ERROR", "code": {"value": "X1"}}
    (runner.workspace / "lint.json").write_text(json.dumps({"source": {"name": "lint"}, "diagnostics": [found]}))

    ran = runner.run("push", pushed(before, head), {"results": "lint.json", "mode": "report"})

    assert "lint (lint.json): 1 of its results are about files of this change" in ran.summary, ran.log
    assert ran.outputs["verdict"] == "issues"
