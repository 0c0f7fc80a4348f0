"""A copy of the tree with action.yml, an environment that stands for the installed one, and a checkout."""

from __future__ import annotations

import shutil
import sysconfig
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import BEFORE, ROOT, ActionRunner, MakeRunner
from tests.action_runner.played import Run, played_run
from tests.git_repo import GitRepo

SHIPPED = ("action.yml", "reviewbot", "workers", "prompts", "requirements")


@pytest.fixture(scope="session")
def action_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the runner would fetch of this repository."""
    tree = tmp_path_factory.mktemp("action") / "tree"
    tree.mkdir()
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            # With the byte code: to compile all of it again takes longer than most tests.
            shutil.copytree(source, tree / name)
        else:
            shutil.copy(source, tree / name)
    return tree


@pytest.fixture(scope="session")
def installed(action_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the step `install` leaves behind, with the packages of the tests' own environment in place of the lock's."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home / "venv", with_pip=False)
    [site] = (home / "venv/lib").glob("python*/site-packages")
    (site / "reviewbot.pth").write_text(f"{sysconfig.get_path('purelib')}\n{action_tree}\n")
    return home


@pytest.fixture
def make_runner(action_tree: Path, installed: Path, tmp_path: Path) -> MakeRunner:
    """A runner whose step `install` is done already."""

    def make(**fields: Any) -> ActionRunner:
        given = {"install": {"home": str(installed)}}
        return ActionRunner(action_tree, tmp_path / "runner", given=given, **fields)

    return make


@pytest.fixture
def checkout(make_runner: MakeRunner) -> GitRepo:
    """The workspace as actions/checkout leaves it, with one commit."""
    made = GitRepo(make_runner().workspace)
    made.commit({"app.py": BEFORE})
    return made


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Acts on an event in this process; the workspace is `tmp_path`/work."""
    return played_run(tmp_path)
