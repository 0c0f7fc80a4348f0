"""Parse one file into its definitions and its imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.context.symbols.imports import imports_of, package_of
from reviewbot.context.symbols.model import FileSymbols, Kind, Symbol
from reviewbot.tables import words_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from reviewbot.context.symbols.languages import Language

MAX_FILE_BYTES = 1024 * 1024
"""Of a file that is parsed: a longer one is generated, and parsing it takes most of a second."""

MAX_SYMBOLS = 20_000
"""Of one file."""

_MAX_COMMENT_LINES = 12
"""Above a definition, that are a part of it."""

_FUNCTIONS = words_in("names/symbols", "functions")
_TYPES = words_in("names/symbols", "types")
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "ambient_declaration", "lexical_declaration"})
"""What stands around one definition, and is a part of it."""

_MEMBERS_INSIDE = frozenset({("assignment", "function_definition"), ("required_parameter", "method_definition")})
"""What makes a member of a class inside of one of its methods: `self.x = 1`, `constructor(private x)`."""

_ARGUMENTS = frozenset({"keyword_argument", "type_arguments", "attribute", "member_expression"})
"""What a name stands in that is no base of its own."""

_HERITAGE = words_in("names/symbols", "heritage")

_GROUPED = {"type_spec": "type_declaration", "const_spec": "const_declaration", "var_spec": "var_declaration"}
"""Of Go: what may stand alone behind its keyword, which then is a part of it."""


def parse_file(language: Language, content: bytes) -> FileSymbols:
    """The definitions of a file in the order of their places. What cannot be parsed defines what can be made out."""
    if len(content) > MAX_FILE_BYTES:
        return FileSymbols()
    root = parse(language, content)
    return file_symbols(language, root, definitions(language, root))


def parse(language: Language, content: bytes) -> Node:
    """The root of a file's tree."""
    from tree_sitter import Parser  # noqa: PLC0415 - what looks no name up need not wait for it

    return Parser(language.grammar).parse(content).root_node


def file_symbols(language: Language, root: Node, defined: Iterable[tuple[Symbol, Node]]) -> FileSymbols:
    """The symbols of a file that is parsed, of which `definitions` are at hand."""
    return FileSymbols(tuple(symbol for symbol, _ in defined), tuple(imports_of(language.name, root)), package_of(root))


def definitions(language: Language, root: Node) -> list[tuple[Symbol, Node]]:
    """The definitions below a node in the order of their places, each with the node of all of it."""
    from tree_sitter import QueryCursor  # noqa: PLC0415 - as in `parse`

    found: dict[tuple[int, str], tuple[Symbol, Node]] = {}
    for _, captures in QueryCursor(language.compiled).matches(root):
        if len(found) >= MAX_SYMBOLS:
            break
        kind = next(each for each in captures if each not in {"name", "object", "_call"})
        if not _is_own(captures, kind):
            continue
        for name in captures["name"]:
            symbol = _symbol(name, captures[kind][0], kind)
            if symbol is not None:
                key = (symbol.line, symbol.name)
                if key not in found or found[key][0].kind == "constant":
                    found[key] = symbol, captures[kind][0]
    return sorted(found.values(), key=lambda each: (each[0].line, each[0].first))


def _is_own(captures: dict[str, list[Node]], kind: str) -> bool:
    """Whether a pattern that is wider than it should be has matched what it is for."""
    if "object" in captures:  # of Python: an attribute of the object itself
        return _text(captures["object"][0]) == "self"
    if kind == "constant" or captures[kind][0].type == "field_declaration":
        return _outer_function(captures["name"][0]) is None
    return True


def _symbol(name: Node, node: Node, kind: str) -> Symbol | None:
    text = _text(name).strip("\"'`").removeprefix(":")
    if not text or text == "_":
        return None
    around = _container_node(node)
    container = name_of(around) if around is not None else _receiver(node)
    whole = _whole(node)
    return Symbol(
        name=text,
        kind=_kind(kind, node, container),
        container=container,
        line=name.start_point[0] + 1,
        first=_with_comment(whole) + 1,
        last=_last_line(whole),
        bases=tuple(dict.fromkeys(_bases(node))),
    )


def _kind(kind: str, node: Node, container: str) -> Kind:
    if kind == "function" and container:
        return "method"
    if kind == "constant" and container:
        return "field"
    if kind == "type" and node.type == "type_spec":
        held = node.child_by_field_name("type")
        return {"struct_type": "class", "interface_type": "interface"}.get(held.type if held else "", "type")  # type: ignore[return-value] # closed table
    return kind  # type: ignore[return-value] # the queries' own words


