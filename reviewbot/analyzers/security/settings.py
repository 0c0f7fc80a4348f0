"""Find settings of web frameworks that switch a protection off."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import at, is_password, label, words
from reviewbot.tables import packaged_table

_NOT_LIVE = re.compile(
    r"(?:^|[/_.-])(?:dev|devel|development|local|test|tests|testing|debug|ci|example|sandbox)(?:[/_.-]|$)"
)
"""Paths of settings that no user ever meets."""

_OFF: Mapping[str, str] = packaged_table("names/security")["off"]
"""Settings that must not be false."""

_CLASSES = frozenset({"development", "dev", "test", "testing", "local", "debug"})
_MIN_LENGTH = 8
"""Characters of a password, NIST SP 800-63B."""


def weak_settings(code: CodeIndex) -> Iterator[Found]:
    """Look at settings as they are assigned, stored under their names or passed by them."""
    if _NOT_LIVE.search(code.view.path.lower()):
        return
    for name, value in _settings(code):
        if name in _OFF and code.constant(value) is False and not _in_other_class(code, value):
            yield at(_OFF[name], value)
        elif name == "AUTH_PASSWORD_VALIDATORS" and isinstance(value, ast.List | ast.Tuple) and not value.elts:
            yield at("no-password-rules", value)
        elif name == "SESSION_SERIALIZER" and code.text(value).endswith("PickleSerializer"):
            yield at("pickled-sessions", value)
        elif (
            name == "ALLOWED_HOSTS"
            and isinstance(value, ast.List | ast.Tuple)
            and any(code.text(each) == "*" for each in value.elts)
        ):
            yield at("any-host", value)
        elif name == "DEBUG" and code.constant(value) is True and not _in_other_class(code, value):
            yield at("debug-setting-on", value)
    yield from _short_passwords(code)
    for compare in code.of(ast.Compare):
        if _is_short(code, compare):
            yield at("no-password-rules", compare)
    yield from _open_origins(code)


def _settings(code: CodeIndex) -> Iterator[tuple[str, ast.expr]]:
    for assign in code.of(ast.Assign):
        for target in assign.targets:
            stored = isinstance(target, ast.Subscript) and "config" in words(code.name(target.value))
            if stored or isinstance(target, ast.Name):
                yield label(code, target), assign.value
    for call in code.of(ast.Call):
        if code.name(call.func).endswith(("config.update", "config.from_mapping")):
            yield from ((keyword.arg or "", keyword.value) for keyword in call.keywords)


def _in_other_class(code: CodeIndex, node: ast.AST) -> bool:
    """Whether a setting is one of a class for developers."""
    around = (up for up in code.above(node) if isinstance(up, ast.ClassDef))
    return any(_CLASSES & set(words(up.name)) for up in around)


def _short_passwords(code: CodeIndex) -> Iterator[Found]:
    """Look at the least length of passwords in Django's list of validators."""
    for table in code.of(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            length = code.number(value) if code.text(key) == "min_length" else None
            around = code.parents.get(table)
            if (
                length is not None
                and length < _MIN_LENGTH
                and isinstance(around, ast.Dict)
                and any(code.text(each).endswith("MinimumLengthValidator") for each in around.values)
            ):
                yield at("no-password-rules", value)


def _is_short(code: CodeIndex, compare: ast.Compare) -> bool:
    """Whether the length of a password is compared with one that is too short; whether it is empty is no such rule."""
    measured = compare.left
    if len(compare.ops) != 1 or not isinstance(measured, ast.Call) or code.name(measured.func) != "len":
        return False
    length = code.number(compare.comparators[0])
    ordered = isinstance(compare.ops[0], ast.Lt | ast.GtE)
    named = any(is_password(label(code, argument)) for argument in measured.args)
    return ordered and named and length is not None and 1 < length < _MIN_LENGTH


def _open_origins(code: CodeIndex) -> Iterator[Found]:
    """Look for any origin together with credentials, in the settings of django-cors-headers."""
    on = {name: value for name, value in _settings(code) if code.constant(value) is True}
    for name in ("CORS_ALLOW_ALL_ORIGINS", "CORS_ORIGIN_ALLOW_ALL"):
        if name in on:
            yield at("any-origin-with-credentials" if "CORS_ALLOW_CREDENTIALS" in on else "any-origin", on[name])
