"""Read what a push brought: the commits and the diff between two heads of a pull request, and files of its commits.

Sources: https://docs.github.com/en/rest/commits/commits#compare-two-commits and
https://docs.github.com/en/rest/repos/contents#get-repository-content
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import DiffError, HostError, HostMissingError
from reviewbot.hosts.base import PullRequest, Push
from reviewbot.hosts.github.change import DIFF
from reviewbot.hosts.github.client import JSON, GithubClient
from reviewbot.hosts.github.files.trees import decode_text
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.strict_json import a_dict, a_list

MAX_COMMITS = 100
"""Of a push that are listed: one page."""

MAX_COMPARED = 300
"""Files that GitHub compares: of a comparison of as many it is not known whether there are more."""

_FORWARD = frozenset({"ahead", "identical"})


def read_push(client: GithubClient, pull: PullRequest, earlier: str) -> Push | None:
    """As `CodeHost.push`. Raises HostError and its kinds."""
    place = f"/repos/{check_repository(pull.repository)}/compare/{check_sha(earlier)}...{check_sha(pull.head_sha)}"
    try:
        data = client.request("GET", place, query={"per_page": MAX_COMMITS, "page": 1}).data
        if not isinstance(data, dict) or data.get("status") not in _FORWARD:
            return None
        change = parse_diff(client.request("GET", place, accept=DIFF).data)
        _check_files(data.get("files"), change)
        return Push(_first_parents(data.get("commits"), earlier, pull.head_sha), change)
    except HostMissingError:
        return None
    except DiffError as error:
        raise HostError(f"GitHub's diff of a push cannot be read: {error}") from None


def read_text(client: GithubClient, pull: PullRequest, commit: str, path: str) -> str | None:
    """As `CodeHost.text_at`. Raises HostError and its kinds."""
    # Octokit expands `{path}` in the same way, with "%2F" for a slash.
    name = quote(to_bytes(path), safe="")
    place = f"/repos/{check_repository(pull.repository)}/contents/{name}"
    try:
        data = client.request("GET", place, query={"ref": check_sha(commit)}).data
    except HostMissingError:
        return None
    if not isinstance(data, dict) or data.get("type") != "file":
        return None
    if data.get("encoding") != "base64":
        raise HostError(f"GitHub gives no text of {path[:100]!r}: it is too large")
    return decode_text(data.get("content"))


def _check_files(listed: JSON, change: ChangeSet) -> None:
    """Raise HostError where the diff may lack a file: what a push does not name counts as read at the earlier head.

    A name that is no UTF-8 is another one in GitHub's JSON than in its diff: then the file would not be found.
    """
    rows = a_list(listed)
    names = {str(row.get("filename")) for row in map(a_dict, rows)}
    if not isinstance(listed, list) or len(rows) >= MAX_COMPARED or names != {file.path for file in change.files}:
        raise HostError(f"GitHub's comparison and its diff name other files: {len(rows)} and {len(change.files)}")


def _first_parents(rows: JSON, earlier: str, head: str) -> tuple[str, ...]:
    """The commits from the earlier head to the head along first parents; empty where the list does not lead there."""
    parents = dict(_parents(rows))
    found = [head]
    while (before := parents.get(found[-1], "")) != earlier:
        if not before or len(found) > len(parents):
            return ()
        found.append(before)
    return tuple(reversed(found))


def _parents(rows: JSON) -> Iterator[tuple[str, str]]:
    for row in map(a_dict, a_list(rows)):
        if parents := a_list(row.get("parents")):
            yield str(row.get("sha")), str(a_dict(parents[0]).get("sha"))