def _container_node(node: Node) -> Node | None:
    """The class, or similar, around a definition; None where a function stands between them."""
    inner, at = node, node.parent
    while at is not None:
        if at.type in _TYPES and at.child_by_field_name("name") != inner:
            return at
        if at.type in _FUNCTIONS and at != node:
            # An attribute of the object is set inside of a method, and belongs to the class.
            if (node.type, at.type) in _MEMBERS_INSIDE:
                inner, at = at, at.parent
                continue
            return None
        if at.type == "variable_declarator" and at != node and node.type in {"method_definition", "pair"}:
            return at  # a function of an object belongs to the name of that
        inner, at = at, at.parent
    return None


def _outer_function(node: Node) -> Node | None:
    at = node.parent
    while at is not None:
        if at.type in _FUNCTIONS or (at.type == "block" and at.parent is not None and at.parent.type in _FUNCTIONS):
            return at
        at = at.parent
    return None


def name_of(node: Node) -> str:
    """The name of a class, or similar; empty where it has none."""
    name = node.child_by_field_name("name")
    return _text(name).strip("\"'`").rpartition("::")[2] if name is not None else ""


def _receiver(node: Node) -> str:
    """Of Go: the type of a method's receiver. Of JavaScript: the object of an assigned function."""
    if node.type == "method_declaration":
        receiver = node.child_by_field_name("receiver")
        return next((_text(each) for each in _below(receiver) if each.type == "type_identifier"), "")
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        held = left.child_by_field_name("object") if left is not None else None
        name = _text(held).removesuffix(".prototype").rpartition(".")[2] if held is not None else ""
        return "" if name in {"exports", "module", "this", "self", "window", "globalThis"} else name
    return ""


def _below(node: Node | None) -> Iterator[Node]:
    waiting = [node] if node is not None else []
    while waiting:
        at = waiting.pop(0)
        yield at
        waiting += at.named_children


def _bases(node: Node) -> Iterator[str]:
    """What a class or an interface extends, implements or embeds."""
    for child in node.named_children:
        if child.type in _HERITAGE:
            for each in _below(child):
                if each.type in {"identifier", "type_identifier", "constant"} and not _is_argument(each):
                    yield _text(each)
                if each.type in {"attribute", "member_expression", "nested_type_identifier"}:
                    yield _text(each).rpartition(".")[2]
    held = node.child_by_field_name("type") if node.type == "type_spec" else None
    for each in _below(held) if held is not None and held.type == "struct_type" else ():
        if each.type == "field_declaration" and each.child_by_field_name("name") is None:
            yield _text(each).lstrip("*").rpartition(".")[2]


def _is_argument(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type in _ARGUMENTS or parent.child_by_field_name("scope") == node:
        return parent is not None
    return parent.type == "scoped_type_identifier" and parent.named_children[-1] != node


def _whole(node: Node) -> Node:
    """A definition with what stands around it and is a part of it."""
    parent = node.parent
    while parent is not None:
        grouped = _GROUPED.get(node.type) == parent.type or parent.type == "expression_statement"
        if not (parent.type in _WRAPPERS or grouped) or parent.named_child_count > _most_children(parent):
            return node
        node, parent = parent, parent.parent
    return node


def _most_children(parent: Node) -> int:
    """Of decorated definitions any number: decorators. Of others one."""
    return 99 if parent.type in {"decorated_definition", "export_statement"} else 1


def _with_comment(node: Node) -> int:
    """The first row of a node, or of the comment directly above it."""
    first = node.start_point[0]
    lowest = first - _MAX_COMMENT_LINES
    at = node.prev_named_sibling
    if at is None and node.parent is not None and node.parent.type in {"block", "body_statement"}:
        at = (
            node.parent.prev_named_sibling
        )  # Python, Ruby: what stands above the first statement stands before the block
    while at is not None and (at.type == "decorator" or "comment" in at.type) and at.end_point[0] >= first - 1:
        # A comment behind code on its line belongs to that.
        before = at.prev_sibling
        if at.start_point[0] < lowest or (before is not None and before.end_point[0] == at.start_point[0]):
            break
        first = at.start_point[0]
        at = at.prev_named_sibling
    return first


def _last_line(node: Node) -> int:
    row, column = node.end_point
    return row + 1 if column else max(row, node.start_point[0] + 1)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
