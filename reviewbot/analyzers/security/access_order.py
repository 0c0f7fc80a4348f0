"""Find checks of who may do what that come too late: after the effect, or after a stored answer was handed out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex, Function
from reviewbot.analyzers.security.words import at
from reviewbot.context.python_text import dotted_name

_CHECK = re.compile(
    r"(?:ensure_(?:can|allowed|owner|admin|perm|access|auth)|authori[sz]e|enforce|check_(?:perm|access|auth|role|scope)"
    r"|require_(?:perm|role|scope|admin|owner|access))[a-z0-9_]{0,60}"
)
_EFFECT = re.compile(
    r"(?:reschedule|update|delete|remove|move|cancel|transfer|change|rename|approve|close|publish|send|charge|refund|pay"
    r"|archive|restore|merge|revoke|grant|apply)(?:_[a-z0-9_]{1,60})?"
)
_STORE = re.compile(r"cache|memo|stored|response|copies|lookup", re.IGNORECASE)


def late_checks(code: CodeIndex) -> Iterator[Found]:
    """Look at the statements of each function in their order, up to the first check."""
    for function in code.functions():
        yield from _late(function)


def _late(function: Function) -> Iterator[Found]:
    changed: dict[str, str] = {}
    stored: set[str] = set()
    handed_out = False
    for node in function.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = dotted_name(node.value.func) if isinstance(node.value, ast.Call) else ""
            changed[node.targets[0].id] = name if _EFFECT.fullmatch(name.rpartition(".")[2]) else ""
            (stored.add if _STORE.search(name) else stored.discard)(node.targets[0].id)
        elif isinstance(node, ast.If):
            handed_out = handed_out or _returned(node) in stored
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or not _CHECK.fullmatch(dotted_name(call.func).rpartition(".")[2]):
            continue
        effects = [changed[each.id] for each in call.args if isinstance(each, ast.Name) and changed.get(each.id)]
        if effects:
            late = f"The caller's right is checked only after `{effects[0]}` made the change."
            yield at("access-check-after-effect", call, late)
        elif handed_out:
            yield at("access-check-after-answer", call)
        return


def _returned(node: ast.If) -> str:
    """The name that a branch returns where the name has a value; empty where it does something else."""
    test = node.test.left if isinstance(node.test, ast.Compare) else node.test
    last = node.body[-1]
    same = isinstance(last, ast.Return) and last.value is not None and ast.dump(last.value) == ast.dump(test)
    return test.id if same and isinstance(test, ast.Name) else ""
