"""The reads behind the tools. Each takes a view and checked arguments, and gives a text without line numbers.

A line number would make the next request differ when code further up moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.context.python_text import bound_names, parsed, walk
from reviewbot.diff.language import language_of
from reviewbot.tools.reading.arguments import Refused
from reviewbot.tools.reading.view import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reviewbot.context.enclosing import Enclosing
    from reviewbot.context.symbols import Reference
    from reviewbot.tools.reading.view import View

CUT = "... cut"
MAX_DEFINITIONS = 4
MAX_ROWS = 200
"""Lines of a file that are read in one call."""

MAX_LINE = 300
"""Characters of a line that are shown."""

_ABOVE, _BELOW = 60, 139
"""Lines of a file that are read around a quoted one; together with it `MAX_ROWS`."""

_AROUND = 3
"""Lines above and below a call that are shown."""

MAX_SIBLINGS = 400
"""Lines with a word that are looked at; those of other folders count."""

MAX_SIBLING_LINES = 30
MAX_BINDINGS = 30


def definition(view: View, given: Mapping[str, str]) -> str:
    """Where a name is defined, with the code of it."""
    view.check(given["path"])
    found, references = view.symbol(given["name"], given["path"])
    definitions = [each for each in references if each.kind == "definition"]
    parts = [f"{each.path}:\n{_defined(view, each, found.name)}" for each in definitions[:MAX_DEFINITIONS]]
    if not parts:
        return f"no file in scope defines {found.name} in a form that is recognised"
    return "\n\n".join([*parts, CUT] if len(definitions) > MAX_DEFINITIONS else parts)


def _defined(view: View, place: Reference, name: str) -> str:
    held = view.context.enclosing(place.path, place.line, place.line)
    if held is not None and held.name.rpartition(".")[2] == name:
        return _cut(held)
    return _around(view.lines(place.path), place.line, _AROUND, _AROUND)


def _cut(held: Enclosing) -> str:
    above = f"{CUT}\n" if held.shown_first > held.first else ""
    return above + held.text + (f"\n{CUT}" if held.shown_last < held.last else "")


def callers(view: View, given: Mapping[str, str]) -> str:
    """Who uses a name: calls with the lines around them, then other lines that hold it."""
    view.check(given["path"])
    found, references = view.symbol(given["name"], given["path"])
    calls = [each for each in references if each.kind == "call"]
    others = [each for each in references if each.kind in {"mention", "import"}]
    parts = [_call(view, each) for each in calls]
    if others:
        parts.append("\n".join(["other lines that name it:", *_told(others)]))
    if found.truncated:
        parts.append(CUT)
    return "\n\n".join(parts) or f"none of the files at hand uses {found.name}; there may be others"


def _call(view: View, place: Reference) -> str:
    held = view.context.enclosing(place.path, place.line, place.line)
    inside = f", in {held.name}" if held else ""
    return f"{place.path}{inside}:\n{_around(view.lines(place.path), place.line, _AROUND, _AROUND)}"


def _told(references: Iterable[Reference]) -> Iterator[str]:
    yield from dict.fromkeys(f"{each.path}: {each.text}" for each in references)


def part_of_file(view: View, given: Mapping[str, str]) -> str:
    """A part of a file of either side, around a line of it or a name in it."""
    lines = view.lines(given["path"], "base" if given["side"] == "base" else "head")
    return _around(lines, _row_of(lines, given["around"]), _ABOVE, _BELOW)


def history(view: View, given: Mapping[str, str]) -> str:
    """The newest commits behind a quoted line of the old side and the few lines around it."""
    lines = view.lines(given["path"], "base")
    row = _row_of(lines, given["around"])
    found = view.context.history(view.old_name(given["path"]), max(1, row - _AROUND), min(len(lines), row + _AROUND))
    told = [f"{commit.date} {commit.subject}" for commit in found.commits]
    return "\n".join([*told, CUT] if found.truncated else told) or "no history is at hand"


def trace(view: View, given: Mapping[str, str]) -> str:
    """Where the value of a name comes from: what binds it near a quoted line, and who calls the function around."""
    path, name = given["path"], given["name"].partition(".")[0]
    lines = view.lines(path)
    row = _row_of(lines, given["around"])
    held = view.context.enclosing(path, row, row)
    first, last = (held.first, held.last) if held else (1, len(lines))
    parts = [_bindings(lines, path, name, (first, last))]
    if held is None:
        parts.append("the line stands in no function")
    else:
        parts += [f"the function around the line, {held.name}:\n{_cut(held)}", _entries(view, path, held)]
    return "\n\n".join(parts)


def _bindings(lines: Sequence[str], path: str, name: str, rows: tuple[int, int]) -> str:
    """Every line that gives the name a value, inside the function and on the file's own level."""
    tree = parsed("\n".join(lines)) if language_of(path) == "python" else None
    if tree is None:
        found = [row for row in range(rows[0], rows[1] + 1) if name in lines[row - 1]]
        title = f"lines that hold {name}:"
    else:
        bound = {getattr(node, "lineno", 0) for node in walk(tree) if name in bound_names(node)}
        outside = {getattr(node, "lineno", 0) for node in tree.body}
        found = sorted(row for row in bound if rows[0] <= row <= rows[1] or row in outside)
        title = f"lines that give {name} a value:"
    told = [f"  {lines[row - 1].strip()[:MAX_LINE]}" for row in found if 0 < row <= len(lines)]
    more = [f"  {CUT}"] if len(told) > MAX_BINDINGS else []
    return "\n".join([title, *(told[:MAX_BINDINGS] or ["  none here"]), *more])


