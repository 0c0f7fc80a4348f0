"""What git knows of the folder on disk that is given beside a diff: its tracked files, and its history."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from reviewbot.diff.parser.file_names import label
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Commit
from reviewbot.sources.git.objects import REGULAR
from reviewbot.sources.git.place import find_work_tree
from reviewbot.sources.git.repository import GitRepository

MAX_BACK = 100
"""Commits of HEAD's history among which the one before the change is looked for."""


class WorkTreeHistory:
    """The commits up to a change of unknown base: the change may be committed in the folder, or not yet.

    Its base is the newest commit of HEAD's history at which the changed files stand as before the change. Safe to use
    from several threads. Blocks.
    """

    def __init__(self, folder: Path, before: Mapping[str, str | None]) -> None:
        """Look at nothing yet. `before`: the old sides that are known, by label; None for a file that was not there."""
        self._folder = folder
        self._before = before
        self._lock = Lock()
        self._base: tuple[str | None] | None = None

    def last(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file; empty where the folder is no top of a work tree, or has no base."""
        try:
            found = find_work_tree(self._folder)
            if found is None or found[0] != ".":
                return ()
            with GitRepository(self._folder) as repository:
                base = self._base_of(repository)
                return () if base is None else repository.history(base, path, limit)
        except InputError:
            return ()

    def _base_of(self, repository: GitRepository) -> str | None:
        with self._lock:
            if self._base is None:
                commits = repository.newest_commits(MAX_BACK) if self._before else ()
                self._base = (next((each for each in commits if self._is_before(repository, each)), None),)
            return self._base[0]

    def _is_before(self, repository: GitRepository, commit: str) -> bool:
        return all(repository.blob(commit, path) == text for path, text in self._before.items())


def tracked_files(folder: Path) -> frozenset[str] | None:
    """The labels, below the folder, of the regular files that git's index names there.

    None where the folder is in no work tree, or lies in one that tracks nothing below it, as an unpacked archive may.
    Raises InputError where it is in one and git cannot list them, as without git.
    """
    found = find_work_tree(folder)
    if found is None:
        return None
    below = found[0]
    with GitRepository(folder) as repository:
        listed = repository.index_entries()
    prefix = b"" if below == "." else os.fsencode(below) + b"/"
    inside = (name for mode, name in listed if mode in REGULAR and name.startswith(prefix))
    names = frozenset(label(name[len(prefix) :]) for name in inside)
    return names if names or not prefix else None
