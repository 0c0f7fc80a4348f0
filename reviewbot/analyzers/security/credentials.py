"""Find passwords and keys that are literals in the source, and places that a password must not get to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, is_password, is_stand_in, label, words

_CONNECTS = frozenset(
    {"connect", "Connect", "Connection", "connection", "login", "create_connection", "create_pool", "Redis",
     "StrictRedis", "MongoClient", "authenticate", "SMTP", "FTP", "FTP_TLS", "PooledDB", "Client", "KafkaProducer",
     "PlainCredentials"}
)  # fmt: skip
_LOGINS = frozenset(
    {"smtplib.SMTP", "smtplib.SMTP_SSL", "ftplib.FTP", "ftplib.FTP_TLS", "imaplib.IMAP4", "imaplib.IMAP4_SSL"}
)
_PASSWORD_NAMES = ("password", "passwd", "pwd")
_FILE_DATABASES = ("sqlite",)

_KEY_NAMES = frozenset({"aws_secret_access_key", "api_key", "apikey", "api_secret", "secret_access_key", "auth_token"})
_FEWEST_KINDS = 8
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
    if last == "login" and isinstance(call.func, ast.Attribute) and facts.made_by(call.func.value) in _LOGINS:
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
    return mixed and bool(_API_KEY.fullmatch(text)) and len(set(text)) >= _FEWEST_KINDS


def _is_signing_key(facts: Facts, target: ast.expr, named: str) -> bool:
    """Whether something is the key with which a web framework signs its sessions."""
    if isinstance(target, ast.Attribute):
        return named == "secret_key" and bool(set(words(facts.name(target.value))) & {"app", "application", "server"})
    if isinstance(target, ast.Subscript):
        return named in {"SECRET_KEY", "JWT_SECRET_KEY"} and "config" in words(facts.name(target.value))
    return named in {"SECRET_KEY", "JWT_SECRET", "JWT_SECRET_KEY"} and isinstance(target, ast.Name)
