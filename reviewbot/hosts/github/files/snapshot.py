"""The two sides of a pull request through GitHub's API, and the base branch that may configure its review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from threading import Lock

from reviewbot.config.load import FILE_NAME
from reviewbot.diff.apply import NO_FILES, old_side
from reviewbot.domain.contracts import ChangeSet, FileChange
from reviewbot.domain.errors import HostAccessError, HostError, HostLimitError, HostMissingError
from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.domain.repository_files import MAX_LISTED, Expression
from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.history import FileHistory
from reviewbot.hosts.github.files.trees import Objects, UnreadText, decode_text, may_be_text, text_of
from reviewbot.hosts.github.files.whole_tree import TreeStore, WholeTree
from reviewbot.hosts.github.pull import check_repository
from reviewbot.hosts.github.rate_limits import RESERVE
from reviewbot.report.text import short_line
from reviewbot.wording import with_count

ORGANISATION = ".github"
"""The repository of an owner in which files lie that hold for all others:
https://docs.github.com/en/communities/setting-up-your-project-for-healthy-contributions/creating-a-default-community-health-file."""

NO_TREE = "the whole repository could not be looked through, only single files of it"

MAX_NAMES = 3
"""Files that are named in a note; the others are counted."""

_NAME_CHARS, _REASON_CHARS = 120, 300


