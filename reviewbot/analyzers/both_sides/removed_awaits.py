"""Find statements that have only lost an `await`, or a call that made a text harmless."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.pair import Pair
from reviewbot.analyzers.both_sides.sides import (
    SideFinding,
    Sides,
    Unit,
    leaves,
    name_of_call,
    own_nodes,
    rows_of,
    short,
    units,
)
from reviewbot.context.python_text import dotted_name

_ESCAPES = frozenset(
    {"escape", "conditional_escape", "quote", "quote_plus", "urlquote", "clean", "sanitize", "sanitize_html",
     "secure_filename", "escape_string", "quote_name", "quote_identifier", "escape_filter_chars", "escapejs",
     "format_html", "xml_escape"}
)  # fmt: skip
"""Functions that make a text harmless for its next consumer."""


def _same_without(statement: ast.AST, node: ast.expr, inner: ast.expr) -> str:
    """How a statement is written down without a node around one of its parts. The statement stays as it was."""
    whole = ast.dump(statement)
    # Dumps nest like their trees, so that the part can be put in place of the whole without copying either.
    return whole.replace(ast.dump(node), ast.dump(inner), 1)


def removed_awaits(pair: Pair) -> Iterator[SideFinding]:
    """Yield calls that a coroutine function awaited before and uses without `await` now."""
    if not (isinstance(pair.old.node, ast.AsyncFunctionDef) and isinstance(pair.new.node, ast.AsyncFunctionDef)):
        return
    before, present = (_parts(unit) for unit in (pair.old, pair.new))
    for part in before.values():
        for node in (inner for inner in ast.walk(part) if isinstance(inner, ast.Await)):
            now = present.get(_same_without(part, node, node.value))
            if now is None or ast.dump(now) in before or ast.dump(part) in present:
                continue
            if not isinstance(node.value, ast.Call) or _is_handed_on(part, node) or _is_awaited_later(pair, now):
                continue
            name = name_of_call(node.value) or "the call"
            message = f"`{pair.new.name}` does not await `{name}` any more, and takes its coroutine for its result"
            if isinstance(now, ast.Expr):
                message = f"`{pair.new.name}` does not await `{name}` any more, so that it never runs"
            rule = "removed-await" if _is_coroutine_function(pair, node.value) else "removed-await-by-name"
            yield pair.finding(rule, message, part)._replace(spot=(now.lineno, now.end_lineno or now.lineno))


def _parts(unit: Unit) -> dict[str, ast.stmt | ast.expr]:
    """The plain statements of a function and what its blocks ask, by how they are written down."""
    parts: list[ast.stmt | ast.expr] = list(leaves(unit.node.body))
    parts += (node.test for node in own_nodes(unit.node.body) if isinstance(node, (ast.If, ast.While)))
    return {ast.dump(node): node for node in parts}


def _is_handed_on(part: ast.AST, node: ast.Await) -> bool:
    """Whether the value goes into a call or a collection, out of which it may be awaited."""
    for outer in ast.walk(part):
        inner = [child.value if isinstance(child, ast.keyword) else child for child in ast.iter_child_nodes(outer)]
        if node in inner:
            holds = (ast.Call, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.Yield, ast.Starred, ast.Lambda)
            return isinstance(outer, holds) and not (isinstance(outer, ast.Call) and outer.func is node)
    return False


def _is_awaited_later(pair: Pair, now: ast.AST) -> bool:
    """Whether the coroutine is kept under a name, and that name is awaited or handed on; or it is handed back."""
    if isinstance(now, ast.Return):
        return True
    if not isinstance(now, ast.Assign):
        return False
    names = {dotted_name(target) for target in now.targets} - {""}
    for node in own_nodes(pair.new.node.body):
        handed = [node.value] if isinstance(node, (ast.Await, ast.Return)) and node.value else []
        if isinstance(node, ast.Call):
            handed = [*node.args, *(word.value for word in node.keywords)]
        if any(dotted_name(each) in names for given in handed for each in getattr(given, "elts", [given])):
            return True
    return False


def _is_coroutine_function(pair: Pair, call: ast.Call) -> bool:
    """Whether what is called is defined with `async def`, in this file or in one that it is imported from."""
    name = name_of_call(call)
    file = pair.sides.new
    known = units(file.tree)
    if pair.new.owner is not None and name.startswith("self."):
        prefix = pair.new.name.rpartition(".")[0]
        unit = known.get(f"{prefix}.{name.removeprefix('self.')}")
    else:
        unit = known.get(name) if file.bindings.get(name) == 1 else None
    if unit is not None:
        return isinstance(unit.node, ast.AsyncFunctionDef) and not unit.node.decorator_list
    return _is_imported_coroutine(pair, name)


def _is_imported_coroutine(pair: Pair, name: str) -> bool:
    sides = pair.sides
    if "." in name or sides.new.bindings.get(name) != 1:
        return False
    for node in sides.new.nodes:
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            symbol = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return any(_defines_coroutine(sides, path, symbol) for path in _paths(sides.path, node))
    return False


def _paths(importer: str, node: ast.ImportFrom) -> list[str]:
    """The files that an import may take from: beside the importing file for a relative one, else below those above."""
    folders = importer.split("/")[:-1]
    inner = (node.module or "").replace(".", "/")
    if node.level:
        starts = ["/".join(folders[: len(folders) - node.level + 1])]
    else:
        starts = ["/".join(folders[:n]) for n in range(len(folders) + 1)]
    return [f"{start}/{inner}".strip("/") + ".py" for start in starts]


def _defines_coroutine(sides: Sides, path: str, symbol: str) -> bool:
    file = sides.library.file(path)
    unit = units(file.tree).get(symbol) if file else None
    return unit is not None and isinstance(unit.node, ast.AsyncFunctionDef) and not unit.node.decorator_list


def removed_escapes(pair: Pair) -> Iterator[SideFinding]:
    """Yield texts that were escaped before and are not any more."""
    present = {ast.dump(node): node for node in leaves(pair.new.node.body)}
    for statement in leaves(pair.old.node.body):
        for node in (inner for inner in ast.walk(statement) if isinstance(inner, ast.Call)):
            name = name_of_call(node)
            last = _last(name)
            if last not in _ESCAPES or not node.args:
                continue
            now = present.get(_same_without(statement, node, node.args[0]))
            if now is None or pair.reshaped or any(_last(name_of_call(call)) in _ESCAPES for call in pair.new_calls):
                continue
            if pair.sides.new_words[last] >= pair.sides.old_words[last]:
                continue  # it is done elsewhere now
            message = f"`{pair.new.name}` does not pass `{short(node.args[0])}` through `{name}` any more"
            rows = rows_of(now)
            yield pair.finding("removed-escape", message, statement)._replace(spot=rows)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
