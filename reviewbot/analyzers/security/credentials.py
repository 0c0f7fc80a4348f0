"""Find passwords and keys that are literals in the source, and places that a password must not get to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, is_password, is_route, is_stand_in, label, words
from reviewbot.tables import words_in

_CONNECTS = words_in("names/security", "connects")
_LOGINS = words_in("names/security", "logins")
_PASSWORD_NAMES = ("password", "passwd", "pwd")
_FILE_DATABASES = ("sqlite",)

_KEY_NAMES = frozenset({"aws_secret_access_key", "api_key", "apikey", "api_secret", "secret_access_key", "auth_token"})
_MIN_KINDS = 8
"""Different characters. A key has more; a line of x has one."""

_API_KEY = re.compile(r"[A-Za-z0-9_\-.]{20,200}")
_DEFAULTS = frozenset({"dev", "test", "testing", "secret", "changeme", "change-me", "change_me", "development"})
_URL_LOGIN = re.compile(r"\A[a-z][a-z0-9+.]{1,30}://[^:/@\s]{1,80}:(?P<password>[^/@\s{}$<%*]{1,80})@[^/\s]{1,200}")


def literal_credentials(facts: Facts) -> Iterator[Found]:
    """Look at where credentials are used and compared."""
    for call in facts.of(ast.Call):
        yield from _connected(facts, call)
        yield from _handed_over(facts, call)
    for compare in facts.of(ast.Compare):
        yield from _compared(facts, compare)
    for table in facts.of(ast.Dict):
        yield from _configured(facts, table)
    for assign in facts.of(ast.Assign):
        yield from _assigned(facts, assign)


def _connected(facts: Facts, call: ast.Call) -> Iterator[Found]:
    name = facts.name(call.func)
    last = name.rsplit(".", 1)[-1]
    if last not in _CONNECTS and last != "create_engine":
        return
    given = argument(call, None, *_PASSWORD_NAMES)
    if last == "login" and isinstance(call.func, ast.Attribute) and facts.maker_of(call.func.value) in _LOGINS:
        given = argument(call, 1, "password", "passwd")
    text = facts.constant(given)
    if isinstance(text, str) and not is_stand_in(text):
        yield at("literal-password", call, cause=given)
    elif text == "" and facts.text(argument(call, None, "user", "username")) == "root":
        yield at("empty-password", call, cause=call.func)
    if last in {"create_engine", "connect", "MongoClient"}:
        found = _URL_LOGIN.match(facts.text(argument(call, 0, "url", "dsn", "host")))
        if found and not is_stand_in(found["password"]) and found["password"] not in {"password", "pass", "pw"}:
            yield at("literal-password", call, cause=argument(call, 0, "url", "dsn", "host"))


def _handed_over(facts: Facts, call: ast.Call) -> Iterator[Found]:
    """Look for credentials among the arguments of any call."""
    pair = facts.value(argument(call, None, "auth"))
    if facts.name(call.func).rsplit(".", 1)[-1] in {"HTTPBasicAuth", "HTTPDigestAuth", "BasicAuth"}:
        secret = argument(call, 1, "password")
    else:
        secret = pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == len("up") else None
    if facts.text(secret) and not is_stand_in(facts.text(secret)):
        yield at("literal-password", call, cause=secret)
    for keyword in call.keywords:
        if keyword.arg in _KEY_NAMES and _is_key(facts.text(keyword.value)):
            yield at("literal-api-key", call, cause=keyword)


def _compared(facts: Facts, compare: ast.Compare) -> Iterator[Found]:
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq | ast.NotEq):
        return
    sides = (compare.left, compare.comparators[0])
    for said, other in (sides, sides[::-1]):
        text = facts.constant(other)
        if isinstance(text, str) and not is_stand_in(text) and is_password(label(facts, said)):
            if isinstance(facts.value(said), ast.Constant) or not isinstance(other, ast.Constant):
                continue
            yield at("literal-password-compared", compare)
            return


def _configured(facts: Facts, table: ast.Dict) -> Iterator[Found]:
    """Look at the entry of a database in a table of settings."""
    entries = {facts.text(key): value for key, value in zip(table.keys, table.values, strict=True) if key is not None}
    engine = facts.text(entries.get("ENGINE"))
    if not engine or any(name in engine for name in _FILE_DATABASES) or "PASSWORD" not in entries:
        return
    password = facts.constant(entries["PASSWORD"])
    if password == "":
        if facts.text(entries.get("USER")):
            yield at("empty-password", entries["PASSWORD"])
    elif isinstance(password, str) and not is_stand_in(password):
        yield at("literal-password", entries["PASSWORD"])


def _assigned(facts: Facts, assign: ast.Assign) -> Iterator[Found]:
    text = assign.value.value if isinstance(assign.value, ast.Constant) else None
    if not isinstance(text, str) or is_stand_in(text):
        return
    for target in assign.targets:
        named = label(facts, target)
        said = words(named)
        if isinstance(target, ast.Attribute) and said[-2:] in (["api", "key"], ["secret", "access"]) and _is_key(text):
            yield at("literal-api-key", assign)
        elif _is_signing_key(facts, target, named):
            yield at("default-secret-key" if text.lower() in _DEFAULTS else "literal-secret-key", assign)


def _is_key(text: str) -> bool:
    mixed = any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
    return mixed and bool(_API_KEY.fullmatch(text)) and len(set(text)) >= _MIN_KINDS


def _is_signing_key(facts: Facts, target: ast.expr, named: str) -> bool:
    """Whether something is the key with which a web framework signs its sessions."""
    if isinstance(target, ast.Attribute):
        return named == "secret_key" and bool(set(words(facts.name(target.value))) & {"app", "application", "server"})
    if isinstance(target, ast.Subscript):
        return named in {"SECRET_KEY", "JWT_SECRET_KEY"} and "config" in words(facts.name(target.value))
    return named in {"SECRET_KEY", "JWT_SECRET", "JWT_SECRET_KEY"} and isinstance(target, ast.Name)


# Find secrets that reach logs, addresses, files or error pages.

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGERS = frozenset({"logging", "logger", "log", "_logger", "_log", "LOG", "LOGGER"})
_QUERIES = ("args", "GET", "query_params", "query")
_TRACES = frozenset({"traceback.format_exc", "traceback.format_exception"})
_RESPONSES = words_in("names/security", "responses")


def check_leaks(facts: Facts) -> Iterator[Found]:
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
    return holder.rsplit(".", 1)[-1] in _LOGGERS or facts.maker_of(call.func.value) == "logging.getLogger"


def _is_write(facts: Facts, call: ast.Call) -> bool:
    """Whether a call writes a text to a file that was opened by name."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "write" and len(call.args) == 1):
        return False
    return facts.maker_of(call.func.value) in {"open", "io.open"}


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
