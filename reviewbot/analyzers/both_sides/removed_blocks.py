"""Find removed blocks whose content is still executed: locks, closing of resources, handlers of errors."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.sides import (
    Pair,
    SideFinding,
    Unit,
    count_calls,
    dumps,
    leaves,
    name_of_call,
    own_nodes,
    rows_of,
    short,
    speaks_of,
)
from reviewbot.context.python_text import dotted_name
from reviewbot.context.uses import PythonFile

_LOCK = re.compile(r"(?:[A-Za-z0-9_]{0,60}_)?r?(?:lock|rwlock|mutex|semaphore)[0-9_]{0,3}|[A-Za-z0-9]{0,60}Lock")
_CLOSING = frozenset(
    {"close", "release", "rollback", "unlock", "shutdown", "terminate", "disconnect", "aclose", "cleanup"}
)
_KEEPING = frozenset({"enter_context", "push", "callback", "append", "add", "closing", "finalize", "setdefault"})
"""What is called to have something closed later on."""

_CHANGES = (ast.AugAssign, ast.Delete)


def removed_locks(pair: Pair) -> Iterator[SideFinding]:
    """Yield locks that a function took before it did what it does without them now."""
    now = dumps(leaves(pair.new.node.body))
    other_way = type(pair.old.node) is not type(pair.new.node) or pair.new.short == "__init__" or pair.new_calls
    taken = any(_is_lock(node) for node in own_nodes(pair.new.node.body) if isinstance(node, ast.expr))
    if pair.reshaped or other_way or taken:
        return
    for node in own_nodes(pair.old.node.body):
        if not isinstance(node, (ast.With, ast.AsyncWith)):
            continue
        lock = next((item.context_expr for item in node.items if _is_lock(item.context_expr)), None)
        held = leaves(node.body)
        if lock is None or dumps(held) - now or not any(_changes(each) for each in held):
            continue
        before, after = _withs(pair.sides.old, lock), _withs(pair.sides.new, lock)
        if len(after) >= len(before) or _is_called_in(pair, after):
            continue  # another block, or a caller, takes the lock
        name = short(lock)
        rule, why = "removed-lock", "and other places in this file still take it"
        if not after:
            rule, why = "removed-lock-by-name", "and nothing in this file takes it any more"
        yield pair.finding(
            rule, f"`{pair.new.name}` does the same without holding `{name}`, {why}", node.items[0].context_expr
        )


def _is_lock(node: ast.expr) -> bool:
    name = name_of_call(node) if isinstance(node, ast.Call) else dotted_name(node)
    last = name.rpartition(".")[2]
    if last == "acquire":
        last = name.removesuffix(".acquire").rpartition(".")[2]
    return _LOCK.fullmatch(last) is not None


def _changes(node: ast.stmt) -> bool:
    """Whether a statement may change something outside the function's local variables."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return isinstance(node, _CHANGES) or (isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)))


def _withs(file: PythonFile, lock: ast.expr) -> list[ast.With | ast.AsyncWith]:
    """The blocks of a file that hold a lock."""
    wanted = ast.dump(lock)
    blocks = (node for node in file.nodes if isinstance(node, (ast.With, ast.AsyncWith)))
    return [block for block in blocks if any(ast.dump(item.context_expr) == wanted for item in block.items)]


def _is_called_in(pair: Pair, blocks: list[ast.With | ast.AsyncWith]) -> bool:
    """Whether the function is called where the lock is held already."""
    made = (name for block in blocks for name in count_calls(block.body))
    return any(name.rpartition(".")[2] == pair.new.short for name in made)


def removed_opens(pair: Pair) -> Iterator[SideFinding]:
    """Yield `with open(...) as f` that became `f = open(...)` without a `close`."""
    opened = {ast.dump(node.value): node for node in leaves(pair.new.node.body) if isinstance(node, ast.Assign)}
    for node in own_nodes(pair.old.node.body):
        if not isinstance(node, ast.With):
            continue
        for item in node.items:
            now = opened.get(ast.dump(item.context_expr))
            name = dotted_name(now.targets[0]) if now else ""
            if now is None or not name or not isinstance(item.context_expr, ast.Call) or _is_kept(pair, name):
                continue
            message = f"`{pair.new.name}` opens `{short(item.context_expr)}` and does not close it any more"
            rows = rows_of(now)
            yield pair.finding("removed-cleanup", message, item.context_expr)._replace(spot=rows)


