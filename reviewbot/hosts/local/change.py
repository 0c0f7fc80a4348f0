"""The change of a local pull request, and both of its sides, read from git's objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from reviewbot.diff.parse import parse_diff
from reviewbot.diff.rows import commentable, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange
from reviewbot.domain.errors import HostError, InputError
from reviewbot.hosts.base import InlineComment, PullRequest, ReadChange
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.snapshot import GitSnapshot


class LocalSnapshot(GitSnapshot):
    """A `HostSnapshot`: the head, the merge base, and the tip of the base branch, which configures the review."""

    def __init__(self, repository: GitRepository, pull: PullRequest, merge_base: str) -> None:
        super().__init__(repository, merge_base, pull.head_sha)
        self._tip = GitSnapshot(repository, pull.base_sha, pull.head_sha)

    def base_file(self, path: str) -> str | None:
        """A file of the tip of the base branch."""
        return self._tip.base(path)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The regular files directly in a folder there."""
        return self._tip.base_listing(folder)

    def read_warnings(self) -> tuple[str, ...]:
        """None: in git every file is at hand."""
        return ()


@contextmanager
def as_host_errors() -> Iterator[None]:
    """What git cannot do with a repository is an error of the host, with the same words."""
    try:
        yield
    except InputError as error:
        raise HostError(str(error)) from None


def branch_tips(repository: GitRepository, base: str, head: str) -> tuple[str, str]:
    """The commits of two branches, read now. Raises HostError where there is no such branch."""
    with as_host_errors():
        found = repository.range_ends(f"refs/heads/{base}..refs/heads/{head}")
    return found[0] or "", found[1]


def read_change(repository: GitRepository, base_sha: str, head_sha: str) -> ReadChange:
    """What the head has beyond the point where it left the base. Raises HostError."""
    with as_host_errors():
        found = repository.range_diff(f"{base_sha}...{head_sha}")
        change = parse_diff(found.diff)
    digest = hashlib.sha256(found.diff).hexdigest()
    return ReadChange(change=change, digest=digest, merge_base=found.base_sha or base_sha)


def is_shown(change: ChangeSet, comment: InlineComment) -> bool:
    """Whether one hunk shows the lines of a comment: no other place takes one."""
    wanted = {comment.line if comment.start_line is None else comment.start_line, comment.line}
    files = (file for file in change.files if file.path == comment.path and file.status != "deleted")
    return any(wanted <= commentable([hunk]) for file in files for hunk in file.hunks)


def line_now(later: ChangeSet, path: str, line: int) -> int | None:
    """Where a line of a file is after a later change; None where that change removed it, or moved or replaced the file.

    `later` goes from the commit at which the line was counted to the head.
    """
    states = {parsed.path: parsed.state for parsed in later.parsed}
    for file in later.files:
        if path == (file.old_path or file.path):
            whole = file.status == "modified" and states.get(file.path) == "read"
            return _shifted(file, line) if whole else None
    return line


def _shifted(file: FileChange, line: int) -> int | None:
    shift = 0
    for hunk in file.hunks:
        if line < hunk.old_start:
            break
        for row in hunk_rows(hunk):
            if row.old == line:
                return row.new
        shift += hunk.new_count - hunk.old_count
    return line + shift
