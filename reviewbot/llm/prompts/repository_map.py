"""What the readers are shown of the repository around a change: all of a small one, else the outline of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from posixpath import dirname

from reviewbot.llm.tools.results import Refused
from reviewbot.llm.tools.view import RepositoryView

WHOLE_CHARS = 60_000
"""Of all text files: about 15,000 tokens. A repository below that is shown whole."""
WHOLE_FILES = 60
"""Files of such a repository; looking at the size of more takes too long."""
ELSEWHERE = "see the change"
MAX_LISTED = 150
"""Files that an outline names one by one; of more, the folders."""
MAX_FOLDERS = 60


def repository_map(view: RepositoryView, changed: Sequence[str], shown: Iterable[str] = ()) -> str:
    """The map; empty where the tree is not at hand. `shown`: files that the change shows whole already."""
    files = view.files
    if files is None:
        return ""
    if len(files) <= WHOLE_FILES and (whole := _whole(view, files, frozenset(shown))):
        return whole
    if len(files) <= MAX_LISTED:
        return "Files after the change:\n" + "\n".join(sorted(files))
    return _outline(files, changed)


def _whole(view: RepositoryView, files: Iterable[str], shown: frozenset[str]) -> str:
    texts: list[str] = []
    size = 0
    for path in sorted(files):
        lines = () if path in shown else _lines(view, path)
        size += sum(len(line) + 7 for line in lines)
        if size > WHOLE_CHARS:
            return ""
        numbered = "\n".join(f"{n:5} {line}" for n, line in enumerate(lines, 1))
        texts.append(
            f"### {path}\n{numbered}" if numbered else f"### {path} ({'new: ' if path in shown else ''}{ELSEWHERE})"
        )
    return "All files after the change; there is nothing else to look up:\n" + "\n".join(texts)


def _lines(view: RepositoryView, path: str) -> tuple[str, ...]:
    try:
        return view.lines(path)
    except Refused:
        return ()


def _outline(files: Iterable[str], changed: Sequence[str]) -> str:
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
