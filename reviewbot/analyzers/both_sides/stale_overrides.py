"""Find methods of Java that changed while a subclass has the old form, and calls that no overload takes any more.

A subclass is one whose file names the changed class as its own: by an import, or by its package. Whatever else it
extends has to stand in the tree, and must not have the method. In doubt nothing is said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.analyzers.both_sides.stale_users import (
    EXACTLY,
    MAX_NAMES,
    call_sites,
    is_comparable,
    named,
    other_files,
    stale_calls,
    stale_users,
    stem_of,
    symbols_of,
)
from reviewbot.analyzers.both_sides.syntax_side import new_names, old_names
from reviewbot.context.symbols.call_sites import Call, mentions
from reviewbot.context.symbols.imports import stands_for
from reviewbot.context.symbols.java import Method, may_inherit, methods_of
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.parsing import parse
from reviewbot.domain.ports import ChangedFile, Snapshot

if TYPE_CHECKING:
    from tree_sitter import Node

_MADE = re.compile(r"\blombok\b|@Generated|@AutoValue")
"""Of a file: other methods than those that are written in it may come from an annotation."""


def stale_uses(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield what other code still takes from a file as it was: names, calls, methods that a subclass has. Blocks."""
    yield from stale_users(file, snapshot)
    yield from stale_calls(file, snapshot)
    yield from stale_overrides(file, snapshot)


def stale_overrides(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield methods of a class of Java that a subclass overrides or calls as they were. Blocks."""
    if file.language != "java" or file.base is None or file.head is None or not is_comparable(file):
        return
    name, old, new = stem_of(file.path), old_names(file).root, new_names(file).root
    if old is None or new is None:
        return
    before, after = ([each for each in methods_of(root) if each.owner == name] for root in (old, new))
    shapes = {(each.name, each.types) for each in after}
    lost = [each for each in before if (each.name, each.types) not in shapes and "private" not in each.modifiers]
    if not after or not 0 < len(lost) <= MAX_NAMES:
        return
    change = _ChangedClass(file, snapshot, name, after)
    places: dict[Method, list[str]] = defaultdict(list)
    for path, text in change.subclass_files():
        for method, line in change.misfits(path, text, lost):
            places[method].append(f"{path}:{line}")
    for method, found in places.items():
        message = f"`{name}.{method.shown}` is gone or takes something else, and a subclass still has it at"
        yield SideFinding("stale-override", f"{message} {named(found)}", (method.line, method.last))
    yield from _stale_overloads(change, lost)


def _stale_overloads(change: _ChangedClass, lost: list[Method]) -> Iterator[SideFinding]:
    """Yield methods of several forms of which calls have one that is gone."""
    for name in dict.fromkeys(each.name for each in lost):
        gone = [each for each in lost if each.name == name]
        places = [f"{path}:{call.line}" for path, call in change.calls_of_none(name, gone)]
        if places:
            message = f"`{name}` has no form any more that takes what is handed to it at {named(places)}"
            yield SideFinding("overload-removed", message, (gone[0].line, gone[0].last))


class _ChangedClass:
    """A class that changed, with the methods that it has now."""

    def __init__(self, file: ChangedFile, snapshot: Snapshot, name: str, methods: list[Method]) -> None:
        self._file, self._snapshot, self._name, self._methods = file, snapshot, name, methods
        self._alone: dict[tuple[str, frozenset[str], str], bool] = {}

    def subclass_files(self) -> Iterator[tuple[str, str]]:
        """Yield the files in which the name of the class means this one."""
        yield self._file.path, self._file.head or ""
        package = new_names(self._file).symbols.package
        for path, text in other_files(self._file, self._name, self._snapshot):
            symbols = symbols_of(path, text)
            own = [each for each in symbols.imports if each.local == self._name]
            ours = any(stands_for(each.module, self._file.path, path, "java") == EXACTLY for each in own)
            if (ours or (not own and symbols.package == package)) and not any(
                each.name == self._name for each in symbols.symbols
            ):
                yield path, text

    def calls_of_none(self, name: str, gone: list[Method]) -> Iterator[tuple[str, Call]]:
        """Yield the calls of a method of several forms that fitted a lost one, and fit none that is there."""
        file, known = self._file, [each for each in self._methods if each.name == name]
        qualified = f"{self._name}.{name}"
        alone = {*old_names(file).signatures} & {*new_names(file).signatures}
        if not known or qualified in alone or _MADE.search(file.head or ""):
            return  # one form on both sides: `stale_calls` has it
        for path, call in call_sites(file, qualified, self._snapshot):
            count = len(call.arguments)
            if any(each.takes(count) for each in gone) and not any(each.takes(count) for each in known):
                yield path, call

    def misfits(self, path: str, text: str, lost: list[Method]) -> Iterator[tuple[Method, int]]:
        """Yield the lost methods that a file overrides or calls as those of the class above, with the lines."""
        root = parse(LANGUAGES["java"], text.encode("utf-8", "replace"))
        methods = sorted(methods_of(root), key=lambda each: each.line)
        below = [each for each in methods if self._name in each.bases]
        for gone in lost if below else ():
            known = [each for each in self._methods if each.name == gone.name]
            for each in below:
                same = (each.name, each.types) == (gone.name, gone.types) and "@Override" in each.modifiers
                if same and not any(now.may_be(each.types) for now in known) and self._is_alone(each, path, text):
                    yield gone, each.line
            for line, count in _super_calls(root, gone):
                around = [each for each in methods if each.line <= line][-1:]
                fits = gone.takes(count) and not any(each.takes(count) for each in known)
                if fits and around and around[0] in below and self._is_class(gone) and self._is_alone(gone, path, text):
                    yield gone, line

    def _is_class(self, gone: Method) -> bool:
        head = self._file.head or ""
        made = gone.name == self._name and _MADE.search(head) is not None
        return not made and re.search(rf"\bclass\s+{self._name}\b", head) is not None

    def _is_alone(self, method: Method, path: str, text: str) -> bool:
        """Whether nothing else that a class extends has a method of that name."""
        if method.name == self._name:  # a constructor is not inherited
            return True
        others = method.bases if method.owner != self._name else frozenset[str]()
        asked = path, others - {self._name}, method.name
        if asked not in self._alone:
            above = [(path, text, each) for each in asked[1]]
            own = (self._file.path, self._file.head or "")
            above += [(*own, each) for each in self._methods[0].bases]
            self._alone[asked] = not may_inherit(above, method.name, self._snapshot)
        return self._alone[asked]


def _super_calls(root: Node, gone: Method) -> Iterator[tuple[int, int]]:
    """Yield the lines that call a method of the class above, each with how many arguments it hands over."""
    text = root.text or b""
    for call in mentions(root, text, gone.name).calls if b"super" in text else ():
        if call.callee == f"super.{gone.name}":
            yield call.line, len(call.arguments)
