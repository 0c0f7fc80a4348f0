"""Resolve members of the objects that a framework passes in: the request, and its handler."""

from __future__ import annotations

import ast

from reviewbot.analyzers.taint.flow import Flow, Here, is_request, nothing, source
from reviewbot.analyzers.taint.places import shown
from reviewbot.analyzers.taint.values import CLEAN, Value

_LONGEST_PATH = 150
"""Characters of a dotted name; a longer one is no name that a table knows."""


class Members:
    """Finds what members of requests, handlers and inherited classes are."""

    def __init__(self, flow: Flow, here: Here) -> None:
        self._flow = flow
        self._here = here

    def of(self, node: ast.Attribute, base: Value) -> Value | None:
        """What a request or a handler holds under a name; None where it is neither."""
        words = self._flow.knowledge.words
        if is_request(base.path, self._flow.knowledge):
            if node.attr in words["request.route"] and self._here.fixed_route:
                return CLEAN
            if self._flow.in_request(base.path, node.attr):
                return self._flow.requested(node, node.attr)
            return nothing(f"request.{node.attr}") if node.attr == "session" else None
        owner = self._here.function.owner if self._here.function is not None else ""
        if not owner or base.path != f"{owner}()":
            return None
        if node.attr == "request":
            return nothing("request")
        if node.attr in words["handler.members"] and self._flow.is_handler(owner):
            return source("remote", node, shown(node))
        return self._flow.fields.get((owner, node.attr))

    def dotted(self, base: Value, name: str) -> str:
        """The dotted name of a member; of what a class inherits from elsewhere, by the name of the class there."""
        if not 0 < len(base.path) < _LONGEST_PATH:
            return ""
        owner = base.path.removesuffix("()")
        if owner in self._flow.bases and self._flow.method(owner, name) < 0:
            foreign = next((path for path in self._flow.bases[owner] if "." in path), owner)
            return f"{foreign}.{name}"
        return f"{base.path}.{name}"
