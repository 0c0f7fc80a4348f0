"""Read the last commits of a file through GitHub's API: one request for each file, sent once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Lock

from reviewbot.context.commits import subject_of
from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.errors import HostError
from reviewbot.domain.ports import Commit
from reviewbot.hosts.github.client import JSON, GithubClient
from reviewbot.hosts.github.files.trees import SingleFlight
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.strict_json import a_dict, a_list

MAX_FILES = 40
"""Files of one review that are asked about, each in a request of its own."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=T)")
_FIRST_DAY = "1970-01-01"
"""Of a commit that names no day, as `adapters/git` has it."""


class FileHistory:
    """The history of the files of one commit; safe to use from several threads. Blocks."""

    def __init__(self, client: GithubClient, repository: str, commit: str, keep_reserve: Callable[[], None]) -> None:
        """`keep_reserve` raises HostLimitError where no request is left for this."""
        self._client = client
        self._place = f"/repos/{check_repository(repository)}/commits"
        self._commit = check_sha(commit)
        self._keep_reserve = keep_reserve
        self._lock = Lock()
        self._left = MAX_FILES
        self._found: SingleFlight[tuple[str, int], tuple[Commit, ...]] = SingleFlight()

    def last(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file, newest first; none where GitHub cannot be asked."""
        return self._found.get((path, limit), lambda: self._ask(path, limit))

    def _ask(self, path: str, limit: int) -> tuple[Commit, ...]:
        """Source: https://docs.github.com/en/rest/commits/commits#list-commits. After an error no more is asked."""
        with self._lock:
            self._left -= 1
            if self._left < 0 or limit < 1:
                return ()
        try:
            self._keep_reserve()
            query: dict[str, str | int] = {"sha": self._commit, "path": to_bytes(path).decode(), "per_page": limit}
            return tuple(_commits(self._client.request("GET", self._place, query=query).data))[:limit]
        except UnicodeDecodeError:  # a name that no request can carry
            return ()
        except HostError:
            self._left = 0
            return ()


def _commits(data: JSON) -> Iterator[Commit]:
    """Yield what can be read of GitHub's answer."""
    for row in map(a_dict, a_list(data)):
        sha, said = row.get("sha"), row.get("commit")
        if not isinstance(sha, str) or not isinstance(said, dict):
            continue
        date, message = a_dict(said.get("author")).get("date"), said.get("message")
        day = _DATE.match(date) if isinstance(date, str) else None
        yield Commit(sha, day[0] if day else _FIRST_DAY, subject_of(message if isinstance(message, str) else ""))
