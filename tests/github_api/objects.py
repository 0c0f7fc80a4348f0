"""The git folders behind the repositories: what GitHub computes of them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_DIFF = ("diff", "-M", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/")


def git(folder: Path, *arguments: str) -> bytes:
    """What git prints; raises where it fails. No configuration but the folder's own counts."""
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environ).stdout


def kind_of(folder: Path, sha: str) -> str:
    """The kind of an object; empty where there is none."""
    try:
        return _kind_of(folder, sha)
    except subprocess.CalledProcessError:
        return ""


@lru_cache(maxsize=1024)
def _kind_of(folder: Path, sha: str) -> str:
    return git(folder, "cat-file", "-t", sha).decode().strip()


def blobs(folder: Path, names: list[str]) -> dict[str, bytes]:
    """Files by hash, as many as there are."""
    command = ["git", "-C", str(folder), "cat-file", "--batch"]
    data = subprocess.run(command, check=True, capture_output=True, input="\n".join(names).encode()).stdout
    found: dict[str, bytes] = {}
    while data:
        head, _, data = data.partition(b"\n")
        sha, kind, *size = head.decode().split(" ")
        if size:
            end = int(size[0])
            found |= {sha: data[:end]} if kind == "blob" else {}
            data = data[end + 1 :]
    return found


@lru_cache(maxsize=64)
def merge_base(folder: Path, base: str, head: str) -> str:
    """Where a branch left another one."""
    return git(folder, "merge-base", base, head).decode().strip()


def diff(folder: Path, base: str, head: str) -> bytes:
    """The three-dot diff."""
    return git(folder, *_DIFF, merge_base(folder, base, head), head)


@lru_cache(maxsize=64)
def commits_between(folder: Path, start: str, head: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The commits of a head beyond another commit, oldest first, each with its parents."""
    rows = git(folder, "rev-list", "--reverse", "--topo-order", "--parents", f"{start}..{head}").decode().splitlines()
    return tuple((sha, tuple(parents)) for sha, *parents in (row.split() for row in rows))


@dataclass(frozen=True)
class Changed:
    """One file of a diff. `patch` begins at the first hunk; None for a binary file."""

    path: str
    old_path: str | None
    status: str
    sha: str
    added: int
    removed: int
    patch: str | None


_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}


@lru_cache(maxsize=16)
def changed(folder: Path, base: str, head: str) -> tuple[Changed, ...]:
    """The files of the three-dot diff, in git's order. Both sides are hashes: what they stand for never changes."""
    start = merge_base(folder, base, head)
    words = git(folder, *_DIFF, "--raw", "-z", "--no-abbrev", start, head).split(b"\0")[:-1]
    sections = git(folder, *_DIFF, start, head)
    cut = [b"diff --git " + each for each in (b"\n" + sections).split(b"\ndiff --git ")[1:]]
    found, at = [], 0
    for section in cut:
        fields = words[at].decode().split(" ")
        letter = fields[4][0]
        names = [name.decode("utf-8", "replace") for name in words[at + 1 : at + (3 if letter in "RC" else 2)]]
        at += len(names) + 1
        sha = fields[3] if letter != "D" else fields[2]
        lines = section.decode("utf-8", "replace").split("\n")
        first = next((number for number, line in enumerate(lines) if line.startswith("@@")), None)
        rows = [] if first is None else lines[first:]
        added, removed = (sum(row.startswith(mark) for row in rows) for mark in "+-")
        patch = "\n".join(rows).removesuffix("\n") if rows else None
        old = names[0] if len(names) > 1 else None
        found.append(Changed(names[-1], old, _STATUS[letter], sha, added, removed, patch))
    return tuple(found)


def tree(folder: Path, name: str, *, recursive: bool) -> list[dict[str, object]]:
    """The entries of a folder, as the API has them."""
    flags = ["-r", "-t"] if recursive else []
    rows = git(folder, "ls-tree", "-z", "--long", *flags, name).split(b"\0")[:-1]
    found: list[dict[str, object]] = []
    for row in rows:
        head, _, path = row.partition(b"\t")
        mode, kind, sha, size = head.decode().split()
        entry: dict[str, object] = {"path": path.decode("utf-8", "replace"), "mode": mode, "type": kind, "sha": sha}
        found.append(entry | ({"size": int(size)} if kind == "blob" else {}))
    return found


def commits(folder: Path, start: str, path: str) -> list[dict[str, object]]:
    """The commits up to `start` that changed a path, as the API has them: times are in UTC."""
    environ = {**os.environ, "TZ": "UTC"}
    form = "--format=%H%x00%ad%x00%cd%x00%B%x00"
    command = ["git", "-C", str(folder), "log", "--date=iso-strict-local", form, start, "--", f":(literal){path}"]
    fields = subprocess.run(command, check=True, capture_output=True, env=environ).stdout.decode().split("\0")
    return [_commit_json(*fields[at : at + 4]) for at in range(0, len(fields) - 4, 4)]


def _commit_json(sha: str, authored: str, committed: str, message: str) -> dict[str, object]:
    people = {"author": authored, "committer": committed}
    told = {who: {"name": "a", "email": "a@example.com", "date": date[:19] + "Z"} for who, date in people.items()}
    return {"sha": sha.strip(), "commit": {**told, "message": message.rstrip("\n")}}


@lru_cache(maxsize=16)
def archive(folder: Path, sha: str) -> bytes:
    """A commit as GitHub packs it: attributes of the commit decide what is in it."""
    return git(folder, "archive", "--format=tar.gz", "-1", f"--prefix=owner-repo-{sha[:7]}/", sha)
