"""Read folders and files of commits by hash, through GitHub's API. Nothing is checked out, and no link is followed."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeGuard, TypeVar

from reviewbot.diff.parser.file_names import encode, label, to_bytes
from reviewbot.domain.errors import HostError
from reviewbot.domain.repository_files import MAX_FILE_BYTES, is_binary
from reviewbot.hosts.github.client import JSON, GithubClient
from reviewbot.hosts.github.files.blobs import PER_REQUEST, BlobBatches, Wanted
from reviewbot.hosts.github.pull import check_repository, check_sha

MAX_KEPT_BYTES = 128 * 2**20
"""Of all files of a run that are held in memory; further ones are asked for each time."""

REGULAR = frozenset({"100644", "100755", "100664"})
"""Modes of files. Neither a symlink (120000) nor a submodule (160000) is ever followed."""

FOLDER = "040000"

MANY = 10
"""Files from which on they are read in batches: fewer are as well read when they are asked for."""

K = TypeVar("K")
V = TypeVar("V")


class UnreadText:
    """Stands for a text that has not been read."""


UNREAD: Final = UnreadText()


class TreeEntry(NamedTuple):
    """The entry of a tree at a path."""

    mode: str
    sha: str
    size: int


class SingleFlight(Generic[K, V]):
    """Makes the value of a key once for any number of threads; an error is raised to each of them anew."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._locks: dict[K, Lock] = {}
        self._made: dict[K, V] = {}

    def peek(self, key: K, default: V) -> V:
        """What was kept for the key, if anything was."""
        return self._made.get(key, default)

    def put(self, key: K, made: V) -> None:
        """Keep what came along with something else."""
        with self._lock:
            self._made.setdefault(key, made)

    def get(self, key: K, make: Callable[[], V], *, keep: Callable[[V], bool] = lambda _: True) -> V:
        """What was kept for the key, else what `make` gives."""
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key in self._made:
                return self._made[key]
            made = make()
            if key not in self._made and keep(made):
                self._made[key] = made
            return made


