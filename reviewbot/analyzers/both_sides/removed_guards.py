"""Find checks, awaits and escapes that a function had before and has no more, while it still does what they were for.

A check that was moved or replaced must not be reported, so anything new that may do its work suppresses the finding: a
new call, condition, `try`, `with` or decorator that mentions the same names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.sides import (
    CHECKS,
    Pair,
    SideFinding,
    Sides,
    Unit,
    count_calls,
    leaves,
    name_of_call,
    names_in,
    operands,
    own_nodes,
    rows_of,
    short,
    units,
)
from reviewbot.analyzers.both_sides.stale_callers import decorator_name
from reviewbot.context.python_text import dotted_name

_MAX_GUARD_STATEMENTS = 4
"""Statements in its body."""

_LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_LEAVING_CALLS = frozenset({"abort", "exit", "sys.exit", "flask.abort", "self.fail", "self.abort", "self.send_error"})
_ESCAPES = frozenset(
    {"escape", "conditional_escape", "quote", "quote_plus", "urlquote", "clean", "sanitize", "sanitize_html",
     "secure_filename", "escape_string", "quote_name", "quote_identifier", "escape_filter_chars", "escapejs",
     "format_html", "xml_escape"}
)  # fmt: skip
"""Functions that make a text harmless for its next consumer."""

_ONE_WORD_CHECKS = frozenset({"validate", "verify", "authorize", "authenticate", "full_clean", "raise_for_status"})
_AUTH = re.compile(
    r"(?:[a-z0-9_]{0,40}_)?(?:login|auth|authenticated|authorized|authentication|authorization|permissions?|perms?|admin|"
    r"staff|superuser|roles?|jwt|token|scopes?|groups?|owner|csrf)(?:_[a-z0-9_]{1,40})?_required"
    r"|(?:requires?|needs|check)_(?:login|auth|authenticated|authorization|permissions?|admin|staff|superuser|roles?|"
    r"scopes?|token|owner|csrf)|authenticated|user_passes_test|csrf_protect|login_required|jwt_required|auth_required"
)
_DEMANDS = re.compile(
    r"[a-z0-9_]{1,60}_required|requires?_(?!http_methods$|get$|post$|safe$)[a-z0-9_]{1,60}", re.IGNORECASE
)
"""Decorators that ask for something before they let a caller in."""

_FOUND = 100
"""Lines of other files that are looked at for one name."""

_OPENING = re.compile(r"[a-z0-9_]{0,40}(?:exempt|anonymous|allow_?any|public)[a-z0-9_]{0,40}", re.IGNORECASE)
"""Words that let callers in."""

_AUTH_WORD = re.compile(
    r"auth|login|permission|permit|admin|staff|role|csrf|token|passes_test|acl|scope|security|owner|forbid",
    re.IGNORECASE,
)


def is_authorization(name: str) -> bool:
    """Whether a decorator of that name lets only some callers in."""
    return _AUTH.fullmatch(name.rpartition(".")[2]) is not None


def speaks_of_authorization(text: str) -> bool:
    """Whether a text has a word in it that may have to do with authorization."""
    return _AUTH_WORD.search(_OPENING.sub("", text)) is not None


def _is_let_in_elsewhere(pair: Pair, decorator: str) -> bool:
    """Whether something of the kind came in: a mixin, a router, a decorator of one's own, a call where it is used."""
    known = set(pair.sides.old.lines)
    if any(speaks_of_authorization(line) for line in pair.sides.new.lines if line not in known):
        return True
    search = pair.sides.snapshot.search
    named = [found for found in search(pair.new.short, _FOUND) or () if found.path != pair.sides.path]
    if any(speaks_of_authorization(found.text.replace(pair.new.short, "")) for found in named):
        return True
    moved = [found for found in search(decorator.rpartition(".")[2], _FOUND) or () if found.path != pair.sides.path]
    return any(found.text not in (pair.sides.snapshot.base(found.path) or "") for found in moved)


def removed_decorators(pair: Pair) -> Iterator[SideFinding]:
    """Yield removed decorators that let only some callers in."""
    remaining = {decorator_name(node) for node in pair.new.node.decorator_list}
    for node in pair.old.node.decorator_list:
        name = decorator_name(node)
        last = name.rpartition(".")[2]
        certain = is_authorization(name)
        if name in remaining or not (certain or _DEMANDS.fullmatch(last)) or _is_let_in_elsewhere(pair, name):
            continue
        message = f"`{pair.new.name}` has lost `@{name}`, and nothing in this file takes its place"
        yield pair.finding("removed-authorization" if certain else "removed-authorization-by-name", message, node)


