"""What the readers are shown of the repository around a change: all of a small one, else the outline of its files."""

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


class RepositoryMap(NamedTuple):
    """The text, and whether it holds all that the change does not show."""

    text: str
    whole: bool = False


def repository_map(view: RepositoryView, in_change: Mapping[str, Sequence[range]]) -> RepositoryMap:
    """The map; its text is empty where the tree is not at hand.

    `in_change`: for each changed file of the part, the lines of the new side that the change shows. A small repository
    is shown without them: what stands in the change is not sent twice.
    """
    files = view.files
    if files is None:
        return RepositoryMap("")
    if len(files) <= WHOLE_FILES and (whole := _whole(view, files, in_change)):
        return RepositoryMap(whole, whole=True)
    if len(files) <= MAX_LISTED:
        return RepositoryMap("Files after the change:\n" + "\n".join(sorted(files)))
    return RepositoryMap(_outline(files, in_change))


def _whole(view: RepositoryView, files: Iterable[str], in_change: Mapping[str, Sequence[range]]) -> str:
    texts: list[str] = []
    size = 0
    for path in sorted(files):
        text = _rest(view.lines_or_none(path), in_change.get(path, ())) or "[no text]"
        size += len(text)
        if size > WHOLE_CHARS:
            return ""
        texts.append(f"### {path}\n{text}")
    return "All files after the change, without the lines that the change shows:\n" + "\n".join(texts)


def _rest(lines: Sequence[str], ranges: Sequence[range]) -> str:
    """A file without some ranges of its lines; one row says where each of them was. No numbers: they cost a sixth."""
    rows: list[str] = []
    at = 1
    for shown in sorted((each for each in ranges if each), key=lambda each: each.start):
        rows += lines[at - 1 : shown.start - 1]
        rows.append(f"[lines {shown.start} to {shown.stop - 1}: see the change]")
        at = max(at, shown.stop)
    return "\n".join([*rows, *lines[at - 1 :]])


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
