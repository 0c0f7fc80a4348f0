"""Find callers that no longer fit a function: its parameters, `async`, or the number of values that it returns.

A caller is one that imports and classes identify for certain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewbot.analyzers.both_sides.sides import Rows, SideFinding, Sides, Unit
from reviewbot.analyzers.python.views import Budget
from reviewbot.context.python_text import Function, dotted_name
from reviewbot.context.uses import MAX_FOUND, Use, imported_uses, own_uses, python_file
from reviewbot.diff.paths import is_test
from reviewbot.wording import with_count

SHOWN = 3
"""Places that a message names."""

_STEPS_PER_FILE = 5_000
"""What parsing a file and looking for its imports is counted as."""

_MIN_NAME_CHARS = 8
"""Characters. A shorter name of a method is shared by unrelated classes."""

_PLAIN = ("staticmethod", "classmethod", "cache", "lru_cache", "contextmanager", "asynccontextmanager",
          "abstractmethod", "override", "deprecated", "wraps")  # fmt: skip
_HARMLESS = frozenset(
    {f"{module}{name}" for name in _PLAIN for module in ("", "functools.", "contextlib.", "abc.", "typing.")}
)
"""Decorators that leave the parameters as they are. Any other may take or give some."""


def callers(sides: Sides, unit: Unit, budget: Budget) -> list[Use]:
    """The uses of a function on the new side that are certainly uses of it; those in tests last."""
    found: list[Use] = []
    if unit.owner is None:
        found = [] if "." in unit.name else symbol_uses(sides, unit.short, 1, budget)
    elif unit.short == "__init__" and _builds_plainly(unit.owner) and unit.name.count(".") == 1:
        found = symbol_uses(sides, unit.owner.name, 1, budget)
    elif not is_dunder(unit.short):
        found = own_method_uses(sides, unit.owner, unit.short)
        if unit.name.count(".") == 1:
            found += _annotated_uses(symbol_uses(sides, unit.owner.name, 1, budget), unit.short)
    return sorted(found, key=lambda use: (is_test(use.file.path), use.file.path, use.row))


def symbol_uses(sides: Sides, symbol: str, bindings: int, budget: Budget) -> list[Use]:
    """Where a name of the file's top level is used on the new side; `bindings`: how often the file still binds it."""
    found = list(own_uses(sides.new, symbol, bindings=bindings))
    for file in sides.library.files_with(symbol, but=sides.path, module=sides.path):
        budget.spend(_STEPS_PER_FILE)
        found += imported_uses(file, sides.path, symbol, sides.snapshot)
    return found


def own_method_uses(sides: Sides, owner: ast.ClassDef, name: str) -> list[Use]:
    """Where a class asks `self` or `cls` for a method of its own; nothing where it also assigns to that name."""
    file = sides.new
    inside = [node for each in file.tree.body if isinstance(each, ast.ClassDef) and each.name == owner.name
              for node in ast.walk(each) if isinstance(node, ast.Attribute) and node.attr == name]  # fmt: skip
    if any(not isinstance(node.ctx, ast.Load) for node in inside):
        return []
    return [
        Use(file, node, node.lineno)
        for node in inside
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    ]


def _annotated_uses(uses: Iterable[Use], name: str) -> Iterator[Use]:
    """Yield where functions ask a parameter that is annotated with a class for a method of it."""
    for use in uses:
        parameter = use.file.parents.get(use.node)
        if not isinstance(parameter, ast.arg) or parameter.annotation is not use.node:
            continue
        function = next((each for each in use.file.above(use.node) if isinstance(each, Function)), None)
        if function is None or _is_bound_again(function, parameter.arg):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr == name and dotted_name(node.value) == parameter.arg:
                yield Use(use.file, node, node.lineno)


def _is_bound_again(function: ast.AST, name: str) -> bool:
    """Whether a function gives one of its parameters another value."""
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function))


