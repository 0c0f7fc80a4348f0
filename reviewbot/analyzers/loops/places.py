"""Model the scopes and loops of a piece of Python, and make findings about loops with their rows."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from reviewbot.analyzers.loops.name_chains import chain_of
from reviewbot.analyzers.python.views import Budget, FlowStep, Found, below, parts
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import words_in

LoopNode = ast.For | ast.AsyncFor | ast.While | ast.comprehension
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

MUTATORS = words_in("names/loops", "mutators")
"""Methods that change what they are called on."""

_HARMLESS = words_in("names/loops", "harmless")
"""Functions that leave their arguments as they are."""

_PAUSES = frozenset({"sleep", "throttle", "backoff", "acquire", "wait", "pause"})
_SHOWN = 40
"""Characters of a name in a message."""


class Binding(NamedTuple):
    """One place where a name is bound: to a value, by an annotation, or, with neither, to something unknown."""

    value: ast.expr | None = None
    annotation: ast.expr | None = None


@dataclass
class LoopScope:
    """A module, a class or a function."""

    node: ast.AST
    parent: LoopScope | None = None
    imports: dict[str, str] = field(default_factory=dict)
    """Those of the whole piece of code; one mapping for all its scopes."""
    bindings: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    growths: dict[str, list[tuple[Loop, ...]]] = field(default_factory=lambda: defaultdict(list))
    """The loops around each place where a name gets one more element."""

    @property
    def waits(self) -> bool:
        """Whether its code runs on an event loop."""
        return isinstance(self.node, ast.AsyncFunctionDef)

    def holder(self, name: str) -> LoopScope | None:
        """The innermost scope that binds a name."""
        scope: LoopScope | None = self
        while scope is not None and name not in scope.bindings:
            scope = scope.parent
        return scope

    def bindings_of(self, name: str) -> list[Binding]:
        """All bindings of a name, in the innermost scope that has one."""
        holder = self.holder(name)
        return [] if holder is None else holder.bindings[name]

    def self_holder(self) -> LoopScope:
        """The scope that holds what a method puts on `self`: its class, or itself outside of any."""
        around: LoopScope | None = self
        while around is not None and not isinstance(around.node, ast.ClassDef):
            around = around.parent
        return around or self


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop or one `for` of a comprehension. `turn` is what runs in each of its turns."""

    node: LoopNode
    row: int
    turn: tuple[ast.AST, ...]
    scope: LoopScope
    budget: Budget

    @property
    def iterated(self) -> ast.expr | None:
        """The expression that a `for` loop iterates over; None for `while`."""
        return None if isinstance(self.node, ast.While) else self.node.iter

    @property
    def target(self) -> ast.expr | None:
        """The target of a `for` loop; None for `while`."""
        return None if isinstance(self.node, ast.While) else self.node.target

    @property
    def each(self) -> str:
        """For each of what, in a few words."""
        if isinstance(self.target, ast.Name) and self.target.id != "_":
            return f"for each `{self.target.id[:_SHOWN]}`"
        over = dotted_name(self.iterated)
        return f"for each element of `{over[:_SHOWN]}`" if over else "in each turn of the loop"

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in one turn."""
        found = tuple(node for part in self.turn for node in below(part))
        self.budget.spend(len(found))
        return found

    @cached_property
    def targets(self) -> frozenset[str]:
        """The names that take each element."""
        if self.target is None:
            return frozenset()
        return frozenset(node.id for node in below(self.target) if isinstance(node, ast.Name))

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that may stand for another thing in each turn."""
        return frozenset(self.stores) | self.targets

    @cached_property
    def touched(self) -> frozenset[str]:
        """The names, also dotted ones, whose thing may have been changed at the end of a turn."""
        return frozenset(name for node in self.nodes for name in _changed_by(node)) | self.bound

    @cached_property
    def leaves(self) -> bool:
        """Whether a turn may be the last one though there is more."""
        return any(isinstance(node, ast.Break | ast.Return) for part in self.turn for node in _own(part))

    @cached_property
    def pauses(self) -> bool:
        """Whether it waits on purpose between two turns."""
        return any(isinstance(node, ast.Call) and chain_of(node.func).last in _PAUSES for node in self.nodes)

    @cached_property
    def stores(self) -> Counter[str]:
        """How often each name is bound in one turn, as written."""
        return Counter(
            node.id for node in self.nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        )

    def same_in_each_turn(self, node: ast.expr) -> bool:
        """Whether a literal, or a name of a text or of something else that cannot change, is the same in all turns."""
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id not in self.bound)

    def varies(self, node: ast.AST) -> bool:
        """Whether an expression may have another value in each turn."""
        names = [part.id for part in below(node) if isinstance(part, ast.Name)]
        self.budget.spend(len(names))
        return any(name in self.bound for name in names)

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The names that get another thing in each turn; `+=` makes the same list longer."""
        longer = Counter(
            node.target.id
            for node in self.nodes
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        )
        return frozenset(self.stores - longer) | self.targets


def _changed_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield from _prefixes(node.value)
        yield dotted_name(node)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            yield dotted_name(node.func.value)
        if dotted_name(node.func) not in _HARMLESS:
            yield from (arg.id for arg in (*node.args, *(k.value for k in node.keywords)) if isinstance(arg, ast.Name))


def _prefixes(node: ast.expr) -> Iterator[str]:
    """The names that an assignment to a part of something changes."""
    chain = chain_of(node)
    if chain.root:
        yield chain.root
    yield dotted_name(node)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The statements under a node that leave the loop around it, and those that they stand in.

    What stands in a function of its own does not; a `break` in a loop of its own does not, but a `return` there does.
    """
    stack: list[tuple[ast.AST, bool]] = [(node, False)]
    while stack:
        here, inner = stack.pop()
        if isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            continue
        if not (inner and isinstance(here, ast.Break)):
            yield here
        inner = inner or isinstance(here, ast.For | ast.AsyncFor | ast.While)
        stack += [(child, inner) for child in parts(here)]


def finding_in_loop(rule: str, node: ast.AST, loop: Loop, message: str) -> Found:
    """A finding about what one turn of a loop costs; its flow names the loop."""
    row = getattr(node, "lineno", loop.row)
    return Found(
        rule,
        row,
        getattr(node, "end_lineno", None) or row,
        message,
        (FlowStep(loop.row, loop.each), FlowStep(row, "once each time")),
        node,
    )
