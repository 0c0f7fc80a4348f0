"""Cut a changed file into slices, each what one reader sees at a time, and named by nothing that moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from reviewbot.diff.rows import code_of, halves
from reviewbot.domain.contracts import FileChange, Hunk, Payload

MAX_CONTEXT_LINE = 200
"""Characters of a line above a slice that are shown; a definition's head is shorter."""

MAX_ENCLOSING = 8
"""Lines of definitions around a slice; deeper nesting is rare, and the innermost say most."""


class Slice(NamedTuple):
    """A slice with the name that tasks about it are called by, which no other slice of the change has."""

    name: str
    payload: Payload


def payloads(file: FileChange, whole: str | None, chunk_lines: int) -> tuple[Payload, ...]:
    """Slices of one file. Cut per file, so that a change elsewhere never alters the slice (and its cached answer)."""
    lines = [] if whole is None else whole.split("\n")
    cut = [part for group in _groups(file.hunks, chunk_lines) for part in _cut(_payload(file, group), chunk_lines)]
    return tuple(part.model_copy(update={"context": _context(part, lines)}) for part in cut)


def bundles(slices: Iterable[Slice], limit: int) -> list[tuple[Slice, ...]]:
    """Neighbours put together, up to `limit` changed lines; at 0 each stays alone.

    They are parted from the whole down, at places that their names decide, and not filled one after the other: what
    grows or shrinks in one slice then changes the bundle that it is in, and none behind it.
    """
    return [tuple(part) for part in _parted(list(slices), limit)]


def _parted(slices: list[Slice], limit: int) -> Iterator[list[Slice]]:
    if len(slices) <= 1 or sum(changed_lines(s.payload) for s in slices) <= limit:
        yield from [slices] if slices else []
        return
    middle = range(max(1, len(slices) // 3), max(2, -(-2 * len(slices) // 3)))
    cut = min(middle, key=lambda at: sha256(slices[at].name.encode("utf-8", "replace")).digest())
    yield from _parted(slices[:cut], limit)
    yield from _parted(slices[cut:], limit)


def changed_lines(payload: Payload) -> int:
    """How many lines of a slice were added or removed."""
    return sum(line[:1] in {"+", "-"} for line in payload.code.split("\n"))


def enclosing(lines: Sequence[str], start: int) -> list[str]:
    """The lines above line `start` (1-based) that it is nested in, outermost first, judged by indentation alone."""
    if not 0 < start <= len(lines):
        return []
    first = next((line for line in lines[start - 1 :] if line.strip()), "")
    depth = _depth(first)
    found: list[str] = []
    for line in reversed(lines[: start - 1]):
        # A line that only closes or separates something is no definition.
        if depth == 0 or len(found) == MAX_ENCLOSING:
            break
        if any(char.isalpha() for char in line) and _depth(line) < depth:
            depth = _depth(line)
            found.append(line.rstrip()[:MAX_CONTEXT_LINE])
    return found[::-1]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _cut(payload: Payload, limit: int) -> list[Payload]:
    """A slice of one hunk in pieces of at most `limit` lines: one huge hunk is what a new file looks like."""
    parts = halves(payload) if len(payload.starts) == 1 and _size(payload.code) > limit else None
    return [payload] if parts is None else [piece for part in parts for piece in _cut(part, limit)]


def _size(code: str) -> int:
    """The lines of a hunk's larger side, as `_groups` counts them."""
    marks = Counter(line[:1] for line in code.split("\n"))
    return marks[" "] + max(marks["+"], marks["-"])


def _context(payload: Payload, lines: Sequence[str]) -> str:
    """The definitions that enclose the hunks, each once. Of a bare diff only the hunks' own headings are known."""
    found = dict.fromkeys(line for _, start in payload.starts for line in enclosing(lines, start))
    return "\n".join(found)


def _payload(file: FileChange, hunks: Sequence[Hunk]) -> Payload:
    code, starts = code_of(hunks)
    old = file.old_path if file.old_path != file.path else None
    return Payload(code=code, file_path=file.path, old_path=old, language=file.language, starts=starts)


def _groups(hunks: Sequence[Hunk], limit: int) -> Iterator[list[Hunk]]:
    group: list[Hunk] = []
    size = 0
    for hunk in hunks:
        # A hunk's larger side stands for its changed lines: context is three lines at each end, and counting is dear.
        lines = max(hunk.old_count, hunk.new_count)
        if group and size + lines > limit:
            yield group
            group, size = [], 0
        group.append(hunk)
        size += lines
    if group:
        yield group
