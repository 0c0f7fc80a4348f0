"""Which files of a folder on disk belong to its repository."""

from __future__ import annotations

import os
from pathlib import Path

from reviewbot.diff.parser.file_names import label
from reviewbot.sources.git.objects import REGULAR
from reviewbot.sources.git.place import find_work_tree
from reviewbot.sources.git.repository import GitRepository


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
