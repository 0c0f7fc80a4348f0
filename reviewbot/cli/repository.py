"""The repository that a command is started in."""

from __future__ import annotations

from pathlib import Path

from reviewbot.config.load import FILE_NAME
from reviewbot.config.source import OWN_FOLDERS
from reviewbot.domain.errors import InputError
from reviewbot.sources.git.place import find_work_tree


def top_of(start: Path) -> Path:
    """The top of the work tree around a folder, or the folder itself. Raises InputError and OSError."""
    found = find_work_tree(start)
    return start if found is None else start.joinpath(*(".." for part in Path(found[0]).parts))


def find_repository(start: Path) -> Path | None:
    """The repository around a folder, or the folder itself, where it has settings or workers of its own; else None."""
    try:
        top = top_of(start)
    except (InputError, OSError):
        return None
    own = (top / name for name in (FILE_NAME, *OWN_FOLDERS[1:]))
    return top if any(path.exists() for path in own) else None
