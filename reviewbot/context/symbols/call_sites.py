"""What the functions of a file take, and where a name is called with what: read from a tree, without types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.context.symbols.parsing import name_of
from reviewbot.tables import packaged_table, words_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from reviewbot.context.symbols.model import Symbol

_TYPES = words_in("names/symbols", "types")
_MEMBERS = {"member_expression": "property", "selector_expression": "field"}
"""Of `a.b`: in which field the last name stands."""


_OTHER_THIS = frozenset({"object", "function_declaration", "function_expression", "object_creation_expression"})
"""What gives `this` another meaning, or may."""


class Signature(NamedTuple):
    """What a call of a function may and must hand over by position."""

    names: tuple[str, ...]
    required: int
    """Positions up to the last one that has no default."""
    is_open: bool
    """It takes any number more."""

    def fits(self, count: int) -> bool:
        """Whether so many arguments can be handed over."""
        return self.required <= count and (self.is_open or count <= len(self.names))


class Call(NamedTuple):
    """A call of a name."""

    callee: str
    """As it is written: `total`, `prices.total`, `new Price`; for `this`, and Go's receivers, `this TYPE`."""
    arguments: tuple[str, ...]
    line: int
    text: str


class Mentions(NamedTuple):
    """Where a file has a name."""

    calls: tuple[Call, ...]
    """Without those that spread a list or hand on several results of another call: what they hand over is not known."""
    bindings: int
    """How often the name is declared: as a function, a variable, a parameter. Imports do not count."""


def signatures(defined: Iterable[tuple[Symbol, Node]]) -> dict[str, tuple[Signature, int, int]]:
    """The functions among the definitions of a file by qualified name, with the first and the last line of their head.

    One that is defined twice, or takes something that the table of kinds does not know, is left out.
    """
    found: dict[str, tuple[Signature, int, int]] = {}
    twice: set[str] = set()
    for symbol, node in defined:
        function = _function(node)
        if function is None:
            continue
        name = symbol.qualified if symbol.kind != "class" else f"{symbol.name}.{symbol.name}"  # a record of Java
        signature = _signature(function)
        if name in found or signature is None:
            twice.add(name)
        else:
            last = function.child_by_field_name("parameters") or function
            found[name] = signature, symbol.line, last.end_point[0] + 1
    return {name: each for name, each in found.items() if name not in twice}


def mentions(root: Node, content: bytes, name: str) -> Mentions:
    """The calls and declarations of a name in a file."""
    calls: list[Call] = []
    bindings = 0
    for match in re.finditer(rb"(?<![\w$])%b(?![\w$])" % re.escape(name.encode("utf-8", "replace")), content):
        leaf = root.descendant_for_byte_range(match.start(), match.end())
        if leaf is None or leaf.start_byte != match.start() or leaf.end_byte != match.end():
            continue
        bindings += _is_bound(leaf)
        call = _call(leaf)
        if call is not None:
            calls.append(call)
    return Mentions(tuple(calls), bindings)


def _function(node: Node) -> Node | None:
    """The function that a definition is, or gives a name to."""
    for each in (node, node.child_by_field_name("value"), node.child_by_field_name("right")):
        if each is not None and (each.child_by_field_name("parameters") or each.child_by_field_name("parameter")):
            return each
    return None


def _signature(function: Node) -> Signature | None:
    listed, alone = function.child_by_field_name("parameters"), function.child_by_field_name("parameter")
    kinds = packaged_table("names/symbols")["parameters"]
    names: list[str] = []
    required, is_open = 0, b"arguments" in (function.text or b"")
    for each in listed.named_children if listed is not None else [alone] if alone is not None else []:
        kind = kinds.get(each.type)
        pattern = each.child_by_field_name("pattern")
        if kind is None:
            return None
        if kind == "none" or (pattern is not None and pattern.type == "this"):
            continue
        if kind == "rest" or (pattern is not None and pattern.type == "rest_pattern"):
            is_open = True
            continue
        names += _parameter_names(each)
        if kind == "required" and each.child_by_field_name("value") is None and b"void" not in (each.text or b""):
            required = len(names)
    return Signature(tuple(names), required, is_open)


def _parameter_names(node: Node) -> list[str]:
    """The names that a parameter declares: of Go several with one type, or none."""
    named = node.children_by_field_name("name") or [
        node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    ]
    return [_text(each) for each in named]


def _is_bound(leaf: Node) -> bool:
    parent = leaf.parent
    if parent is not None and parent.type == "expression_list":
        leaf, parent = parent, parent.parent
    fields = packaged_table("names/symbols")["bindings"].get(parent.type) if parent is not None else None
    if parent is None or fields is None or _is_required(parent):
        return False
    return not fields or any(each == leaf for field in fields for each in parent.children_by_field_name(field))


def _is_required(node: Node) -> bool:
    """Of CommonJS: whether a declaration is an import."""
    at: Node | None = node
    while at is not None and at.type in {"object_pattern", "pair_pattern"}:
        at = at.parent
    value = at.child_by_field_name("value") if at is not None and at.type == "variable_declarator" else None
    return value is not None and _text(value).startswith("require(")


def _call(leaf: Node) -> Call | None:
    top, parent = leaf, leaf.parent
    if parent is not None and parent.type in _MEMBERS and parent.child_by_field_name(_MEMBERS[parent.type]) == leaf:
        top, parent = parent, parent.parent
    if parent is not None and parent.type == "generic_type":
        top, parent = parent, parent.parent
    field = packaged_table("names/symbols")["calls"].get(parent.type) if parent is not None else None
    if parent is None or field is None or parent.child_by_field_name(field) != top:
        return None
    listed = parent.child_by_field_name("arguments")
    if listed is None or listed.type not in {"arguments", "argument_list"}:
        return None
    given = [each for each in listed.named_children if "comment" not in each.type]
    if any(each.type in {"spread_element", "variadic_argument"} for each in given) or _hands_on(leaf, given):
        return None
    callee = _callee(top, _owned(parent, leaf) if parent.type == "method_invocation" else _text(top).partition("<")[0])
    new = "new " if parent.type in {"new_expression", "object_creation_expression"} else ""
    return Call(f"{new}{callee}", tuple(map(_text, given)), leaf.start_point[0] + 1, _text(parent))


def _owned(call: Node, leaf: Node) -> str:
    """Of Java: what is called, with its object."""
    owner = call.child_by_field_name("object")
    return f"{_text(owner) if owner is not None else 'this'}.{_text(leaf)}"


def _hands_on(leaf: Node, given: list[Node]) -> bool:
    """Of Go: whether all results of another call are handed over."""
    return leaf.type in {"identifier", "field_identifier"} and len(given) == 1 and given[0].type == "call_expression"


def _callee(node: Node, text: str) -> str:
    """What is called; what stands for the object itself is called by its type."""
    text = re.sub(r"\s+|\?(?=\.)", "", text)
    owner, _, name = text.rpartition(".")
    at = node.parent
    while at is not None and owner:
        if at.type in _TYPES and owner == "this":
            return f"this {name_of(at)}.{name}"
        if at.type in _OTHER_THIS and owner == "this" and at != node.parent:
            return text
        receiver = at.child_by_field_name("receiver") if at.type == "method_declaration" else None
        own = receiver.named_child(0) if receiver is not None else None
        if own is not None and _text(own.child_by_field_name("name")) == owner:
            return f"this {re.split(r'[^A-Za-z0-9_]', _text(own.child_by_field_name('type')).lstrip('*'))[0]}.{name}"
        at = at.parent
    return text


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