def _entries(view: View, path: str, held: Enclosing) -> str:
    word = held.name.rpartition(".")[2]
    try:
        found, references = view.symbol(word, path)
    except Refused as refused:
        return f"callers of {word}: {refused}"
    calls = [each for each in references if each.kind in {"call", "mention"}]
    more = [CUT] if found.truncated else []
    return "\n".join([f"callers of {word}:", *(list(_told(calls)) or ["none in sight"]), *more])


def siblings(view: View, given: Mapping[str, str]) -> str:
    """How other files of the same folder write a word."""
    path, name = given["path"], given["name"].rpartition(".")[2]
    view.check(path)
    found = view.occurrences(name, MAX_SIBLINGS)
    near = [each for each in found if folder_of(each.path) == folder_of(path) and each.path != path]
    told = list(dict.fromkeys(f"{each.path}: {each.text.strip()[:MAX_LINE]}" for each in near))
    more = [CUT] if len(told) > MAX_SIBLING_LINES else []
    return "\n".join([*told[:MAX_SIBLING_LINES], *more]) or f"no other file of that folder holds {name}"


def conventions(view: View, given: Mapping[str, str]) -> str:
    """The repository's written rules for a path, from the base side, the nearest first."""
    view.check(given["path"])
    found = view.context.conventions(given["path"])
    parts = [f"{file.path}:\n{file.text}" + (f"\n{CUT}" if file.truncated else "") for file in reversed(found.files)]
    return "\n\n".join([*parts, CUT] if found.truncated else parts) or "the repository keeps no written rules for it"


def _row_of(lines: Sequence[str], quote: str) -> int:
    """The first row that is the quote but for blanks around it, else the first that contains it. Raises Refused."""
    wanted = quote.strip()
    same = next((row for row, line in enumerate(lines, 1) if line.strip() == wanted), 0)
    found = same or next((row for row, line in enumerate(lines, 1) if wanted in line), 0)
    if not found:
        raise Refused("that line does not stand in the file on that side; quote it word for word, without a mark")
    return found


def _around(lines: Sequence[str], row: int, above: int, below: int) -> str:
    first, last = max(1, row - above), min(len(lines), row + below)
    shown = [line[:MAX_LINE].rstrip("\r") for line in lines[first - 1 : last]]
    return "\n".join([*([CUT] if first > 1 else []), *shown, *([CUT] if last < len(lines) else [])])
