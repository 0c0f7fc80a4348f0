"""Index the functions of a piece of code: which of them to analyse, and in which order."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.analyzers.python.views import Budget, parts
from reviewbot.analyzers.taint.containers import EMPTIES, FILLS
from reviewbot.analyzers.taint.knowledge import Knowledge
from reviewbot.analyzers.taint.places import place
from reviewbot.analyzers.taint.values import Function

_REACHES_ALL = frozenset({"globals", "setattr"})
"""Functions that may set any name of the module."""

_CONTENT_TYPES = frozenset(
    {".mimetype", ".content_type", ".media_type", ".headers['content-type']", "['content-type']"}
)

NO_MARKUP = ("json", "plain", "csv", "octet", "image", "pdf", "javascript")
"""Words of content types that a browser does not show as a page."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Index(NamedTuple):
    """What a first look through the code has found."""

    functions: dict[int, Function]
    bases: dict[str, list[str]]
    """The bases of each class, as they are written."""
    calls: dict[int, set[str]]
    """The last parts of the names that each function uses; -1 for the module itself."""
    packages: set[str]
    """The packages that are imported anywhere."""


def index(tree: ast.Module, budget: Budget) -> Index:
    """A first look through the code, without recursion. Raises OutOfSteps."""
    found = Index({}, {}, defaultdict(set), set())
    todo: list[tuple[ast.AST, int, str]] = [(tree, -1, "")]
    while todo:
        node, inside, owner = todo.pop()
        budget.spend()
        if isinstance(node, ast.Name):
            found.calls[inside].add(node.id)
            continue
        if isinstance(node, ast.Attribute):
            found.calls[inside].add(node.attr)
        elif isinstance(node, ast.stmt):
            inside, owner = _noted(node, inside, owner, found)
        todo += [(child, inside, owner) for child in reversed(parts(node))]
    return found