def _is_kept(pair: Pair, name: str) -> bool:
    """Whether something that was opened is closed, entered, handed on or kept for later."""
    if "." in name:
        return True
    for node in own_nodes(pair.new.node.body):
        if isinstance(node, ast.Attribute) and node.attr in _CLOSING and dotted_name(node.value) == name:
            return True
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(speaks_of(item, {name}) for item in node.items):
            return True
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None and dotted_name(node.value) == name:
            return True
        if isinstance(node, ast.Call) and name_of_call(node).rpartition(".")[2] in _KEEPING and speaks_of(node, {name}):
            return True
    return False


def removed_closes(pair: Pair) -> Iterator[SideFinding]:
    """Yield calls in a `finally` that are gone, or only reached now where nothing goes wrong."""
    if pair.reshaped or pair.new_calls or _more_blocks(pair):
        return
    now, ensured = dumps(leaves(pair.new.node.body)), dumps(_in_finally(pair.new))
    for each in _in_finally(pair.old):
        name = _closes(each)
        if not name or ast.dump(each) in ensured or not pair.still_uses(frozenset({name.rpartition(".")[0]})):
            continue
        if ast.dump(each) in now:
            message = f"`{name}` is only called where nothing goes wrong in `{pair.new.name}`"
            yield pair.finding("removed-finally", message, each)
        else:
            yield pair.finding("removed-cleanup", f"`{name}` is not called any more in `{pair.new.name}`", each)


def _in_finally(unit: Unit) -> list[ast.stmt]:
    blocks = (node for node in own_nodes(unit.node.body) if isinstance(node, ast.Try))
    return [each for block in blocks for each in leaves(block.finalbody)]


def _closes(statement: ast.stmt) -> str:
    """The name of the call that a statement consists of, where it closes something; else empty."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    call = value.value if isinstance(value, ast.Await) else value
    name = name_of_call(call) if isinstance(call, ast.Call) else ""
    return name if "." in name and name.rpartition(".")[2] in _CLOSING else ""


def _more_blocks(pair: Pair) -> bool:
    """Whether the function holds more in `with` blocks than before."""
    count = [
        sum(isinstance(node, (ast.With, ast.AsyncWith)) for node in own_nodes(unit.node.body))
        for unit in (pair.old, pair.new)
    ]
    return count[1] > count[0]


def removed_handlers(pair: Pair) -> Iterator[SideFinding]:
    """Yield handlers of errors that a function has lost, where it does the same without them."""
    if pair.reshaped or pair.new_calls or _more_blocks(pair):
        return
    caught, watched = _caught(pair.sides.old), _caught(pair.sides.new)
    now = dumps(leaves(pair.new.node.body)) - dumps(_guarded_statements(pair.new))
    for node in own_nodes(pair.old.node.body):
        if (
            not isinstance(node, ast.Try)
            or not node.handlers
            or dumps(leaves(node.body)) - now
            or not count_calls(node.body)
        ):
            continue
        kinds = [short(handler.type) if handler.type else "everything" for handler in node.handlers]
        if all(watched[kind] < caught[kind] for kind in kinds):
            message = f"`{pair.new.name}` does the same without catching `{', '.join(kinds)}`"
            yield pair.finding("removed-handler", message, node.handlers[0].type or node.handlers[0].body[0])


def _caught(file: PythonFile) -> Counter[str]:
    """How often each kind of error is caught in a file."""
    handlers = (node for node in file.nodes if isinstance(node, ast.ExceptHandler))
    return Counter(short(handler.type) if handler.type else "everything" for handler in handlers)


def _guarded_statements(unit: Unit) -> list[ast.stmt]:
    """The statements whose errors a function catches."""
    blocks = (node for node in own_nodes(unit.node.body) if isinstance(node, ast.Try) and node.handlers)
    return [each for block in blocks for each in leaves(block.body)]
