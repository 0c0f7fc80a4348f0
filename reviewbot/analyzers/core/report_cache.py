"""Cache reports of tools by content, so that a second review of the same file need not run them again.

A report is found again by everything that it was made from: this program and what is installed beside it, both sides of
the file and its hunks; where the tool looked at other files, by the two commits as well. An entry that cannot be read
is treated as a cache miss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import TypeAdapter, ValidationError

from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.domain.contracts import Candidate, Gap, ToolRun
from reviewbot.domain.ports import (
    ChangedFile,
    Commit,
    IdentifiedSnapshot,
    Journal,
    Occurrence,
    RepositorySnapshot,
    Snapshot,
    ToolReport,
)
from reviewbot.fingerprint import digest_of, program_fingerprint

PREFIX = "report/"
"""How the keys begin."""

LASTING_GAPS = frozenset({"unreadable", "flooded"})
"""What is missing for one of these reasons is missing the next time as well; a timeout may not be."""

_Stored = tuple[tuple[Candidate, ...], ToolRun, Gap | None]
_STORED: TypeAdapter[_Stored] = TypeAdapter(_Stored)


class WatchedSnapshot:
    """A snapshot that notes whether it was asked for anything."""

    def __init__(self, inner: Snapshot) -> None:
        self._inner = inner
        self.asked = False

    def head(self, path: str) -> str | None:
        """As `Snapshot.head`."""
        self.asked = True
        return self._inner.head(path)

    def base(self, path: str) -> str | None:
        """As `Snapshot.base`."""
        self.asked = True
        return self._inner.base(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        """As `Snapshot.search`."""
        self.asked = True
        return self._inner.search(word, limit)

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        """As `Snapshot.history`."""
        self.asked = True
        return self._inner.history(path, limit)

    def files(self) -> tuple[str, ...] | None:
        """As `RepositorySnapshot.files`; None where the snapshot is not a `RepositorySnapshot`."""
        self.asked = True
        return self._inner.files() if isinstance(self._inner, RepositorySnapshot) else None

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """As `RepositorySnapshot.contents`."""
        self.asked = True
        return self._inner.contents(paths) if isinstance(self._inner, RepositorySnapshot) else iter(())


class ReportCache:
    """Reports in a journal. Safe to use from several threads as far as the journal is."""

    def __init__(self, journal: Journal, settings: str, snapshot: Snapshot, without: Iterable[str] = ()) -> None:
        """`settings` is what the tools were made with, beside what comes with the program.

        `without` names those whose reports depend on something else that was handed in.
        """
        self._journal = journal
        self._without = frozenset(without)
        self._made_with = digest_of("1", program_fingerprint(), settings)
        self._commits = snapshot.identity if isinstance(snapshot, IdentifiedSnapshot) else None

    def get(self, tool: str, file: ChangedFile) -> ToolReport | None:
        """The cached report of a tool on a file; None on a cache miss."""
        if tool in self._without:
            return None
        for commits in dict.fromkeys(("", self._commits)):
            stored = None if commits is None else self._journal.get(self._key(tool, file, commits))
            if stored is not None:
                return _read(stored)
        return None

    def put(self, tool: str, file: ChangedFile, report: ToolReport, *, looked_around: bool) -> None:
        """Keep a report; `looked_around`: it depends on other files of the snapshot too."""
        commits = self._commits if looked_around else ""
        if (
            tool not in self._without
            and commits is not None
            and (report.gap is None or report.gap.reason in LASTING_GAPS)
        ):
            value = _STORED.dump_json((report.candidates, report.run, report.gap)).decode()
            self._journal.put(self._key(tool, file, commits), value)

    def _key(self, tool: str, file: ChangedFile, commits: str) -> str:
        return PREFIX + digest_of(self._made_with, tool, commits, _content(file))


@once_per_file
def _content(file: ChangedFile) -> str:
    """A digest of all that a tool is given of a file."""
    hunks = (f"{hunk.old_start},{hunk.new_start},{hunk.body}" for hunk in file.hunks)
    sides = ("-" if text is None else f"+{text}" for text in (file.head, file.base))
    return digest_of(file.path, file.before, file.language, *sides, *hunks)


def _read(stored: str) -> ToolReport | None:
    try:
        candidates, run, gap = _STORED.validate_json(stored)
    except ValidationError:
        return None
    return ToolReport(candidates, run.model_copy(update={"duration_ms": 0}), gap)
