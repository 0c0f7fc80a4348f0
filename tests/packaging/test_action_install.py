"""The Action with nothing prepared: its lock is installed by hashes, and the review runs from source."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.action_runner import BEFORE, DEFECT, ROOT, ActionRunner, pushed
from tests.git_repo import GitRepo

SHIPPED = ("action.yml", "reviewbot", "workers", "prompts", "requirements")


@pytest.mark.packaging
def test_the_action_installs_its_lock_and_reviews_a_push(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tree / name)
    runner = ActionRunner(tree, tmp_path / "runner")
    checkout = GitRepo(runner.workspace)
    before = checkout.commit({"app.py": BEFORE})
    # What stands beside the work must not be what is installed with.
    after = checkout.commit({"run.py": DEFECT, "pip.py": "raise SystemExit(9)\n", "venv.py": "raise SystemExit(9)\n"})

    ran = runner.run("push", pushed(before, after, [after]), {"fail-on": "critical", "paths": "run.py"})

    assert (ran.code, ran.steps, ran.outputs["critical"]) == (1, ["python", "install", "review"], "1"), ran.log
    [python] = (runner.temp / "temp").glob("reviewbot-*/venv/bin/python")
    checked = subprocess.run(
        [runner.python, "-I", "-m", "pip", "--python", str(python), "check"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin"},
    )
    assert "No broken requirements found" in checked.stdout