def removed_exits(pair: Pair) -> Iterator[SideFinding]:
    """Yield removed guards: a condition under which the function stopped or went on with the next round."""
    for node in own_nodes(pair.old.node.body):
        if not isinstance(node, ast.If) or node.orelse or not _leaves(node) or ast.dump(node.test) in pair.asked:
            continue
        lost = [part for part in operands(node.test) if ast.dump(part) not in pair.asked]
        joined = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        if not lost or (joined and len(lost) < len(list(operands(node.test)))):
            continue  # it asks for less before it stops, and so stops where it did
        about = frozenset(name for part in lost for name in names_in(part))
        if not about or pair.may_be_replaced(about) or not pair.still_uses(about) or _is_asked_elsewhere(pair, lost):
            continue
        raises = isinstance(node.body[-1], (ast.Raise, ast.Expr))
        what = "stopped" if raises else "left early"
        asked = short(node.test if len(lost) > 1 else lost[0])
        message = f"`{pair.new.name}` {what} over `{asked}`, and does not ask for that any more"
        yield pair.finding(_rule_of_exit(node, asked, raises=raises), message, node)


def _rule_of_exit(node: ast.If, asked: str, *, raises: bool) -> str:
    if not raises:
        return "removed-early-exit"
    turned_away = speaks_of_authorization(asked) or speaks_of_authorization(ast.unparse(node.body[-1]))
    return "removed-access-guard" if turned_away else "removed-guard"


def _is_asked_elsewhere(pair: Pair, lost: list[ast.expr]) -> bool:
    """Whether the file asks the same as often as before: it was moved."""
    return all(pair.sides.old_expressions[ast.dump(p)] <= pair.sides.new_expressions[ast.dump(p)] for p in lost)


def removed_operands(pair: Pair) -> Iterator[SideFinding]:
    """Yield operands removed from an `and` condition, under which the same was done."""
    now = {
        ast.dump(ast.Module(node.body, [])): node for node in own_nodes(pair.new.node.body) if isinstance(node, ast.If)
    }
    for node in own_nodes(pair.old.node.body):
        if (
            not isinstance(node, ast.If)
            or not isinstance(node.test, ast.BoolOp)
            or not isinstance(node.test.op, ast.And)
        ):
            continue
        same = now.get(ast.dump(ast.Module(node.body, [])))
        left = set() if same is None else {ast.dump(part) for part in _joined(same.test)}
        lost = [part for part in node.test.values if ast.dump(part) not in left]
        if same is None or not left < {ast.dump(part) for part in node.test.values} or len(lost) != 1:
            continue
        about = names_in(lost[0])
        if about and not pair.may_be_replaced(about) and pair.still_uses(about):
            message = f"`{pair.new.name}` goes on without asking for `{short(lost[0])}`, as it did before"
            yield pair.finding("removed-condition", message, lost[0])


def removed_checks(pair: Pair) -> Iterator[SideFinding]:
    """Yield removed calls that were statements of their own and whose name says that they check something."""
    now = count_calls(pair.new.node.body)
    for node in leaves(pair.old.node.body):
        value = node.value if isinstance(node, ast.Expr) else None
        call = value.value if isinstance(value, ast.Await) else value
        if not isinstance(call, ast.Call):
            continue
        name = name_of_call(call)
        last = name.rpartition(".")[2]
        if name in now or not (CHECKS.fullmatch(last) or last in _ONE_WORD_CHECKS):
            continue
        about = names_in(call)
        moved = pair.sides.new_words[last] >= pair.sides.old_words[last]
        if about and not moved and not pair.may_be_replaced(about) and pair.still_uses(about):
            message = f"`{pair.new.name}` does not call `{name}` any more and goes on as if it had"
            rule = "removed-access-check" if speaks_of_authorization(last) else "removed-check"
            yield pair.finding(rule, message, node)


def _leaves(node: ast.If) -> bool:
    last = node.body[-1]
    if len(node.body) > _MAX_GUARD_STATEMENTS:
        return False
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return bool(count_calls([last]).keys() & _LEAVING_CALLS)
    return isinstance(last, _LEAVES)


