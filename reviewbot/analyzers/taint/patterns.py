"""Decide which patterns of a `match` a value takes for certain, or never."""

from __future__ import annotations

import ast

from reviewbot.analyzers.taint.scopes import Scope
from reviewbot.analyzers.taint.values import Value


def never(case: ast.match_case, subject: Value) -> bool:
    """Whether a constant is none of those that a case is for."""
    constants = constants_of(case.pattern)
    return subject.known and constants is not None and subject.const not in constants


def always(case: ast.match_case, subject: Value) -> bool:
    """Whether no later case is looked at: this one takes everything, or the constant that it is for."""
    if case.guard is not None:
        return False
    constants = constants_of(case.pattern)
    takes_all = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
    return takes_all or (subject.known and constants is not None and subject.const in constants)


def constants_of(pattern: ast.pattern) -> list[object] | None:
    """The constants that a pattern stands for; None where it is no list of constants."""
    found: list[object] = []
    for option in pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]:
        if isinstance(option, ast.MatchSingleton):
            found.append(option.value)
        elif isinstance(option, ast.MatchValue) and isinstance(option.value, ast.Constant):
            found.append(option.value.value)
        else:
            return None
    return found


def bind_names(pattern: ast.pattern, subject: Value, scope: Scope) -> int:
    """Give the names of a pattern the whole value that is matched; how many nodes the pattern has."""
    nodes = list(ast.walk(pattern))
    for node in nodes:
        name = node.name if isinstance(node, (ast.MatchAs, ast.MatchStar)) else None
        if isinstance(node, ast.MatchMapping):
            name = node.rest
        if name is not None:
            scope.set(name, subject)
    return len(nodes)
