"""The hook for pre-commit, run as pre-commit would run it: its entry and its arguments, in a repository."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import BEFORE, DEFECT, ROOT, read_yaml
from tests.git_repo import GitRepo

HOOK: dict[str, Any]
PUSH: dict[str, Any]
HOOK, PUSH = read_yaml(ROOT / ".pre-commit-hooks.yaml")
PATH = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin:/bin"


def commit(checkout: GitRepo) -> subprocess.CompletedProcess[str]:
    """The hook on what is staged."""
    args: list[str] = HOOK["args"]
    program, *words = [*shlex.split(HOOK["entry"]), *args]
    command = [str(Path(sys.executable).parent / program), *words]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(checkout.folder)}
    return subprocess.run(command, cwd=checkout.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_commit_with_a_critical_defect_is_stopped_and_another_one_is_not(tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path)
    checkout.commit({"app.py": BEFORE})
    (tmp_path / "app.py").write_text(BEFORE + "\n\ndef other() -> int:\n    return 1\n")
    (tmp_path / "notes.xyz").write_text("what no analyzer reads stops nobody\n")
    checkout.git("add", "-A")
    fine = commit(checkout)
    (tmp_path / "run.py").write_text(DEFECT)
    checkout.git("add", "-A")

    assert (fine.returncode, commit(checkout).returncode) == (0, 1)


@pytest.mark.slow
def test_a_hook_that_passes_prints_what_waits_for_a_person(tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path)
    checkout.commit({"app.py": BEFORE})
    (tmp_path / "main.go").write_text(
        'package main\n\nimport "crypto/tls"\n\nvar C = &tls.Config{InsecureSkipVerify: true}\n'
    )
    checkout.git("add", "-A")

    done = commit(checkout)

    assert (done.returncode, HOOK["verbose"], PUSH["verbose"]) == (0, True, True)
    assert done.stdout.startswith("No certain issue, 1 thing for a person")


def test_the_hook_reviews_what_is_staged_once_and_asks_no_model() -> None:
    assert (HOOK["pass_filenames"], HOOK["require_serial"], HOOK["language"]) == (False, True, "python")
    assert HOOK["args"][:2] == ["--engine", "analyzers"]


def push_hook(checkout: GitRepo, **refs: str) -> int:
    """The exit code of the hook before a push of these refs, as pre-commit names them."""
    args: list[str] = PUSH["args"]
    environment = {"PATH": PATH, "HOME": str(checkout.folder), **refs}
    command = [*shlex.split(PUSH["entry"]), *args]
    return subprocess.run(command, cwd=checkout.folder, env=environment, capture_output=True, check=False).returncode


@pytest.mark.slow
def test_the_push_hook_reviews_the_range_that_is_pushed(tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path)
    first = checkout.commit({"app.py": BEFORE})
    fine = checkout.commit({"app.py": BEFORE + "\n\ndef other() -> int:\n    return 1\n"})
    defect = checkout.commit({"run.py": DEFECT})

    assert push_hook(checkout, PRE_COMMIT_FROM_REF=first, PRE_COMMIT_TO_REF=fine) == 0
    assert push_hook(checkout, PRE_COMMIT_FROM_REF=fine, PRE_COMMIT_TO_REF=defect) == 1
    assert push_hook(checkout) == 0  # the first push of all: pre-commit names no range


@pytest.mark.slow
def test_the_hook_of_git_stops_a_push_with_a_critical_defect(tmp_path: Path) -> None:
    origin, folder = tmp_path / "origin.git", tmp_path / "clone"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    folder.mkdir()
    checkout = GitRepo(folder)
    checkout.commit({"app.py": BEFORE})
    checkout.git("remote", "add", "origin", str(origin))
    branch = checkout.git("branch", "--show-current").strip()
    hook = folder / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text((ROOT / "examples" / "hooks" / "pre-push").read_text())
    hook.chmod(0o755)
    environment = {**os.environ, "PATH": PATH, "HOME": str(tmp_path)}

    def push(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "push", "origin", *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    unknown = push(f"HEAD:{branch}")
    checkout.git("remote", "set-head", "origin", branch)
    checkout.git("checkout", "-q", "-b", "topic")
    checkout.commit({"run.py": DEFECT})
    stopped = push("topic")
    checkout.git("reset", "-q", "--hard", "HEAD~1")
    checkout.commit({"other.py": "def other() -> int:\n    return 1\n"})
    passed, gone = push("topic"), push("--delete", "topic")

    assert (unknown.returncode, stopped.returncode, passed.returncode, gone.returncode) == (0, 1, 0, 0), passed.stderr
    assert "origin has no default branch here" in unknown.stderr
    assert "shell" in stopped.stdout + stopped.stderr


def test_the_push_hook_runs_once_and_asks_no_model() -> None:
    assert (PUSH["pass_filenames"], PUSH["stages"], PUSH["args"]) == (False, ["pre-push"], HOOK["args"])
