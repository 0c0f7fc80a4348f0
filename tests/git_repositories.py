"""A real repository in a temporary folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


class Repo:
    """Writes with the real git, without the settings of whoever runs the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str, given: bytes | None = None) -> str:
        """What a command prints, as text without the blanks around it."""
        return self.output(*arguments, given=given).decode("utf-8", "surrogateescape").strip()

    def output(self, *arguments: str, given: bytes | None = None) -> bytes:
        """What a command prints. It must succeed."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.invalid",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.invalid",
        }
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.folder,
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def write(self, name: str | bytes, content: str | bytes) -> None:
        path = self.folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, **files: str) -> str:
        """Commit everything, with some files written first; gives the full hash."""
        for name, content in files.items():
            self.write(name.replace("__", "/").replace("_py", ".py"), content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a commit")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Makes a repository below the test's own folder."""

    def make(name: str = "repo", *options: str) -> Repo:
        repo = Repo(tmp_path / name)
        repo.folder.mkdir()
        repo.git("init", "--quiet", "--initial-branch=main", *options)
        return repo

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    return make_repo()
