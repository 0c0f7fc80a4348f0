"""A repository: the diff of a range or of what is staged, and files as they stand in a commit or in the index."""

from __future__ import annotations

import os
import re
import shutil
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parser.file_names import label, to_bytes
from reviewbot.domain.errors import InputError
from reviewbot.domain.repository_files import MAX_FILE_BYTES, MAX_LISTED, is_binary
from reviewbot.sources.git.branch import BranchRange, Range, find_branch_range, parse_range
from reviewbot.sources.git.objects import FOLDER, REGULAR, ObjectReader
from reviewbot.sources.git.place import GitLocation, copy_index, find_place, make_private
from reviewbot.sources.git.process import Git, GitResult, find_program
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from reviewbot.domain.ports import Commit, Occurrence  # they load pydantic, which a kept report does without

DIFF_OPTIONS: tuple[str, ...] = tuple(packaged_table("names/git")["diff_options"])

MAX_DIFF_BYTES = DiffLimits().input_bytes
MAX_SINCE = 250
"""Commits that are listed of a push."""

MAX_INDEX_LIST_BYTES = 256 * 2**20
"""Of the names in an index: some two million."""

MAX_FILES = 200_000
"""Of a commit, with its folders. Of more, none is listed."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PARENT = re.compile(_SHA.pattern + r"\^")


class RangeDiff(NamedTuple):
    """A diff and its two sides; `base_sha` is None where nothing came before, `head_sha` where it is the index."""

    diff: bytes
    base_sha: str | None
    head_sha: str | None


class GitRepository(AbstractContextManager["GitRepository"]):
    """A repository on disk, read-only. Nothing is opened before it is needed; `close` or `with` tidies up.

    Args:
        path: any folder inside the repository.
        index_file: another index than the repository's own, as git hands hooks one in `GIT_INDEX_FILE`.
    """

    def __init__(self, path: Path, index_file: Path | None = None) -> None:
        self._path = path
        self._index_file = index_file
        self._index_tree: str | None = None

    def range_diff(self, text: str) -> RangeDiff:
        """The diff of a range.

        `A..B` compares A with B, `A...B` the point where B left A with B; a missing side is HEAD. A single revision
        is compared with its first parent, as `git show` does, also where it is a merge; a root with nothing. In
        `HASH^..B`, with a full hash, the parent of a root is nothing as well.

        Raises:
            InputError: no repository, an unknown revision, no common ancestor, git missing; it says what to do.
        """
        base, head = self.range_ends(text)
        return RangeDiff(self._diff(base or self._nothing, head), base, head)

    def range_ends(self, text: str) -> tuple[str | None, str]:
        """The hashes of the two commits that a range compares; None where nothing came before. Raises InputError."""
        wanted = parse_range(text)
        head = self._resolve(wanted.head)
        return self._base_of(wanted, head), head

    def store_state(self) -> str:
        """A text that changes when objects come in bulk (a fetch), history is cut off elsewhere, or git is updated."""
        place = self._opened.place
        times = []
        for path in (place.objects / "pack", place.common_dir / "shallow", Path(self._opened.real.program)):
            try:
                times.append(path.stat().st_mtime_ns)
            except OSError:
                times.append(0)
        return repr(times)

    def branch_range(self) -> BranchRange:
        """What the branch that is checked out has beyond its upstream or the default branch. Raises InputError."""
        return find_branch_range(self._run_on_names, self._opened.private.run)

    def branch(self) -> str:
        """The branch that is checked out; "HEAD" where none is. Raises InputError."""
        found = self._run_on_names("symbolic-ref", "--quiet", "--short", "HEAD")
        return found.line if found.code == 0 else "HEAD"

    def staged_diff(self) -> RangeDiff:
        """The diff of HEAD and the index; of everything in it where there is no commit yet. Raises InputError."""
        found = self._run_on_names("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        base = found.line if found.code == 0 else None
        self._index_tree = self._write_index_tree(base)
        return RangeDiff(self._diff(base or self._nothing, self._index_tree), base, None)

    def blob(self, sha: str | None, path: str) -> str | None:
        """A file by its label, of a commit, or for None of the index as it stood at the last `staged_diff`.

        None where it has no such regular text file, or a too large one.
        """
        content = self.content(sha, path)
        return None if content is None else content.decode("utf-8", "replace")

    def content(self, sha: str | None, path: str) -> bytes | None:
        """The bytes of the same."""
        entry = self._objects.find(self._tree(sha), to_bytes(path))
        if entry is None or entry.mode not in REGULAR:
            return None
        content = self._objects.read(entry.sha, "blob", MAX_FILE_BYTES)
        return None if content is None or is_binary(content) else content

    def files_in(self, sha: str, folder: str) -> tuple[str, ...]:
        """The labels of the regular files directly in a folder of a commit, sorted, at most `MAX_LISTED`."""
        name = to_bytes(folder)
        entry = self._objects.find(self._tree(sha), name)
        if entry is None or entry.mode != b"40000":
            return ()
        inside = self._objects.folder(entry.sha)
        names = sorted(label(name + b"/" + each) for each, found in inside.items() if found.mode in REGULAR)
        return tuple(names[:MAX_LISTED])

    def index_entries(self) -> Iterator[tuple[bytes, bytes]]:
        """Mode and name of each entry of the index, as it is now. Raises InputError."""
        copied = self._copy_index()
        if copied is None:
            return iter(())
        found = copied.run("ls-files", "--stage", "-z", limit=MAX_INDEX_LIST_BYTES)
        if found.code:
            raise InputError(f"the index cannot be read: {found.why}")
        entries = (entry.partition(b"\t") for entry in found.output.split(b"\0"))
        return ((entry.partition(b" ")[0], name) for entry, _, name in entries if name)

    def files(self, sha: str | None, limit: int = MAX_FILES) -> tuple[str, ...] | None:
        """The labels of the regular files of a commit, or of the index for None; None where they are over `limit`."""
        found: list[bytes] = []
        waiting = [(b"", self._tree(sha))]
        while waiting:
            prefix, tree = waiting.pop()
            for name, entry in self._objects.folder(tree).items():
                if entry.mode == FOLDER:
                    waiting.append((prefix + name + b"/", entry.sha))
                elif entry.mode in REGULAR:
                    found.append(prefix + name)
            if len(found) + len(waiting) > limit:
                return None
        return tuple(map(label, sorted(found)))

    def read_object(self, sha: str) -> bytes | None:
        """The bytes of a file by its own hash; None where it is not here, or too large. Nothing is fetched for it."""
        return self._objects.read(_checked(sha), "blob", MAX_FILE_BYTES)

    def search(self, sha: str | None, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines with a word in the text files of a commit, or of the index for None; None as `search_tree` says."""
        from reviewbot.sources.git.search import search_tree  # noqa: PLC0415 - to look names up needs no pydantic

        return search_tree(self._opened.private, self._tree(sha), word, limit)

    def history(self, sha: str, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file of a commit, newest first; none where it has no such file."""
        if limit < 1 or self._objects.find(self._tree(sha), to_bytes(path)) is None:
            return ()
        from reviewbot.sources.git.search import log_file  # noqa: PLC0415 - the same

        return log_file(self._opened.private, sha, path, limit, shallow=self._opened.place.is_shallow)

    def newest_commits(self, limit: int) -> tuple[str, ...]:
        """The hashes of HEAD and of the commits before it, newest first; none where nothing is committed yet."""
        head = self._run_on_names("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        found = self._opened.private.run("rev-list", f"--max-count={limit}", head.line, limit=64 * limit)
        return tuple(found.line.split()) if head.code == 0 and found.code == 0 else ()

    def commits_since(self, earlier: str, head: str) -> tuple[str, ...] | None:
        """The commits from one, without it, to a later one along first parents, oldest first.

        None where the one is not in the history of the other, or not here. At most `MAX_SINCE`, the last ones.
        """
        private = self._opened.private
        if private.run("merge-base", "--is-ancestor", _checked(earlier), _checked(head)).code:
            return None
        options = ("--first-parent", "--reverse", f"--max-count={MAX_SINCE}")
        return tuple(private.run("rev-list", *options, f"{earlier}..{head}", limit=80 * MAX_SINCE).line.split())

    def close(self) -> None:
        """End the child process and remove the private folder."""
        if "_opened" in self.__dict__:
            self._opened.finish()
            del self.__dict__["_opened"]
            self.__dict__.pop("_nothing", None)
            self._index_tree = None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # --- inside ----

    @cached_property
    def _opened(self) -> _Opened:
        opened = _open(self._path)
        # Also where no caller closes it: when this object goes, or when the program ends.
        weakref.finalize(self, opened.finish)
        return opened

    @property
    def _objects(self) -> ObjectReader:
        return self._opened.objects

    @cached_property
    def _nothing(self) -> str:
        """The hash of the empty folder; it is written to the private store."""
        return self._opened.private.run("mktree").line

    def _tree(self, sha: str | None) -> str:
        """The folder at the root of a commit, or of the index for None."""
        if sha is not None:
            return self._objects.tree_of(_checked(sha))
        if self._index_tree is None:
            self.staged_diff()
        return self._index_tree or self._nothing

    def _run_on_names(self, *arguments: str) -> GitResult:
        """Run a command that looks names up: the only kind that sees the real git directory."""
        return self._opened.real.run(*arguments)

    def _resolve(self, name: str) -> str:
        found = self._run_on_names("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
        if found.code == 0 and _SHA.fullmatch(found.line):
            return found.line
        raise InputError(f"unknown revision {ascii(name)[:100]}; {self._where_history_is()}")

    def _base_of(self, wanted: Range, head: str) -> str | None:
        if wanted.base is None:
            return self._parent_of(head)
        if _PARENT.fullmatch(wanted.base) and not wanted.from_merge_base:
            # That of a root is nothing, for which git has no name.
            return self._parent_of(self._resolve(wanted.base[:-1]))
        base = self._resolve(wanted.base)
        if not wanted.from_merge_base:
            return base
        found = self._opened.private.run("merge-base", base, head)
        if found.code or not _SHA.fullmatch(found.line):
            raise InputError(
                f"no common ancestor of {base[:12]} and {head[:12]}; {self._where_history_is()}, or use A..B"
            )
        return found.line

    def _parent_of(self, commit: str) -> str | None:
        parent = self._objects.parent_of(commit)
        if parent and self._objects.read(parent, "commit", MAX_FILE_BYTES) is None:
            raise InputError(f"the parent of {commit[:12]} is not here; {self._where_history_is()}")
        return parent

    def _where_history_is(self) -> str:
        if self._opened.place.is_shallow:
            return "this clone is shallow: get the rest with 'git fetch --unshallow'"
        return "look at 'git log --all', or fetch first"

    def _diff(self, base: str, head: str) -> bytes:
        found = self._opened.private.run("diff-tree", *DIFF_OPTIONS, base, head, limit=MAX_DIFF_BYTES)
        if found.code:
            how = "a partial clone? 'git diff' fetches what is missing; hand in its output"
            raise InputError(f"git cannot compare {base[:12]} with {head[:12]}: {found.why} ({how})")
        return found.output

    def _write_index_tree(self, base: str | None) -> str:
        """Write a copy of the index as folders into the private store, so that it is read like a commit.

        Comparing with the index itself would let the `.gitattributes` in it hide files from the diff.
        """
        copied = self._copy_index()
        if copied is None:
            if base is None:
                return self._nothing
            raise InputError("nothing can be staged here: the repository has no index; name a range instead")
        found = copied.run("write-tree", "--missing-ok")
        if found.code == 0:
            return found.line
        if "unmerged" in found.errors:
            raise InputError("the index holds unmerged files; finish the merge first")
        raise InputError(f"the index cannot be read: {found.why}")

    def _copy_index(self) -> Git | None:
        """Git on the private directory with a copy of the index; None where there is no index."""
        opened = self._opened
        index = self._index_file or opened.place.git_dir / "index"
        copy = opened.folder / "staged"
        try:
            copy_index(index, opened.place.git_dir, copy, opened.private.git_dir)
        except FileNotFoundError:
            return None
        return replace(opened.private, index=copy)


class _Opened(NamedTuple):
    """What an open repository holds on to."""

    place: GitLocation
    folder: Path
    real: Git
    private: Git
    objects: ObjectReader

    def finish(self) -> None:
        self.objects.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _open(path: Path) -> _Opened:
    program, path_variable = find_program(os.environ.get("PATH", os.defpath))
    place = find_place(path)
    with ExitStack() as undo:
        folder = Path(mkdtemp(prefix="reviewbot-git-"))
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        empty = folder / "empty"
        empty.mkdir()
        real = Git(program, path_variable, place.git_dir, empty, index=folder / "no-index")
        answer = real.run("rev-parse", "--show-object-format")
        if answer.code:
            raise InputError(f"git cannot read the repository at {place.git_dir}: {answer.why}")
        private = replace(real, git_dir=make_private(folder, place, answer.line))
        undo.pop_all()
    return _Opened(place, folder, real, private, ObjectReader(private))


def _checked(sha: str) -> str:
    if not _SHA.fullmatch(sha):
        raise InputError(f"{ascii(sha)[:80]} is no full commit hash")
    return sha
