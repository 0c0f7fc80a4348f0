"""Find signatures that are not checked, that anyone can forge, or whose comparison leaks timing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, is_static, label, words

_DECODE = ("jwt.decode", "jose.jwt.decode", "jwt.api_jwt.decode", "jwt.decode_complete")
_ENCODE = ("jwt.encode", "jose.jwt.encode", "jwt.api_jwt.encode")
_SIGNERS = (
    "itsdangerous.URLSafeTimedSerializer",
    "itsdangerous.URLSafeSerializer",
    "itsdangerous.Signer",
    "itsdangerous.TimestampSigner",
)
_MACS = frozenset({"hmac.new", "hmac.digest", "hmac.HMAC"})
_SIGNED = frozenset({"signature", "hmac", "mac", "sig", "signatur"})
"""Words of names whose value an attacker must not be able to guess byte by byte."""

_LONGEST_CHAIN = 6
"""Calls on the result of calls; a name may be made from itself."""


def weak_signatures(facts: Facts) -> Iterator[Found]:
    """Look at tokens that are signed and at how signatures are compared."""
    yield from _unverified(facts)
    yield from _literal_keys(facts)
    for compare in facts.of(ast.Compare):
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Eq | ast.NotEq):
            yield from _leaky(facts, compare)


def _unverified(facts: Facts) -> Iterator[Found]:
    decodes = list(facts.calls(*_DECODE))
    sure = {facts.scope(call) for call in decodes if not _is_blind(facts, call)}
    for call in decodes:
        # Many programs read the issuer or the key's id first, and check the signature with it.
        if _is_blind(facts, call) and facts.scope(call) not in sure:
            yield at("jwt-not-verified", call)
    checked = {facts.scope(call) for call in facts.of(ast.Call) if facts.name(call.func).endswith(".verify_jwt")}
    for call in facts.calls("python_jwt.process_jwt", "jwt.process_jwt"):
        if facts.scope(call) not in checked:
            yield at("jwt-not-verified", call)
    for call in facts.calls(*_ENCODE):
        if facts.text(argument(call, 2, "algorithm")).lower() == "none":
            yield at("jwt-not-verified", call, "A token with the algorithm none is not signed at all")


def _is_blind(facts: Facts, call: ast.Call) -> bool:
    """Whether the signature is not checked, by an option or by an algorithm that has none."""
    if facts.constant(argument(call, None, "verify")) is False:
        return True
    options = facts.value(argument(call, None, "options"))
    if isinstance(options, ast.Dict):
        for key, value in zip(options.keys, options.values, strict=True):
            if facts.text(key) == "verify_signature" and facts.constant(value) is False:
                return True
    allowed = facts.value(argument(call, 2, "algorithms"))
    listed = allowed.elts if isinstance(allowed, ast.List | ast.Tuple | ast.Set) else [allowed]
    return any(facts.text(each).lower() == "none" for each in listed)


def _literal_keys(facts: Facts) -> Iterator[Found]:
    for call in (*facts.calls(*_ENCODE), *facts.calls(*_DECODE)):
        if is_static(facts, argument(call, 1, "key")) and not _is_blind(facts, call):
            yield at("hard-coded-key", call)
    for call in facts.calls("hmac.new", *_SIGNERS):
        if is_static(facts, argument(call, 0, "key", "secret_key")):
            yield at("hard-coded-key", call)


def _leaky(facts: Facts, compare: ast.Compare) -> Iterator[Found]:
    sides = (compare.left, compare.comparators[0])
    if any(isinstance(facts.value(side), ast.Constant) for side in sides):
        return
    if any(_is_mac(facts, side) for side in sides):
        yield at("timing-comparison", compare)
    elif all(_SIGNED & set(words(label(facts, side))) for side in sides):
        yield at("timing-comparison-named", compare)


def _is_mac(facts: Facts, node: ast.expr) -> bool:
    """Whether an expression is a computed HMAC, or text made of one."""
    found = facts.value(node)
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(found, ast.Call):
            break
        if facts.name(found.func) in _MACS:
            return True
        inner = found.func.value if isinstance(found.func, ast.Attribute) else None
        if inner is None or (isinstance(inner, ast.Name) and found.args and facts.value(inner) is inner):
            inner = found.args[0] if found.args else None
        found = facts.value(inner)
    return False
