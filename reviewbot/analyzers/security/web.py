"""Find what a web application leaves open.

Cookies, other origins, forged forms, pages that are not escaped; checks of an address that a hostile address passes;
parsers of XML that load other files; markup that is cleaned by a pattern.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import argument, at, decorators, is_open, label, words
from reviewbot.tables import words_in

_FRAMEWORKS = words_in("names/security", "frameworks")
_LOGIN_COOKIES = words_in("names/security", "login_cookies")
_ALLOWED_ORIGIN = "access-control-allow-origin"

_HOST = re.compile(r"\A(?:https?://)?(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}\Z")
_BARE_HOST = re.compile(r"\A(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}\Z")
_HOST_PATTERN = re.compile(
    r"https?:(?://|\\/\\/).{0,80}[a-z0-9)]\.(?:com|org|net|io|gov|edu|de|uk)(?![a-z.])", re.IGNORECASE
)
_FILES = (".py", ".json", ".txt", ".html", ".xml", ".csv", ".md", ".js", ".css", ".zip", ".gz", ".png", ".jpg", ".pdf")
_ADDRESSES = words_in("names/security", "addresses")
_USES = frozenset({"redirect", "HttpResponseRedirect", "RedirectResponse", "urlopen", "urlretrieve"})
_CLIENTS = frozenset({"requests", "httpx", "urllib"})
_MATCHES = frozenset({"re.match", "re.search", "re.fullmatch", "re.compile"})

_PARSERS = ("lxml.etree.XMLParser", "lxml.etree.ETCompatXMLParser", "lxml.etree.XMLPullParser", "lxml.etree.iterparse")
_READS = ("lxml.etree.fromstring", "lxml.etree.XML", "lxml.etree.parse", "lxml.etree.fromstringlist")
_FEATURES = frozenset({"feature_external_ges", "feature_external_pes"})
_FEATURE_TEXT = "http://xml.org/sax/features/external-"
_DANGEROUS = {"resolve_entities": True, "no_network": False, "load_dtd": True, "dtd_validation": True}
_CLEANED = re.compile(r"<\W{0,5}script", re.IGNORECASE)
_TOLERANT = re.compile(r"script[^>]{0,20}(?:\\s|\\b|\[\^>\])[^>]{0,10}>\)?\Z", re.IGNORECASE)
_REQUEST = words_in("names/security", "request")


def open_web(code: CodeIndex) -> Iterator[Found]:
    """Look at cookies, origins, templates and decorators of a web application."""
    for call in code.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"set_cookie", "set_signed_cookie"}:
            yield from _cookie(code, call)
        yield from _origins(code, call)
        yield from _debug(code, call)
    for assign in code.of(ast.Assign):
        yield from _reflected(code, assign)
    for function in code.functions():
        if any(
            name.rsplit(".", 1)[-1] == "csrf_exempt" or name == "csrf.exempt" for name in decorators(code, function)
        ):
            yield at("csrf-exempt", function.decorator_list[0])
    if code.imports(*_FRAMEWORKS):
        yield from _unescaped(code)


def _cookie(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    if is_open(call):
        return
    name = code.text(argument(call, 0, "key", "name"))
    login = bool(set(words(name)) & _LOGIN_COOKIES) and "csrf" not in words(name)
    secure, hidden = argument(call, None, "secure"), argument(call, None, "httponly")
    if secure is not None and code.constant(secure) is False:
        yield at("cookie-not-secure", call, cause=secure)
    elif login and secure is None:
        yield at("login-cookie-not-secure", call)
    if login and hidden is not None and code.constant(hidden) is False:
        yield at("cookie-not-httponly", call, cause=hidden)
    elif login and hidden is None and secure is not None:
        yield at("login-cookie-not-httponly", call)


def _origins(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    """Look for any origin that may send the user's cookies along."""
    if code.constant(argument(call, None, "allow_credentials")) is True:
        any_origin = _is_any(code, argument(call, None, "allow_origins"))
    elif code.constant(argument(call, None, "supports_credentials")) is True and code.imports("flask_cors"):
        origins = argument(call, None, "origins")
        apart = is_open(call) or argument(call, None, "resources") is not None
        any_origin = not apart and (origins is None or _is_any(code, origins))
    else:
        return
    if any_origin:
        yield at("any-origin-with-credentials", call)


def _is_any(code: CodeIndex, node: ast.expr | None) -> bool:
    found = code.value(node)
    listed = found.elts if isinstance(found, ast.List | ast.Tuple | ast.Set) else [found]
    return any(code.text(each) == "*" for each in listed)


def _reflected(code: CodeIndex, assign: ast.Assign) -> Iterator[Found]:
    """Look for the origin of a request that is sent back as allowed."""
    target = assign.targets[0]
    if not isinstance(target, ast.Subscript) or label(code, target).lower() != _ALLOWED_ORIGIN:
        return
    value = code.value(assign.value)
    if code.text(value) == "*":
        yield at("any-origin", assign)
    elif value is not None and label(code, value).lower() in {"origin", "http_origin"} and _is_headers(code, value):
        guarded = any(isinstance(up, ast.If | ast.IfExp) for up in code.above(assign))
        yield at("any-origin" if guarded else "reflected-origin", assign)


def _is_headers(code: CodeIndex, value: ast.expr) -> bool:
    inner = value.func if isinstance(value, ast.Call) else value
    holder = inner.value if isinstance(inner, ast.Attribute | ast.Subscript) else None
    return code.name(holder).rsplit(".", 1)[-1] in {"headers", "META"}


