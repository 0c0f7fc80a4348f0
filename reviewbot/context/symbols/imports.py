"""What a file imports, and which files a module stands for."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from reviewbot.context.symbols.model import Import
from reviewbot.diff.import_stems import import_stem, module_stem
from reviewbot.tables import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BLOCKS = words_in("names/symbols", "blocks")
"""Where an import may stand below the top of a file."""

_PACKAGES = frozenset({"package_clause", "package_declaration"})


def imports_of(language: str, root: Node) -> Iterator[Import]:
    """Yield what a file imports, without what stands inside of functions."""
    read = {"python": _python, "go": _go, "java": _java}.get(language, _script)
    # Of Ruby, names are known everywhere, whatever a file requires.
    waiting = list(root.named_children) if language != "ruby" else []
    while waiting:
        node = waiting.pop(0)
        yield from read(node)
        if node.type in _BLOCKS:
            waiting += node.named_children


def package_of(root: Node) -> str:
    """Of Go and Java: the name in the package clause."""
    clause = next((each for each in root.named_children if each.type in _PACKAGES), None)
    return _text(clause.named_child(0)) if clause is not None else ""


def stands_for(module: str, path: str, near: str, language: str) -> int:
    """How well a file fits the module that `near` imports: 2 the file or its package, 1 one inside, 0 another."""
    if language == "go":
        folder = posixpath.dirname(path)
        return 2 if folder and (module == folder or module.endswith(f"/{folder}")) else 0
    if language == "java":
        named = module.replace(".", "/")
        whole = posixpath.dirname(path) if named.endswith("/*") else path.removesuffix(".java")
        return 2 if f"/{whole}".endswith(f"/{named.removesuffix('/*')}") else 0
    stem = module_stem(path)
    wanted, relative = import_stem(module, near, language)
    if not wanted:
        return 0
    if stem == wanted or (not relative and stem.endswith(f"/{wanted}")):
        return 2
    return 1 if f"/{stem}".find(f"/{wanted}/") == 0 or (not relative and f"/{wanted}/" in f"/{stem}") else 0


def _python(node: Node) -> Iterator[Import]:
    if node.type == "import_statement":
        for each in node.children_by_field_name("name"):
            if each.type == "aliased_import":
                yield Import(_field(each, "alias"), _field(each, "name"), "")
            else:
                yield Import(_text(each).partition(".")[0], _text(each), "")
    if node.type == "import_from_statement":
        module = _field(node, "module_name")
        for each in node.children_by_field_name("name"):
            name = _field(each, "name") if each.type == "aliased_import" else _text(each)
            yield Import(_field(each, "alias") if each.type == "aliased_import" else name, module, name)
        if any(each.type == "wildcard_import" for each in node.named_children):
            yield Import("*", module, "*")


def _go(node: Node) -> Iterator[Import]:
    if node.type == "import_spec":
        module = _field(node, "path").strip('"`')
        alias = _field(node, "name")
        if alias == ".":
            yield Import("*", module, "*")
        elif alias != "_":
            yield Import(alias or module.rpartition("/")[2], module, "")


def _java(node: Node) -> Iterator[Import]:
    if node.type != "import_declaration":
        return
    module = _text(node.named_child(0))
    if any(each.type == "asterisk" for each in node.named_children):
        yield Import("*", f"{module}.*", "*")
    else:
        # What is imported by `import static` is a member of a class.
        static = any(each.type == "static" for each in node.children)
        owner, _, name = module.rpartition(".")
        yield Import(name, owner if static else module, name)


def _script(node: Node) -> Iterator[Import]:
    source = node.child_by_field_name("source")
    module = _text(source).strip("\"'`")
    if node.type == "import_statement" and source is not None:
        for clause in (each for each in node.named_children if each.type == "import_clause"):
            yield from _import_clause(clause, module)
    elif node.type == "export_statement" and source is not None:
        clause_or_none = next((each for each in node.named_children if each.type == "export_clause"), None)
        for each in clause_or_none.named_children if clause_or_none is not None else ():
            yield Import(_field(each, "alias") or _field(each, "name"), module, _field(each, "name"))
        if clause_or_none is None:
            yield Import("*", module, "*")
    elif node.type == "variable_declarator":
        yield from _required(node)


def _import_clause(clause: Node, module: str) -> Iterator[Import]:
    for each in clause.named_children:
        if each.type == "identifier":
            yield Import(_text(each), module, "default")
        elif each.type == "namespace_import":
            yield Import(_text(each.named_child(0)), module, "")
        elif each.type == "named_imports":
            for one in each.named_children:
                yield Import(_field(one, "alias") or _field(one, "name"), module, _field(one, "name"))


def _required(node: Node) -> Iterator[Import]:
    """Of CommonJS: `const {a} = require("x")`."""
    value, name = node.child_by_field_name("value"), node.child_by_field_name("name")
    if value is None or name is None or value.type != "call_expression" or _field(value, "function") != "require":
        return
    arguments = value.child_by_field_name("arguments")
    module = _text(arguments.named_child(0) if arguments is not None else None).strip("\"'`")
    if name.type == "identifier":
        yield Import(_text(name), module, "")
    for each in name.named_children if name.type == "object_pattern" else ():
        local = _field(each, "value") or _text(each)
        yield Import(local, module, _field(each, "key") or local)


def _field(node: Node, name: str) -> str:
    return _text(node.child_by_field_name(name))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
