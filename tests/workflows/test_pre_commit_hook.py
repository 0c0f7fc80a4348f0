"""The hook for pre-commit, run as pre-commit would run it: its entry and its arguments, in a repository."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import BEFORE, DEFECT, ROOT, read_yaml
from tests.git_repo import GitRepo

HOOK: dict[str, Any] = read_yaml(ROOT / ".pre-commit-hooks.yaml")[0]


def commit(checkout: GitRepo) -> int:
    """The exit code of the hook on what is staged."""
    args: list[str] = HOOK["args"]
    program, *words = [*shlex.split(HOOK["entry"]), *args]
    command = [str(Path(sys.executable).parent / program), *words]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(checkout.folder)}
    return subprocess.run(command, cwd=checkout.folder, env=environment, capture_output=True, check=False).returncode


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

    assert (fine, commit(checkout)) == (0, 1)


def test_the_hook_reviews_what_is_staged_once_and_asks_no_model() -> None:
    assert (HOOK["pass_filenames"], HOOK["require_serial"], HOOK["language"]) == (False, True, "python")
    assert HOOK["args"][:2] == ["--engine", "analyzers"]
