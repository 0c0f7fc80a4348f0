"""Find privileges that are kept too long, and checks of them that vanish."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import at, words

_RAISES = frozenset({"raise", "elevate", "gain", "acquire", "escalate", "enable", "regain"})
_DROPS = frozenset({"drop", "lower", "restore", "release", "relinquish", "reset", "disable", "revert"})
_PRIVILEGES = frozenset({"privilege", "privileges", "privs", "priv", "root", "capabilities"})
_GROUPS = frozenset({"os.setgid", "os.setegid", "os.setregid", "os.setresgid", "os.setgroups", "os.initgroups"})
_USERS = frozenset({"os.setuid", "os.setreuid", "os.setresuid"})
_RIGHTS = frozenset(
    {"is_admin", "is_authenticated", "is_staff", "is_superuser", "has_perm", "has_perms", "has_permission", "has_role",
     "check_password", "verify_password", "is_authorized", "is_owner"}
)  # fmt: skip


def loose_privileges(facts: Facts) -> Iterator[Found]:
    """Look at where privileges are taken, dropped and asked for."""
    for block in facts.of(ast.Try):
        yield from _not_dropped(facts, block.body, guarded=bool(block.finalbody))
    for function in facts.functions():
        yield from _not_dropped(facts, function.body, guarded=False)
        yield from _wrong_order(facts, function.body)
    yield from _wrong_order(facts, facts.view.tree.body)
    for check in facts.of(ast.Assert):
        if any(_names_right(node) for node in facts.under(check.test)):
            yield at("right-asserted", check)


def _names_right(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in _RIGHTS) or (
        isinstance(node, ast.Name) and node.id in _RIGHTS
    )


def _called(statement: ast.stmt) -> ast.Call | None:
    inner = statement.value if isinstance(statement, ast.Expr) else None
    return inner if isinstance(inner, ast.Call) else None


def _not_dropped(facts: Facts, body: Sequence[ast.stmt], *, guarded: bool) -> Iterator[Found]:
    """Look for privileges that stay raised where something between taking and dropping them fails."""
    raised: ast.Call | None = None
    between = 0
    for statement in body:
        call = _called(statement)
        change = _change(facts, call) if call is not None else ""
        if change == "up":
            raised, between = call, 0
        elif change == "down":
            if raised is not None and between and not guarded:
                yield at("privileges-kept", raised)
            raised = None
        elif raised is not None:
            between += any(isinstance(node, ast.Call) for node in facts.under(statement))


def _change(facts: Facts, call: ast.Call) -> str:
    """Whether a call takes ("up") or drops ("down") privileges."""
    name = facts.name(call.func)
    if name in {"os.seteuid", "os.setegid"} and call.args:
        return "up" if facts.number(call.args[0]) == 0 else "down"
    said = set(words(name.rsplit(".", 1)[-1]))
    if said & _PRIVILEGES:
        return "up" if said & _RAISES else "down" if said & _DROPS else ""
    return ""


def _wrong_order(facts: Facts, body: Sequence[ast.stmt]) -> Iterator[Found]:
    """Look for groups that are given up after the user: by then that is forbidden."""
    user_dropped = False
    for statement in body:
        call = _called(statement)
        name = facts.name(call.func) if call is not None else ""
        if name in _USERS:
            user_dropped = True
        elif name in _GROUPS and user_dropped and call is not None:
            yield at("privileges-order", call)
