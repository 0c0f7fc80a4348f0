"""The map of the repository that readers are shown: all of a small one, else the outline of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from posixpath import dirname
from typing import NamedTuple

from reviewbot.llm.tools.view import RepositoryView

WHOLE_CHARS = 60_000
"""Of all text files: about 15,000 tokens. A repository below that is shown whole."""
WHOLE_FILES = 60
"""Files of such a repository; looking at the size of more takes too long."""
MAX_LISTED = 150
"""Files that an outline names one by one; of more, the folders."""
MAX_FOLDERS = 60
ABSENT = "Only the files of the change are at hand. No other file can be read or searched."


class RepositoryMap(NamedTuple):
    """The text; and whether everything is shown, here or, with whole files, in the change."""

    text: str
    whole: bool = False


def repository_map(
    view: RepositoryView, in_change: Mapping[str, Sequence[range]], *, may_be_whole: bool = True
) -> RepositoryMap:
    """The map; where the tree is not at hand, its text says so.

    `in_change`: for each changed file of the part, the lines of the new side that its hunks show. Of a small repository
    the other files are shown whole; the changed ones belong into the change, so that nothing is sent twice.
    """
    files = view.files
    if files is None:
        return RepositoryMap(ABSENT)
    if may_be_whole and len(files) <= WHOLE_FILES and (whole := _whole(view, files, in_change)):
        return RepositoryMap(whole, whole=True)
    if may_be_whole and len(files) <= MAX_LISTED:
        return RepositoryMap("Files after the change:\n" + "\n".join(sorted(files)))
    return RepositoryMap(_outline(files, in_change))


def _whole(view: RepositoryView, files: Iterable[str], in_change: Mapping[str, Sequence[range]]) -> str:
    texts: list[str] = []
    size = 0
    for path in sorted(files):
        lines = view.lines_or_none(path)
        hidden = {number for shown in in_change.get(path, ()) for number in shown}
        size += sum(len(line) + 1 for number, line in enumerate(lines, 1) if number not in hidden)
        if size > WHOLE_CHARS:
            return ""
        if path not in in_change:
            # Without numbers: they would cost a sixth, and a proof is found by its quote.
            texts.append("\n".join([f"### {path}", *(lines or ["[no text]"])]))
    return "All other files after the change:\n" + "\n".join(texts)


def _outline(files: Iterable[str], changed: Iterable[str]) -> str:
    counts = Counter(dirname(path) or "." for path in files)
    near = {dirname(path) or "." for path in changed}
    tops = Counter(path.split("/", 1)[0] if "/" in path else "." for path in files)
    lines = [f"{sum(counts.values())} files after the change. At the top: "]
    lines[0] += ", ".join(f"{name} ({count})" for name, count in sorted(tops.items())[:MAX_FOLDERS])
    for folder in sorted(near & counts.keys())[:MAX_FOLDERS]:
        beside = sorted(path for path in files if (dirname(path) or ".") == folder)
        names = ", ".join(path.rpartition("/")[2] for path in beside[:MAX_FOLDERS])
        lines.append(
            f"{folder}/: {names}" + (f" and {len(beside) - MAX_FOLDERS} more" if len(beside) > MAX_FOLDERS else "")
        )
    return "\n".join(lines)
