"""Find passwords and keys that are literals in the source, and secrets that reach logs, files or error pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
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

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGERS = frozenset({"logging", "logger", "log", "_logger", "_log", "LOG", "LOGGER"})
_QUERIES = ("args", "GET", "query_params", "query")
_TRACES = frozenset({"traceback.format_exc", "traceback.format_exception"})
_RESPONSES = words_in("names/security", "responses")


def literal_credentials(code: CodeIndex) -> Iterator[Found]:
    """Look at where credentials are used and compared."""
    for call in code.of(ast.Call):
        yield from _connected(code, call)
        yield from _handed_over(code, call)
    for compare in code.of(ast.Compare):
        yield from _compared(code, compare)
    for table in code.of(ast.Dict):
        yield from _configured(code, table)
    for assign in code.of(ast.Assign):
        yield from _assigned(code, assign)


def _connected(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    name = code.name(call.func)
    last = name.rsplit(".", 1)[-1]
    if last not in _CONNECTS and last != "create_engine":
        return
    given = argument(call, None, *_PASSWORD_NAMES)
    if last == "login" and isinstance(call.func, ast.Attribute) and code.maker_of(call.func.value) in _LOGINS:
        given = argument(call, 1, "password", "passwd")
    text = code.constant(given)
    if isinstance(text, str) and not is_stand_in(text):
        yield at("literal-password", call, cause=given)
    elif text == "" and code.text(argument(call, None, "user", "username")) == "root":
        yield at("empty-password", call, cause=call.func)
    if last in {"create_engine", "connect", "MongoClient"}:
        found = _URL_LOGIN.match(code.text(argument(call, 0, "url", "dsn", "host")))
        if found and not is_stand_in(found["password"]) and found["password"] not in {"password", "pass", "pw"}:
            yield at("literal-password", call, cause=argument(call, 0, "url", "dsn", "host"))


def _handed_over(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    """Look for credentials among the arguments of any call."""
    pair = code.value(argument(call, None, "auth"))
    if code.name(call.func).rsplit(".", 1)[-1] in {"HTTPBasicAuth", "HTTPDigestAuth", "BasicAuth"}:
        secret = argument(call, 1, "password")
    else:
        secret = pair.elts[1] if isinstance(pair, ast.Tuple) and len(pair.elts) == len("up") else None
    if code.text(secret) and not is_stand_in(code.text(secret)):
        yield at("literal-password", call, cause=secret)
    for keyword in call.keywords:
        if keyword.arg in _KEY_NAMES and _is_key(code.text(keyword.value)):
            yield at("literal-api-key", call, cause=keyword)


def _compared(code: CodeIndex, compare: ast.Compare) -> Iterator[Found]:
    if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq | ast.NotEq):
        return
    sides = (compare.left, compare.comparators[0])
    for said, other in (sides, sides[::-1]):
        text = code.constant(other)
        if isinstance(text, str) and not is_stand_in(text) and is_password(label(code, said)):
            if isinstance(code.value(said), ast.Constant) or not isinstance(other, ast.Constant):
                continue
            yield at("literal-password-compared", compare)
            return


def _configured(code: CodeIndex, table: ast.Dict) -> Iterator[Found]:
    """Look at the entry of a database in a table of settings."""
    entries = {code.text(key): value for key, value in zip(table.keys, table.values, strict=True) if key is not None}
    engine = code.text(entries.get("ENGINE"))
    if not engine or any(name in engine for name in _FILE_DATABASES) or "PASSWORD" not in entries:
        return
    password = code.constant(entries["PASSWORD"])
    if password == "":
        if code.text(entries.get("USER")):
            yield at("empty-password", entries["PASSWORD"])
    # One that is the user's name, or the database's, is of a developer's own machine.
    elif (
        isinstance(password, str)
        and not is_stand_in(password)
        and password not in map(code.text, (entries.get("USER"), entries.get("NAME")))
    ):
        yield at("literal-password", entries["PASSWORD"])


def _assigned(code: CodeIndex, assign: ast.Assign) -> Iterator[Found]:
    text = assign.value.value if isinstance(assign.value, ast.Constant) else None
    if not isinstance(text, str) or is_stand_in(text):
        return
    for target in assign.targets:
        named = label(code, target)
        said = words(named)
        if isinstance(target, ast.Attribute) and said[-2:] in (["api", "key"], ["secret", "access"]) and _is_key(text):
            yield at("literal-api-key", assign)
        elif _is_signing_key(code, target, named):
            yield at("default-secret-key" if text.lower() in _DEFAULTS else "literal-secret-key", assign)


def _is_key(text: str) -> bool:
    mixed = any(char.isdigit() for char in text) and any(char.isalpha() for char in text)
    return mixed and bool(_API_KEY.fullmatch(text)) and len(set(text)) >= _MIN_KINDS


def _is_signing_key(code: CodeIndex, target: ast.expr, named: str) -> bool:
    """Whether something is the key with which a web framework signs its sessions."""
    if isinstance(target, ast.Attribute):
        return named == "secret_key" and bool(set(words(code.name(target.value))) & {"app", "application", "server"})
    if isinstance(target, ast.Subscript):
        return named in {"SECRET_KEY", "JWT_SECRET_KEY"} and "config" in words(code.name(target.value))
    return named in {"SECRET_KEY", "JWT_SECRET", "JWT_SECRET_KEY"} and isinstance(target, ast.Name)


def check_leaks(code: CodeIndex) -> Iterator[Found]:
    """Look at where secrets leave the program."""
    for call in code.of(ast.Call):
        if _is_log(code, call) and any(_shows_password(code, given) for given in _logged_arguments(call)):
            yield at("logged-password", call)
        elif code.name(call.func) == "print" and any(_shows_password(code, given) for given in call.args):
            yield at("printed-password", call)
        elif _in_address(code, call.func) and call.args and is_password(code.text(call.args[0])):
            yield at("password-in-address", call)
        elif code.name(call.func).endswith(".set_cookie") and any(_shows_password(code, a) for a in call.args[1:2]):
            yield at("password-in-cookie", call)
        elif _is_write(code, call) and _shows_password(code, call.args[0]):
            yield at("password-in-file", call)
    for subscript in code.of(ast.Subscript):
        if _in_address(code, subscript) and is_password(code.text(subscript.slice)):
            yield at("password-in-address", subscript)
    for node in code.of(ast.Return):
        yield from _answered(code, node)


def _logged_arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "exc_info")]


def _is_log(code: CodeIndex, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _LEVELS:
        return False
    holder = code.name(call.func.value)
    return holder.rsplit(".", 1)[-1] in _LOGGERS or code.maker_of(call.func.value) == "logging.getLogger"


def _is_write(code: CodeIndex, call: ast.Call) -> bool:
    """Whether a call writes a text to a file that was opened by name."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "write" and len(call.args) == 1):
        return False
    return code.maker_of(call.func.value) in {"open", "io.open"}


