"""Find operations that walk or copy a whole collection in each turn of a loop: quadratic time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.loops.effects import is_queryset
from reviewbot.analyzers.loops.kinds import kind_of, literal_length
from reviewbot.analyzers.loops.name_chains import qualify
from reviewbot.analyzers.loops.places import Loop, finding_in_loop
from reviewbot.analyzers.loops.sizes import FEW, goes_far, is_growing, is_long, unwrap
from reviewbot.analyzers.loops.walk import Site
from reviewbot.analyzers.python.views import Found
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import words_in

_JOINS = words_in("names/loops", "joins")
_COPIES = frozenset({"set", "frozenset", "list", "tuple"})
_WALKS = frozenset({"sorted", "max", "min", "sum"})
_PAIR = 2


def growth(site: Site) -> Iterator[Found]:
    """What a node costs that grows with the data in each turn."""
    node = site.node
    if isinstance(node, ast.Compare):
        yield from _membership(node, site)
    elif isinstance(node, ast.Assign):
        yield from _regrown(node, site)
    elif isinstance(node, ast.AugAssign):
        yield from _text(node, site)
    elif isinstance(node, ast.Call):
        yield from _called(node, site)


def _called(node: ast.Call, site: Site) -> Iterator[Found]:
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in {"index", "count"}:
            yield from _search(node, node.func, site)
        elif node.func.attr in {"pop", "insert"}:
            yield from _front(node, node.func, site)
        elif node.func.attr == "iterrows" and is_queryset(site):
            what = "`iterrows` makes an object of each row of the table"
            yield Found("rows-of-frame", node.lineno, node.end_lineno or node.lineno, what, code=node)
    elif dotted_name(node.func) == "sum":
        yield from _list_sum(node)
        yield from _repeated_aggregates(node, site)
    elif dotted_name(node.func) in _COPIES | _WALKS:
        yield from _repeated_aggregates(node, site)


def _far(site: Site, name: str) -> Loop | None:
    """The innermost loop that goes far and in which a name stands for one and the same thing."""
    if site.place.rare or not name:
        return None
    root = name.partition(".")[0]
    return next(
        (loop for loop in reversed(site.place.loops) if goes_far(loop) and not {name, root} & loop.replaced), None
    )


def _membership(node: ast.Compare, site: Site) -> Iterator[Found]:
    """`x in names`, where `names` is a list."""
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
        return
    scope, looked_in = site.place.scope, node.comparators[0]
    name = dotted_name(looked_in)
    loop = _far(site, name)
    if loop is None or kind_of(scope, looked_in) != "list" or not loop.varies(node.left):
        return
    what = f"Membership test on list `{name}` {loop.each}"
    if is_growing(scope, looked_in):
        yield finding_in_loop("list-membership-growing", node, loop, what)
    elif is_long(scope, looked_in):
        yield finding_in_loop("list-membership", node, loop, what)
    elif any(binding.annotation is not None for binding in scope.bindings_of(name)):
        yield finding_in_loop("list-membership-maybe", node, loop, what)


def _search(node: ast.Call, func: ast.Attribute, site: Site) -> Iterator[Found]:
    """`names.index(x)`, where `names` is a list or what the loop goes over."""
    name = dotted_name(func.value)
    loop = _far(site, name)
    if loop is None or len(node.args) != 1 or not loop.varies(node.args[0]):
        return
    kind = kind_of(site.place.scope, func.value)
    same = _goes_over(loop, name) and kind in {"", "list"}
    if same or (kind == "list" and is_long(site.place.scope, func.value)):
        rule = "list-search" if same else "list-search-maybe"
        yield finding_in_loop(
            rule, node, loop, f"`{name}.{func.attr}` searches the list from its beginning {loop.each}"
        )


def _goes_over(loop: Loop, name: str) -> bool:
    return loop.iterated is not None and dotted_name(unwrap(loop.iterated)) == name


def _front(node: ast.Call, func: ast.Attribute, site: Site) -> Iterator[Found]:
    """`names.pop(0)` and `names.insert(0, x)`."""
    name = dotted_name(func.value)
    loop = _far(site, name)
    wanted = 1 if func.attr == "pop" else _PAIR
    first = node.args[0] if len(node.args) == wanted else None
    if loop is None or not isinstance(first, ast.Constant) or first.value != 0:
        return
    kind = kind_of(site.place.scope, func.value)
    long = kind == "list" and is_long(site.place.scope, func.value)
    if kind not in {"", "list"} or (kind == "list" and not long):
        return
    sure = long and func.attr == "pop" and not _is_window(loop)
    what = f"`{name}.{func.attr}(0)` moves every element of the list {loop.each}"
    yield finding_in_loop("pop-front" if sure else "pop-front-maybe", node, loop, what)


def _is_window(loop: Loop) -> bool:
    """Whether a loop holds a list to a length: what is moved then does not grow."""
    return isinstance(loop.node, ast.While) and any(
        isinstance(part, ast.Call) and dotted_name(part.func) == "len" for part in ast.walk(loop.node.test)
    )


def _regrown(node: ast.Assign, site: Site) -> Iterator[Found]:
    """Find `rows = rows + [row]`, and the same for tables and arrays."""
    target = node.targets[0] if len(node.targets) == 1 else None
    if not isinstance(target, ast.Name) or site.place.rare or not site.place.loops:
        return
    loop = site.place.loops[-1]
    if not goes_far(loop) or loop.stores[target.id] != 1:
        return
    if _is_list_plus(node.value, target.id):
        yield finding_in_loop("list-regrown", node, loop, f"The whole list `{target.id}` is copied {loop.each}")
    elif isinstance(node.value, ast.Call) and _is_join(node.value, target.id, site):
        yield finding_in_loop("array-regrown", node, loop, f"All of `{target.id}` is copied to add to it {loop.each}")


def _is_list_plus(value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return dotted_name(value.left) == name and isinstance(value.right, ast.List | ast.ListComp)
    if isinstance(value, ast.List) and len(value.elts) > 1:
        first = value.elts[0]
        return isinstance(first, ast.Starred) and dotted_name(first.value) == name
    return False


def _is_join(call: ast.Call, name: str, site: Site) -> bool:
    scope = site.place.scope
    if qualify(call.func, scope.imports) in _JOINS and call.args:
        first = call.args[0]
        parts = first.elts if isinstance(first, ast.List | ast.Tuple) else call.args
        return any(dotted_name(part) == name for part in parts)
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append" or dotted_name(call.func.value) != name:
        return False
    # The `append` of a list gives nothing back that one could want; that of a table gives a new table.
    return kind_of(scope, call.func.value) == "frame" or any(k.arg == "ignore_index" for k in call.keywords)


def _text(node: ast.AugAssign, site: Site) -> Iterator[Found]:
    """A text that gets longer piece by piece."""
    if not isinstance(node.op, ast.Add) or not isinstance(node.target, ast.Name) or not site.place.loops:
        return
    loop, name = site.place.loops[-1], node.target.id
    text = kind_of(site.place.scope, node.target) == "text"
    if text and goes_far(loop) and not site.place.rare and loop.stores[name] == 1:
        yield finding_in_loop("text-regrown", node, loop, f"The text `{name}` is put together anew {loop.each}")


def _list_sum(node: ast.Call) -> Iterator[Found]:
    """`sum(lists, [])`."""
    start = node.args[1] if len(node.args) == _PAIR else None
    if isinstance(start, ast.List) and not start.elts and (literal_length(node.args[0]) or FEW + 1) > FEW:
        what = "`sum` makes a new list for every list that it adds"
        yield Found("list-sum", node.lineno, node.end_lineno or node.lineno, what, code=node)


def _repeated_aggregates(node: ast.Call, site: Site) -> Iterator[Found]:
    """`max(values)` and the like of a collection that no turn changes."""
    name = dotted_name(node.args[0]) if len(node.args) == 1 and not node.keywords else ""
    loop = _far(site, name)
    if loop is None or "." in name or name in loop.touched:
        return
    function, text = dotted_name(node.func), kind_of(site.place.scope, node.args[0]) == "text"
    if function in _COPIES:
        if isinstance(site.parent, ast.Compare) and node in site.parent.comparators and not text:
            yield finding_in_loop(
                "copy-searched", node, loop, f"`{function}({name})` is made again to be searched {loop.each}"
            )
    elif not text:
        sure = _goes_over(loop, name) or is_long(site.place.scope, node.args[0])
        what = f"`{function}({name})` walks the whole collection again {loop.each}"
        yield finding_in_loop("invariant-work" if sure else "invariant-work-maybe", node, loop, what)
