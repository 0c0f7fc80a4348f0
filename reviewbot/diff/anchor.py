"""Where in the change a finding belongs. A place is counted by a program or found by its quote, and never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reviewbot.diff.rows import payload_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reviewbot.contracts import Candidate, Payload


class _Line(NamedTuple):
    """A row of the new side: the index of its hunk, its number, whether it was added, its text."""

    hunk: int
    number: int
    added: bool
    text: str


class Place(NamedTuple):
    """Lines of the new side, both ends included, and their text as it stands in the change, joined by LF."""

    line: int
    end_line: int
    evidence: str


_GIT_PREFIXES = ("a/", "b/", "./")
"""What a diff or a shell writes before a name; a model may copy it."""


def file_of(candidate: Candidate, payloads: Sequence[Payload]) -> str | None:
    """The file among these slices that a candidate is about.

    By its name. Where code is quoted, which is then looked for in that file, it may also be written with a prefix of
    git's, by the name that it had before, or without its first folders, as long as one file alone fits. A program that
    counted lines knows its names.

    Returns:
        None where no file fits or several do: a quote is never looked for in a file that the candidate does not name.
    """
    name = candidate.path
    names = {payload.file_path: payload.old_path for payload in payloads}
    if name in names or candidate.line is not None:
        return name if name in names else None
    plain = name[2:] if name.startswith(_GIT_PREFIXES) else name
    fitting = [path for path, old in names.items() if plain in (path, old) or (name and path.endswith(f"/{name}"))]
    return fitting[0] if len(fitting) == 1 else None


def anchor(candidate: Candidate, *payloads: Payload) -> Place | None:
    """Find the place of a candidate in the slices of its file, wherever in them it stands.

    A line that a program counted is taken where it is an added one and all lines up to the end are on the new side of
    the slice. Else the quote is looked for, line by line: as it is, then without regard to white space, then without
    the markers of added lines. A match on added lines goes before one on context alone.

    Returns:
        None where the place is in no slice, says nothing (white space and punctuation only) or is one of several.
    """
    slices = [_new_side(payload) for payload in payloads]
    if candidate.line is not None:
        counted = (_counted(rows, candidate.line, candidate.end_line or candidate.line) for rows in slices)
        places = [place for place in counted if place is not None]
        return places[0] if len(places) == 1 else None
    # Looked for in all slices at once: the same line in two of them is as ambiguous as twice in one.
    rows = [row._replace(hunk=len(slices) * row.hunk + at) for at, lines in enumerate(slices) for row in lines]
    quote = _trimmed(candidate.quote.split("\n"))
    if not any(char.isalnum() for line in quote for char in line):
        return None
    for wanted, seen in _readings(quote):
        found = [rows[start : start + len(wanted)] for start in _starts(wanted, rows, seen)]
        if found:
            return _best(found)
    return None


def _new_side(payload: Payload) -> list[_Line]:
    return [_Line(at, row.new, row.kind == "+", row.text) for at, row in payload_rows(payload) if row.new is not None]


def _counted(rows: Sequence[_Line], line: int, end_line: int) -> Place | None:
    start = {row.number: at for at, row in enumerate(rows)}.get(line)
    if start is None or end_line < line or not rows[start].added:
        return None
    found = rows[start : start + end_line - line + 1]
    return _place(found) if found[-1].number == end_line else None


def _readings(quote: list[str]) -> Iterator[tuple[list[str], Callable[[str], str]]]:
    yield quote, str
    yield [_plain(line) for line in quote], _plain
    unmarked = _trimmed([line[1:] for line in quote])
    if all(line[:1] in {"+", " ", ""} for line in quote) and any(line[:1] == "+" for line in quote):
        yield [_plain(line) for line in unmarked], _plain


def _plain(line: str) -> str:
    return " ".join(line.split())


def _trimmed(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _starts(wanted: list[str], rows: Sequence[_Line], seen: Callable[[str], str]) -> Iterator[int]:
    """Yield where all wanted lines stand one below the other in one hunk.

    This is the search of Knuth, Morris and Pratt: each row is looked at about twice, however often lines repeat.
    """
    fallback = _fallback(wanted)
    matched, last_hunk = 0, -1
    for at, row in enumerate(rows):
        if row.hunk != last_hunk:
            matched, last_hunk = 0, row.hunk
        text = seen(row.text)
        while matched and (matched == len(wanted) or wanted[matched] != text):
            matched = fallback[matched - 1]
        if wanted[matched] == text:
            matched += 1
        if matched == len(wanted):
            yield at - matched + 1


def _fallback(wanted: list[str]) -> list[int]:
    """For each start of the quote, how much of it is also its own end."""
    table = [0] * len(wanted)
    length = 0
    for at in range(1, len(wanted)):
        while length and wanted[at] != wanted[length]:
            length = table[length - 1]
        if wanted[at] == wanted[length]:
            length += 1
        table[at] = length
    return table


def _best(found: Sequence[Sequence[_Line]]) -> Place | None:
    best = [each for each in found if any(row.added for row in each)] or found
    return _place(best[0]) if len(best) == 1 else None


def _place(rows: Sequence[_Line]) -> Place:
    return Place(rows[0].number, rows[-1].number, "\n".join(row.text for row in rows))
