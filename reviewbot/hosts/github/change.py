"""Read the change of a pull request: from the diff, else the list of its files, else a comparison of its commits.

GitHub's diff is one of three dots, from where the branch left its base. It gives at most 300 files or 20,000 lines of
one, lists at most 3,000 files, and compares at most 300:
https://docs.github.com/en/repositories/creating-and-managing-repositories/repository-limits
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet, FileChange, ParsedFile
from reviewbot.domain.errors import (
    DiffError,
    EmptyChangeError,
    HostError,
    HostInvalidError,
    HostMissingError,
    HostMovedError,
)
from reviewbot.hosts.base import PullRequest, ReadChange
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.diff_from_file_list import ListedFile, change_of, read_file_list, text_of
from reviewbot.hosts.github.files.trees import Objects
from reviewbot.hosts.github.pull import GithubPull, check_repository, check_sha, read_pull
from reviewbot.strict_json import a_dict, a_list
from reviewbot.wording import with_count

DIFF = "application/vnd.github.diff"

MAX_LISTED = 3_000
"""Files that GitHub lists of one pull request."""


def read_change(client: GithubClient, pull: PullRequest) -> ReadChange:
    """Read the change of a pull request at the head that `pull` names.

    Raises HostError and its kinds; EmptyChangeError where there is nothing to review.
    """
    notes: list[str] = []
    merge_base = merge_base_of(client, pull)
    change, digest = _by_diff(client, pull, notes) or _by_list(client, pull, notes)
    now = read_pull(client, pull.repository, pull.number)
    if now.head_sha != pull.head_sha:
        message = f"{pull.repository}#{pull.number}: the head moved while it was read; run again"
        raise HostMovedError(message, now.head_sha)
    change = _check_counts(change, now, notes)
    if not change.files:
        raise EmptyChangeError(f"{pull.repository}#{pull.number} changes no file; nothing to review")
    return ReadChange(
        change=pull.describe(change),
        digest=digest,
        merge_base=merge_base or pull.base_sha,
        notes=tuple(notes),
    )


def merge_base_of(client: GithubClient, pull: PullRequest) -> str | None:
    """The commit where the head left the base; None where GitHub knows none. Raises HostError and its kinds.

    Source: https://docs.github.com/en/rest/commits/commits#compare-two-commits; files are on its first page alone.
    """
    try:
        data = _compare(client, pull, page=2)
    except HostMissingError:
        return None
    sha = a_dict(data.get("merge_base_commit")).get("sha")
    return check_sha(sha) if isinstance(sha, str) else None


def _compare(client: GithubClient, pull: PullRequest, page: int) -> dict[str, object]:
    path = f"/repos/{check_repository(pull.repository)}/compare/{pull.base_sha}...{pull.head_sha}"
    return a_dict(client.request("GET", path, query={"per_page": 1, "page": page}).data)


def _path_of(pull: PullRequest) -> str:
    return f"/repos/{check_repository(pull.repository)}/pulls/{pull.number}"


def _by_diff(client: GithubClient, pull: PullRequest, notes: list[str]) -> tuple[ChangeSet, str] | None:
    """The diff as a whole; None where GitHub does not give it."""
    path = _path_of(pull)
    try:
        answer = client.request("GET", path, accept=DIFF)
    except HostInvalidError as error:
        why = "it is too large" if error.code == "too_large" else "GitHub refuses it"
    except HostError as error:
        if type(error) is not HostError:
            raise
        why = "GitHub failed to make it"  # as it does where a diff takes too long
    else:
        if "json" not in answer.headers.get("content-type", ""):
            return _parse(answer.data)
        why = "this server knows no diffs"
    notes.append(f"GitHub gave no diff ({why}); the change was put together from its list of files")
    return None


def _parse(data: bytes) -> tuple[ChangeSet, str]:
    try:
        return parse_diff(data), hashlib.sha256(data).hexdigest()
    except DiffError as error:
        raise HostError(f"GitHub's diff cannot be read: {error}") from None


def _by_list(client: GithubClient, pull: PullRequest, notes: list[str]) -> tuple[ChangeSet, str]:
    """The change from the list of its files, or from a comparison where no file of the list has a text."""
    files = read_file_list(client.items(f"{_path_of(pull)}/files"))
    if all(file.withheld for file in files):
        compared = read_file_list(map(a_dict, a_list(_compare(client, pull, page=1).get("files"))))
        if any(file.patch for file in compared):
            notes.append("GitHub lists no text of the changed files; its comparison of the two commits was read")
            files = compared
    modes = _modes(Objects(client, pull.repository), pull.head_sha, files)
    return change_of(files, modes), hashlib.sha256(text_of(files)).hexdigest()


def _modes(objects: Objects, head_sha: str, files: list[ListedFile]) -> dict[str, str]:
    """Git's modes of the new sides, which a list does not tell: a link must not be read as a file."""
    modes = {}
    for file in files:
        entry = None if file.status == "removed" else objects.find(head_sha, file.path)
        if entry is not None:
            modes[file.path] = entry.mode
    return modes


def _check_counts(change: ChangeSet, pull: GithubPull, notes: list[str]) -> ChangeSet:
    """Compare the change with GitHub's own counts: files that GitHub does not name stand in it as one entry."""
    known = len({file.path for file in change.files})
    missing = pull.changed_files - known
    if missing < 0:
        notes.append(f"GitHub counts {with_count(pull.changed_files, 'changed file')}; found: {known}")
    if missing <= 0:
        _count_lines(change, pull, notes)
        return change
    reason = f"GitHub counts {with_count(pull.changed_files, 'changed file')} and names {known}"
    if known >= MAX_LISTED:
        reason += f": it lists no more than {MAX_LISTED:,}"
    path = f"({with_count(missing, 'more changed file')})"
    notes.append(f"{reason}; the others were not reviewed")
    file = FileChange(path=path, status="modified", language="text", kind="prose")
    parsed = ParsedFile(path=path, state="over_budget", reason=reason)
    return change.model_copy(update={"files": (*change.files, file), "parsed": (*change.parsed, parsed)})


def _count_lines(change: ChangeSet, pull: GithubPull, notes: list[str]) -> None:
    """Say so where all files were read and their lines are not as many as GitHub counts."""
    if any(each.state not in {"read", "binary"} for each in change.parsed):
        return
    counts: list[tuple[str, int, Callable[[FileChange], int]]] = [
        ("added", pull.additions, lambda file: file.added),
        ("removed", pull.deletions, lambda file: file.removed),
    ]
    for word, expected, of in counts:
        found = sum(of(file) for file in change.files)
        if found != expected:
            notes.append(f"GitHub counts {with_count(expected, f'{word} line')}; its diff shows {found}")
