"""Words in all files of a commit, and the commits behind some lines, asked of git."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.context.word_search import MAX_LINE, is_word, whole_word
from reviewbot.diff.names import exact, label
from reviewbot.errors import InputError
from reviewbot.ports import Commit, Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewbot.adapters.git.process import Git

SEARCH_SECONDS = 20.0
"""A tree of a hundred thousand files takes some five."""

MAX_SEARCH_BYTES = 8 * 2**20
"""Of lines that hold the word. A word that fills more is no name that anybody follows."""

BLAME_SECONDS = 20.0
MAX_BLAME_BYTES = 2 * 2**20
MAX_BLAME_LINES = 400
"""Of one question; the time that git takes hardly depends on it."""

_MAX_SUBJECT = 200
_SHA = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) [0-9]+ [0-9]+")
_ZONE = re.compile(r"([+-])([0-9]{2})([0-9]{2})")


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


class _Behind(NamedTuple):
    """A commit with the time by which the newest is found."""

    time: int
    commit: Commit


def blame_lines(
    git: Git, commit: str, path: str, lines: tuple[int, int], *, shallow: bool, seconds: float = BLAME_SECONDS
) -> tuple[Commit, ...]:
    """The commits that last touched some lines of a file that a commit has, newest first; none where git cannot tell.

    Args:
        git: the private git directory.
        commit: the hash of it.
        path: the label of a file that is there.
        lines: first and last, which the file has.
        shallow: history was cut off, so that the commits at its end did not write all that they seem to have written.
        seconds: after which git is ended.
    """
    first, last = lines[0], min(lines[1], lines[0] + MAX_BLAME_LINES - 1)
    arguments = ("--porcelain", "--no-textconv", "-L", f"{first},{last}", commit, "--", exact(path))
    try:
        found = git.run("blame", *arguments, limit=MAX_BLAME_BYTES, seconds=seconds, cut=True)
    except (InputError, ValueError):  # ValueError: a path with a NUL
        return ()
    if found.code and not found.cut:
        return ()
    behind = [each for each in _behind(found.output) if not (shallow and each[1])]
    newest = sorted((each for each, _ in behind), key=lambda each: (-each.time, each.commit.sha))
    return tuple(each.commit for each in newest)


def _behind(output: bytes) -> Iterator[tuple[_Behind, bool]]:
    """Each commit of a porcelain blame once, and whether it is the end of the history at hand."""
    sha, fields = "", dict[str, str]()
    for line in output.split(b"\n"):
        if line.startswith(b"\t"):
            if fields:
                yield _Behind(_number(fields.get("committer-time", "")), _commit(sha, fields)), "boundary" in fields
            sha, fields = "", {}
        elif head := _SHA.match(line):
            sha = head[1].decode("ascii")
        elif sha:
            name, _, value = line.decode("utf-8", "replace").partition(" ")
            if name in {"author-time", "author-tz", "committer-time", "summary", "boundary"}:
                fields[name] = value


def _commit(sha: str, fields: dict[str, str]) -> Commit:
    subject = " ".join(fields.get("summary", "").split())[:_MAX_SUBJECT]
    return Commit(sha, _date(_number(fields.get("author-time", "")), fields.get("author-tz", "")), subject)


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else 0


def _date(seconds: int, zone: str) -> str:
    """The day of the author; the first one of all where a commit names none that there is."""
    match = _ZONE.fullmatch(zone)
    offset = timedelta(hours=int(match[2]), minutes=int(match[3])) if match else timedelta()
    if match and match[1] == "-":
        offset = -offset
    try:
        return datetime.fromtimestamp(seconds, timezone(offset)).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).strftime("%Y-%m-%d")
