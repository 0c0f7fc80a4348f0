"""Objects by hash, through one `git cat-file --batch` child: commits, trees by name, files.

Only hashes are ever written to the child, so that no name can be taken for anything else.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from threading import Lock
from typing import IO, NamedTuple, cast

from reviewbot.domain.errors import InputError
from reviewbot.domain.repository_files import MAX_FILE_BYTES
from reviewbot.sources.git.process import Git

MAX_TREE_BYTES = 32 * 2**20
"""Of one folder: some 500,000 entries."""

REGULAR = frozenset({b"100644", b"100755", b"100664"})
"""Modes of files. Neither a symlink (120000) nor a submodule (160000) is ever followed."""

FOLDER = b"40000"

_HEADER = ("sha", "kind", "size")
"""The words above an object's content."""


class GitEntry(NamedTuple):
    """One name in a folder."""

    mode: bytes
    sha: str


class ObjectReader:
    """Reads objects one after the other; safe to use from several threads. The child starts with the first one."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._trees: dict[str, Mapping[bytes, GitEntry]] = {}
        self._commits: dict[str, list[bytes]] = {}

    def read(self, sha: str, kind: str, limit: int) -> bytes | None:
        """The content of an object; None where it is missing, damaged, of another kind or longer than `limit` bytes."""
        with self._lock:
            header, content = self._ask(sha, limit)
            if not header:  # the child has died, of this object or of something else: another one is asked
                self._end_child()
                header, content = self._ask(sha, limit)
            if len(header) != len(_HEADER):
                if header[1:] != [b"missing"]:
                    self._end_child()
                return None
            if int(header[2]) > limit:
                self._end_child()  # cheaper than reading the rest
                return None
        return content if header[1] == kind.encode("ascii") else None

    def tree_of(self, commit: str) -> str:
        """The hash of a commit's root folder."""
        return self._commit(commit)[0].removeprefix(b"tree ").decode("ascii")

    def parent_of(self, commit: str) -> str | None:
        """The hash of a commit's first parent, even where a shallow clone does not hold it; None for a root."""
        second = self._commit(commit)[1]
        return second.removeprefix(b"parent ").decode("ascii") if second.startswith(b"parent ") else None

    def _commit(self, commit: str) -> list[bytes]:
        """The first two lines of a commit."""
        if commit not in self._commits:
            lines = (self.read(commit, "commit", MAX_FILE_BYTES) or b"").split(b"\n", 2)
            if not lines[0].startswith(b"tree ") or len(lines) == 1:
                raise _damaged(commit)
            self._commits[commit] = lines[:2]
        return self._commits[commit]

    def folder(self, tree: str) -> Mapping[bytes, GitEntry]:
        """The entries of a folder by name."""
        if tree not in self._trees:
            content = self.read(tree, "tree", MAX_TREE_BYTES)
            if content is None:
                raise _damaged(tree)
            self._trees[tree] = _entries(tree, content)
        return self._trees[tree]

    def find(self, tree: str, path: bytes) -> GitEntry | None:
        """What stands at a path below a folder. A link on the way is a name that is not there."""
        *folders, name = path.split(b"/")
        for folder in folders:
            entry = self.folder(tree).get(folder)
            if entry is None or entry.mode != FOLDER:
                return None
            tree = entry.sha
        return self.folder(tree).get(name)

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end_child()

    def _ask(self, sha: str, limit: int) -> tuple[list[bytes], bytes]:
        child = self._child = self._child or self._start()
        try:
            return _ask(child, sha, limit)
        except OSError:
            return [], b""

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - an argument list of our own
            self._git.command("cat-file", "--batch"),
            cwd=self._git.empty,
            env=self._git.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child:
            child.kill()
            child.communicate()


def _ask(child: subprocess.Popen[bytes], sha: str, limit: int) -> tuple[list[bytes], bytes]:
    """Ask for one object: its header's words, and its content unless that is too long."""
    stdin, stdout = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
    stdin.write(sha.encode("ascii") + b"\n")
    stdin.flush()
    header = stdout.readline().split()
    if len(header) != len(_HEADER) or int(header[2]) > limit:
        return header, b""
    return header, stdout.read(int(header[2]) + 1)[:-1]


def _entries(tree: str, content: bytes) -> dict[bytes, GitEntry]:
    """Parse git's form of a folder: mode, blank, name, NUL, hash; again and again."""
    found: dict[bytes, GitEntry] = {}
    hash_size = len(tree) // 2
    at = 0
    while at < len(content):
        blank = content.find(b" ", at)
        nul = content.find(b"\0", blank + 1)
        after = nul + 1 + hash_size
        if blank < 0 or nul < 0 or after > len(content):
            raise _damaged(tree)
        found.setdefault(content[blank + 1 : nul], GitEntry(content[at:blank], content[nul + 1 : after].hex()))
        at = after
    return found


def _damaged(sha: str) -> InputError:
    return InputError(f"git object {sha[:12]} is missing or damaged; fetch the repository again")