def _noted(node: ast.stmt, inside: int, owner: str, found: Index) -> tuple[int, str]:
    """Note what a statement defines or imports; the function and the class that its parts belong to."""
    if isinstance(node, ast.Import):
        found.packages.update(alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        found.packages.add((node.module or "").split(".")[0])
        found.calls[inside].update(alias.name for alias in node.names if alias.asname)
    elif isinstance(node, ast.ClassDef):
        found.bases.setdefault(node.name, [key for base in node.bases if (key := place(base)[1])])
        return inside, node.name if inside < 0 else owner
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        number = len(found.functions)
        outermost = inside if inside < 0 or found.functions[inside].inside < 0 else found.functions[inside].inside
        found.functions[number] = Function(number, node, "" if inside >= 0 else owner, outermost)
        found.calls[inside].add(node.name)
        return number, ""
    return inside, owner


def typed_responses(tree: ast.Module, budget: Budget) -> frozenset[ast.AST]:
    """The calls whose result is given a content type afterwards, as a constant that is no page's. Raises OutOfSteps."""
    made: dict[str, ast.Call] = {}
    typed: set[ast.AST] = set()
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        budget.spend()
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            name, key = place(node.targets[0])
            if isinstance(node.value, ast.Call) and name == key:
                made[name] = node.value
            elif name in made and key.lower().removeprefix(name) in _CONTENT_TYPES and is_no_page(node.value):
                typed.add(made[name])
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                typed.update(_typed_writes(block, budget))
        todo += reversed(parts(node))
    return frozenset(typed)


def _typed_writes(block: list[ast.stmt], budget: Budget) -> Iterator[ast.Call]:
    """The calls of `write` and `finish` in a block behind one that sets a content type that is no page's."""
    typed = False
    for statement in block:
        call = statement.value if isinstance(statement, ast.Expr) else None
        match call:
            case ast.Call(
                func=ast.Attribute(attr="set_header" | "send_header"), args=[ast.Constant(value=str(key)), value]
            ):
                if key.lower() == "content-type":
                    typed = is_no_page(value)
            case ast.Call(func=ast.Attribute(attr="write" | "finish")) if typed:
                budget.spend()
                yield call


def is_no_page(node: ast.expr) -> bool:
    """Whether an expression is the name of a content type that a browser does not show as a page."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and any(word in value for word in NO_MARKUP)


def changed_names(tree: ast.Module, budget: Budget) -> frozenset[str]:
    """Names and attributes whose constant does not last: set more than once, or from elsewhere. Raises OutOfSteps."""
    bound: Counter[str] = Counter()
    changed: set[str] = set()
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    anything = False
    while todo:
        node, inside = todo.pop()
        budget.spend()
        if isinstance(node, ast.Global):
            changed.update(node.names)
        elif isinstance(node, ast.Name):
            anything = anything or node.id in _REACHES_ALL
            if not inside and isinstance(node.ctx, (ast.Store, ast.Del)):
                bound[node.id] += 1
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            changed.update(_set_by(node, inside=inside))
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        todo += [(child, inside) for child in parts(node)]
    changed.update(name for name, times in bound.items() if times > 1 or anything)
    return frozenset(changed)


def _set_by(node: ast.Attribute | ast.Subscript, *, inside: bool) -> tuple[str, ...]:
    """The names that the place of an assignment, or a method that fills a container, changes the value of."""
    name = place(node.value)[0]
    if isinstance(node, ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            return (name,) if inside and node.attr in FILLS | EMPTIES else ()
        return (node.attr,)
    return (name,) if inside and not isinstance(node.ctx, ast.Load) else ()


def worth_following(found: Index, knowledge: Knowledge, sinks: frozenset[str]) -> set[int]:
    """The functions that hold a sink, or hand something to or take something from one that does."""
    named: dict[str, list[int]] = defaultdict(list)
    for number, function in found.functions.items():
        named[function.owner if function.node.name == "__init__" else function.node.name].append(number)
    callers: dict[int, list[int]] = defaultdict(list)
    callees: dict[int, list[int]] = defaultdict(list)
    for number, names in found.calls.items():
        for name in names & named.keys():
            for other in named[name]:
                callees[number].append(other)
                callers[other].append(number)
    todo = [number for number, names in found.calls.items() if not sinks.isdisjoint(names)]
    todo += [number for number, function in found.functions.items() if is_route(function.node, knowledge)]
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += callers[number]
            todo += callees[number]
    return seen


def in_order(found: Index, wanted: set[int]) -> list[int]:
    """The functions of the module and its classes, those first that others, or functions inside of others, call."""
    named: dict[str, list[int]] = defaultdict(list)
    called: dict[int, set[str]] = defaultdict(set)
    starts: dict[str, int] = {}
    for number, function in found.functions.items():
        called[number if function.inside < 0 else function.inside] |= found.calls[number]
        if function.inside < 0:
            named[function.node.name].append(number)
            if function.node.name == "__init__":
                named[function.owner].append(number)
                starts[function.owner] = number
    ordered: list[int] = []
    state: dict[int, bool] = {}
    for first in sorted(wanted - {-1}):
        todo = [(first, False)]
        while todo:
            number, done = todo.pop()
            if done:
                ordered.append(number)
            elif number not in state and found.functions[number].inside < 0:
                state[number] = True
                todo.append((number, True))
                names = sorted(called[number] & named.keys())
                inner = [other for name in names for other in named[name] if other in wanted]
                owner = found.functions[number].owner
                inner += [starts[owner]] if owner in starts else []
                todo += [(other, False) for other in reversed(inner) if other not in state]
    return ordered


def is_route(node: Definition, knowledge: Knowledge) -> bool:
    """Whether a framework calls a function with parts of a request, as its decorators say."""
    return route(node, knowledge) is not None


def route(node: Definition, knowledge: Knowledge) -> str | None:
    """The route of a function, empty where it is not constant; None for a function that is no route."""
    for call in (each for each in node.decorator_list if isinstance(each, ast.Call)):
        target = call.func
        if not isinstance(target, ast.Attribute) or target.attr not in knowledge.words["routes.decorators"]:
            continue
        first = call.args[0] if call.args else next((word.value for word in call.keywords), None)
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            if target.attr in ("route", "expose", "api_route", "websocket") or first.value[:1] in ("/", ""):
                return first.value
        elif target.attr == "route":
            return ""
    return None