class GithubSnapshot:
    """A `HostSnapshot`, read when asked for and once. Safe to use from several threads.

    The old side of a file is that of the merge base, where the hunks fit; what configures a review is the base
    branch's. The head configures nothing.
    """

    def __init__(
        self,
        client: GithubClient,
        pull: PullRequest,
        *,
        merge_base: str | None = None,
        change: ChangeSet | None = None,
        place: Callable[[], TreeStore] | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            client: its owner closes it.
            pull: names both commits.
            merge_base: the commit that the old sides are of; None: the base.
            change: what is known of the files already; their old sides are then made from the new ones.
            place: where the whole tree may be kept; None: only single files are read. It may raise OSError.
        """
        self._client = client
        self._pull = pull
        self._merge_base = merge_base or pull.base_sha
        self._objects = Objects(client, pull.repository)
        repository, head = pull.repository, pull.head_sha
        self._tree = WholeTree(client, repository, head, self._objects, place) if place else None
        self._changed = _by_old_name(change)
        self._history = FileHistory(client, pull.repository, self._merge_base, self._keep_reserve)
        self._lock = Lock()
        self.failures: list[str] = []
        """The reasons why requested files could not be read; after the first one GitHub is not asked for more."""
        self.missed: set[str] = set()
        """The requested files that were not read, from the first failure on."""
        self._organisation: tuple[str | None] | None = None
        if change is not None:
            self._objects.expect(pull.head_sha, _new_sides(change))

    def head(self, path: str) -> str | None:
        """The whole new side of a file; None where there is none, or it is no regular text file of at most 2 MiB."""
        return self._text(self._pull.head_sha, path)

    def base(self, path: str) -> str | None:
        """The whole old side of a file, by its old name; None as above."""
        file = self._changed.get(path)
        new = None if file is None else self.head(file.path)
        old = old_side(file, new) if file is not None and new is not None else None
        return self._text(self._merge_base, path) if old is None else old

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """Lines of the head with a word; None where its tree cannot be fetched (GitHub's search has no such commit)."""
        return self._tree.search(word, limit) if self._tree else None

    def files(self) -> tuple[str, ...] | None:
        """The files of the head, sorted by name; None where its tree cannot be fetched."""
        return self._tree.files() if self._tree else None

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text files of the head among these, in this order; nothing where its tree cannot be fetched."""
        return self._tree.contents(paths) if self._tree else iter(())

    def matching(self, expression: Expression, paths: Collection[str], *, crlf: bool) -> Iterable[str]:
        """As `Searchable.matching`."""
        return self._tree.matching(expression, paths, crlf=crlf) if self._tree else ()

    def read_warnings(self) -> tuple[str, ...]:
        """Notes on what was asked for and could not be read, one line each."""
        notes = []
        tree = self._tree
        if self.failures:
            since = f"GitHub gave no more files from some point on{_which(sorted(self.missed))}"
            notes.append(f"{since}: {_why(self.failures[0])}")
        if tree and tree.gap:
            notes.append(f"{NO_TREE}: {_why(tree.gap)}")
        if tree and tree.absent:
            notes.append(f"these files of the head could not be fetched, and were not searched{_which(tree.absent)}")
        return tuple(notes)

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """The last commits that changed a file, up to the merge base, newest first; none after an error of GitHub's."""
        return self._history.last(path, limit)

    def base_file(self, path: str) -> str | None:
        """A file of the base branch as it is now; settings also of the organisation, where the repository has none.

        Raises HostError and its kinds: a review must not run under other settings because these could not be read.
        """
        text = self._objects.text(self._pull.base_sha, path)
        return self._of_organisation() if text is None and path == FILE_NAME else text

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The paths of the regular files directly in a folder of the base branch, sorted. Raises as `base_file`."""
        return tuple(self._objects.files_in(self._pull.base_sha, folder)[:MAX_LISTED])

    @property
    def organisation_settings_used(self) -> bool:
        """Whether the settings were asked for and are those of the owner's `.github` repository."""
        return self._organisation is not None and self._organisation[0] is not None

    def _of_organisation(self) -> str | None:
        """The settings file in the owner's `.github` repository; None where there is none, or we may not see it."""
        with self._lock:
            if self._organisation is None:
                self._organisation = (self._read_organisation(),)
            return self._organisation[0]

    def _read_organisation(self) -> str | None:
        """Source: https://docs.github.com/en/rest/repos/contents#get-repository-content."""
        owner, _, name = self._pull.repository.partition("/")
        if name.lower() == ORGANISATION:
            return None
        try:
            place = f"/repos/{check_repository(f'{owner}/{ORGANISATION}')}/contents/{FILE_NAME}"
            data = self._client.request("GET", place).data
        except (HostMissingError, HostAccessError):
            return None
        is_file = isinstance(data, dict) and data.get("type") == "file" and data.get("encoding") == "base64"
        return decode_text(data.get("content")) if is_file else None

    def _text(self, commit: str, path: str) -> str | None:
        text = self._objects.at_hand(commit, path)
        if not isinstance(text, UnreadText):
            return text
        if self.failures:
            self._miss(path)
            return None
        try:
            self._keep_reserve()
            entry = self._objects.find(commit, path)
            kept = self._tree.read(entry.sha) if self._tree and may_be_text(entry) else None
            return self._objects.text(commit, path) if kept is None else text_of(kept)
        except HostMissingError:
            return None
        except HostError as error:
            # Asking again would cost a wait for each file; the caller reports `failures`, and workers what they lack.
            with self._lock:
                self.failures.append(str(error))
            self._miss(path)
            return None

    def _miss(self, path: str) -> None:
        with self._lock:
            self.missed.add(path)

    def _keep_reserve(self) -> None:
        """Raise HostLimitError where what is left of the hourly limit is needed for posting."""
        left = self._client.remaining()
        if left is not None and left < RESERVE:
            more = with_count(left, "more request")
            reason = f"GitHub leaves this token {more} of REST in this hour, which is kept for posting"
            raise HostLimitError(reason)


def _which(missed: Sequence[str]) -> str:
    names = ", ".join(short_line(path, _NAME_CHARS) for path in missed[:MAX_NAMES])
    more = ", ..." if len(missed) > MAX_NAMES else ""
    return f"; {with_count(len(missed), 'file')} could not be read ({names}{more})"


def _why(reason: str) -> str:
    return short_line(reason, _REASON_CHARS)


def _new_sides(change: ChangeSet) -> list[str]:
    """The files whose new side is likely to be asked for."""
    return [
        file.path
        for file, parsed in zip(change.files, change.parsed, strict=True)
        if parsed.state in {"read", "partial"} and file.status != "deleted"
    ]


def _by_old_name(change: ChangeSet | None) -> dict[str, FileChange]:
    """The files whose old side follows from the new one: read to the end, and in one section of the diff alone."""
    if change is None:
        return {}
    sections = Counter(file.path for file in change.files)
    return {
        file.old_path or file.path: file
        for file, parsed in zip(change.files, change.parsed, strict=True)
        if parsed.state == "read"
        and file.status in {"modified", "renamed"}
        and file.hunks
        and not file.minified
        and file.mode not in NO_FILES
        and sections[file.path] == 1
    }