def _joined(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


# --- awaits and escapes -----------------------------------------------------------------------------------------------


def _same_without(statement: ast.AST, node: ast.expr, inner: ast.expr) -> str:
    """How a statement is written down without a node around one of its parts. The statement stays as it was."""
    whole = ast.dump(statement)
    # Dumps nest like their trees, so that the part can be put in place of the whole without copying either.
    return whole.replace(ast.dump(node), ast.dump(inner), 1)


def removed_awaits(pair: Pair) -> Iterator[SideFinding]:
    """Yield calls that a coroutine function awaited before and uses without `await` now."""
    if not (isinstance(pair.old.node, ast.AsyncFunctionDef) and isinstance(pair.new.node, ast.AsyncFunctionDef)):
        return
    before, present = (_parts(unit) for unit in (pair.old, pair.new))
    for part in before.values():
        for node in (inner for inner in ast.walk(part) if isinstance(inner, ast.Await)):
            now = present.get(_same_without(part, node, node.value))
            if now is None or ast.dump(now) in before or ast.dump(part) in present:
                continue
            if not isinstance(node.value, ast.Call) or _is_handed_on(part, node) or _is_awaited_later(pair, now):
                continue
            name = name_of_call(node.value) or "the call"
            message = f"`{pair.new.name}` does not await `{name}` any more, and takes its coroutine for its result"
            if isinstance(now, ast.Expr):
                message = f"`{pair.new.name}` does not await `{name}` any more, so that it never runs"
            rule = "removed-await" if _is_coroutine_function(pair, node.value) else "removed-await-by-name"
            yield pair.finding(rule, message, part)._replace(spot=(now.lineno, now.end_lineno or now.lineno))


def _parts(unit: Unit) -> dict[str, ast.stmt | ast.expr]:
    """The plain statements of a function and what its blocks ask, by how they are written down."""
    parts: list[ast.stmt | ast.expr] = list(leaves(unit.node.body))
    parts += (node.test for node in own_nodes(unit.node.body) if isinstance(node, (ast.If, ast.While)))
    return {ast.dump(node): node for node in parts}


def _is_handed_on(part: ast.AST, node: ast.Await) -> bool:
    """Whether the value goes into a call or a collection, out of which it may be awaited."""
    for outer in ast.walk(part):
        inner = [child.value if isinstance(child, ast.keyword) else child for child in ast.iter_child_nodes(outer)]
        if node in inner:
            holds = (ast.Call, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.Yield, ast.Starred, ast.Lambda)
            return isinstance(outer, holds) and not (isinstance(outer, ast.Call) and outer.func is node)
    return False


def _is_awaited_later(pair: Pair, now: ast.AST) -> bool:
    """Whether the coroutine is kept under a name, and that name is awaited or handed on; or it is handed back."""
    if isinstance(now, ast.Return):
        return True
    if not isinstance(now, ast.Assign):
        return False
    names = {dotted_name(target) for target in now.targets} - {""}
    for node in own_nodes(pair.new.node.body):
        handed = [node.value] if isinstance(node, (ast.Await, ast.Return)) and node.value else []
        if isinstance(node, ast.Call):
            handed = [*node.args, *(word.value for word in node.keywords)]
        if any(dotted_name(each) in names for given in handed for each in getattr(given, "elts", [given])):
            return True
    return False


def _is_coroutine_function(pair: Pair, call: ast.Call) -> bool:
    """Whether what is called is defined with `async def`, in this file or in one that it is imported from."""
    name = name_of_call(call)
    file = pair.sides.new
    known = units(file.tree)
    if pair.new.owner is not None and name.startswith("self."):
        prefix = pair.new.name.rpartition(".")[0]
        unit = known.get(f"{prefix}.{name.removeprefix('self.')}")
    else:
        unit = known.get(name) if file.bindings.get(name) == 1 else None
    if unit is not None:
        return isinstance(unit.node, ast.AsyncFunctionDef) and not unit.node.decorator_list
    return _is_imported_coroutine(pair, name)


def _is_imported_coroutine(pair: Pair, name: str) -> bool:
    sides = pair.sides
    if "." in name or sides.new.bindings.get(name) != 1:
        return False
    for node in sides.new.nodes:
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            symbol = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return any(_defines_coroutine(sides, path, symbol) for path in _paths(sides.path, node))
    return False


def _paths(importer: str, node: ast.ImportFrom) -> list[str]:
    """The files that an import may take from: beside the importing file for a relative one, else below those above."""
    folders = importer.split("/")[:-1]
    inner = (node.module or "").replace(".", "/")
    if node.level:
        starts = ["/".join(folders[: len(folders) - node.level + 1])]
    else:
        starts = ["/".join(folders[:n]) for n in range(len(folders) + 1)]
    return [f"{start}/{inner}".strip("/") + ".py" for start in starts]


def _defines_coroutine(sides: Sides, path: str, symbol: str) -> bool:
    file = sides.library.file(path)
    unit = units(file.tree).get(symbol) if file else None
    return unit is not None and isinstance(unit.node, ast.AsyncFunctionDef) and not unit.node.decorator_list


def removed_escapes(pair: Pair) -> Iterator[SideFinding]:
    """Yield texts that were escaped before and are not any more."""
    present = {ast.dump(node): node for node in leaves(pair.new.node.body)}
    for statement in leaves(pair.old.node.body):
        for node in (inner for inner in ast.walk(statement) if isinstance(inner, ast.Call)):
            name = name_of_call(node)
            last = _last(name)
            if last not in _ESCAPES or not node.args:
                continue
            now = present.get(_same_without(statement, node, node.args[0]))
            if now is None or pair.reshaped or any(_last(name_of_call(call)) in _ESCAPES for call in pair.new_calls):
                continue
            if pair.sides.new_words[last] >= pair.sides.old_words[last]:
                continue  # it is done elsewhere now
            message = f"`{pair.new.name}` does not pass `{short(node.args[0])}` through `{name}` any more"
            rows = rows_of(now)
            yield pair.finding("removed-escape", message, statement)._replace(spot=rows)


def _last(name: str) -> str:
    return name.rpartition(".")[2]
