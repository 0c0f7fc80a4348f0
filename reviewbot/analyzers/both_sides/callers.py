"""Find the callers of a function, as far as imports and classes identify them for certain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from reviewbot.analyzers.both_sides.sides import Sides, Unit
from reviewbot.analyzers.python.views import Budget
from reviewbot.context.uses import MAX_FOUND, Use, imported_uses, own_uses, python_file
from reviewbot.diff.paths import is_test

SHOWN = 3
"""Places that a message names."""

_STEPS_PER_FILE = 5_000
"""What parsing a file and looking for its imports is counted as."""

_LEAST_NAME = 8
"""Characters. A shorter name of a method is shared by unrelated classes."""


def callers(sides: Sides, unit: Unit, budget: Budget) -> list[Use]:
    """The uses of a function on the new side that are certainly uses of it; those in tests last."""
    found: list[Use] = []
    if unit.owner is None:
        found = [] if "." in unit.name else symbol_uses(sides, unit.short, 1, budget)
    elif unit.short == "__init__" and _builds_plainly(unit.owner) and unit.name.count(".") == 1:
        found = symbol_uses(sides, unit.owner.name, 1, budget)
    elif not is_dunder(unit.short):
        found = own_method_uses(sides, unit.owner, unit.short)
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


def namesake_calls(sides: Sides, name: str, definitions: int, budget: Budget) -> Iterator[Use]:
    """Yield calls of any object's method of a rare name, where all files together have so many definitions of it."""
    if len(name) < _LEAST_NAME or "_" not in name.strip("_") or is_dunder(name):
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


def unchanged(sides: Sides, use: Use) -> bool:
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