def _shows_password(code: CodeIndex, node: ast.expr) -> bool:
    """Whether a password itself is in a text that is put together, and not what a function made of it."""
    stack = [node]
    while stack:
        found = stack.pop()
        match found:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                if is_password(label(code, found)) and not isinstance(code.value(found), ast.Constant):
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
                stack += _logged_arguments(found)
            case ast.Call(func=ast.Name(id="str" | "repr")):
                stack += found.args
            case _:
                continue
    return False


def _in_address(code: CodeIndex, node: ast.expr) -> bool:
    """Whether something reads the query of a request: `request.args[...]`, `request.GET.get`."""
    if not (isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "get")):
        return False
    parts = code.name(node.value).split(".")
    return len(parts) > 1 and parts[-1] in _QUERIES and parts[-2] == "request"


def _answered(code: CodeIndex, node: ast.Return) -> Iterator[Found]:
    """Look at whether the answer to a request tells how the program is made."""
    if node.value is None:
        return
    web = is_route(code, code.function(node))
    for found in code.under(node.value):
        if not isinstance(found, ast.Call):
            continue
        name = code.name(found.func)
        if name in _TRACES and (web or _in_response(code, found)):
            yield at("trace-in-answer", node)
            return
        if web and name in {"str", "repr"} and found.args and _is_caught(code, node, found.args[0]):
            yield at("error-in-answer", node)
            return


def _in_response(code: CodeIndex, node: ast.AST) -> bool:
    return any(
        isinstance(up, ast.Call) and code.name(up.func).rsplit(".", 1)[-1] in _RESPONSES for up in code.above(node)
    )


def _is_caught(code: CodeIndex, node: ast.AST, said: ast.expr) -> bool:
    """Whether an expression is the exception that the handler around a node has caught."""
    if not isinstance(said, ast.Name):
        return False
    return any(isinstance(up, ast.ExceptHandler) and up.name == said.id for up in code.above(node))
