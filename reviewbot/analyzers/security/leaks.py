"""Find secrets that reach logs, addresses, files or error pages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import at, is_password, is_route, label

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGERS = frozenset({"logging", "logger", "log", "_logger", "_log", "LOG", "LOGGER"})
_QUERIES = ("args", "GET", "query_params", "query")
_TRACES = frozenset({"traceback.format_exc", "traceback.format_exception"})
_RESPONSES = frozenset(
    {"HttpResponse", "JsonResponse", "jsonify", "make_response", "Response", "HTMLResponse", "JSONResponse"}
)


def leaked_secrets(facts: Facts) -> Iterator[Found]:
    """Look at where secrets leave the program."""
    for call in facts.of(ast.Call):
        if _is_log(facts, call) and any(_shows_password(facts, given) for given in _given(call)):
            yield at("logged-password", call)
        elif facts.name(call.func) == "print" and any(_shows_password(facts, given) for given in call.args):
            yield at("printed-password", call)
        elif _in_address(facts, call.func) and call.args and is_password(facts.text(call.args[0])):
            yield at("password-in-address", call)
        elif facts.name(call.func).endswith(".set_cookie") and any(_shows_password(facts, a) for a in call.args[1:2]):
            yield at("password-in-cookie", call)
        elif _is_write(facts, call) and _shows_password(facts, call.args[0]):
            yield at("password-in-file", call)
    for subscript in facts.of(ast.Subscript):
        if _in_address(facts, subscript) and is_password(facts.text(subscript.slice)):
            yield at("password-in-address", subscript)
    for node in facts.of(ast.Return):
        yield from _answered(facts, node)


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "exc_info")]


def _is_log(facts: Facts, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LEVELS:
        return False
    holder = facts.name(call.func.value)
    return holder.rsplit(".", 1)[-1] in _LOGGERS or facts.made_by(call.func.value) == "logging.getLogger"


def _is_write(facts: Facts, call: ast.Call) -> bool:
    """Whether a call writes a text to a file that was opened by name."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "write" and len(call.args) == 1):
        return False
    return facts.made_by(call.func.value) in {"open", "io.open"}


def _shows_password(facts: Facts, node: ast.expr) -> bool:
    """Whether a password itself is in a text that is put together, and not what a function made of it."""
    stack = [node]
    while stack:
        found = stack.pop()
        match found:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                if is_password(label(facts, found)) and not isinstance(facts.value(found), ast.Constant):
                    return True
            case ast.JoinedStr():
                stack += [part.value for part in found.values if isinstance(part, ast.FormattedValue)]
            case ast.BinOp(op=ast.Add() | ast.Mod()):
                stack += [found.left, found.right]
            case ast.Tuple() | ast.List():
                stack += found.elts
            case ast.Dict():
                stack += found.values
            case ast.Call(func=ast.Attribute(attr="format", value=ast.Constant())):
                stack += _given(found)
            case ast.Call(func=ast.Name(id="str" | "repr")):
                stack += found.args
            case _:
                continue
    return False


def _in_address(facts: Facts, node: ast.expr) -> bool:
    """Whether something reads the query of a request: `request.args[...]`, `request.GET.get`."""
    if isinstance(node, ast.Attribute) and node.attr != "get":
        return False
    if not isinstance(node, ast.Attribute | ast.Subscript):
        return False
    parts = facts.name(node.value).split(".")
    return len(parts) > 1 and parts[-1] in _QUERIES and parts[-2] == "request"


def _answered(facts: Facts, node: ast.Return) -> Iterator[Found]:
    """Look at whether the answer to a request tells how the program is made."""
    if node.value is None:
        return
    web = is_route(facts, facts.function(node))
    for found in facts.under(node.value):
        if not isinstance(found, ast.Call):
            continue
        name = facts.name(found.func)
        if name in _TRACES and (web or _in_response(facts, found)):
            yield at("trace-in-answer", node)
            return
        if web and name in {"str", "repr"} and found.args and _is_caught(facts, node, found.args[0]):
            yield at("error-in-answer", node)
            return


def _in_response(facts: Facts, node: ast.AST) -> bool:
    return any(
        isinstance(up, ast.Call) and facts.name(up.func).rsplit(".", 1)[-1] in _RESPONSES for up in facts.above(node)
    )


def _is_caught(facts: Facts, node: ast.AST, said: ast.expr) -> bool:
    """Whether an expression is the exception that the handler around a node has caught."""
    if not isinstance(said, ast.Name):
        return False
    return any(isinstance(up, ast.ExceptHandler) and up.name == said.id for up in facts.above(node))