def _debug(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    name = code.name(call.func).rsplit(".", 1)[-1]
    debug = code.constant(argument(call, None, "debug")) is True
    if debug and name in {"FastAPI", "Starlette", "Application", "Sanic"}:
        yield at("debug-on", call, cause=call.func)


def _unescaped(code: CodeIndex) -> Iterator[Found]:
    """Look for templates of a web application that do not escape what they are given."""
    for call in code.calls_to("jinja2.Environment", "jinja2.environment.Environment"):
        escaped = argument(call, None, "autoescape")
        if not is_open(call) and (escaped is None or code.constant(escaped) is False):
            yield at("templates-not-escaped", call, cause=escaped or call.func)


def weak_host_checks(code: CodeIndex) -> Iterator[Found]:
    """Look at the conditions under which an address is used."""
    for compare in code.of(ast.Compare):
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.In):
            text, address = code.text(compare.left), compare.comparators[0]
            if _HOST.match(text) and not text.endswith(_FILES) and _is_address(code, address):
                yield at(_weighed(code, compare, address), compare)
    for call in code.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"startswith", "endswith"} and call.args:
            yield from _edge(code, call, call.func)
        elif code.name(call.func) in _MATCHES and call.args and _HOST_PATTERN.search(code.text(call.args[0])[:500]):
            yield at(_weighed(code, call, call.args[1] if len(call.args) > 1 else None), call)


def _edge(code: CodeIndex, call: ast.Call, func: ast.Attribute) -> Iterator[Found]:
    text = code.text(call.args[0])
    if func.attr == "endswith":
        # "evil-example.com" ends with "example.com"; with a dot or a slash in front it would not.
        open_end = bool(_BARE_HOST.match(text)) and not text.endswith(_FILES) and text.count(".") >= 1
    else:
        open_end = text.startswith(("http://", "https://")) and bool(_HOST.match(text))
    if open_end and _is_address(code, func.value):
        yield at(_weighed(code, call, func.value), call)


def _is_address(code: CodeIndex, node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value  # from url.lower() to url
    return bool(words(label(code, node))) and words(label(code, node))[-1] in _ADDRESSES


def _weighed(code: CodeIndex, check: ast.expr, address: ast.expr | None) -> str:
    """The rule for a check: surer where it decides about following the address that it looked at."""
    below: ast.AST = check
    names = {each.id for each in code.under(address) if isinstance(each, ast.Name)} if address is not None else set()
    names |= {each.id for name in list(names) for value in code.bindings(check, name) if value is not None
              for each in code.under(value) if isinstance(each, ast.Name)}  # fmt: skip
    for up in code.above(check):
        if isinstance(up, ast.If) and below is up.test:
            return "host-check" if _follows(code, up.body, names) else "host-check-plain"
        if isinstance(up, ast.stmt):
            break
        below = up
    return "host-check-plain"


def _follows(code: CodeIndex, body: list[ast.stmt], names: set[str]) -> bool:
    for node in code.under(*body):
        if not isinstance(node, ast.Call):
            continue
        name = code.name(node.func)
        follows = name.rsplit(".", 1)[-1] in _USES or name.split(".", 1)[0] in _CLIENTS
        if follows and any(isinstance(each, ast.Name) and each.id in names for each in code.under(*node.args)):
            return True
    return False


def unsafe_markup(code: CodeIndex) -> Iterator[Found]:
    """Look at parsers of XML and at patterns for tags of HTML."""
    for call in code.calls_to(*_PARSERS):
        if any(k.arg in _DANGEROUS and code.constant(k.value) is _DANGEROUS[k.arg] for k in call.keywords):
            yield at("external-entities", call)
        elif code.constant(argument(call, None, "huge_tree")) is True:
            yield at("huge-documents", call)
    for call in code.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "setFeature" and len(call.args) == len("xy"):
            yield from _feature(code, call)
    for call in code.calls_to(*_READS):
        # Before lxml 5 every entity was resolved by default, and after it those of the document itself still are.
        if argument(call, 1, "parser") is None and not is_open(call) and call.args and _is_sent(code, call.args[0]):
            yield at("document-from-request", call)
    for call in code.calls_to("re.sub", "re.subn"):
        yield from _cleaned(code, call)


def _feature(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    feature, on = call.args
    named = code.name(feature).rsplit(".", 1)[-1] in _FEATURES or code.text(feature).startswith(_FEATURE_TEXT)
    if named and code.constant(on) == 1:
        yield at("external-entities-feature", call)


def _is_sent(code: CodeIndex, node: ast.expr) -> bool:
    """Whether an expression is data of the request, at first sight."""
    found = code.value(node)
    for _ in range(5):
        if isinstance(found, ast.Call):
            if code.name(found.func) in {"io.BytesIO", "io.StringIO", "BytesIO", "StringIO"} and found.args:
                found = code.value(found.args[0])
                continue
            found = found.func
        if isinstance(found, ast.Await):
            found = found.value
        elif isinstance(found, ast.Subscript):
            found = code.value(found.value)
        elif isinstance(found, ast.Attribute):
            if code.name(found.value).rsplit(".", 1)[-1] == "request" and found.attr in _REQUEST:
                return True
            found = code.value(found.value)
    return False


def _cleaned(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    """Look for a pattern that takes scripts out of a text, and misses what browsers accept."""
    pattern, replacement = argument(call, 0, "pattern"), argument(call, 1, "repl")
    text = code.text(pattern)[:500]
    if _CLEANED.search(text) and code.constant(replacement) == "" and not _TOLERANT.search(text):
        yield at("script-tag-pattern", call)
