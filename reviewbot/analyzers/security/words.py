"""Interpret names and literals: the words of a name, arguments of a call, and placeholder values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex

PASSWORDS = frozenset({"password", "passwd", "pwd", "passphrase", "passwort"})

_OWNERS = frozenset({"user", "db", "database", "smtp", "admin", "login", "root", "ftp", "mail", "email", "mysql"})
"""Whose "pass" is a password and no turn of a loop."""

_WORD = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,60}|[0-9]{1,20}")
_SPELT_APART = {"pass": {"word", "wd", "phrase"}}
_STAND_IN = re.compile(
    r"\A(?:[*x.•]{3,}|none|null|true|false|changeme|change_me|redacted|x-oauth-basic|x-access-token|<.{0,80}>"
    r"|\$\{.{0,80}\})\Z",
    re.IGNORECASE,
)
_MAX_NAME_CHARS = 200


def words(name: str) -> list[str]:
    """The words of a name, lower case: "userPassWord" and "user_password" both have user and password."""
    found = [word.lower() for word in _WORD.findall(name[:_MAX_NAME_CHARS])]
    for at in range(len(found) - 1, 0, -1):
        if found[at] in _SPELT_APART.get(found[at - 1], ()):
            found[at - 1 : at + 1] = [found[at - 1] + found[at]]
    return found


def label(code: CodeIndex, node: ast.AST | None) -> str:
    """What an expression is called: a name, an attribute, the literal key of a subscript or of a `get`; or nothing."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
        case ast.Subscript():
            return code.text(node.slice)
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "getlist"), args=[key, *_]):
            return code.text(key)
        case _:
            return ""


def is_password(name: str) -> bool:
    """Whether a name is one of a password itself, and not of a field, a file or a hash of it."""
    said = words(name)
    owned = said[-1:] == ["pass"] and bool(_OWNERS & set(said))
    return (
        bool(said)
        and (owned or said[-1] in PASSWORDS)
        and not set(said) & {"hashed", "encrypted", "hash", "no", "reset"}
    )


def is_stand_in(text: str) -> bool:
    """Whether a text is no value but stands for one: empty, masked, a template."""
    return not text.strip() or bool(_STAND_IN.match(text.strip()))


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """An argument by its position or one of its names; None where it is not given or hidden behind a star."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    before = call.args[: (position or 0) + 1]
    if position is None or any(isinstance(each, ast.Starred) for each in before):
        return None
    return before[position] if len(before) > position else None


def is_open(call: ast.Call) -> bool:
    """Whether the call may have arguments that it does not show."""
    return any(keyword.arg is None for keyword in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)


def is_static(code: CodeIndex, node: ast.expr | None, depth: int = 6) -> bool:
    """Whether a text or some bytes are the same in every run: a literal, repeated, joined, encoded or zeroes."""
    if depth == 0:  # a name may be made from itself
        return False
    found = code.value(node)
    match found:
        case ast.Constant():
            return isinstance(found.value, str | bytes) and bool(found.value)
        case ast.BinOp(op=ast.Mult()):
            return any(is_static(code, side, depth - 1) for side in (found.left, found.right))
        case ast.BinOp(op=ast.Add()):
            return all(is_static(code, side, depth - 1) for side in (found.left, found.right))
        case ast.Call(func=ast.Name(id="bytes" | "bytearray"), args=[size, *_]):
            fixed = code.number(size) is not None or _is_listed(code.value(size))
            return fixed or is_static(code, size, depth - 1)
        case _:
            inner = _made_of(found)
            return inner is not None and is_static(code, inner, depth - 1)


def _made_of(node: ast.expr | None) -> ast.expr | None:
    """The text that an expression only cuts, pads, encodes or decodes."""
    match node:
        case ast.Subscript(slice=ast.Slice()):
            return node.value
        case ast.Call(func=ast.Attribute(attr="encode" | "ljust" | "rjust", value=inner)):
            return inner
        case ast.Call(func=ast.Attribute(attr="fromhex" | "unhexlify" | "b64decode"), args=[text, *_]):
            return text
        case _:
            return None


def _is_listed(node: ast.expr | None) -> bool:
    return isinstance(node, ast.List | ast.Tuple) and all(isinstance(each, ast.Constant) for each in node.elts)


def at(rule: str, node: ast.expr | ast.stmt, message: str = "", *, cause: ast.AST | None = None) -> Found:
    """A finding that lies where a node does; `cause` is the part of it that is at fault."""
    return Found(rule, node.lineno, node.end_lineno or node.lineno, message, code=cause or node)


def decorators(code: CodeIndex, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the full names of what decorates a function."""
    for each in function.decorator_list:
        yield code.name(each.func if isinstance(each, ast.Call) else each)


def is_route(code: CodeIndex, function: ast.FunctionDef | ast.AsyncFunctionDef | None) -> bool:
    """Whether a function answers requests of the web: a route decorates it, or its first argument is the request."""
    if function is None:
        return False
    verbs = {"route", "get", "post", "put", "delete", "patch", "api_view", "websocket"}
    if any("." in name and name.rsplit(".", 1)[-1] in verbs for name in decorators(code, function)):
        return True
    named = [each.arg for each in function.args.args[:2]]
    return "request" in named and code.imports("django", "rest_framework", "starlette", "fastapi", "aiohttp", "pyramid")
