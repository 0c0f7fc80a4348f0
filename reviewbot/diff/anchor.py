"""Find the place of a finding in the change: by the line that a program counted or by its quote, never by guessing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from reviewbot.diff.rows import payload_rows
from reviewbot.domain.contracts import Candidate, Payload


class _NewLine(NamedTuple):
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
    the markers of added lines. A match on added lines is preferred to one on context alone.

    Returns:
        None where the place is in no slice, says nothing (white space and punctuation only) or is one of several.
    """
    if candidate.side == "old":
        return _removed_place(candidate, payloads)
    if candidate.line is not None:
        counted = (_counted(payload, candidate.line, candidate.end_line or candidate.line) for payload in payloads)
        places = [place for place in counted if place is not None]
        return places[0] if len(places) == 1 else None
    slices = [_new_side(payload)[0] for payload in payloads]
    # Looked for in all slices at once: the same line in two of them is as ambiguous as twice in one.
    rows = [row._replace(hunk=len(slices) * row.hunk + at) for at, lines in enumerate(slices) for row in lines]
    found = _best(_quoted(candidate.quote, rows), candidate.near)
    return None if found is None else _place(found)


def _quoted(text: str, rows: Sequence[_NewLine]) -> list[Sequence[_NewLine]]:
    """Every place of a quote among the rows, by the first reading of it that stands anywhere."""
    quote = _trimmed(text.split("\n"))
    if not any(char.isalnum() for line in quote for char in line):
        return []
    for wanted, seen in _readings(quote):
        found = [rows[start : start + len(wanted)] for start in _starts(wanted, rows, seen)]
        if found:
            return found
    return []


def _removed_place(candidate: Candidate, payloads: Sequence[Payload]) -> Place | None:
    """Where quoted lines of the old side stood, of which one at least was removed: the next line of the new side.

    Behind the last line of a hunk that is the one above; a hunk without any new line has no place for a finding.
    """
    rows: list[_NewLine] = []
    beside: dict[tuple[int, int], int] = {}
    for at, payload in enumerate(payloads):
        above: dict[int, int] = {}
        open_rows: dict[int, list[tuple[int, int]]] = {}
        for index, row in payload_rows(payload):
            hunk = len(payloads) * index + at
            if row.new is not None:
                for key in open_rows.pop(hunk, ()):
                    beside[key] = row.new
                above[hunk] = row.new
            if row.old is not None:
                # A removed row counts as what an added one is on the other side: the match that is preferred.
                rows.append(_NewLine(hunk, row.old, row.kind == "-", row.text))
                open_rows.setdefault(hunk, []).append((hunk, row.old))
        for hunk, keys in open_rows.items():
            beside |= {key: above[hunk] for key in keys if hunk in above}
    removed = [each for each in _quoted(candidate.quote, rows) if any(row.added for row in each)]
    found = _best(removed, candidate.near)
    if found is None:
        return None
    line = beside.get((found[-1].hunk, found[-1].number))
    return None if line is None else Place(line, line, "\n".join(row.text for row in found))


@lru_cache(maxsize=4)
def _new_side(payload: Payload) -> tuple[list[_NewLine], dict[int, int]]:
    """The rows of the new side, and where each number stands: hundreds of candidates of one slice come in a row."""
    rows = [
        _NewLine(at, row.new, row.kind == "+", row.text) for at, row in payload_rows(payload) if row.new is not None
    ]
    return rows, {row.number: at for at, row in enumerate(rows)}


def _counted(payload: Payload, line: int, end_line: int) -> Place | None:
    rows, numbers = _new_side(payload)
    start = numbers.get(line)
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


def _starts(wanted: list[str], rows: Sequence[_NewLine], seen: Callable[[str], str]) -> Iterator[int]:
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


def _best(found: Sequence[Sequence[_NewLine]], near: int | None) -> Sequence[_NewLine] | None:
    """The one match that is meant. `near`, a line that a model named, only chooses among places of the same words."""
    best = [each for each in found if any(row.added for row in each)] or found
    if len(best) > 1 and near is not None:
        best = [each for each in found if each[0].number <= near <= each[-1].number]
    return best[0] if len(best) == 1 else None


def _place(rows: Sequence[_NewLine]) -> Place:
    return Place(rows[0].number, rows[-1].number, "\n".join(row.text for row in rows))