def namesake_calls(sides: Sides, name: str, definitions: int, budget: Budget) -> Iterator[Use]:
    """Yield calls of any object's method of a rare name, where all files together have so many definitions of it."""
    if len(name) < _MIN_NAME_CHARS or "_" not in name.strip("_") or is_dunder(name):
        return
    lines = sides.snapshot.search(name, MAX_FOUND)
    if lines is None or len(lines) == MAX_FOUND:
        return
    defines = re.compile(rf"\bdef {re.escape(name)}\b|\b{re.escape(name)}\s{{0,4}}[:=](?!=)")
    if sum(1 for line in lines if defines.search(line.text)) != definitions:
        return
    for file in (sides.new, *sides.library.files_with(name, but=sides.path)):
        budget.spend(_STEPS_PER_FILE)
        for node in file.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
                yield Use(file, node.func, node.lineno)


def is_dunder(name: str) -> bool:
    """Whether Python itself may call it."""
    return name.startswith("__") and name.endswith("__")


def is_unchanged(sides: Sides, use: Use) -> bool:
    """Whether the call of a use was written the same on the old side."""
    before = sides.old if use.file is sides.new else python_file(use.file.path, sides.snapshot.base(use.file.path))
    if before is None or use.call is None:
        return False
    written = ast.dump(use.call)
    return any(ast.dump(node) == written for node in before.nodes if isinstance(node, ast.Call))


def places(uses: Iterable[tuple[Use, str]]) -> str:
    """Some places for a message, with the reason of each, and how many more there are."""
    known = list(dict.fromkeys(f"{use.place} ({why})" if why else use.place for use, why in uses))
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return ", ".join(known[:SHOWN]) + more


def _builds_plainly(owner: ast.ClassDef) -> bool:
    """Whether calling the class hands all arguments to `__init__` and to nothing else."""
    special = {node.name for node in owner.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    return not owner.decorator_list and not owner.keywords and not special & {"__new__", "__class_getitem__"}


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
        most = with_count(len(wanted.positional), "argument")
        return f"it takes {most} by position and gets {len(call.args)}"
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


def find_swapped(call: ast.Call, old: Parameters, new: Parameters) -> tuple[str, str] | None:
    """The parameter that takes an argument by position whose own one is still there, and how that came."""
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    for arg, before, after in zip(call.args, old.positional, new.positional, strict=False):
        moved = before != after and before in new.positional
        if moved and dotted_name(arg).rpartition(".")[2] != after:
            return after, f"`{ast.unparse(arg)[:60]}` was `{before}` and is now taken as `{after}`"
    return None


def decorator_name(node: ast.expr) -> str:
    """The dotted name of a decorator, called or not."""
    return dotted_name(node.func if isinstance(node, ast.Call) else node)


def count_returned(node: Function) -> int | None:
    """How many values a function always returns as a tuple; None where it returns no tuple, varies or is not known."""
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


_NEVER_AWAITABLE = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Compare, ast.ListComp,
                    ast.DictComp, ast.SetComp)  # fmt: skip


def stale_callers(sides: Sides, budget: Budget) -> Iterator[SideFinding]:
    """Yield changed functions that have calls which no longer fit them."""
    for old, new in sides.pairs:
        before, after = parameters(old), parameters(new)
        if before is None or after is None:
            continue
        differs = before != after
        turned = isinstance(old.node, ast.AsyncFunctionDef) != isinstance(new.node, ast.AsyncFunctionDef)
        sizes = count_returned(old.node), count_returned(new.node)
        resized = None not in sizes and sizes[0] != sizes[1]
        if not (differs or turned or resized):
            continue
        uses = [use for use in callers(sides, new, budget) if use.call and not use.file.is_lenient(use.node)]
        if differs:
            yield from _check_parameters(sides, (old, new), (before, after), uses, budget)
        if turned:
            yield from _check_async(old, new, uses)
        if resized:
            yield from _check_values(old, new, uses)


def _check_parameters(
    sides: Sides, pair: tuple[Unit, Unit], both: tuple[Parameters, Parameters], uses: list[Use], budget: Budget
) -> Iterator[SideFinding]:
    old, new = pair
    stale = _misfits(uses, both)
    if stale:
        message = f"`{new.name}` no longer takes what is handed to it at {places(stale)}"
        yield SideFinding("signature-changed", message, _head(old), _head(new), new.rows)
        return
    moved = [
        (use, found)
        for use in uses
        if use.call and (found := find_swapped(use.call, *both)) and is_unchanged(sides, use)
    ]
    if moved:
        message = f"`{new.name}` takes its arguments in another order now, and not so at "
        message += places((use, why) for use, (_, why) in moved)
        yield SideFinding("parameters-swapped", message, _head(old), _row_of(new, moved[0][1][0]), new.rows)
    elif new.owner is not None:
        guessed = _misfits(list(namesake_calls(sides, new.short, 1, budget)), both)
        if guessed:
            message = f"`{new.name}` seems to be called in its old form at {places(guessed)}"
            yield SideFinding("signature-changed-by-name", message, _head(old), _head(new), new.rows)


