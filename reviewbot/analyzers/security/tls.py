"""Find connections that do not verify the peer, or that others can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import argument, at, is_open, is_stand_in, label, words

_NO_CERTIFICATE = frozenset({"ssl.CERT_NONE", "OpenSSL.SSL.VERIFY_NONE", "SSL.VERIFY_NONE"})
_OFF = frozenset({"verify_ssl", "verify_certs", "check_hostname", "assert_hostname", "validate_certs", "ssl_verify"})
_VERBS = frozenset(
    {"get", "post", "put", "patch", "delete", "options", "request", "send", "Client", "AsyncClient", "client"}
)
"""Methods and clients of HTTP; `head` brings nothing back but that the server answers."""

_SESSIONS = frozenset({"session", "sessions", "requests", "http", "client", "api", "s", "sess"})
_AIO = frozenset({"get", "post", "put", "patch", "delete", "head", "request", "ws_connect", "TCPConnector"})
_OLD = frozenset({"SSLv2", "SSLv3", "TLSv1", "TLSv1_1"})
_VERIFYING = frozenset({"verify_mode", "load_verify_locations", "load_default_certs", "bind", "listen", "accept"})
"""What tells that certificates are checked, or that this is the side that has one."""

_SAFE_PROTOCOLS = frozenset({"ssl.PROTOCOL_TLS_CLIENT", "ssl.PROTOCOL_TLS_SERVER"})
_OF_TLS = frozenset({"ssl", "tls", "https", "cert", "certs", "peer", "host", "hostname"})
_CERTIFICATE_OF_PEER = frozenset({"getpeercert", "get_peer_certificate", "get_peer_cert_chain", "getpeercertchain"})
_LOCAL = ("localhost", "127.", "::1", "0.0.0.0")  # noqa: S104 - compared with, never bound to


def open_connections(code: CodeIndex) -> Iterator[Found]:
    """Look at how connections are made and checked."""
    for call in code.of(ast.Call):
        yield from _unchecked(code, call)
    for assign in code.of(ast.Assign):
        yield from _switched_off(code, assign)
    yield from _never_verified(code)
    yield from _blind_clients(code)
    yield from _open_login(code)
    yield from _plain_http(code)
    yield from _bound_without_password(code)


def _unchecked(code: CodeIndex, call: ast.Call) -> Iterator[Found]:
    name = code.name(call.func)
    last = name.rsplit(".", 1)[-1]
    rule = "tls-not-verified-if" if _is_second_try(code, call) else "tls-not-verified"
    for keyword in call.keywords:
        off = code.constant(keyword.value) is False
        match keyword.arg:
            case "verify" if off and last in _VERBS and _is_client(code, call, name):
                if not code.text(argument(call, 0, "url")).startswith("http://"):
                    yield at(rule, call, cause=keyword)
            case "ssl" if off and last in _AIO and code.imports("aiohttp"):
                yield at(rule, call, cause=keyword)
            case "cert_reqs" if last != "update" and _asks_for_no_certificate(code, keyword.value):
                yield at(rule, call, cause=keyword)
            case _ if off and keyword.arg in _OFF and (last in _VERBS or last[:1].isupper()):
                yield at(rule, call, cause=keyword)
    if last == "set_verify" and code.name(argument(call, 0, "mode")) in _NO_CERTIFICATE:
        yield at("tls-not-verified", call)


def _is_second_try(code: CodeIndex, call: ast.Call) -> bool:
    """Whether a first call has found out that the certificate is not valid."""
    types = [up.type for up in code.above(call) if isinstance(up, ast.ExceptHandler) and up.type is not None]
    caught = code.under(*types)
    return any({"cert", "certificate", "ssl"} & set(words(label(code, part))) for part in caught)


def _asks_for_no_certificate(code: CodeIndex, value: ast.expr) -> bool:
    return code.name(value) in _NO_CERTIFICATE or code.text(value) == "CERT_NONE"


def _is_client(code: CodeIndex, call: ast.Call, name: str) -> bool:
    """Whether a call is one of an HTTP client, and not of something else that verifies."""
    if name.split(".", 1)[0] in {"requests", "httpx", "boto3", "hvac"}:
        return True
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    if code.maker_of(holder) in {"requests.Session", "requests.session", "httpx.Client", "httpx.AsyncClient"}:
        return True
    return bool(set(words(name.rsplit(".", 1)[0])) & _SESSIONS)


def _switched_off(code: CodeIndex, assign: ast.Assign) -> Iterator[Found]:
    target = assign.targets[0]
    if not isinstance(target, ast.Attribute):
        return
    off = code.constant(assign.value) is False
    value = code.name(assign.value)
    # Under an `if` it may be an option that a library offers: the caller decides.
    asked = any(isinstance(up, ast.If) for up in code.above(assign))
    meant = any(_is_about_verification(up) for up in code.above(assign)) or _reads_certificate(code, assign)
    match target.attr:
        case "check_hostname" | "verify_mode" | "verify" if meant:
            return
        case "check_hostname" | "verify_mode" if (off or value in _NO_CERTIFICATE) and code.name(
            target.value
        ) != "self":
            yield at("tls-not-verified-if" if asked else "tls-not-verified", assign)
        case "verify" if off and set(words(code.name(target.value))) & _SESSIONS:
            yield at("tls-not-verified-if" if asked else "tls-not-verified", assign)
        case "_create_default_https_context" if value == "ssl._create_unverified_context":
            yield at("tls-not-verified", assign)
        case "minimum_version" if value.startswith("ssl.TLSVersion.") and value.rsplit(".", 1)[-1] in _OLD:
            yield at("old-tls", assign)


def _is_about_verification(definition: ast.AST) -> bool:
    """Whether a name tells that a function or class is the switch for the verification, or looks at certificates."""
    if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    said = set(words(definition.name))
    verifies = bool(said & {"verify", "verification"})
    return bool(said & {"certificate", "certificates"}) or (verifies and (len(said) == 1 or bool(said & _OF_TLS)))


def _reads_certificate(code: CodeIndex, node: ast.AST) -> bool:
    """Whether the function around a node asks the peer for its certificate, and so looks at it itself."""
    function = code.function(node)
    around = code.under(*function.body) if function else ()
    return any(isinstance(each, ast.Attribute) and each.attr in _CERTIFICATE_OF_PEER for each in around)


def _never_verified(code: CodeIndex) -> Iterator[Found]:
    """A context of pyOpenSSL accepts every certificate until `set_verify` is called."""
    if any(isinstance(call.func, ast.Attribute) and call.func.attr == "set_verify" for call in code.of(ast.Call)):
        return
    for call in code.calls_to("OpenSSL.SSL.Context"):
        yield at("tls-never-verified", call)


def _blind_clients(code: CodeIndex) -> Iterator[Found]:
    """Look for clients on a plain SSLContext, which verifies nothing by default."""
    if any(node.attr in _VERIFYING for node in code.of(ast.Attribute)):
        return
    for call in code.of(ast.Call):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "wrap_socket"):
            continue
        made = code.value(call.func.value)
        if not isinstance(made, ast.Call) or code.name(made.func) != "ssl.SSLContext" or is_open(call):
            continue
        safe = code.name(argument(made, 0, "protocol")) in _SAFE_PROTOCOLS
        if not safe and argument(call, None, "server_side") is None:
            yield at("tls-client-never-verified", call)


def _open_login(code: CodeIndex) -> Iterator[Found]:
    """A password that is sent over a connection of smtplib which was never switched to TLS."""
    for call in code.of(ast.Call):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "login"):
            continue
        made = code.value(call.func.value)
        if not isinstance(made, ast.Call) or code.name(made.func) != "smtplib.SMTP":
            continue
        if code.text(argument(made, 0, "host")).startswith(_LOCAL):
            continue
        around = code.under(code.scope_of(call))
        if not any(isinstance(node, ast.Attribute) and node.attr in {"starttls", "SMTP_SSL"} for node in around):
            yield at("login-in-the-clear", call)


def _plain_http(code: CodeIndex) -> Iterator[Found]:
    """A request that carries a password to an address of http."""
    for call in code.of(ast.Call):
        name = code.name(call.func)
        if name.split(".", 1)[0] not in {"requests", "httpx"} or is_open(call):
            continue
        address = code.text(argument(call, 1 if name.endswith(".request") else 0, "url"))
        scheme, _, host = address.partition("://")
        if scheme.lower() != "http" or not host or host.startswith(_LOCAL) or is_stand_in(host):
            continue
        if argument(call, None, "auth") is not None or _sends_password(code, call):
            yield at("login-in-the-clear", call)


def _sends_password(code: CodeIndex, call: ast.Call) -> bool:
    sent = code.value(argument(call, 1, "data", "json"))
    keys = sent.keys if isinstance(sent, ast.Dict) else []
    return any(code.text(key).lower() in {"password", "passwd", "pwd", "client_secret"} for key in keys)


def _bound_without_password(code: CodeIndex) -> Iterator[Found]:
    """A bind to a directory with a name alone is an anonymous one: it succeeds for every name."""
    for call in code.of(ast.Call):
        if is_open(call):
            continue
        if code.name(call.func) == "ldap3.Connection":
            user, password = argument(call, 1, "user"), argument(call, 2, "password")
            known = argument(call, None, "authentication", "sasl_mechanism") is not None
        elif isinstance(call.func, ast.Attribute) and call.func.attr in {"simple_bind_s", "simple_bind", "bind_s"}:
            user, password = argument(call, 0, "who"), argument(call, 1, "cred")
            known = not code.imports("ldap")
        else:
            continue
        empty = password is None or code.constant(password) == "" or _is_none(password)
        if user is not None and not _is_none(user) and code.constant(user) != "" and empty and not known:
            yield at("bind-without-password", call)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
