"""The patches of a series, each on top of the one before, as one change from the first base to the last head.

A file is known as far as its hunks show it: as runs of lines of the base that are kept, and lines that were added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from reviewbot.diff.parser.build import Built
from reviewbot.diff.parser.decode_input import WANTED
from reviewbot.diff.parser.sparse import Misfit, SparseFile
from reviewbot.domain.contracts import FileChange, ParsedFile
from reviewbot.domain.errors import DiffError

MAX_WORK = 8_000_000
"""Lines that are walked over all patches: each one walks all lines of its files up to the last one that it changes, and
they are in memory by their numbers."""


class _Step(NamedTuple):
    number: int
    """Of the patch, from 1."""
    built: Built


@dataclass
class _Entry:
    """One file of the series. It is taken apart when a second patch changes it."""

    steps: list[_Step]
    sparse: SparseFile | None = None
    base_path: str | None = None
    """Its name on the base side; None: the series adds it."""
    copied: bool = False

    @property
    def last(self) -> FileChange:
        return self.steps[-1].built.file


@dataclass
class _Series:
    entries: list[_Entry] = field(default_factory=list)
    here: dict[str, _Entry] = field(default_factory=dict)
    """By the name that a file has after the patches so far; a deleted one keeps its last name."""
    moved_away: set[str] = field(default_factory=set)
    max_work: int = MAX_WORK
    work: int = 0

    def add(self, step: _Step) -> None:
        file = step.built.file
        source = file.old_path or file.path
        before = self.here.get(source)
        if file.path != source and (file.path in self.here or file.path in self.moved_away):
            _refuse(step, "takes the name of another file of the series")
        if before is None:
            if source in self.moved_away or (file.status == "copied" and file.path in self.here):
                _refuse(step, "has the name of a file that was renamed before")
            entry = _Entry([step])
            self.entries.append(entry)
        elif file.status == "copied":
            entry = self._copy(before, step)
        else:
            entry = before
            self._continue(entry, step)
        if file.status == "renamed":
            self.here.pop(source, None)
            self.moved_away.add(source)
        self.here[file.path] = entry

    def _copy(self, source: _Entry, step: _Step) -> _Entry:
        self._open(source, step)
        if source.sparse is None:
            _refuse(step, "is a copy of a file that cannot be read")
        entry = _Entry([*source.steps, step], sparse := source.sparse.copy(), source.base_path, copied=True)
        self._apply(sparse, step)
        self.entries.append(entry)
        return entry

    def _continue(self, entry: _Entry, step: _Step) -> None:
        if entry.steps[-1].number == step.number:
            # A change of type is two sections of one patch.
            if entry.sparse is not None:
                _refuse(step, "changes its type after another patch has changed it")
            entry.steps.append(step)
            return
        if len({each.number for each in entry.steps}) < len(entry.steps):
            _refuse(step, "is changed again after its type was")
        self._open(entry, step)
        entry.steps.append(step)
        if entry.sparse is not None:
            self._apply(entry.sparse, step)

    def _open(self, entry: _Entry, step: _Step) -> None:
        """Take the first section of a file apart, unless all of it is binary."""
        if entry.sparse is not None:
            return
        first = entry.steps[0]
        states = {each.built.parsed.state for each in (*entry.steps, step)}
        if states == {"binary"}:
            return
        if states != {"read"} or any(each.built.file.minified for each in (*entry.steps, step)):
            _refuse(step, "is changed by several patches, of which one cannot be read in full")
        file = first.built.file
        entry.base_path = None if file.status == "added" else file.old_path or file.path
        entry.copied = file.status == "copied"
        entry.sparse = SparseFile(exists=entry.base_path is not None)
        self._apply(entry.sparse, first)

    def _apply(self, sparse: SparseFile, step: _Step) -> None:
        file = step.built.file
        if step.built.parsed.state != "read" or file.minified:
            _refuse(step, "is changed by several patches, of which one cannot be read in full")
        self.work += sparse.cost(file.hunks) + file.added + file.removed
        if self.work > self.max_work:
            raise DiffError(f"The series is too long to be put together: {WANTED}.")
        try:
            sparse.apply(file.hunks, ends=file.status == "deleted")
        except Misfit as misfit:
            _refuse(step, f"line {misfit.line}: does not fit on what the patches before have left")


def join_series(patches: Iterable[Sequence[Built]], max_work: int = MAX_WORK) -> list[Built]:
    """The sections of one change; a file that a single patch changes keeps its own.

    Raises DiffError where a patch does not fit on what the ones before have left, or cannot be followed.
    """
    series = _Series(max_work=max_work)
    for number, patch in enumerate(patches, start=1):
        for built in patch:
            series.add(_Step(number, built))
    return [built for entry in series.entries for built in _result(entry)]


def _result(entry: _Entry) -> Iterator[Built]:
    if entry.sparse is not None:
        yield from _joined(entry, entry.sparse)
    elif len({each.number for each in entry.steps}) < len(entry.steps):
        yield from (each.built for each in entry.steps)
    else:
        yield from _of_binary(entry)


def _of_binary(entry: _Entry) -> Iterator[Built]:
    """The last section, as what it is from the base on."""
    first, last = entry.steps[0].built.file, entry.steps[-1].built
    if len(entry.steps) == 1 or first.status in ("modified", "deleted"):
        yield last
    elif last.file.status != "deleted":
        yield last._replace(file=last.file.model_copy(update={"status": first.status, "old_path": first.old_path}))
    elif first.status == "renamed" and first.old_path is not None:
        gone = {"path": first.old_path, "old_path": None}
        yield Built(last.file.model_copy(update=gone), last.parsed.model_copy(update={"path": first.old_path}))


def _joined(entry: _Entry, sparse: SparseFile) -> Iterator[Built]:
    """One section for all that was done to a file; none where nothing is left of it."""
    deleted = entry.last.status == "deleted"
    if deleted and (entry.base_path is None or entry.copied):
        return
    path = entry.base_path if deleted and entry.base_path is not None else entry.last.path
    modes = [each.built.file.mode for each in entry.steps if each.built.file.mode is not None]
    hunks = sparse.hunks()
    if entry.base_path is None:
        status = "added"
    elif deleted or entry.copied:
        status = "deleted" if deleted else "copied"
    else:
        status = "modified" if entry.base_path == path else "renamed"
    if status == "modified" and not hunks and len(set(modes)) < 2:  # noqa: PLR2004 - nothing is left of the change
        return
    bodies = [row[:1] for hunk in hunks for row in hunk.body.split("\n")]
    changed = {
        "path": path,
        "old_path": entry.base_path if status in ("renamed", "copied") else None,
        "status": status,
        "mode": modes[-1] if modes else None,
        "hunks": tuple(hunks),
        "added": bodies.count("+"),
        "removed": bodies.count("-"),
    }
    yield Built(entry.last.model_copy(update=changed), ParsedFile(path=path, state="read"))


def _refuse(step: _Step, why: str) -> NoReturn:
    shown = ascii(step.built.file.path)[:100]
    raise DiffError(f"The series cannot be put together: {shown} in patch {step.number}: {why}; {WANTED}.")
