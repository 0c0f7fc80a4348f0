"""All definitions of a repository by name: a coarse list of names gives candidates, and a parser confirms them.

The first look-up reads each file of a known language once and keeps the names at places where a definition may stand,
as one text of bytes. A look-up searches that text, and parses the few files that it names. What was parsed is kept for
the next look-up.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import FileSymbols, Symbol
from reviewbot.context.symbols.parsing import MAX_FILE_BYTES, parse_file
from reviewbot.diff.language import language_of

MAX_PARSED = 60
"""Files that one look-up parses. Of a name that more of them may define, those nearest to where it is used count."""

MAX_OTHERS = 40
"""The same for definitions that are only named, beside those that were asked for."""

_KEPT_FILES = 3_000
"""Parsed files that are held in memory: some 20 MB."""

_NOTHING = FileSymbols()


class Definition(NamedTuple):
    """A symbol and the file that defines it."""

    path: str
    symbol: Symbol


class SymbolIndex:
    """The symbols of the files that were handed in; safe to use from several threads. Blocks."""

    def __init__(self, files: Sequence[str], contents: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]]) -> None:
        """`contents` gives the bytes of those of some files that are text, in their order."""
        self.files = tuple(path for path in files if language_of(path) in LANGUAGES)
        self._contents = contents
        self._lock = Lock()
        self._names: _NameFilter | None = None
        self._parsed: OrderedDict[str, FileSymbols] = OrderedDict()

    def find(
        self, name: str, nearest: Callable[[str], tuple[object, ...]] | None = None, limit: int = MAX_PARSED
    ) -> tuple[Definition, ...]:
        """The definitions of a bare name, by path and line.

        `nearest` orders the files, the nearest first, where more than `limit` may define it: the others do not count.
        """
        candidates = self._candidates(name)
        if len(candidates) > limit and nearest is not None:
            candidates.sort(key=nearest)
        return self._definitions(name, candidates[:limit])

    def members(self, name: str, owner: str) -> tuple[Definition, ...]:
        """The definitions of a name that belong to a class, a type or the like."""
        owners = set(self._candidates(owner))
        # Of Go, methods stand anywhere in the package of their type.
        folders = {folder_of(path) for path in owners if language_of(path) == "go"}
        near = [path for path in self._candidates(name) if path in owners or _is_go_in(path, folders)]
        return tuple(each for each in self._definitions(name, near[:MAX_PARSED]) if each.symbol.container == owner)

    def of_modules(self, name: str, fits: Callable[[str], object]) -> tuple[Definition, ...]:
        """The definitions of a name in the files that fit."""
        return self._definitions(name, [path for path in self._candidates(name) if fits(path)][:MAX_PARSED])

    def _definitions(self, name: str, paths: Sequence[str]) -> tuple[Definition, ...]:
        parsed = self._parse(paths)
        found = (
            Definition(path, symbol) for path, each in parsed.items() for symbol in each.symbols if symbol.name == name
        )
        return tuple(sorted(found, key=lambda each: (each.path, each.symbol.line)))

    def file(self, path: str) -> FileSymbols:
        """The symbols of one file; none of a file that is not indexed."""
        return self._parse([path]).get(path, _NOTHING) if language_of(path) in LANGUAGES else _NOTHING

    def _candidates(self, name: str) -> list[str]:
        """The files that may define a name."""
        with self._lock:
            if self._names is None:
                self._names = _NameFilter(self._contents(self.files))
        return self._names.files_with(name)

    def _parse(self, paths: Sequence[str]) -> dict[str, FileSymbols]:
        with self._lock:
            known = {path: self._parsed[path] for path in paths if path in self._parsed}
            for path in known:
                self._parsed.move_to_end(path)
        fresh = {
            path: parse_file(LANGUAGES[language_of(path)], content)
            for path, content in self._contents([path for path in paths if path not in known])
        }
        with self._lock:
            self._parsed.update(fresh)
            while len(self._parsed) > _KEPT_FILES:
                self._parsed.popitem(last=False)
        return {path: found for path in paths if (found := known.get(path) or fresh.get(path)) is not None}


class _NameFilter:
    """Which files may define which names."""

    def __init__(self, contents: Iterator[tuple[str, bytes]]) -> None:
        self._paths: list[str] = []
        self._starts = array("L")
        text = bytearray()
        for path, content in contents:
            if len(content) > MAX_FILE_BYTES:
                continue
            names = set(re.findall(LANGUAGES[language_of(path)].candidates, b"\n" + content))
            self._paths.append(path)
            self._starts.append(len(text))
            text += b"\n" + b"\n".join(names) + b"\n"
        self._text = bytes(text)

    def files_with(self, name: str) -> list[str]:
        """The files that have a name, in their order."""
        wanted = b"\n%b\n" % name.encode("utf-8", "replace")
        found, at = [], self._text.find(wanted)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            found.append(self._paths[number])
            if number + 1 == len(self._starts):
                break
            at = self._text.find(wanted, self._starts[number + 1])
        return found


def folder_of(path: str) -> str:
    """The folder of a file."""
    return path.rpartition("/")[0]


def _is_go_in(path: str, folders: set[str]) -> bool:
    return language_of(path) == "go" and folder_of(path) in folders
