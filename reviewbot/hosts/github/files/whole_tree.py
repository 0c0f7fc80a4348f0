"""All files of the head at hand: listed by GitHub, fetched at once, kept by their hash.

What GitHub lists of a commit says which files there are, each with its hash. Their bytes may come from anywhere: from
what earlier reviews have kept, from a checkout, from the archive of the commit, or one by one. Only the hash decides,
so that an attribute such as `export-ignore` or `export-subst` of the head can neither hide a file nor alter it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from threading import Lock
from typing import NamedTuple

from reviewbot.context.word_search import is_word, lines_with, whole_word
from reviewbot.diff.parser.file_names import exact
from reviewbot.domain.errors import HostError
from reviewbot.domain.ports import Occurrence
from reviewbot.domain.repository_files import MAX_FILE_BYTES, Expression
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.archive import read_archive
from reviewbot.hosts.github.files.blobs import Wanted
from reviewbot.hosts.github.files.trees import REGULAR, Objects, TreeEntry, decode_bytes, is_text
from reviewbot.sources.blobs.store import Addition, BlobFolder

MAX_TREE_BYTES = 512 * 2**20
"""Of all text files of a commit, and of what is binary and no larger than a text may be."""

TREE_S = 120.0
"""For all of it. A repository of 300 MB has an archive of some 60 MB."""

FEW_FILES, FEW_BYTES = 100, 2**20
"""What is missing of a commit is read one by one up to here, which is one request; beyond it the archive is fetched."""

MAX_BY_NAME = 2_000
"""Files that are read in batches where an archive lacks them: twenty requests. The next review goes on from there."""

MAX_HITS = 2_000
"""Files after which an expression is taken to match in most of them."""

SEARCH_S = 20.0
"""For one word."""

MAX_ALONE = 40
"""Files that are read in a request of their own each."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class TreeStore:
    """Where the files of one repository are kept, and which are on this machine anyway."""

    store: BlobFolder
    checkout: Callable[[Iterable[str]], Iterator[bytes]] = lambda _: iter(())
    """Yields some files with these hashes. What it says is checked."""


class _Tree(NamedTuple):
    """What is at hand of a commit."""

    store: BlobFolder
    entries: Mapping[str, TreeEntry]
    names: tuple[str, ...]
    absent: tuple[str, ...]


