"""Find what a web application leaves open: cookies, other origins, forged forms, pages that are not escaped."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, decorators, is_open, label, words

_FRAMEWORKS = (
    "flask",
    "django",
    "fastapi",
    "starlette",
    "aiohttp.web",
    "tornado",
    "bottle",
    "pyramid",
    "sanic",
    "quart",
)
_LOGIN_COOKIES = frozenset(
    {"session", "sessionid", "auth", "token", "jwt", "sid", "remember", "authorization", "login"}
)
_ALLOWED_ORIGIN = "access-control-allow-origin"


def open_web(facts: Facts) -> Iterator[Found]:
    """Look at cookies, origins, templates and decorators of a web application."""
    for call in facts.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"set_cookie", "set_signed_cookie"}:
            yield from _cookie(facts, call)
        yield from _origins(facts, call)
        yield from _debug(facts, call)
    for assign in facts.of(ast.Assign):
        yield from _reflected(facts, assign)
    for function in facts.functions():
        if any(
            name.rsplit(".", 1)[-1] == "csrf_exempt" or name == "csrf.exempt" for name in decorators(facts, function)
        ):
            yield at("csrf-exempt", function.decorator_list[0])
    if facts.imports(*_FRAMEWORKS):
        yield from _unescaped(facts)


def _cookie(facts: Facts, call: ast.Call) -> Iterator[Found]:
    if is_open(call):
        return
    name = facts.text(argument(call, 0, "key", "name"))
    login = bool(set(words(name)) & _LOGIN_COOKIES) and "csrf" not in words(name)
    secure, hidden = argument(call, None, "secure"), argument(call, None, "httponly")
    if secure is not None and facts.constant(secure) is False:
        yield at("cookie-not-secure", call, cause=secure)
    elif login and secure is None:
        yield at("login-cookie-not-secure", call)
    if login and hidden is not None and facts.constant(hidden) is False:
        yield at("cookie-not-httponly", call, cause=hidden)
    elif login and hidden is None and secure is not None:
        yield at("login-cookie-not-httponly", call)


def _origins(facts: Facts, call: ast.Call) -> Iterator[Found]:
    """Look for any origin that may send the user's cookies along."""
    if facts.constant(argument(call, None, "allow_credentials")) is True:
        any_origin = _is_any(facts, argument(call, None, "allow_origins"))
    elif facts.constant(argument(call, None, "supports_credentials")) is True and facts.imports("flask_cors"):
        origins = argument(call, None, "origins")
        apart = is_open(call) or argument(call, None, "resources") is not None
        any_origin = not apart and (origins is None or _is_any(facts, origins))
    else:
        return
    if any_origin:
        yield at("any-origin-with-credentials", call)


def _is_any(facts: Facts, node: ast.expr | None) -> bool:
    found = facts.value(node)
    listed = found.elts if isinstance(found, ast.List | ast.Tuple | ast.Set) else [found]
    return any(facts.text(each) == "*" for each in listed)


def _reflected(facts: Facts, assign: ast.Assign) -> Iterator[Found]:
    """Look for the origin of a request that is sent back as allowed."""
    target = assign.targets[0]
    if not isinstance(target, ast.Subscript) or label(facts, target).lower() != _ALLOWED_ORIGIN:
        return
    value = facts.value(assign.value)
    if facts.text(value) == "*":
        yield at("any-origin", assign)
    elif value is not None and label(facts, value).lower() in {"origin", "http_origin"} and _is_headers(facts, value):
        guarded = any(isinstance(up, ast.If | ast.IfExp) for up in facts.above(assign))
        yield at("any-origin" if guarded else "reflected-origin", assign)


def _is_headers(facts: Facts, value: ast.expr) -> bool:
    inner = value.func if isinstance(value, ast.Call) else value
    holder = inner.value if isinstance(inner, ast.Attribute | ast.Subscript) else None
    return facts.name(holder).rsplit(".", 1)[-1] in {"headers", "META"}


def _debug(facts: Facts, call: ast.Call) -> Iterator[Found]:
    name = facts.name(call.func).rsplit(".", 1)[-1]
    debug = facts.constant(argument(call, None, "debug")) is True
    if debug and name in {"FastAPI", "Starlette", "Application", "Sanic"}:
        yield at("debug-on", call, cause=call.func)


def _unescaped(facts: Facts) -> Iterator[Found]:
    """Look for templates of a web application that do not escape what they are given."""
    for call in facts.calls("jinja2.Environment", "jinja2.environment.Environment"):
        escaped = argument(call, None, "autoescape")
        if not is_open(call) and (escaped is None or facts.constant(escaped) is False):
            yield at("templates-not-escaped", call, cause=escaped or call.func)
