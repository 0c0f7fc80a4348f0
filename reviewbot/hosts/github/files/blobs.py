"""Read many files in one GraphQL request: a workflow's token has 1,000 REST requests an hour, a review 3,000 files.

What comes back counts only where it is, byte for byte, the object that was asked for: GraphQL gives text, cut where it
is long, in UTF-8 whatever it was before, and nothing of what is binary. The hash of the object tells all of that, and
what it does not fit is read by REST as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from reviewbot.domain.errors import HostAccessError, HostError, HostInvalidError, HostMissingError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.hosts.github.rate_limits import RESERVE
from reviewbot.sources.blobs.segment import hash_of
from reviewbot.strict_json import a_dict

PER_REQUEST = 100
"""Files that are asked for at once: one point of GraphQL's hourly limit, however many.
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api"""

MAX_BYTES = 2**20
"""Of all files of one request: GitHub ends a request after ten seconds."""

MAX_FILE_BYTES = 256 * 2**10
"""Of one of them. GraphQL cuts long texts, and a file of this size is worth a request of its own."""

STRIKES = 2
"""Requests without any use, after which files are read one by one."""


class Wanted(NamedTuple):
    """A file as its folder names it."""

    sha: str
    size: int


class BlobBatches:
    """Files of one repository. Used by several threads: what they tell each other is a count, and off is off."""

    def __init__(self, client: GithubClient, repository: str) -> None:
        self._client = client
        self._owner, _, self._name = check_repository(repository).partition("/")
        self._strikes = 0

    def read(self, wanted: Sequence[Wanted]) -> Iterator[tuple[str, bytes]]:
        """Yield what could be fetched, by hash. Raises nothing; the rest has to be read in another way."""
        fit = dict.fromkeys(each for each in wanted if each.size <= MAX_FILE_BYTES)
        for batch in _batches(list(fit)):
            left = self._client.remaining("graphql")
            if self._strikes >= STRIKES or (left is not None and left < RESERVE):
                return
            found = self._request([check_sha(each.sha) for each in batch])
            self._strikes = 0 if found else self._strikes + 1
            yield from found

    def _request(self, names: list[str]) -> list[tuple[str, bytes]]:
        variables = {"owner": self._owner, "name": self._name, **{f"o{n}": sha for n, sha in enumerate(names)}}
        try:
            data = self._client.graphql(document(len(names)), variables)
        except (HostMissingError, HostAccessError, HostInvalidError):
            self._strikes = STRIKES  # a server without GraphQL, or one that will not be asked: no better next time
            return []
        except HostError:
            return []
        objects = a_dict(data.get("repository"))
        texts = ((sha, _bytes(objects.get(f"f{n}"))) for n, sha in enumerate(names))
        return [(sha, raw) for sha, raw in texts if raw is not None and hash_of(raw, (sha,)) == sha]


def document(count: int) -> str:
    """The GraphQL query for so many objects."""
    given = "".join(f", $o{n}: GitObjectID!" for n in range(count))
    asked = "".join(f"    f{n}: object(oid: $o{n}) {{ ... on Blob {{ text }} }}\n" for n in range(count))
    return (
        f"query Blobs($owner: String!, $name: String!{given}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n{asked}  }}\n}}\n"
    )


def _batches(wanted: list[Wanted]) -> Iterator[list[Wanted]]:
    batch: list[Wanted] = []
    size = 0
    for each in wanted:
        if batch and (len(batch) == PER_REQUEST or size + each.size > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += each.size
    if batch:
        yield batch


def _bytes(found: Any) -> bytes | None:  # noqa: ANN401 - JSON of another machine
    text = a_dict(found).get("text")
    return text.encode("utf-8", "replace") if isinstance(text, str) else None
