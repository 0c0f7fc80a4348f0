"""Divide a change that is too large for one reader into parts: files that belong together stay together.

Files are joined along their links, the strongest first, as long as they fit into one part; then neighbours in the order
of paths. What comes of it is packed into as few parts as fit. Small changes have one part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from posixpath import dirname
from typing import NamedTuple

from reviewbot.review.plan.affinity import Links

MAX_DEPTH = 8
"""Folders by which neighbours in the order of paths are distinguished."""


def parts_of(sizes: Sequence[tuple[str, int]], limit: int, links: Links) -> list[list[int]]:
    """The indexes of files (path, changed lines), part by part, in the order of the files.

    All files of one path are in one part. A part is larger than `limit` only where one path is. Which files are in one
    part does not depend on their order.
    """
    if sum(size for _, size in sizes) <= limit:
        return [list(range(len(sizes)))] if sizes else []
    by_path: defaultdict[str, list[int]] = defaultdict(list)
    for at, (path, _) in enumerate(sizes):
        by_path[path].append(at)
    paths = sorted(by_path)
    lines = [sum(sizes[at][1] for at in by_path[path]) for path in paths]
    numbers = {path: number for number, path in enumerate(paths)}
    known = {
        (numbers[one], numbers[other]): weight
        for (one, other), weight in links.items()
        if one in numbers and other in numbers
    }
    groups = _joined(paths, lines, known, limit)
    parts = _packed(groups, known, limit)
    return sorted(sorted(at for number in part for at in by_path[paths[number]]) for part in parts)


class _Group(NamedTuple):
    """Files that stay together, by their numbers in the order of paths."""

    members: tuple[int, ...]
    lines: int


def _joined(
    paths: Sequence[str], lines: Sequence[int], links: Mapping[tuple[int, int], int], limit: int
) -> list[_Group]:
    """Join pairs, the strongest first, where both sides fit into one part together."""
    joined = list(range(len(paths)))
    size = list(lines)

    def root(number: int) -> int:
        while joined[number] != number:
            joined[number] = joined[joined[number]]
            number = joined[number]
        return number

    strongest = (pair for _, pair in sorted((-weight, pair) for pair, weight in links.items()))
    for one, other in chain(strongest, _neighbours(paths)):
        first, second = root(one), root(other)
        if first != second and size[first] + size[second] <= limit:
            joined[second] = first
            size[first] += size[second]
    members: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(paths)):
        members[root(number)].append(number)
    return [_Group(tuple(found), size[at]) for at, found in members.items()]


def _neighbours(paths: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield each file with the next one in the order of paths, those with most folders in common first."""
    folders = [dirname(path).split("/")[:MAX_DEPTH] if "/" in path else [] for path in paths]

    def common(number: int) -> int:
        pairs = zip(folders[number], folders[number + 1], strict=False)
        alike = next((depth for depth, (one, other) in enumerate(pairs) if one != other), None)
        return min(len(folders[number]), len(folders[number + 1])) if alike is None else alike

    yield from ((number, number + 1) for number in sorted(range(len(paths) - 1), key=lambda number: -common(number)))


def _packed(groups: Sequence[_Group], links: Mapping[tuple[int, int], int], limit: int) -> list[list[int]]:
    """Put the largest group first, each into the part with which it has most in common, else into the fullest one."""
    linked: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for (one, other), weight in links.items():
        linked[one][other] = weight
        linked[other][one] = weight
    part_of: dict[int, int] = {}
    parts: list[list[int]] = []
    used: list[int] = []
    for group in sorted(groups, key=lambda each: (-each.lines, each.members)):
        near: defaultdict[int, int] = defaultdict(int)
        for number in group.members:
            for other, weight in linked[number].items():
                if other in part_of:
                    near[part_of[other]] += weight
        fitting = [at for at, lines in enumerate(used) if lines + group.lines <= limit]
        best = max(fitting, key=lambda at: (near.get(at, 0), used[at], -at), default=len(parts))
        if best == len(parts):
            parts.append([])
            used.append(0)
        parts[best] += group.members
        used[best] += group.lines
        part_of |= dict.fromkeys(group.members, best)
    return parts
