"""Find functions whose callers no longer fit them: parameters, `async`, and the number of returned values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.callers import callers, namesake_calls, places, unchanged
from reviewbot.analyzers.both_sides.sides import Rows, SideFinding, Sides, Unit
from reviewbot.analyzers.both_sides.signatures import Parameters, misfit, parameters, returned, swapped
from reviewbot.analyzers.python.views import Budget
from reviewbot.context.uses import Use
from reviewbot.wording import counted

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
        sizes = returned(old.node), returned(new.node)
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
    moved = [(use, why) for use in uses if use.call and (why := swapped(use.call, *both)) and unchanged(sides, use)]
    if moved:
        message = f"`{new.name}` takes its arguments in another order now, and not so at {places(moved)}"
        yield SideFinding("parameters-swapped", message, _head(old), _head(new), new.rows)
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
    size = returned(new.node)
    wrong = [(use, f"takes {count}") for use in uses if (count := _unpacked(use)) is not None and count != size]
    if wrong and size is not None:
        ends = [node for node in ast.walk(new.node) if isinstance(node, ast.Return)]
        spot = ends[0].lineno, ends[0].end_lineno or ends[0].lineno
        message = f"`{new.name}` returns {counted(size, 'value')} now, and not so many are taken at {places(wrong)}"
        gone = [node for node in ast.walk(old.node) if isinstance(node, ast.Return)]
        yield SideFinding(
            "return-changed", message, (gone[0].lineno, gone[0].end_lineno or gone[0].lineno), spot, new.rows
        )


def _head(unit: Unit) -> Rows:
    """The rows from the word `def` to the colon."""
    return unit.node.lineno, max(unit.node.lineno, unit.node.body[0].lineno - 1)


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
