"""Find costs per turn of a loop, operations quadratic in the size of the data, and calls that block an event loop.

A pure check of syntax trees. It believes names: of imports, of methods of common libraries, of what is bound.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.loops.growth import growth
from reviewbot.analyzers.loops.per_item import per_item
from reviewbot.analyzers.loops.waiting import awaits, blockers, blocking, quiet_sockets
from reviewbot.analyzers.loops.walk import walk
from reviewbot.analyzers.python.views import Budget, Found, View
from reviewbot.diff.paths import is_run_by_hand, is_test

_MIGRATIONS = re.compile(r"(?:^|/)(?:migrations|alembic|versions|seeds?)/")

_MAY_COST = re.compile(r"\b(?:for|while|async|sum|iterrows)\b")
"""One of these words stands in every text that any rule speaks of."""

_COSTLY = frozenset({ast.Call, ast.Await, ast.Compare, ast.Assign, ast.AugAssign})
"""The kinds of nodes that a rule speaks of."""


def loop_costs(view: View, budget: Budget) -> Iterator[Found]:
    """All costs of one piece of Python that stand on rows which the change added."""
    if is_test(view.path) or not _MAY_COST.search(view.text):
        return
    by_hand = is_run_by_hand(view.path) or bool(_MIGRATIONS.search(view.path))
    sites = walk(view.tree, budget, whole=view.whole)
    known, quiet = blockers(sites), quiet_sockets(sites)
    connected: set[int] = set()
    for site in sites:
        node = site.node
        if type(node) not in _COSTLY:
            continue
        budget.spend()
        if _is_added(node, view.added):
            yield from (*per_item(site, by_hand=by_hand), *growth(site), *awaits(site))
        if not (site.place.scope.waits and isinstance(node, ast.Call)):
            continue
        for found in blocking(site, known, quiet):
            # One driver is one defect of a coroutine, however often it is asked there.
            scope = id(site.place.scope)
            if found.rule != "blocking-driver" or scope not in connected:
                yield found
            if found.rule == "blocking-driver":
                connected.add(scope)


def _is_added(node: ast.AST, added: frozenset[int]) -> bool:
    """Whether the change added a row of the costly operation itself: a loop around it alone is not what costs.

    Code that is put into a loop moves to the right, and with that its rows are added.
    """
    return isinstance(node, ast.expr | ast.stmt) and any(
        row in added for row in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
