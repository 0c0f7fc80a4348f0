"""A function on both sides, and what is new in it that may do the work of what is gone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from reviewbot.analyzers.both_sides.sides import (
    SideFinding,
    Sides,
    Unit,
    count_calls,
    kept_share,
    name_of_call,
    names_in,
    operands,
    own_nodes,
    statements,
)
from reviewbot.context.python_text import dotted_name

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
