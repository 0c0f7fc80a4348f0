"""A real git repository in a temporary folder: the one that all tests make."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
}
"""Neither the settings of the person who runs the tests nor those of the machine."""

INIT = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
    "[maintenance]\n\tauto = false\n",
}
"""What `git init` writes, without its samples of hooks, which cost more than the rest; no commit starts maintenance."""


class GitRepo:
    """A repository, worked on with the real git."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Make the folder a repository whose branch is main, if it is none; `options` are for `git init`."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if options:
            self.git("init", "--quiet", "--initial-branch=main", *options)
        elif not (folder / ".git").exists():
            init(folder)

    def git(self, *arguments: str, given: bytes | None = None) -> str:
        """What a command prints, as text without the blanks around it."""
        return self.output(*arguments, given=given).decode("utf-8", "surrogateescape").strip()

    def output(self, *arguments: str | bytes, given: bytes | None = None, status: int = 0) -> bytes:
        """What a command prints. It must end with this status."""
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=self.folder,
            env=ENVIRONMENT,
            input=given,
            capture_output=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout

    def write(self, name: str | bytes, content: str | bytes) -> None:
        """Write one file of the work tree, with the folders that it needs."""
        path = self.folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(
        self,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        message: str = "a commit",
        branch: str = "",
        **named: str,
    ) -> str:
        """Commit everything; gives the full hash.

        `files` are written first, or removed where the text is None, and so are those of `named`, where `a__b_py`
        stands for a/b.py. `branch` is made, or set to where HEAD is, and checked out.
        """
        if branch:
            self.git("checkout", "--quiet", "-B", branch)
        for name, content in (files or {}).items():
            if content is None:
                (self.folder / name).unlink()
            else:
                self.write(name, content)
        for name, text in named.items():
            self.write(name.replace("__", "/").replace("_py", ".py"), text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def head(self) -> str:
        """The hash of the commit that is checked out."""
        return commit_of(self.folder, "HEAD")


def init(folder: Path) -> None:
    """Make a folder a repository, without starting git."""
    for name in ("objects", "refs/heads"):
        (folder / ".git" / name).mkdir(parents=True)
    for name, text in INIT.items():
        (folder / ".git" / name).write_text(text, "utf-8")


def copy_repo(template: Path, folder: Path) -> None:
    """Copy a repository; with hundreds of files `cp` takes a tenth of what Python takes."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-Rp", f"{template}/.", str(folder)], check=True)


def commit_of(folder: Path, name: str) -> str:
    """The hash of the commit that a branch or another name stands for, without starting git for a branch."""
    folder_of_git = folder / ".git"
    if name == "HEAD" and (at := _text(folder_of_git / "HEAD")).startswith("ref: refs/heads/"):
        name = at.removeprefix("ref: refs/heads/")
    if found := _text(folder_of_git / "refs/heads" / name):
        return found
    command = ["git", "-C", str(folder), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _text(path: Path) -> str:
    return path.read_text("utf-8").strip() if path.is_file() else ""


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """Makes a repository below the test's own folder."""

    def make(name: str = "repo", *options: str) -> GitRepo:
        return GitRepo(tmp_path / name, *options)

    return make


@pytest.fixture
def repo(make_repo: Callable[..., GitRepo]) -> GitRepo:
    return make_repo()
