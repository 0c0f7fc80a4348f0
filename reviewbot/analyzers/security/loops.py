"""Find loops that never end, locks that exclude nothing, and names that the standard library no longer has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex, Function
from reviewbot.analyzers.security.words import at
from reviewbot.tables import packaged_table, words_in

_LOCKS = words_in("names/security", "locks")
_LEAVES = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Assert, ast.Import)
_ENDS = frozenset({"exit", "quit", "sys.exit", "os._exit", "os.abort", "os.execv", "os.execvp", "next"})
_PLAIN = frozenset({"len", "abs", "int", "float", "max", "min", "sum", "round"})
_CONDITION = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.operator, ast.cmpop, ast.boolop,
    ast.unaryop, ast.expr_context, ast.Call,
)  # fmt: skip
"""What a condition may hold whose value only assignments change."""

_GONE: Mapping[str, str] = packaged_table("names/security")["gone"]
"""Names removed from the standard library, with the version that removed them: they fail only when the line runs."""

_EXCUSES = frozenset({"version_info", "hasattr", "PY2", "PY3", "python_version", "major", "getattr"})
_CAUGHT = frozenset({"AttributeError", "ImportError", "Exception", "NameError"})


def unsound_flow(code: CodeIndex) -> Iterator[Found]:
    """Look at loops, locks and names that the standard library no longer has."""
    for loop in code.of(ast.While):
        if _is_endless(code, loop):
            yield at("endless-loop", loop.test)
    yield from _own_locks(code)
    blocks = (*code.functions(), *code.of(ast.If), *code.of(ast.For), *code.of(ast.While), *code.of(ast.With))
    for block in blocks:
        yield from _not_released(code, block.body)
    for used in code.of(ast.Attribute):
        name = code.name(used)
        if name in _GONE and not _is_guarded(code, used):
            yield at("removed-function", used, f"Python has no {name} since {_GONE[name]}: this raises AttributeError")


def _is_endless(code: CodeIndex, loop: ast.While) -> bool:
    """Whether nothing in a loop changes its condition, and nothing leaves it."""
    tested = list(code.under(loop.test))
    if not any(isinstance(node, ast.Compare) for node in tested) or not all(isinstance(n, _CONDITION) for n in tested):
        return False
    calls = [node for node in tested if isinstance(node, ast.Call)]
    if any(code.name(call.func) not in _PLAIN or call.keywords for call in calls):
        return False
    names = {node.id for node in tested if isinstance(node, ast.Name)} - _PLAIN
    loose = any(isinstance(node, ast.In | ast.NotIn) for node in tested) or bool(calls)
    return bool(names) and not _is_shared(code, loop, names) and _stays(code, loop, names, loose=loose)


def _is_shared(code: CodeIndex, loop: ast.While, names: set[str]) -> bool:
    """Whether the names of a condition may change elsewhere, or a failure ends the loop on purpose."""
    if any(not code.bindings(loop, name) for name in names):
        return True
    declared: list[ast.Global | ast.Nonlocal] = [*code.of(ast.Global), *code.of(ast.Nonlocal)]
    outer = (name for node in declared for name in node.names)
    return any(name in names for name in outer) or any(isinstance(up, ast.Try | ast.With) for up in code.above(loop))


def _stays(code: CodeIndex, loop: ast.While, names: set[str], *, loose: bool) -> bool:
    for node in code.under(*loop.body):
        match node:
            case ast.Name() if node.id in names and not isinstance(node.ctx, ast.Load):
                return False
            case ast.Name() if node.id in names and (loose or isinstance(code.parents[node], ast.Attribute)):
                return False
            case ast.Call() if code.name(node.func).rsplit(".", 1)[-1] in _ENDS or code.name(node.func) in _ENDS:
                return False
            case ast.ExceptHandler() | ast.MatchAs() | ast.Delete():
                return False
            case _ if isinstance(node, _LEAVES):
                return False
    return True


def _own_locks(code: CodeIndex) -> Iterator[Found]:
    """Look for a lock that every call of a function makes for itself."""
    for made in code.calls_to(*_LOCKS):
        assign, function = code.parents[made], code.function(made)
        target = assign.targets[0] if isinstance(assign, ast.Assign) else None
        if function is None or not isinstance(assign, ast.Assign) or not isinstance(target, ast.Name):
            continue
        if _is_private(code, function, target.id):
            yield at("lock-of-one-call", assign)


def _is_private(code: CodeIndex, function: Function, name: str) -> bool:
    """Whether a name is only locked and unlocked, by the function itself."""
    uses = [node for node in code.under(*function.body) if isinstance(node, ast.Name) and node.id == name]
    read = [node for node in uses if isinstance(node.ctx, ast.Load)]
    if len(read) != len(uses) - 1 or any(code.function(node) is not function for node in read):
        return False
    return bool(read) and all(_is_locking(code.parents[node]) for node in read)


def _is_locking(node: ast.AST) -> bool:
    return isinstance(node, ast.withitem) or (isinstance(node, ast.Attribute) and node.attr in {"acquire", "release"})


def _not_released(code: CodeIndex, body: list[ast.stmt]) -> Iterator[Found]:
    """Look for a lock that is taken and given back side by side, with calls between that may fail."""
    taken: dict[str, ast.Call] = {}
    risky = False
    for statement in body:
        call = statement.value if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) else None
        name = code.name(call.func) if call is not None else ""
        holder, _, verb = name.rpartition(".")
        if call is not None and verb == "acquire" and not call.args and "lock" in holder.lower():
            taken[holder], risky = call, False
        elif verb == "release" and holder in taken:
            if risky:
                yield at("lock-not-released", taken[holder])
            del taken[holder]
        elif taken:
            risky = risky or any(isinstance(node, ast.Call) for node in code.under(statement))


def _is_guarded(code: CodeIndex, node: ast.AST) -> bool:
    """Whether the code asks first what this Python has."""
    for up in code.above(node):
        if isinstance(up, ast.Try):
            caught = [name for handler in up.handlers for name in _caught(code, handler)]
            if _CAUGHT & set(caught) or "" in caught:
                return True
        elif isinstance(up, ast.If | ast.IfExp):
            said = (getattr(each, "attr", getattr(each, "id", "")) for each in code.under(up.test))
            if any(word in _EXCUSES for word in said):
                return True
    return False


def _caught(code: CodeIndex, handler: ast.ExceptHandler) -> Iterator[str]:
    if handler.type is None:
        yield ""
        return
    listed = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    yield from (code.name(each) for each in listed)
