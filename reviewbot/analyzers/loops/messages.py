"""Build the findings about loops, with their rows."""

from __future__ import annotations

import ast

from reviewbot.analyzers.loops.places import Loop
from reviewbot.analyzers.python.views import Found, Step


def finding_in_loop(rule: str, node: ast.AST, loop: Loop, message: str) -> Found:
    """A finding about what one turn of a loop costs; its flow names the loop."""
    row = getattr(node, "lineno", loop.row)
    return Found(
        rule,
        row,
        getattr(node, "end_lineno", None) or row,
        message,
        (Step(loop.row, loop.each), Step(row, "once each time")),
        node,
    )
