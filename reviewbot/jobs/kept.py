"""What may be kept of a review between its steps: no code, and nothing that holds a secret of it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

from reviewbot.contracts import ChangeSet, FileChange, Hunk
from reviewbot.redact import redact

_DEEPEST = 40
"""No value of ours is nested half as deep; what a model nests deeper counts as one that holds something."""


def holds_secret(value: str) -> bool:
    """Whether a JSON text has a secret in one of its texts, or in a JSON text inside of one, as a model's answer is."""
    try:
        return any(redact(text) != text for text in _texts(value))
    except RecursionError:
        return True


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, str):
        yield value
        yield from _texts(_inside(value), depth + 1)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, depth + 1)


def _inside(text: str) -> object:
    """The object or the list that a text writes; None where it is another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def places_of(change: ChangeSet) -> ChangeSet:
    """The same change without a word of it: which lines it shows is all that posting needs."""
    files = tuple(_wordless(file) for file in change.files)
    return change.model_copy(update={"title": "", "description": "", "files": files})


def _wordless(file: FileChange) -> FileChange:
    return file.model_copy(update={"hunks": tuple(_marks(hunk) for hunk in file.hunks)})


def _marks(hunk: Hunk) -> Hunk:
    marks = "\n".join(line[:1] for line in hunk.body.split("\n"))
    return hunk.model_copy(update={"heading": "", "body": marks})
