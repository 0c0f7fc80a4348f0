"""Tell the uses of a method from other things that are called like it, by receivers, declared types and quotes. Blocks.

What is in doubt stays a use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from reviewbot.context.enclosing import enclosing
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import Symbol
from reviewbot.context.symbols.parsing import MAX_FILE_BYTES, parse_file
from reviewbot.context.symbols.resolve import declared_types
from reviewbot.diff.language import language_of
from reviewbot.domain.ports import Occurrence, Snapshot

MAX_TYPES, MAX_FOUND = 3, 40
"""Files in which a type is looked for, and lines that name it."""
QUOTES = "\"'`"

_OWN = frozenset({"self", "this", "cls"})
_BEHIND_RECEIVERS = frozenset({"python", "go"})
"""Languages in which a method is named behind what it belongs to, or called."""

SymbolsOf = Callable[[str], tuple[Symbol, ...]]


def symbols_in(snapshot: Snapshot) -> SymbolsOf:
    """What gives the symbols of a file of the head, parsed once; none of a file that cannot be parsed."""

    @cache
    def symbols_of(path: str) -> tuple[Symbol, ...]:
        language, text = LANGUAGES.get(language_of(path)), snapshot.head(path)
        content = (text or "").encode("utf-8", "replace")
        return parse_file(language, content).symbols if language and len(content) <= MAX_FILE_BYTES else ()

    return symbols_of


def other_things(name: str, path: str, snapshot: Snapshot, symbols_of: SymbolsOf) -> Callable[[Occurrence], bool]:
    """Whether a line names only other things than the method of that name in a file; never of what is no method."""
    here = [each for each in symbols_of(path) if each.name == name]
    owners = {each.container for each in here if each.kind == "method"}
    bases = {base for each in symbols_of(path) if each.name in owners for base in each.bases}
    word = re.compile(rf"(?:([\w$]+)\s*(?:\?\.|\.|->|::)\s*)?(?<![\w$]){re.escape(name)}(?![\w$])(\s*\()?")

    def is_of_another(owner: str, near: str) -> bool:
        """Whether a type has a member of that name, and nothing to do with the method's."""
        if owner in owners | bases:
            return False
        lines = () if any(each.name == owner for each in symbols_of(near)) else snapshot.search(owner, MAX_FOUND) or ()
        for place in [*dict.fromkeys([near, *(each.path for each in lines)])][: MAX_TYPES + 1]:
            found = symbols_of(place)
            if any(each.name == owner and each.kind == "class" and not each.bases for each in found):
                return any(each.name == name and each.container == owner for each in found)
        return False

    def is_other(use: Occurrence, match: re.Match[str]) -> bool:
        receiver, language = match[1], language_of(use.path)
        if (quoted := _is_quoted(use.text, match.start(), match.end())) is not None:
            return quoted
        if receiver is None:
            return use.path != path and language in _BEHIND_RECEIVERS and not match[2]
        types = {*_types_of(receiver, use, snapshot.head(use.path) or "", symbols_of(use.path))}
        return bool(types) and all(is_of_another(each, use.path) for each in types)

    def only_others(use: Occurrence) -> bool:
        declared = [each for each in symbols_of(use.path) if each.name == name and each.line == use.line]
        if any(is_of_another(each.container, use.path) for each in declared):
            return True
        return all(is_other(use, match) for match in word.finditer(use.text))

    return only_others if owners and len(owners) == len(here) else lambda _use: False


def _types_of(receiver: str, use: Occurrence, text: str, symbols: tuple[Symbol, ...]) -> list[str]:
    if receiver in _OWN:
        around = [each for each in symbols if each.kind == "class" and each.first <= use.line <= each.last]
        return [max(around, key=lambda each: each.first).name] if around else []
    language = language_of(use.path)
    scope = enclosing(text, language, use.line, use.line)
    inside = "\n".join(text.split("\n")[scope.first - 1 : scope.last]) if scope is not None else ""
    return [*declared_types(receiver, inside, language)] or [*declared_types(receiver, text, language)]


def _is_quoted(line: str, start: int, end: int) -> bool | None:
    """Whether a word in quotes is one of several; None for one outside of quotes or behind a brace, which is code.

    One alone may name what is called.
    """
    if "{" in line[:start] or not any(line.count(quote, 0, start) % 2 for quote in QUOTES):
        return None
    return not (line[start - 1] in QUOTES and line[end : end + 1] in QUOTES)
