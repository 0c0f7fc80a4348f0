"""Both sides of a Python file, definition by definition, and the findings of its checks before they have a line."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewbot.context.python_text import Definition, Function, dotted_name
from reviewbot.context.uses import Library, PythonFile
from reviewbot.domain.ports import Snapshot

Rows = tuple[int, int]
"""First and last row, both included."""

NOWHERE: Rows = (0, 0)

MAX_SHOWN = 80
"""Characters of an expression in a message."""


class SideFinding(NamedTuple):
    """A finding of a check, before it is mapped to an added line."""

    rule: str
    message: str
    gone: Rows = NOWHERE
    """The rows of the old side that the change took away."""
    spot: Rows = NOWHERE
    """The rows of the new side that are at fault, where there are any."""
    within: Rows = NOWHERE
    """The definition on the new side in which it may be reported as well."""


class Unit(NamedTuple):
    """A function or method of one side."""

    name: str
    """Dotted, with the classes and functions around it."""
    node: Function
    owner: ast.ClassDef | None
    """The class that it is a method of."""

    @property
    def rows(self) -> Rows:
        """Its rows, decorators included."""
        return rows_of(self.node)

    @property
    def short(self) -> str:
        """The name without what is around it."""
        return self.node.name


@dataclass(frozen=True)
class Sides:
    """A file before and after, and what is around it."""

    old: PythonFile
    new: PythonFile
    snapshot: Snapshot

    @property
    def path(self) -> str:
        """Of the new side."""
        return self.new.path

    @cached_property
    def library(self) -> Library:
        """The other files of the new side."""
        return Library(self.snapshot)

    @cached_property
    def pairs(self) -> list[tuple[Unit, Unit]]:
        """The functions that both sides have under one name, and that the change altered."""
        before, after = units(self.old.tree), units(self.new.tree)
        both = [(old, after[name]) for name, old in before.items() if name in after]
        return [(old, new) for old, new in both if ast.dump(old.node) != ast.dump(new.node)]

    @cached_property
    def old_expressions(self) -> Counter[str]:
        """How often each operand of a condition stands on the old side."""
        return _asked(self.old)

    @cached_property
    def new_expressions(self) -> Counter[str]:
        """The same of the new side."""
        return _asked(self.new)

    @cached_property
    def old_words(self) -> Counter[str]:
        """The number of occurrences of each name, attribute and keyword on the old side."""
        return words(self.old.nodes)

    @cached_property
    def new_words(self) -> Counter[str]:
        """The same of the new side."""
        return words(self.new.nodes)


def rows_of(node: ast.stmt) -> Rows:
    """The rows of a statement, decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return first, node.end_lineno or node.lineno


def units(tree: ast.Module) -> dict[str, Unit]:
    """The functions of a file by dotted name. One that is defined twice is left out: which one runs?"""
    found: dict[str, Unit] = {}
    twice: set[str] = set()
    waiting: list[tuple[ast.AST, str, ast.ClassDef | None]] = [(tree, "", None)]
    while waiting:
        node, prefix, owner = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                name = prefix + child.name
                twice |= {name} & found.keys()
                found[name] = Unit(name, child, owner)
                waiting.append((child, f"{name}.", None))
            elif isinstance(child, ast.ClassDef):
                waiting.append((child, f"{prefix}{child.name}.", child))
            elif isinstance(child, (ast.stmt, ast.ExceptHandler)):
                waiting.append((child, prefix, owner))
    return {name: unit for name, unit in found.items() if name not in twice}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks in it from the top, but not those of definitions in it."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Definition):
            waiting.extend(reversed(_inner(node)))


