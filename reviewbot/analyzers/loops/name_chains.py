"""Name expressions: chains of names as written, and with the module that their first name was imported from."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import NamedTuple

from reviewbot.context.python_text import dotted_name, imported_names

_MAX_CHAIN = 40
"""Links. A longer chain of calls is data in the form of code."""

_SHOWN = 60
"""Characters of a name in a message."""

_WORD = re.compile(r"[a-z]{1,40}")


class Chain(NamedTuple):
    """A chain of attributes, calls and subscripts, such as `Order.objects.filter(x).first()`."""

    root: str
    """The name that it begins with; empty where it begins with something else."""
    names: tuple[str, ...]
    """The attributes in the order in which they are read."""
    called: frozenset[str]
    """Those of them that are called."""

    @property
    def last(self) -> str:
        """What is asked for in the end."""
        return self.names[-1] if self.names else self.root

    @property
    def owner(self) -> str:
        """The name right before the last one: what is asked."""
        return self.names[-2] if len(self.names) > 1 else self.root

    @property
    def text(self) -> str:
        """The chain for a message, without what stands in brackets."""
        text = ".".join(name for name in (self.root, *self.names) if name)
        return text if len(text) <= _SHOWN else f"…{text[-_SHOWN:]}"


def chain_of(node: ast.expr) -> Chain:
    """The chain that an expression is."""
    names: list[str] = []
    called: set[str] = set()
    in_call = False
    for _ in range(_MAX_CHAIN):
        if isinstance(node, ast.Call):
            node, in_call = node.func, True
            continue
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            if in_call:
                called.add(node.attr)
            node = node.value
        elif isinstance(node, ast.Await | ast.Subscript):
            node = node.value
        else:
            break
        in_call = False
    root = node.id if isinstance(node, ast.Name) else ""
    return Chain(root, tuple(reversed(names)), frozenset(called))


def qualify(node: ast.AST, imports: Mapping[str, str]) -> str:
    """A dotted name with the module that it was imported from in front; empty where its first name is no import."""
    name = dotted_name(node)
    first, dot, rest = name.partition(".")
    return f"{imports[first]}{dot}{rest}" if first in imports else ""


def modules(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """What an import binds from elsewhere: neighbours in the same package stand for no library."""
    return [(name, source) for name, source in imported_names(node) if not source.startswith(".")]


def words(name: str) -> frozenset[str]:
    """The words that a name is made of, in lower case and in the singular."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name[:200]).lower()
    found = _WORD.findall(spaced)
    return frozenset(found) | {word.removesuffix("s") for word in found} | {word.removesuffix("es") for word in found}
