"""Methods of Java with their parameters, and what a class has from the classes above it that stand in the tree."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.context.symbols.imports import stands_for
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.parsing import name_of, parse_file
from reviewbot.domain.ports import RepositorySnapshot, Snapshot
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from tree_sitter import Node

    from reviewbot.context.symbols.model import FileSymbols

MAX_ANCESTORS = 20
"""Classes above one that are looked at; with more of them a class may have any method."""

MAX_NESTED = 10
"""Of type arguments in type arguments."""

_METHODS = frozenset({"method_declaration", "constructor_declaration"})
_HERITAGE = frozenset({"superclass", "super_interfaces", "extends_interfaces"})
_ARGUMENTS = re.compile(r"<[^<>]*>")
_BASE = re.compile(r"(?<![\w.$])(?!(?:extends|implements|permits)\b)[A-Za-z_$][\w.$]*")


class Method(NamedTuple):
    """A method or a constructor of Java."""

    owner: str
    bases: frozenset[str]
    """What its class extends and implements."""
    name: str
    types: tuple[str, ...]
    """Of its parameters, without packages and type arguments."""
    is_open: bool
    """It takes any number more."""
    modifiers: str
    variables: frozenset[str]
    """The type parameters of it and of its class."""
    line: int
    last: int

    def takes(self, count: int) -> bool:
        """Whether so many arguments can be handed over."""
        return count == len(self.types) or (self.is_open and count >= len(self.types) - 1)

    def may_be(self, types: tuple[str, ...]) -> bool:
        """Whether parameters of these types may be its own: a type parameter may stand for any."""
        pairs = zip(self.types, types, strict=False)
        return len(types) == len(self.types) and all(a == b or {a, b} & self.variables for a, b in pairs)

    @property
    def shown(self) -> str:
        """As it is named in a message."""
        return f"{self.name}({', '.join(self.types)})"


def methods_of(root: Node) -> Iterator[Method]:
    """Yield the methods and constructors of a file, those of anonymous classes among them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.named_children
        listed = node.child_by_field_name("parameters")
        if node.type not in {"method_declaration", "constructor_declaration"} or listed is None:
            continue
        owner = _owner(node)
        kinds = [each for each in listed.named_children if each.type in {"formal_parameter", "spread_parameter"}]
        if owner is None or len(kinds) != sum("comment" not in each.type for each in listed.named_children):
            continue
        modifiers = next((_text(each) for each in node.children if each.type == "modifiers"), "")
        yield Method(
            *_name_and_bases(owner), _text(node.child_by_field_name("name")), tuple(map(_type, kinds)),
            any(each.type == "spread_parameter" for each in kinds), modifiers, _variables(owner) | _variables(node),
            node.start_point[0] + 1, listed.end_point[0] + 1,
        )  # fmt: skip


def _owner(method: Node) -> Node | None:
    """The class that a method is written in: by its name, or a new object of it."""
    body = method.parent
    if body is not None and body.type == "enum_body_declarations":
        body = body.parent
    owner = body.parent if body is not None else None
    return owner if owner is not None and owner.type != "enum_constant" else None


def _name_and_bases(owner: Node) -> tuple[str, frozenset[str]]:
    if owner.type == "object_creation_expression":
        return "", _types_in(_text(owner.child_by_field_name("type")))
    return name_of(owner), _types_in(" ".join(_text(each) for each in owner.named_children if each.type in _HERITAGE))


def _types_in(heritage: str) -> frozenset[str]:
    return frozenset(_BASE.findall(_erased(heritage)))


def _erased(text: str) -> str:
    """A type, or several, without type arguments and annotations."""
    for _ in range(MAX_NESTED):
        text, times = _ARGUMENTS.subn(" ", text)
        if not times:
            break
    return re.sub(r"@[\w.]+(?:\([^()]*\))?", " ", text)


def _type(parameter: Node) -> str:
    plain = parameter.child_by_field_name("type") or next(
        (each for each in parameter.named_children if each.type != "modifiers"), None
    )
    dimensions = "[]" * (parameter.type == "spread_parameter") + _text(parameter.child_by_field_name("dimensions"))
    return "".join((_erased(_text(plain)) + dimensions).split()).rpartition(".")[2]


def _variables(node: Node) -> frozenset[str]:
    listed = node.child_by_field_name("type_parameters")
    return frozenset(_text(each.named_child(0)) for each in (listed.named_children if listed is not None else ()))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def may_inherit(bases: Iterable[tuple[str, str, str]], name: str, snapshot: Snapshot) -> bool:
    """Whether a class may have a method from above: `bases` are names, each with path and text of the file it is in."""
    waiting, seen = list(bases), set[str]()
    known = packaged_table("names/symbols")["java_interfaces"]
    while waiting:
        near, text, base = waiting.pop()
        if base in known:
            if name in known[base]:
                return True
            continue
        path = _file_of(base, near, _symbols_of(text), snapshot)
        above = snapshot.head(path) if path is not None else None
        if path is None or above is None or len(seen) >= MAX_ANCESTORS or re.search(rf"\b{re.escape(name)}\b", above):
            return True
        if path not in seen:
            seen.add(path)
            waiting += [(path, above, each) for each in _bases_in(above, base)]
    return False


def _bases_in(text: str, name: str) -> list[str]:
    found = re.search(rf"\b(?:class|interface|record|enum)\s+{re.escape(name)}\b([^{{;]{{0,2000}})\{{", text)
    return [] if found is None else sorted(_types_in(found[1]))


def _file_of(name: str, near: str, symbols: FileSymbols, snapshot: Snapshot) -> str | None:
    """The one file of the tree that a class is in; None where that is not certain."""
    files = snapshot.files() if isinstance(snapshot, RepositorySnapshot) else None
    own = [each for each in symbols.imports if each.local == name]
    module = own[0].module if own else f"{symbols.package}.{name}"
    found = [path for path in _java_files(files or ()).get(name, ()) if stands_for(module, path, near, "java")]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=2)
def _java_files(files: tuple[str, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in files:
        if path.endswith(".java"):
            found[path.rpartition("/")[2].removesuffix(".java")].append(path)
    return found


@lru_cache(maxsize=32)
def _symbols_of(text: str) -> FileSymbols:
    return parse_file(LANGUAGES["java"], text.encode("utf-8", "replace"))