def _misfits(uses: list[Use], both: tuple[Parameters, Parameters]) -> list[tuple[Use, str]]:
    """The calls that fitted before and do not fit any more, each with the reason."""
    found = ((use, use.call) for use in uses)
    return [
        (use, why) for use, call in found if call and misfit(call, both[0]) == "" and (why := misfit(call, both[1]))
    ]


def _check_async(old: Unit, new: Unit, uses: list[Use]) -> Iterator[SideFinding]:
    if isinstance(new.node, ast.AsyncFunctionDef):
        wrong = [(use, "") for use in uses if _takes_the_value(use)]
        message = f"`{new.name}` is a coroutine function now, and its result is not awaited at {places(wrong)}"
    else:
        wrong = [(use, "") for use in uses if _is_awaited(use)] if _returns_no_awaitable(new) else []
        message = f"`{new.name}` is no coroutine function any more, and is still awaited at {places(wrong)}"
    if wrong:
        yield SideFinding("async-changed", message, _head(old), _head(new), new.rows)


def _check_values(old: Unit, new: Unit, uses: list[Use]) -> Iterator[SideFinding]:
    size = count_returned(new.node)
    wrong = [(use, f"takes {count}") for use in uses if (count := _unpacked(use)) is not None and count != size]
    if wrong and size is not None:
        ends = [node for node in ast.walk(new.node) if isinstance(node, ast.Return)]
        spot = ends[0].lineno, ends[0].end_lineno or ends[0].lineno
        message = f"`{new.name}` returns {with_count(size, 'value')} now, and not so many are taken at {places(wrong)}"
        gone = [node for node in ast.walk(old.node) if isinstance(node, ast.Return)]
        yield SideFinding(
            "return-changed", message, (gone[0].lineno, gone[0].end_lineno or gone[0].lineno), spot, new.rows
        )


def _head(unit: Unit) -> Rows:
    """The rows from the word `def` to the colon."""
    return unit.node.lineno, max(unit.node.lineno, unit.node.body[0].lineno - 1)


def _row_of(unit: Unit, parameter: str) -> Rows:
    """The row of a parameter."""
    args = unit.node.args
    row = next((arg.lineno for arg in (*args.posonlyargs, *args.args) if arg.arg == parameter), unit.node.lineno)
    return row, row


def _takes_the_value(use: Use) -> bool:
    """Whether a call's result is used at once in a way that no coroutine bears, or is thrown away."""
    call = use.call
    parent = use.file.parents.get(call) if call else None
    if isinstance(parent, (ast.If, ast.While)):
        return parent.test is call
    if isinstance(parent, (ast.Attribute, ast.Subscript)):
        return parent.value is call
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is call
    return isinstance(parent, (ast.Expr, ast.BinOp, ast.Compare, ast.UnaryOp, ast.FormattedValue, ast.Starred))


def _is_awaited(use: Use) -> bool:
    return use.call is not None and isinstance(use.file.parents.get(use.call), ast.Await)


def _returns_no_awaitable(unit: Unit) -> bool:
    ends = [node.value for node in ast.walk(unit.node) if isinstance(node, ast.Return)]
    return all(value is None or isinstance(value, _NEVER_AWAITABLE) for value in ends)


def _unpacked(use: Use) -> int | None:
    """Into how many names a call's result is taken apart; None where it is not, or where a star takes the rest."""
    parent = use.file.parents.get(use.call) if use.call else None
    if isinstance(parent, ast.Await):
        parent = use.file.parents.get(parent)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], (ast.Tuple, ast.List)):
        return None
    names = parent.targets[0].elts
    return None if any(isinstance(name, ast.Starred) for name in names) else len(names)
