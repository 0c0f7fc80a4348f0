"""How a change that is too large for one reader is divided: files that belong together stay together.

Files belong together where one is the test of another or where they lie in one folder. Parts are then filled up to a
number of changed lines. Small changes have one part.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from posixpath import basename, dirname

_AFFIXES = re.compile(r"^(?:test|spec)[_-]|[_.-](?:test|tests|spec)$")


def parts_of(sizes: Sequence[tuple[str, int]], limit: int) -> list[list[int]]:
    """The indexes of units (path, changed lines), part by part; the order within a part is that of the units.

    A part is larger than `limit` only where one unit is.
    """
    if sum(size for _, size in sizes) <= limit:
        return [list(range(len(sizes)))] if sizes else []
    parts: list[list[int]] = []
    used = limit + 1
    for group in _groups([path for path, _ in sizes]):
        wanted = sum(sizes[each][1] for each in group)
        pieces = [group] if wanted <= limit else [[each] for each in group]
        for piece in pieces:
            size = sum(sizes[each][1] for each in piece)
            if used + size > limit:
                parts.append([])
                used = 0
            parts[-1] += piece
            used += size
    return [sorted(part) for part in parts]


def _groups(paths: Sequence[str]) -> Iterable[list[int]]:
    """Units of files that belong together, by folder; a test goes with the file whose name it has."""
    sources = {stem(path): dirname(path) for path in paths if stem(path) == _plain_stem(path)}
    found: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, path in enumerate(paths):
        folder = sources.get(stem(path), dirname(path))
        found[folder, ""].append(at)
    return [found[key] for key in sorted(found)]


def stem(path: str) -> str:
    """The name of a file without its suffix and without what makes it the test of another."""
    return _AFFIXES.sub("", _plain_stem(path).lower())


def _plain_stem(path: str) -> str:
    return basename(path).partition(".")[0].lower()
