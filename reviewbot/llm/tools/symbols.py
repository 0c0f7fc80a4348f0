"""Definitions and uses of a name, from the symbol index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from reviewbot.context.symbols.index import Definition
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.resolve import Resolution, resolve
from reviewbot.diff.paths import is_test
from reviewbot.llm.tools.arguments import Arguments, EvidenceEntry, Refused, ToolResult
from reviewbot.llm.tools.search import compile_pattern, find_lines
from reviewbot.llm.tools.view import NO_TREE, RepositoryView

MAX_BODIES = 3
"""Definitions that are shown in full."""

MAX_BODY_LINES = 220
"""Of one definition; of a longer one the beginning is shown, and where it ends."""

MAX_PLACES = 30
"""Further definitions that are named."""

_BARE = re.compile(r"[\w$-]+$")


def definition(view: RepositoryView, given: Arguments) -> ToolResult:
    """The code of a function, class, type or constant. Raises Refused."""
    name, near = given.text("name"), given.text("path")
    if view.files is None:
        raise Refused(f"no definition can be looked up: {NO_TREE}")
    found = resolve(view.symbols, name, near, view.text)
    if not found.best and not found.others:
        count, languages = len(view.symbols.files), ", ".join(dict.fromkeys(each.name for each in LANGUAGES.values()))
        note = f" ({found.note})" if found.note else ""
        return ToolResult(f"not found: none of the {count} files of {languages} defines {name}{note}; try search")
    return _shown(view, name, found)


def _shown(view: RepositoryView, name: str, found: Resolution) -> ToolResult:
    sure = found.best or found.others
    parts, evidence, left = list[str](), list[EvidenceEntry](), view.limits.chars - 1_500
    for each in sure[:MAX_BODIES]:
        entry = _body(view, each)
        symbol = each.symbol
        title = f"{each.path}: {symbol.kind} {symbol.qualified}, lines {symbol.first} to {symbol.last}"
        rest = [] if entry.last == symbol.last else [f"       [it goes on to line {symbol.last}: read the rest]"]
        part = "\n".join([title, view.number_lines(entry), *rest])
        if parts and len(part) > left:
            break
        left -= len(part)
        parts.append(part)
        evidence.append(entry)
    named = [*sure[len(parts) :], *(found.others if found.best else ())]
    head = f"{len(sure)} definition(s) of {name}" + (f"; {found.note}" if found.note else "")
    return ToolResult("\n\n".join([head, *parts, *_places(named)]), evidence=tuple(evidence))


def _body(view: RepositoryView, found: Definition) -> EvidenceEntry:
    first, last = found.symbol.first, min(found.symbol.last, found.symbol.first + MAX_BODY_LINES - 1)
    return view.fitting(view.entry(found.path, "head", first, last))


def _places(others: Sequence[Definition]) -> Iterator[str]:
    if others:
        rows = [f"{each.path}:{each.symbol.line} {each.symbol.kind} {each.symbol.qualified}" for each in others]
        more = [f"[{len(rows) - MAX_PLACES} more]"] if len(rows) > MAX_PLACES else []
        yield "\n".join(["of the same name elsewhere:", *rows[:MAX_PLACES], *more])


def uses(view: RepositoryView, given: Arguments) -> ToolResult:
    """Lines that use a name, each with the function around it; those that define it are left out. Raises Refused."""
    name, near = given.text("name"), given.text("path")
    bare = _BARE.search(name.removesuffix("()"))
    if view.files is None:
        raise Refused(f"no use can be looked up: {NO_TREE}")
    if bare is None:
        raise Refused("name must end in a name of the code, such as total or Shop.total")
    word = re.escape(bare[0])
    pattern = compile_pattern(rf"(?:^|[^\w$]){word}(?:$|[^\w$])", literal=False, ignore_case=False)
    found = resolve(view.symbols, name, near, view.text)
    defined = {(each.path, each.symbol.line) for each in (*found.best, *found.others)}
    lines = find_lines(view, pattern, view.files)
    places = [(path, line) for path, line in lines.places if (path, line) not in defined]
    if not places:
        return ToolResult(f"no other line of the repository names {bare[0]}" + lines.note)
    return _list_places(view, bare[0], places, lines.note)


def _list_places(view: RepositoryView, name: str, places: Sequence[tuple[str, int]], note: str) -> ToolResult:
    counts = Counter(path for path, _ in places)
    tests = sum(is_test(path) for path, _ in places)
    title = f"{len(places)} lines in {len(counts)} files name {name}, {tests} of them in tests"
    parts, evidence, left = [title], list[EvidenceEntry](), view.limits.chars - 1_500
    for path in counts:
        rows, entries = [path], list[EvidenceEntry]()
        for line in [line for each, line in places if each == path][: view.limits.matches_per_file]:
            entry = view.entry(path, "head", line, line)
            around = _enclosing_symbol(view, path, line)
            rows.append(view.number_lines(entry) + (f"   [in {around}]" if around else ""))
            entries.append(entry)
        if counts[path] > len(entries):
            rows.append(f"       [{counts[path] - len(entries)} more here]")
        part = "\n".join(rows)
        left -= len(part) + 1
        if left < 0 or len(evidence) >= view.limits.matches:
            rest = list(counts)[len(parts) - 1 :]
            parts.append(f"[{len(rest)} more files: {', '.join(rest[:9])}]")
            break
        parts.append(part)
        evidence += entries
    return ToolResult("\n".join(parts) + note, evidence=tuple(evidence))


def _enclosing_symbol(view: RepositoryView, path: str, line: int) -> str:
    """The innermost function or class around a line; empty where there is none, or the language is not known."""
    held: Iterable[tuple[int, str]] = (
        (each.last - each.first, each.qualified)
        for each in view.symbols.file(path).symbols
        if each.kind in {"function", "method", "class", "interface"} and each.first <= line <= each.last
    )
    return min(held, default=(0, ""))[1]
