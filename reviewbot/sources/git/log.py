"""The last commits of a file, asked of git."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from reviewbot.context.commits import subject_of
from reviewbot.diff.parser.names import exact
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Commit
from reviewbot.sources.git.process import Git

LOG_SECONDS = 20.0
"""Of one question. In a history of a million commits a file that hardly ever changes takes longer."""

MAX_LOG_BYTES = 2 * 2**20

_FORMAT = "%H%x00%P%x00%at%x00%s%x00"


def log_file(
    git: Git, commit: str, path: str, limit: int, *, shallow: bool, seconds: float = LOG_SECONDS
) -> tuple[Commit, ...]:
    """The last commits that changed a file, up to `commit`, newest first; none where git fails.

    Args:
        git: the private git directory.
        commit: the hash of it.
        path: the label of a file that is there.
        limit: how many.
        shallow: history was cut off, so that the commits at its end did not write all that they seem to have written.
        seconds: after which git is ended.
    """
    arguments = (f"--max-count={limit}", f"--format=tformat:{_FORMAT}", commit, "--", f":(literal){exact(path)}")
    try:
        found = git.run("log", *arguments, limit=MAX_LOG_BYTES, seconds=seconds, cut=True)
    except (InputError, ValueError):  # ValueError: a path with a NUL
        return ()
    if found.code and not found.cut:
        return ()
    return tuple(each for each, is_end in _commits(found.output) if not (shallow and is_end))


def _commits(output: bytes) -> Iterator[tuple[Commit, bool]]:
    """Each commit, and whether it is the end of the history at hand."""
    fields = output.decode("utf-8", "replace").split("\0")
    for at in range(0, len(fields) - 4, 4):
        sha, parents, seconds, subject = fields[at : at + 4]
        yield Commit(sha.strip(), _date(seconds), subject_of(subject)), not parents


def _date(seconds: str) -> str:
    """The day in UTC; the first one of all where a commit names none that there is."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%d")