class WholeTree:
    """The tree of one commit, fetched when it is first asked for; safe to use from several threads. Blocks."""

    def __init__(
        self, client: GithubClient, repository: str, commit: str, objects: Objects, place: Callable[[], TreeStore]
    ) -> None:
        """`place` may raise OSError."""
        self._client = client
        self._repository = repository
        self._commit = commit
        self._objects = objects
        self._open = place
        self._lock = Lock()
        self._found: _Tree | None = None
        self.gap = ""
        """Why the tree is not at hand; empty where it is, or was never asked for."""

    @property
    def absent(self) -> tuple[str, ...]:
        """The text files that could not be fetched, of a tree that was fetched otherwise."""
        return self._found.absent if self._found else ()

    def read(self, sha: str) -> bytes | None:
        """A file of the repository by its hash, if the tree is at hand and has it; never waits for it."""
        return self._found.store.read(sha) if self._found else None

    def files(self) -> tuple[str, ...] | None:
        """The labels of the regular files, sorted by name; None where they cannot be listed, and `gap` says why."""
        found = self._get()
        return None if found is None else found.names

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text files among these, in this order; nothing where the tree is not at hand."""
        found = self._get()
        for path in paths if found else ():
            entry = found.entries.get(path) if found else None
            content = self.read(entry.sha) if entry else None
            if content is not None and is_text(content):
                yield path, content

    def matching(self, expression: Expression, paths: Collection[str], *, crlf: bool) -> Iterator[str]:
        """As `Searchable.matching`."""
        found = self._get()
        if found is None:
            return
        by_hash: dict[str, list[str]] = {}
        for path in paths:
            if path in found.entries:
                by_hash.setdefault(found.entries[path].sha, []).append(path)
        hits = set(islice(found.store.scan(expression, by_hash, crlf=crlf), MAX_HITS))
        everywhere = len(hits) >= MAX_HITS
        yield from (path for path in paths if path in found.entries and (everywhere or found.entries[path].sha in hits))

    def search(self, word: str, limit: int, seconds: float = SEARCH_S) -> tuple[Occurrence, ...] | None:
        """Lines with a word, by path and line; None where not all files could be looked at, or not in time."""
        names = self.files()
        if names is None or self.absent:
            return None
        if not is_word(word) or limit < 1:
            return ()
        end, whole = time.monotonic() + seconds, whole_word(word)
        found: list[Occurrence] = []
        candidates = self.matching(re.compile(re.escape(word.encode())), names, crlf=False)
        for path, content in self.contents(candidates):
            if time.monotonic() > end:
                return None
            found += islice(lines_with(path, content.decode("utf-8", "replace"), whole), limit - len(found))
            if len(found) == limit:
                break
        return tuple(found)

    def _get(self) -> _Tree | None:
        """The tree, fetched at the first call; None where that failed, which is not tried again."""
        with self._lock:
            if self._found is None and not self.gap:
                try:
                    self._found = self._fetch(self._open())
                except HostError as error:
                    self.gap = str(error)
                except OSError as error:
                    self.gap = f"the folder for files of repositories cannot be used: {error.strerror or error}"
            return self._found

    def _fetch(self, place: TreeStore) -> _Tree:
        listed, whole = self._objects.listing(self._commit)
        if not whole:
            raise HostError(f"GitHub lists not all files and folders of this commit, but the first {len(listed):,}")
        files = {path: each for path, each in listed.items() if each.mode in REGULAR and _SHA.fullmatch(each.sha)}
        wanted = {each.sha: each.size for each in files.values() if each.size <= MAX_FILE_BYTES}
        if sum(wanted.values()) > MAX_TREE_BYTES:
            raise HostError(f"its files have more than {MAX_TREE_BYTES >> 20} MiB together")
        left = place.store.missing(wanted)
        if left:
            left = self._fill(place, wanted, left)
        absent = sorted(path for path, each in files.items() if each.sha in left)
        return _Tree(place.store, files, tuple(sorted(files, key=exact)), tuple(absent))

    def _fill(self, place: TreeStore, wanted: Mapping[str, int], left: Collection[str]) -> set[str]:
        """Fetch what is missing; return what failed. Raises OSError, and HostError where most of it failed."""
        start = self._client.remaining_s()

        def remaining_s() -> float:
            now = self._client.remaining_s()
            return min(now, TREE_S - (start - now))

        place.store.check_space(sum(wanted[sha] for sha in left))
        with place.store.adding(wanted, remaining_s()) as addition:
            _keep_all(addition, place.checkout(tuple(addition.left)))
            if len(addition.left) > FEW_FILES or sum(wanted[sha] for sha in addition.left) > FEW_BYTES:
                _keep_all(addition, read_archive(self._client, self._repository, self._commit, remaining_s))
            self._read_rest(addition, wanted, remaining_s)
        if 2 * len(addition.left) > len(wanted):
            raise HostError("most files of the commit could not be fetched; its archive holds other ones")
        return addition.left

    def _read_rest(self, addition: Addition, wanted: Mapping[str, int], remaining_s: Callable[[], float]) -> None:
        """Read what no archive has, as far as that is reasonable. An error of the host leaves it missing."""
        rest = [Wanted(sha, wanted[sha]) for sha in sorted(addition.left)[:MAX_BY_NAME]]
        for _, content in takewhile(lambda _: remaining_s() > 0, self._objects.batches.read(rest)):
            addition.keep(content)
        with suppress(HostError):
            for sha in sorted(addition.left)[:MAX_ALONE]:
                addition.keep(decode_bytes(self._objects.blob_data(sha)) or b"")


def _keep_all(addition: Addition, contents: Iterator[bytes]) -> None:
    """Take what comes until nothing is missing."""
    for content in contents:
        # Where attributes ask for it, an archive has other line ends than the commit.
        if not addition.keep(content) and b"\r\n" in content:
            addition.keep(content.replace(b"\r\n", b"\n"))
        if not addition.left:
            return
