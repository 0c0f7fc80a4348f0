"""Read the results that earlier steps of the job have written, for the input `results`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from reviewbot.action.runner import JobRunner
from reviewbot.analyzers.imported.results import MAX_BYTES
from reviewbot.config.messages import quote
from reviewbot.diff.parser.file_names import label
from reviewbot.domain.errors import InputError
from reviewbot.sources.git.work_tree import tracked_files

MAX_FILES = 50
"""Of all patterns together."""


def read_step_results(patterns: Sequence[str], runner: JobRunner) -> tuple[tuple[str, bytes], ...]:
    """The files that the patterns name below the workspace, or below RUNNER_TEMP where a pattern begins with that.

    A file that git tracks, and a link, came with the reviewed commits: their author would speak with the tool's voice.

    Raises:
        InputError: A pattern names no file, or a file that a commit holds, that is a link or too large.
    """
    found = dict.fromkeys(path for pattern in patterns for path in _matching(pattern, runner))
    if len(found) > MAX_FILES:
        raise InputError(f"the input results names more than {MAX_FILES} files; name fewer")
    return tuple((_label(path, root), _read(path, root)) for path, root in found)


def _matching(pattern: str, runner: JobRunner) -> list[tuple[Path, Path]]:
    """Each file that a pattern names, with the folder that it lies below."""
    temp = str(runner.temp.resolve())
    root, rest = runner.workspace.resolve(), pattern
    if pattern.startswith((temp + "/", f"{runner.temp}/")):
        root, rest = Path(temp), pattern.removeprefix(f"{runner.temp}/").removeprefix(temp + "/")
    if rest.startswith("/") or ".." in rest.split("/"):
        raise InputError(f"the input results names {quote(pattern)}; name files below the workspace or RUNNER_TEMP")
    try:
        found = [(path, root) for path in sorted(root.glob(rest)) if not path.is_dir()]
    except (ValueError, NotImplementedError, OSError) as error:
        raise InputError(f"the input results has a pattern that cannot be used, {quote(pattern)}: {error}") from None
    if not found:
        raise InputError(f"the input results names {quote(pattern)}, and no such file is there; did its step run?")
    return found


def _read(path: Path, root: Path) -> bytes:
    name = quote(str(path.relative_to(root)))
    # Every folder above it as well: `reports` may be a link that a commit brought.
    if path.resolve() != path or not path.is_file():
        raise InputError(f"the input results names {name}, which is a link or no file, or lies behind a link")
    if _is_tracked(path, root):
        raise InputError(f"the input results names {name}, which is committed; only what a step has written is read")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {name}, which the input results names: {error.strerror}") from None


def _is_tracked(path: Path, root: Path) -> bool:
    """Whether a work tree at any folder between the file and the root tracks it.

    All of them are asked: a commit may hold a folder that looks like a repository of its own.
    """
    folders = [folder for folder in path.parents if folder == root or root in folder.parents]
    return any(_label(path, folder) in (tracked_files(folder) or ()) for folder in folders)


def _label(path: Path, root: Path) -> str:
    return label(os.fsencode(path.relative_to(root)))
