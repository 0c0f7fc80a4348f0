"""Choose among the definitions of a name: by its qualifier, by what the file imports, by where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.context.symbols.imports import stands_for
from reviewbot.context.symbols.index import MAX_OTHERS, Definition, SymbolIndex, folder_of
from reviewbot.context.symbols.model import Import
from reviewbot.diff.language import language_of
from reviewbot.diff.paths import is_test
from reviewbot.tables import words_in

_SEPARATOR = re.compile(r"::|->|\?\.|[.#]")
_BASE_DEPTH = 4
_EXACTLY = 2
"""That a file is the very one that a module stands for."""

_WRAPPING = words_in("names/symbols", "wrapping")
_OWN = frozenset({"self", "this", "cls", "super", "super()"})


class Resolution(NamedTuple):
    """What a look-up found, the best first."""

    best: tuple[Definition, ...]
    """Those that are meant, as far as that can be determined."""
    others: tuple[Definition, ...]
    """Of the same name, elsewhere."""
    note: str = ""
    """What a reader should know of how sure it is."""


class _Asked(NamedTuple):
    name: str
    qualifier: str
    """The last name before it: a class, a module, a variable; empty: none."""
    near: str


def resolve(index: SymbolIndex, name: str, near: str, text_of: Callable[[str], str | None]) -> Resolution:
    """Look a name up.

    Args:
        index: of the repository.
        name: bare or qualified: "total", "Shop.total", "pkg.Func", "self.cache.get", "my-element".
        near: the file in which it is used; empty: not known.
        text_of: the text of a file.
    """
    parts = [part for part in _SEPARATOR.split(name.removesuffix("()")) if part]
    resolution = Resolution((), ())
    for bare in _spellings(parts[-1]) if parts else ():
        asked = _Asked(bare, parts[-2] if len(parts) > 1 else "", near)
        resolution = _resolve(index, asked, text_of)
        if resolution.best or resolution.others:
            return resolution
    return resolution


def _spellings(name: str) -> Iterator[str]:
    """A name as it is, and as code writes one with hyphens."""
    yield name
    if "-" in name.strip("-"):
        words = [word for word in name.split("-") if word]
        yield "_".join(words)
        pascal = "".join(word[:1].upper() + word[1:] for word in words)
        yield pascal
        yield pascal[:1].lower() + pascal[1:]


def _resolve(index: SymbolIndex, asked: _Asked, text_of: Callable[[str], str | None]) -> Resolution:
    if asked.qualifier in _OWN:
        return _own(index, asked)
    return _qualified(index, asked, text_of) if asked.qualifier else _bare(index, asked)


def _bare(index: SymbolIndex, asked: _Asked) -> Resolution:
    ordered = _ordered(index.find(asked.name, lambda path: _distance(path, asked)), asked)
    imports = index.file(asked.near).imports if asked.near else ()
    imported = _imported(index, asked, imports)
    if imported:
        return _split(imported, ordered)
    here = [each for each in ordered if each.path == asked.near]
    if not here and language_of(asked.near) in {"go", "java"}:
        here = [each for each in ordered if folder_of(each.path) == folder_of(asked.near) and not each.symbol.container]
    outside = next((each for each in imports if each.local == asked.name), None)
    if outside is not None and not here:
        note = f"{asked.near} imports it from {outside.module}, of which no file here defines it"
        return Resolution((), tuple(ordered), note)
    return _split(here or ordered, ordered)


def _qualified(index: SymbolIndex, asked: _Asked, text_of: Callable[[str], str | None]) -> Resolution:
    imports = index.file(asked.near).imports if asked.near else ()
    module = [each for each in imports if each.local == asked.qualifier and not each.name]
    if module:
        fits = index.of_modules(asked.name, lambda path: _stands_for_any(path, module, asked))
        if fits:
            return _beside(index, [each for each in fits if not each.symbol.container] or fits, asked)
        note = f"{asked.near} imports {asked.qualifier} from {module[0].module}, of which no file here defines it"
        return Resolution((), _others(index, asked), note)
    for owner in _owners(asked, imports, text_of):
        members = _members(index, owner, asked, _BASE_DEPTH)
        if members:
            return _beside(index, _interfaces_first(index, members), asked)
    fits = index.of_modules(asked.name, lambda path: _is_module(path, asked.qualifier, index))
    top = _ordered([each for each in fits if not each.symbol.container], asked)
    if top:
        return _beside(index, top, asked)
    others = _others(index, asked)
    note = f"nothing here tells what {asked.qualifier} is: these are all of that name" if others else ""
    return Resolution((), others, note)


def _own(index: SymbolIndex, asked: _Asked) -> Resolution:
    """A member of the object itself: of a class of the file, or of what such a class inherits from."""
    symbols = index.file(asked.near).symbols if asked.near else ()
    here = [Definition(asked.near, each) for each in symbols if each.name == asked.name and each.container]
    if here:
        return _beside(index, here, asked)
    for base in dict.fromkeys(base for each in symbols for base in each.bases):
        members = _members(index, base, asked, _BASE_DEPTH)
        if members:
            return _beside(index, members, asked)
    others = _others(index, asked)
    return Resolution((), others, "no class of this file has it" if others else "")


def _beside(index: SymbolIndex, best: Sequence[Definition], asked: _Asked) -> Resolution:
    """What is meant, with others of the same name."""
    return _split(best, _others(index, asked))


def _others(index: SymbolIndex, asked: _Asked) -> tuple[Definition, ...]:
    return tuple(_ordered(index.find(asked.name, lambda path: _distance(path, asked), MAX_OTHERS), asked))


def _owners(asked: _Asked, imports: Sequence[Import], text_of: Callable[[str], str | None]) -> Iterator[str]:
    """Yield the names of types that a qualifier may stand for: its own, what it was imported as, its declared type."""
    originals = {each.local: each.name for each in imports if each.name not in {"", "default", "*"}}
    text = text_of(asked.near) if asked.near else None
    declared = () if text is None else declared_types(asked.qualifier, text, language_of(asked.near))
    yield from dict.fromkeys(originals.get(name, name) for name in (asked.qualifier, *declared))
    # A variable is often called like its type.
    words = asked.qualifier.strip("_").split("_")
    yield "".join(word[:1].upper() + word[1:] for word in words)


def declared_types(variable: str, text: str, language: str) -> Iterator[str]:
    """Yield the types that a file gives a variable: in an annotation, or by making one."""
    name, type_ = re.escape(variable), r"([A-Za-z_$][\w$.]*(?:\[[A-Za-z_$][\w$.]*)?)"
    patterns: tuple[str, ...] = (
        rf"\b{name}[?!]?\s{{0,9}}:\s{{0,9}}[\"'(]?(?:readonly\s)?{type_}",
        rf"\b{name}\s{{0,9}}=\s{{0,9}}(?:await\s+)?(?:new\s+)?{type_}\s{{0,9}}[<(]",
        rf"\b{type_}\([^()\n]{{0,200}}\)\s+as\s+{name}\b",
    )
    if language == "go":
        patterns = (
            rf"\b{name}(?:,\s*\w+){{0,5}}\s+(?:\[\]|\*|map\[\w+\]){{0,3}}{type_}",
            rf"\b{name}(?:,\s*\w+){{0,5}}\s*:?=\s*&?{type_}\s*\{{",
            rf"\b{name}(?:,\s*\w+){{0,5}}\s*:?=\s*(?:\w+\.)?(?:New|new|Make|make|Open|Must)([A-Z]\w*)\(",
            rf"\b{name}(?:,\s*\w+){{0,5}}\s*:?=\s*new\({type_}\)",
        )
    if language in {"java", "ruby"}:
        patterns = (
            rf"\b{type_}(?:<[^;={{}}()\n]{{0,200}}>)?(?:\[\])*\s+{name}\s*[=;,):]",
            rf"\b{name}\s*=\s*(?:new\s+)?([A-Z][\w:]*)(?:\.new\b|[<(])",
        )
    for pattern in patterns:
        for match in re.finditer(pattern, text):
            outer, _, inner = match[1].partition("[")
            last = outer.rpartition(".")[2]
            yield inner.rpartition(".")[2] if last in _WRAPPING and inner else last


def _members(index: SymbolIndex, owner: str, asked: _Asked, depth: int) -> list[Definition]:
    """The definitions that belong to a type, else to what it inherits from."""
    own = _ordered(index.members(asked.name, owner), asked)
    if own or depth == 0:
        return own
    near = index.find(owner, lambda path: _distance(path, asked), MAX_OTHERS)
    for base in dict.fromkeys(base for each in near for base in each.symbol.bases):
        members = _members(index, base, asked, depth - 1) if base != owner else []
        if members:
            return members
    return []


def _interfaces_first(index: SymbolIndex, members: Sequence[Definition]) -> list[Definition]:
    """Where the members belong to an interface and to classes of the same name, the interface's before theirs."""
    interfaces = {
        (each.path, each.symbol.name)
        for each in members
        if any(
            symbol.kind == "interface" and symbol.name == each.symbol.container
            for symbol in index.file(each.path).symbols
        )
    }
    return sorted(members, key=lambda each: (each.path, each.symbol.name) not in interfaces)


