"""The parameters of a function, and whether a call fits them."""

from __future__ import annotations

import ast
from typing import NamedTuple

from reviewbot.analyzers.both_sides.sides import Unit
from reviewbot.context.python_text import Function, dotted

_PLAIN = ("staticmethod", "classmethod", "cache", "lru_cache", "contextmanager", "asynccontextmanager",
          "abstractmethod", "override", "deprecated", "wraps")  # fmt: skip
_HARMLESS = frozenset(
    {f"{module}{name}" for name in _PLAIN for module in ("", "functools.", "contextlib.", "abc.", "typing.")}
)
"""Decorators that leave the parameters as they are. Any other may take or give some."""


class Parameters(NamedTuple):
    """What a call may and must hand in; `self` and `cls` are left out."""

    positional: tuple[str, ...]
    required: frozenset[str]
    by_name: frozenset[str]
    """All that may be handed in by name."""
    more_positions: bool
    """It takes `*args`."""
    more_names: bool
    """It takes `**kwargs`."""


def parameters(unit: Unit) -> Parameters | None:
    """What a caller of a function may hand in; None where a decorator may have changed that."""
    names = [decorator_name(decorator) for decorator in unit.node.decorator_list]
    if not set(names) <= _HARMLESS:
        return None
    args = unit.node.args
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    required = set(positional[: len(positional) - len(args.defaults)])
    bound = unit.owner is not None and "staticmethod" not in names
    if bound and not positional:
        return None
    kept = positional[1:] if bound else positional
    named = {arg.arg for arg in args.kwonlyargs}
    required |= {arg.arg for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None}
    alone = max(0, len(args.posonlyargs) - bound)
    return Parameters(
        positional=tuple(kept),
        required=frozenset(required & ({*kept} | named)),
        by_name=frozenset(kept[alone:]) | named,
        more_positions=args.vararg is not None,
        more_names=args.kwarg is not None,
    )


def misfit(call: ast.Call, wanted: Parameters) -> str | None:
    """Why a call cannot work, in a few words; empty where it fits, None where that cannot be determined."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
        return None
    given = {word.arg for word in call.keywords if word.arg}
    filled = set(wanted.positional[: len(call.args)])
    if len(call.args) > len(wanted.positional) and not wanted.more_positions:
        return f"it takes {_some(len(wanted.positional))} by position and gets {len(call.args)}"
    if not wanted.more_names and (unknown := sorted(given - wanted.by_name)):
        return f"it has no parameter `{unknown[0]}` to be given by name"
    if twice := sorted(given & filled & wanted.by_name):
        return f"`{twice[0]}` is given twice"
    missing = [
        name
        for name in (*wanted.positional, *sorted(wanted.required))
        if name in wanted.required - filled - (given & wanted.by_name)
    ]
    return f"`{missing[0]}` is missing" if missing else ""


def swapped(call: ast.Call, old: Parameters, new: Parameters) -> str | None:
    """The argument that a call hands by position to another parameter than before, though both parameters remain."""
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    for arg, before, after in zip(call.args, old.positional, new.positional, strict=False):
        moved = before != after and before in new.positional and after in old.positional
        if moved and dotted(arg).rpartition(".")[2] != after:
            return f"`{ast.unparse(arg)[:60]}` was `{before}` and is now taken as `{after}`"
    return None


def decorator_name(node: ast.expr) -> str:
    """The dotted name of a decorator, called or not."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def returned(node: Function) -> int | None:
    """How many values a function always returns as a tuple; None where it is none, varies or is not known."""
    sizes: set[int] = set()
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, (ast.Yield, ast.YieldFrom)):
            return None
        if isinstance(inner, ast.Return):
            plain = isinstance(inner.value, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in inner.value.elts)
            sizes.add(len(inner.value.elts) if plain and isinstance(inner.value, ast.Tuple) else -1)
        if not isinstance(inner, (Function, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(inner))
    return sizes.pop() if len(sizes) == 1 and -1 not in sizes else None


def _some(count: int) -> str:
    return f"{count} argument" if count == 1 else f"{count} arguments"
