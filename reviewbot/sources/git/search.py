"""Search words in all files of a commit, and list the last commits of a file. Both by git."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from reviewbot.context.commits import subject_of
from reviewbot.context.word_search import MAX_LINE, is_word, whole_word
from reviewbot.diff.parser.file_names import exact, label
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Commit, Occurrence
from reviewbot.sources.git.process import Git

SEARCH_SECONDS = 20.0
"""A tree of a hundred thousand files takes some five."""

MAX_SEARCH_BYTES = 8 * 2**20
"""Of lines that hold the word. A word that fills more is not a name that a review follows."""

LOG_SECONDS = 20.0
"""Of one question. In a history of a million commits a file that hardly ever changes takes longer."""

MAX_LOG_BYTES = 2 * 2**20

_FORMAT = "%H%x00%P%x00%at%x00%s%x00"


def search_tree(
    git: Git, tree: str, word: str, limit: int, *, seconds: float = SEARCH_SECONDS
) -> tuple[Occurrence, ...] | None:
    """Lines of the text files below a folder that hold a word; None where git could not look at all of them.

    Neither attributes nor a configuration of the reviewed files is in force in the private git directory.
    """
    if not is_word(word) or limit < 1:
        return ()
    options = ("-n", "-z", "-w", "-F", "-I", "--no-color", "--no-textconv", "--no-recurse-submodules")
    try:
        found = git.run("grep", *options, "-e", word, tree, "--", limit=MAX_SEARCH_BYTES, seconds=seconds, cut=True)
    except InputError:
        return None
    if not found.cut and (found.code not in (0, 1) or found.errors):
        return None  # a missing object: a partial clone
    seen: list[Occurrence] = []
    whole = whole_word(word)  # git's idea of a word knows ASCII alone
    for occurrence in _occurrences(found.output, len(tree) + 1):
        if whole.search(occurrence.text):
            seen.append(occurrence)
            if len(seen) == limit:
                return tuple(seen)
    return None if found.cut else tuple(seen)


def _occurrences(output: bytes, prefix: int) -> Iterator[Occurrence]:
    """Take git's answer apart: "TREE:", path, NUL, number, one byte, line, LF. A path may hold anything but NUL."""
    at = 0
    while True:
        name_end = output.find(b"\0", at)
        number = re.compile(rb"([0-9]{1,9})[\0:]").match(output, name_end + 1)
        end = output.find(b"\n", number.end()) if number else -1
        if name_end < 0 or number is None or end < 0:
            return
        text = output[number.end() : end].decode("utf-8", "replace")
        yield Occurrence(label(output[at + prefix : name_end]), int(number[1]), text[:MAX_LINE])
        at = end + 1


def log_file(
    git: Git, commit: str, path: str, limit: int, *, shallow: bool, seconds: float = LOG_SECONDS
) -> tuple[Commit, ...]:
    """The last commits that changed a file, up to `commit`, newest first; none where git fails.

    Args:
        git: the private git directory.
        commit: the hash of it.
        path: the label of a file that is there.
        limit: how many.
        shallow: history was cut off, so that the commits at its end did not write all that they seem to have written.
        seconds: after which git is ended.
    """
    arguments = (f"--max-count={limit}", f"--format=tformat:{_FORMAT}", commit, "--", f":(literal){exact(path)}")
    try:
        found = git.run("log", *arguments, limit=MAX_LOG_BYTES, seconds=seconds, cut=True)
    except (InputError, ValueError):  # ValueError: a path with a NUL
        return ()
    if found.code and not found.cut:
        return ()
    return tuple(each for each, is_end in _commits(found.output) if not (shallow and is_end))


def _commits(output: bytes) -> Iterator[tuple[Commit, bool]]:
    """Each commit, and whether it is the end of the history at hand."""
    fields = output.decode("utf-8", "replace").split("\0")
    for at in range(0, len(fields) - 4, 4):
        sha, parents, seconds, subject = fields[at : at + 4]
        yield Commit(sha.strip(), _date(seconds), subject_of(subject)), not parents


def _date(seconds: str) -> str:
    """The day in UTC; the first one of all where a commit names none that there is."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%d")