def _inner(node: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            found += child.body
    return found


def leaves(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block that hold no other statement; neither docstrings nor `pass`."""
    return [node for node in statements(body) if not _inner(node) and not _says_nothing(node)]


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of a block, but not those of definitions and lambdas in it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Definition | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _asked(file: PythonFile) -> Counter[str]:
    """How often each operand of a condition stands in a file."""
    tests = (node.test for node in file.nodes if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)))
    return Counter(ast.dump(part) for test in tests for part in operands(test))


def operands(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what `and`, `or` and `not` join."""
    waiting = [test]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BoolOp):
            waiting += node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            waiting.append(node.operand)
        else:
            yield node


def words(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often each name, attribute and keyword stands in some nodes."""
    found: Counter[str] = Counter()
    for inner in nodes:
        if isinstance(inner, ast.Name):
            found[inner.id] += 1
        elif isinstance(inner, ast.Attribute):
            found[inner.attr] += 1
        elif isinstance(inner, ast.keyword) and inner.arg:
            found[inner.arg] += 1
    return found


def count_calls(body: list[ast.stmt]) -> Counter[str]:
    """How often each function is called in a block, by dotted name; its last part where it hangs on an expression."""
    found: Counter[str] = Counter()
    for node in own_nodes(body):
        if isinstance(node, ast.Call):
            found[name_of_call(node)] += 1
    return found


def name_of_call(node: ast.Call) -> str:
    """The name by which something is called; empty where it has none."""
    return dotted_name(node.func) or (node.func.attr if isinstance(node.func, ast.Attribute) else "")


def names_in(node: ast.AST) -> frozenset[str]:
    """What an expression speaks of: its dotted names, without the functions that it only calls by name."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        name = dotted_name(inner)
        if name:
            found.add(name)
            continue
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            waiting += [*inner.args, *(keyword.value for keyword in inner.keywords)]
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            waiting += [inner.func.value, *inner.args, *(keyword.value for keyword in inner.keywords)]
        else:
            waiting += ast.iter_child_nodes(inner)
    return frozenset(found)


def dumps(nodes: list[ast.stmt]) -> Counter[str]:
    """How often each statement stands in a list, without regard to where."""
    return Counter(ast.dump(node) for node in nodes)


def kept_share(old: list[ast.stmt], new: list[ast.stmt]) -> float:
    """The share of the plain statements of one block that another one still has; 1 where there are none."""
    before, after = dumps(leaves(old)), dumps(leaves(new))
    return (before & after).total() / before.total() if before else 1.0


def short(node: ast.expr) -> str:
    """An expression as a message shows it."""
    text = ast.unparse(node)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


# --- a function on both sides -----------------------------------------------------------------------------------------

MIN_KEPT_SHARE = 0.5
"""Of the plain statements of a function. With fewer of them it was rewritten, and nothing is reported for it."""

CHECKS = re.compile(r"_{0,2}(?:check|validate|verify|require|authorize|ensure|enforce|assert)_[a-z0-9_]{1,60}")
"""Names of functions that stop a caller who is not allowed to go on."""


@dataclass(frozen=True)
class Pair:
    """A function before and after."""

    sides: Sides
    old: Unit
    new: Unit

    @cached_property
    def old_conditions(self) -> Counter[str]:
        """What the old side asks, condition by condition."""
        return Counter(ast.dump(test) for test in _conditions(self.old))

    @cached_property
    def new_conditions(self) -> list[ast.expr]:
        """What the new side asks and the old one did not."""
        return [test for test in _conditions(self.new) if ast.dump(test) not in self.old_conditions]

    @cached_property
    def asked(self) -> set[str]:
        """What the new side asks, or computes in a way that may be asked later on."""
        asked = {ast.dump(test) for test in _conditions(self.new)}
        nodes = (node for node in own_nodes(self.new.node.body) if isinstance(node, ast.expr))
        return asked | {
            ast.dump(node) for node in nodes if not isinstance(node, (ast.Name, ast.Attribute, ast.Constant))
        }

    @cached_property
    def new_calls(self) -> list[ast.Call]:
        """Calls of functions that the old side did not call as often."""
        fresh = count_calls(self.new.node.body) - count_calls(self.old.node.body)
        made = (node for node in own_nodes(self.new.node.body) if isinstance(node, ast.Call))
        return [node for node in made if name_of_call(node) in fresh]

    @cached_property
    def reshaped(self) -> bool:
        """Whether something new wraps the function or a part of it."""
        return bool(_wraps(self.new) - _wraps(self.old))

    @cached_property
    def is_rewritten(self) -> bool:
        """Whether too little of the old function is left to compare it with the new one."""
        return kept_share(self.old.node.body, self.new.node.body) < MIN_KEPT_SHARE

    def may_be_replaced(self, about: frozenset[str]) -> bool:
        """Whether something new mentions the names that a check was about: it may do the check's work."""
        roots = {name.partition(".")[0] for name in about} - {"self", "cls"} | about
        fresh = [*self.new_conditions, *self.new_calls]
        return (
            self.reshaped
            or any(speaks_of(node, roots) for node in fresh)
            or any(CHECKS.fullmatch(name_of_call(node).rpartition(".")[2]) for node in self.new_calls)
            or self._assigned_anew(about)
        )

    def still_uses(self, about: frozenset[str]) -> bool:
        """Whether the new side still handles what a check was about."""
        return bool(names_in(ast.Module(self.new.node.body, [])) & about) or any(
            speaks_of(node, about) for node in self.new.node.body
        )

    def _assigned_anew(self, about: frozenset[str]) -> bool:
        """Whether something that a check was about now comes from elsewhere, as a parameter does whose type changed."""
        both = []
        for unit in (self.old, self.new):
            stores = [node for node in statements(unit.node.body) if any(_sets(node, name) for name in about)]
            both.append((Counter(map(_source, stores)), ast.dump(unit.node.args)))
        return both[0] != both[1]

    def finding(self, rule: str, message: str, gone: ast.stmt | ast.expr) -> SideFinding:
        """Make the finding for something that the function has lost."""
        return SideFinding(rule, message, (gone.lineno, gone.end_lineno or gone.lineno), within=self.new.rows)


def speaks_of(node: ast.AST, about: frozenset[str] | set[str]) -> bool:
    """Whether one of some dotted names, or something behind one, is in a tree."""
    return any(_is_below(name, each) for name in names_in(node) for each in about)


def _is_below(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.") or other.startswith(f"{name}.")


def _sets(node: ast.stmt, name: str) -> bool:
    """Whether a statement gives a dotted name, or what it begins with, another value."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    inner = (each for target in targets if target is not None for each in getattr(target, "elts", [target]))
    return any(name == found or name.startswith(f"{found}.") for found in map(dotted_name, inner) if found)


def _source(node: ast.stmt) -> str:
    """Where a statement takes its value from, as it is written down; of a loop what it goes through."""
    return ast.dump(node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node)


def _wraps(unit: Unit) -> Counter[str]:
    """What stands around a function or a part of it: decorators, what `with` enters, the kinds of errors caught."""
    found = Counter(ast.dump(node) for node in unit.node.decorator_list)
    for node in own_nodes(unit.node.body):
        if isinstance(node, ast.withitem):
            found[ast.dump(node.context_expr)] += 1
        elif isinstance(node, ast.ExceptHandler):
            found[ast.dump(node.type) if node.type else "everything"] += 1
    return found


def _conditions(unit: Unit) -> Iterator[ast.expr]:
    """Yield everything that a function asks, each operand of `and`, `or` and `not` on its own."""
    for node in own_nodes(unit.node.body):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            yield from operands(node.test)
        elif isinstance(node, ast.comprehension):
            yield from (part for test in node.ifs for part in operands(test))
        elif isinstance(node, ast.Match):
            yield node.subject
