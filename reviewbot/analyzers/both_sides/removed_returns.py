"""Find functions that returned a value before and return none any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.callers import callers, places
from reviewbot.analyzers.both_sides.pair import Pair
from reviewbot.analyzers.both_sides.sides import SideFinding, leaves, own_nodes
from reviewbot.analyzers.python.views import Budget
from reviewbot.context.uses import Use


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
