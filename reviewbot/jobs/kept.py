"""What may be kept of a review between its steps: no code. Pure."""

from __future__ import annotations

from reviewbot.contracts import ChangeSet, FileChange, Hunk


def places_of(change: ChangeSet) -> ChangeSet:
    """The same change without a word of it: which lines it shows is all that posting needs."""
    files = tuple(_wordless(file) for file in change.files)
    return change.model_copy(update={"title": "", "description": "", "files": files})


def _wordless(file: FileChange) -> FileChange:
    return file.model_copy(update={"hunks": tuple(_marks(hunk) for hunk in file.hunks)})


def _marks(hunk: Hunk) -> Hunk:
    marks = "\n".join(line[:1] for line in hunk.body.split("\n"))
    return hunk.model_copy(update={"heading": "", "body": marks})
