"""The subject of a review: a change, what is around it, and the base side that may configure its review."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.config.load import FILE_NAME
from reviewbot.config.source import FOLDER, OWN_FOLDERS, BaseSide
from reviewbot.diff.apply import NO_FILES
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet, FileChange, ParsedFile
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import RepositorySnapshot, Snapshot
from reviewbot.sources.folder.snapshot import TreeSnapshot
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.snapshot import GitSnapshot
from reviewbot.sources.git.work_tree import WorkTreeHistory, tracked_files
from reviewbot.sources.memory import DiffSnapshot
from reviewbot.wording import with_count


@dataclass(frozen=True)
class Subject:
    """A change, what is around it, and the base side that may configure its review (None for a bare diff)."""

    change: ChangeSet
    digest: str
    snapshot: RepositorySnapshot
    base: BaseSide | None
    notes: tuple[str, ...] = ()
    """What a reader should know of how the change was read."""
    declares: bool = True
    """Whether `.gitattributes` of the base side may spare files a review. A folder beside a diff may as well stand at
    the head, where the author of the change has written it."""


def from_diff(data: bytes, folder: Path | None) -> Subject:
    """A diff, alone or beside the folder that it belongs to. Raises InputError."""
    change = parse_diff(data)
    if not change.files:
        raise InputError(
            "the diff is empty, so there is nothing to review; does the command that made it name a change?"
        )
    digest = hashlib.sha256(data).hexdigest()
    if folder is None:
        return Subject(change, digest, DiffSnapshot(change), None)
    _check_own_files(change)
    notes: tuple[str, ...] = ()
    tracked: frozenset[str] | None = frozenset()
    try:
        tracked = tracked_files(folder)
    except InputError as error:
        notes = (f"only the changed files of --repo were read, since the tracked ones are not known: {error}",)
    history = (lambda before: WorkTreeHistory(folder, before).last) if tracked else None
    tree = TreeSnapshot.open(folder, change, tracked, history)
    return Subject(change, _with_texts(digest, change, tree), tree, tree, notes, declares=False)


def tree_of(folder: Path) -> TreeSnapshot:
    """A folder without any change to it. Raises InputError where the path is not a folder."""
    return TreeSnapshot.open(folder, ChangeSet())


def from_range(folder: Path, range_text: str, closing: ExitStack) -> Subject:
    """A range of commits, read from git's objects until `closing` ends. Raises InputError."""
    repository = closing.enter_context(GitRepository(folder))
    found = repository.range_diff(range_text)
    shas = {"base_sha": found.base_sha, "head_sha": found.head_sha}
    change = parse_diff(found.diff).model_copy(update=shas)
    snapshot = GitSnapshot(repository, found.base_sha, found.head_sha)
    return Subject(change, hashlib.sha256(found.diff).hexdigest(), snapshot, snapshot)


def from_branch(folder: Path, closing: ExitStack) -> tuple[Subject, str]:
    """What the branch that is checked out has beyond its base, and in words what that is. Raises InputError."""
    with GitRepository(folder) as repository:
        found = repository.branch_range()
    taken = f"{with_count(found.commits, 'commit')} of {found.branch} that {found.base} lacks ({found.base}...HEAD)"
    return from_range(folder, found.text, closing), taken


def with_words(subject: Subject, title: str | None, description: str | None) -> Subject:
    """The subject with these words in place of its own; None: its own. They are data like the code."""
    words = {"title": title, "description": description}
    stated = {name: text.replace("\r\n", "\n") for name, text in words.items() if text is not None}
    return replace(subject, change=subject.change.model_copy(update=stated)) if stated else subject


def from_index(folder: Path, environ: Mapping[str, str], closing: ExitStack) -> Subject:
    """What is staged, also inside a git hook, which may have an index of its own. Raises InputError."""
    own_index = environ.get("GIT_INDEX_FILE")
    repository = closing.enter_context(GitRepository(folder, Path(own_index) if own_index else None))
    found = repository.staged_diff()
    change = parse_diff(found.diff)
    snapshot = GitSnapshot(repository, found.base_sha, None)
    return Subject(change, hashlib.sha256(found.diff).hexdigest(), snapshot, snapshot)


def _with_texts(digest: str, change: ChangeSet, snapshot: Snapshot) -> str:
    """The digest of a diff and of the whole files around it: analyzers see these too."""
    whole = hashlib.sha256(digest.encode())
    for file in change.files:
        text = snapshot.head(file.path)
        whole.update(b"\0-" if text is None else b"\0+" + text.encode("utf-8", "replace"))
    return whole.hexdigest()


def _check_own_files(change: ChangeSet) -> None:
    """Refuse a change that hides what our own files were before: a folder alone cannot tell, and they set the gate."""
    for file, parsed in zip(change.files, change.parsed, strict=True):
        if any(_is_own(name) for name in (file.path, file.old_path or "")) and not _shows_base(file, parsed):
            raise InputError(
                f"the diff does not show what {file.path} was before, and the base side of it counts; use --git RANGE"
            )


def _shows_base(file: FileChange, parsed: ParsedFile) -> bool:
    """Whether the base side of one of our own files is known: from the diff, or because it held nothing that counts."""
    is_link = file.mode in NO_FILES
    if file.status == "added":
        return parsed.state != "malformed"
    if file.status == "copied":
        # With `git diff -B -C` a rewritten file is called a copy, and the settings are what sets the gate.
        return file.path != FILE_NAME
    if is_link and (file.status == "deleted" or file.path in OWN_FOLDERS):
        return True
    read = parsed.state == "read" and not file.minified and not is_link
    return read and (file.status != "modified" or bool(file.hunks))


def _is_own(path: str) -> bool:
    return path in (FILE_NAME, FOLDER) or path.startswith(f"{FOLDER}/")


def notes_on(subject: Subject) -> list[str]:
    """What a reader should know of where the change and the rules of this run came from."""
    notes = list(subject.notes)
    for file in subject.change.files:
        if _is_own(file.path):
            side = (
                "the base side's was used"
                if subject.base is not None and file.status in ("modified", "deleted")
                else "it was ignored"
            )
            notes.append(f"{file.path}: this change cannot configure its own review; {side}")
    return notes
