"""Find checks that a function made before and makes no more, while what they guarded is still done.

A check that was moved or replaced must not be reported, so anything new that may do its work suppresses the finding: a
new call, condition, `try`, `with` or decorator that mentions the same names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.pair import CHECKS, Pair
from reviewbot.analyzers.both_sides.sides import (
    SideFinding,
    count_calls,
    leaves,
    name_of_call,
    names_in,
    operands,
    own_nodes,
    short,
)
from reviewbot.analyzers.both_sides.stale_callers import decorator_name

_MAX_GUARD_STATEMENTS = 4
"""Statements in its body."""

_LEAVES = (ast.Raise, ast.Return, ast.Continue, ast.Break)
_LEAVING_CALLS = frozenset({"abort", "exit", "sys.exit", "flask.abort", "self.fail", "self.abort", "self.send_error"})
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
