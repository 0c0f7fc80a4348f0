"""Find names that a change removed and other code still uses, and functions that no longer return a value."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.sides import (
    Pair,
    Rows,
    SideFinding,
    Sides,
    leaves,
    own_nodes,
    rows_of,
    statements,
    words,
)
from reviewbot.analyzers.both_sides.stale_callers import (
    callers,
    is_dunder,
    namesake_calls,
    own_method_uses,
    places,
    symbol_uses,
)
from reviewbot.analyzers.python.views import Budget
from reviewbot.context.python_text import Definition, Function, bound_names
from reviewbot.context.uses import PythonFile, Use, module_path

_BUILTIN = frozenset(dir(builtins))


def removed_names(sides: Sides, budget: Budget) -> Iterator[SideFinding]:
    """Yield the names of the top level and the methods that are gone and still used on the new side."""
    if sides.new.is_open:
        return
    before, after = _top_level(sides.old), _top_level(sides.new)
    for name, rows in before.items():
        budget.spend()
        if name in after or is_dunder(name) or name in _BUILTIN or _is_submodule(sides, name):
            continue
        used = [use for use in symbol_uses(sides, name, 0, budget) if _needs_it(use)]
        if used:
            message = f"`{name}` is not in this file any more, and is still used at {places((use, '') for use in used)}"
            yield SideFinding("removed-symbol", message, rows)
    yield from _removed_methods(sides, budget)


def _top_level(file: PythonFile) -> dict[str, Rows]:
    """The names that a module binds when it is loaded, with the rows of what binds them."""
    found: dict[str, Rows] = {}
    for node in statements(file.tree.body):
        inner = [node, *_expressions(node)] if not isinstance(node, Definition) else [node]
        for name in (name for each in inner for name in bound_names(each)):
            found.setdefault(name, rows_of(node))
    return found


def _expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield what hangs below a statement, without the statements in it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(node))
    while waiting:
        inner = waiting.pop()
        if not isinstance(inner, (ast.stmt, ast.Lambda)):
            yield inner
            if not isinstance(inner, (ast.ExceptHandler, ast.match_case)):
                waiting.extend(ast.iter_child_nodes(inner))


def _is_submodule(sides: Sides, name: str) -> bool:
    """Whether a package has a module of that name, which an import of the name finds as well."""
    if not sides.path.endswith("__init__.py"):
        return False
    inner = f"{module_path(sides.path)}/{name}"
    return any(sides.snapshot.head(path) is not None for path in (f"{inner}.py", f"{inner}/__init__.py"))


def _needs_it(use: Use) -> bool:
    """Whether a use fails without the name: no handler reckons with that, and it is no mere annotation."""
    if use.file.is_lenient(use.node):
        return False
    node = use.node
    for outer in use.file.above(use.node):
        annotated = isinstance(outer, (ast.arg, ast.AnnAssign)) and outer.annotation is node
        if annotated or (isinstance(outer, Function) and outer.returns is node):
            return not _is_lazy(use.file)
        if isinstance(outer, ast.Delete):
            return False
        node = outer
    return True


def _is_lazy(file: PythonFile) -> bool:
    """Whether annotations are not evaluated."""
    return any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in file.tree.body)


def _removed_methods(sides: Sides, budget: Budget) -> Iterator[SideFinding]:
    after = {node.name: node for node in sides.new.tree.body if isinstance(node, ast.ClassDef)}
    for owner in (node for node in sides.old.tree.body if isinstance(node, ast.ClassDef)):
        new = after.get(owner.name)
        if new is None or not _stands_alone(new):
            continue
        still = {name for node in ast.walk(new) for name in bound_names(node)}
        for gone in (node for node in owner.body if isinstance(node, Function)):
            budget.spend()
            if gone.name not in still and not is_dunder(gone.name):
                yield from _removed_method(sides, new, gone, budget)


def _removed_method(sides: Sides, owner: ast.ClassDef, gone: Function, budget: Budget) -> Iterator[SideFinding]:
    used = [use for use in own_method_uses(sides, owner, gone.name) if _needs_it(use)]
    rule, how = "removed-method", "is still used"
    if not used:
        rule, how = "removed-method-by-name", "seems to be called still"
        used = [use for use in namesake_calls(sides, gone.name, 0, budget) if _needs_it(use)]
    if used:
        message = f"`{owner.name}` has no `{gone.name}` any more, which {how} at {places((use, '') for use in used)}"
        yield SideFinding(rule, message, rows_of(gone), within=rows_of(owner))


def _stands_alone(owner: ast.ClassDef) -> bool:
    """Whether a class has no other attributes than those that are written in it."""
    plain = all(isinstance(base, ast.Name) and base.id == "object" for base in owner.bases)
    written = not {"setattr", "__dict__"} & words(ast.walk(owner)).keys()
    return plain and written and not owner.decorator_list and not owner.keywords


def removed_returns(pair: Pair, budget: Budget) -> Iterator[SideFinding]:
    """Yield a function that returned a value on every path and returns none now."""
    old, new = pair.old, pair.new
    given = [node for node in own_nodes(old.node.body) if isinstance(node, ast.Return) and _gives(node)]
    still = [node for node in own_nodes(new.node.body) if isinstance(node, ast.Return) and _gives(node)]
    if not given or still or not isinstance(old.node.body[-1], ast.Return) or _ends_otherwise(pair):
        return
    wanted = [(use, "") for use in callers(pair.sides, new, budget) if _wants_the_value(use)]
    rule, message = (
        "removed-return-by-name",
        f"`{new.name}` always gave something back, and gives nothing back any more",
    )
    if wanted and isinstance(old.node, ast.AsyncFunctionDef) == isinstance(new.node, ast.AsyncFunctionDef):
        rule, message = (
            "removed-return",
            f"`{new.name}` gives nothing back any more, and is asked for it at {places(wanted)}",
        )
    if rule == "removed-return" or not _says_none(pair):
        yield pair.finding(rule, message, given[-1])


def _says_none(pair: Pair) -> bool:
    """Whether the new side is annotated to give nothing back: it is meant so."""
    returns = pair.new.node.returns
    return isinstance(returns, ast.Constant) and returns.value is None


def _gives(node: ast.Return) -> bool:
    return node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None)


def _ends_otherwise(pair: Pair) -> bool:
    """Whether the new side is a generator, always raises, or has no body to speak of."""
    body = pair.new.node.body
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(body))
    return yields or isinstance(body[-1], ast.Raise) or not leaves(body) or bool(pair.new.node.decorator_list)


def _wants_the_value(use: Use) -> bool:
    """Whether a call's result is used for something that `None` does not bear, or at least kept."""
    parent = use.file.parents.get(use.call) if use.call else None
    if isinstance(parent, ast.Await):
        parent = use.file.parents.get(parent)
    return isinstance(parent, (ast.Assign, ast.Attribute, ast.Subscript, ast.For, ast.Compare, ast.BinOp, ast.Starred))