def _imported(index: SymbolIndex, asked: _Asked, imports: Sequence[Import]) -> list[Definition]:
    """What a file imports under a name, or may by taking all names of a module."""
    named = [each for each in imports if each.local == asked.name and each.name not in {"", "default"}]
    wanted = named or [each for each in imports if each.local == "*"]
    original = asked._replace(name=named[0].name) if named else asked
    found = index.of_modules(original.name, lambda path: _stands_for_any(path, wanted, asked)) if wanted else ()
    exact = [each for each in found if _stands_for_any(each.path, wanted, asked) == _EXACTLY]
    return _ordered([each for each in exact or found if not each.symbol.container], asked)


def _stands_for_any(path: str, modules: Iterable[Import], asked: _Asked) -> int:
    language = language_of(asked.near)
    if _family(path) != _family(asked.near):
        return 0
    return max((stands_for(each.module, path, asked.near, language) for each in modules), default=0)


def _is_module(path: str, qualifier: str, index: SymbolIndex) -> bool:
    """Whether a file is a module of that name, or lies in a package of that name."""
    folder, _, name = path.rpartition(".")[0].rpartition("/")
    if language_of(path) == "go":
        return folder.rpartition("/")[2] == qualifier or index.file(path).package == qualifier
    return name == qualifier or (name in {"__init__", "index"} and folder.rpartition("/")[2] == qualifier)


def _split(best: Sequence[Definition], ordered: Sequence[Definition]) -> Resolution:
    return Resolution(tuple(best), tuple(each for each in ordered if each not in best))


def _ordered(definitions: Iterable[Definition], asked: _Asked) -> list[Definition]:
    """Sources before tests, what is near before what is far, code before attributes."""
    return sorted(
        definitions,
        key=lambda each: (*_distance(each.path, asked), each.symbol.kind == "field", each.path, each.symbol.line),
    )


def _distance(path: str, asked: _Asked) -> tuple[object, ...]:
    other = bool(asked.near) and _family(path) != _family(asked.near)
    return (path != asked.near, other, is_test(path), folder_of(path) != folder_of(asked.near))


def _family(path: str) -> str:
    return {"jsx": "script", "tsx": "script", "typescript": "script", "javascript": "script"}.get(
        language_of(path), language_of(path)
    )