class Objects:
    """Trees and blobs of one repository; safe to use from several threads. Raises HostError and its kinds."""

    def __init__(self, client: GithubClient, repository: str) -> None:
        self._client = client
        self._place = f"/repos/{check_repository(repository)}/git"
        self._trees: SingleFlight[tuple[str, bool], tuple[Mapping[str, TreeEntry], bool]] = SingleFlight()
        self._texts: SingleFlight[str, str | UnreadText | None] = SingleFlight()
        self._kept = 0
        self.batches = BlobBatches(client, repository)
        self._ahead: SingleFlight[tuple[str, ...], bool] = SingleFlight()
        self._expected: dict[tuple[str, str], tuple[str, ...]] = {}

    def expect(self, commit: str, paths: Sequence[str]) -> None:
        """Announce which files of a commit will be requested, if they are many: they are then read in batches."""
        names = list(dict.fromkeys(paths))
        if len(names) < MANY:
            return
        for start in range(0, len(names), PER_REQUEST):
            chunk = tuple(names[start : start + PER_REQUEST])
            self._expected.update(dict.fromkeys(((commit, path) for path in chunk), chunk))

    def listing(self, commit: str) -> tuple[Mapping[str, TreeEntry], bool]:
        """All files and folders of a commit by label, and whether they are all."""
        return self._list_tree(commit, deep=True)

    def find(self, commit: str, path: str) -> TreeEntry | None:
        """Find the entry at a path of a commit; a link on the way is a name that is not there. `path` is a label."""
        entries, whole = self._list_tree(commit, deep=True)
        if path in entries or whole:
            return entries.get(path)
        # A repository of more than 100,000 files is looked up folder by folder.
        *folders, name = to_bytes(path).split(b"/")
        tree = self._folder(commit, folders)
        return None if tree is None else self._list_tree(tree, deep=False)[0].get(label(name))

    def files_in(self, commit: str, folder: str) -> list[str]:
        """The paths of the regular files directly in a folder of a commit, sorted."""
        entries, whole = self._list_tree(commit, deep=True)
        if not whole:
            tree = self._folder(commit, to_bytes(folder).split(b"/"))
            inner = {} if tree is None else self._list_tree(tree, deep=False)[0]
            entries = {f"{folder}/{name}": entry for name, entry in inner.items()}
        return sorted(p for p, entry in entries.items() if p.rpartition("/")[0] == folder and entry.mode in REGULAR)

    def _folder(self, tree: str, names: Sequence[bytes]) -> str | None:
        """The tree of a folder below another one."""
        for name in names:
            entry = self._list_tree(tree, deep=False)[0].get(label(name))
            if entry is None or entry.mode != FOLDER:
                return None
            tree = entry.sha
        return tree

    def text(self, commit: str, path: str) -> str | None:
        """A file's text; None where there is none, or it is no regular text file of at most 2 MiB."""
        entry = self.find(commit, path)
        if not may_be_text(entry):
            return None
        text = self._texts.get(entry.sha, lambda: self._fetched(commit, path, entry.sha), keep=self._may_keep)
        return None if isinstance(text, UnreadText) else text

    def at_hand(self, commit: str, path: str) -> str | UnreadText | None:
        """The same without a request: UNREAD where one would be needed."""
        entries, whole = self._trees.peek((commit, True), ({}, False))
        if path not in entries and not whole:
            return UNREAD
        entry = entries.get(path)
        return self._texts.peek(entry.sha, UNREAD) if may_be_text(entry) else None

    def _may_keep(self, text: str | UnreadText | None) -> bool:
        self._kept += len(text) if isinstance(text, str) else 0
        return self._kept <= MAX_KEPT_BYTES

    def _fetched(self, commit: str, path: str, sha: str) -> str | UnreadText | None:
        """A text that came with those that were expected, else one alone."""
        chunk = self._expected.get((commit, path))
        if chunk is not None and self._kept < MAX_KEPT_BYTES:
            self._ahead.get((commit, *chunk), lambda: self._read_ahead(commit, chunk))
        text = self._texts.peek(sha, UNREAD)
        return decode_text(self.blob_data(sha)) if isinstance(text, UnreadText) else text

    def _read_ahead(self, commit: str, paths: Sequence[str]) -> bool:
        found = (self.find(commit, path) for path in paths)
        for sha, raw in self.batches.read([Wanted(each.sha, each.size) for each in found if may_be_text(each)]):
            text = text_of(raw)
            if self._may_keep(text):
                self._texts.put(sha, text)
        return True

    def blob_data(self, sha: str) -> object:
        """The base64 of one file, in a request of its own; None where GitHub has none.

        Source: https://docs.github.com/en/rest/git/blobs#get-a-blob.
        """
        data = self._client.request("GET", f"{self._place}/blobs/{check_sha(sha)}").data
        return data.get("content") if isinstance(data, dict) and data.get("encoding") == "base64" else None

    def _list_tree(self, tree: str, *, deep: bool) -> tuple[Mapping[str, TreeEntry], bool]:
        return self._trees.get((tree, deep), lambda: self._tree(tree, deep=deep))

    def _tree(self, tree: str, *, deep: bool) -> tuple[Mapping[str, TreeEntry], bool]:
        """The entries by label, and whether they are all.

        Source: https://docs.github.com/en/rest/git/trees#get-a-tree: at most 100,000 entries and 7 MB at once.
        """
        query = {"recursive": "1"} if deep else None
        data = self._client.request("GET", f"{self._place}/trees/{check_sha(tree)}", query=query).data
        rows = data.get("tree") if isinstance(data, dict) else None
        if not isinstance(rows, list):
            raise HostError(f"GitHub's answer about the tree {tree[:12]} cannot be used")
        entries = dict(_entry(row) for row in rows if isinstance(row, dict))
        return entries, not data.get("truncated")


def decode_text(content: object) -> str | None:
    """The text behind base64; None where it is not base64, is binary or too long."""
    raw = decode_bytes(content)
    return None if raw is None else text_of(raw)


def decode_bytes(content: object) -> bytes | None:
    """The bytes behind base64; None where it is not base64."""
    try:
        packed = content.encode("ascii") if isinstance(content, str) else b"!"
        return base64.b64decode(packed.translate(None, b"\r\n"), validate=True)
    except ValueError:
        return None


def text_of(raw: bytes) -> str | None:
    """The text of a file; None where it is binary or too long."""
    return raw.decode("utf-8", "replace") if is_text(raw) else None


def is_text(raw: bytes) -> bool:
    """Whether a file is text, by git's own rule, and not too long."""
    return len(raw) <= MAX_FILE_BYTES and not is_binary(raw)


def may_be_text(entry: TreeEntry | None) -> TypeGuard[TreeEntry]:
    """Whether an entry may be a text file: only its bytes tell."""
    return entry is not None and entry.mode in REGULAR and entry.size <= MAX_FILE_BYTES


def _entry(row: dict[str, JSON]) -> tuple[str, TreeEntry]:
    path, mode, sha, size = (row.get(name) for name in ("path", "mode", "sha", "size"))
    named = label(encode(path)) if isinstance(path, str) else ""
    return named, TreeEntry(str(mode), str(sha), size if isinstance(size, int) else 0)
