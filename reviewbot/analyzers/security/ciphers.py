"""Find weak encryption, and signatures that are not checked.

Encryption: ECB, an initialisation vector that never changes, a key in the source, a short key. Signatures: not checked,
forgeable by anyone, or compared in a way that leaks timing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import argument, at, is_static, label, words
from reviewbot.tables import words_in

_AEAD = tuple(
    f"cryptography.hazmat.primitives.ciphers.aead.{name}"
    for name in ("AESGCM", "AESCCM", "AESOCB3", "AESGCMSIV", "ChaCha20Poly1305")
)
_MIN_BITS = 2048
"""As the table of unsafe calls has it."""

_WEAK_CURVES = words_in("names/security", "weak_curves")

_VERIFY = frozenset({"verify", "verified", "verification"})
_DECODE = ("jwt.decode", "jose.jwt.decode", "jwt.api_jwt.decode", "jwt.decode_complete")
_ENCODE = ("jwt.encode", "jose.jwt.encode", "jwt.api_jwt.encode")
_MACS = frozenset({"hmac.new", "hmac.digest", "hmac.HMAC"})
_SIGNED = frozenset({"signature", "hmac", "mac", "sig", "signatur"})
"""Words of names whose value an attacker must not be able to guess byte by byte."""

_MAX_CHAIN = 6
"""Calls on the result of calls; a name may be made from itself."""


def weak_ciphers(code: CodeIndex) -> Iterator[Found]:
    """Look at how ciphers and keys are made, where a call alone does not tell."""
    for call in code.of(ast.Call):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        maker = code.maker_of(owner)
        if maker in _AEAD and code.name(call.func).endswith(".encrypt") and is_static(code, argument(call, 0, "nonce")):
            yield at("static-iv", call)
        bits = code.number(argument(call, 1, "bits")) if maker == "OpenSSL.crypto.PKey" else None
        if bits is not None and bits < _MIN_BITS:
            yield at("short-key", call)
    yield from _curves(code)


def _curves(code: CodeIndex) -> Iterator[Found]:
    for call in code.of(ast.Call):
        name = code.name(call.func)
        made = name.rsplit(".", 1)[-1]
        if name == "Crypto.PublicKey.ECC.generate":
            made = code.text(argument(call, None, "curve"))
        elif ".ec." not in name or "generate_private_key" not in {
            code.name(up.func).rpartition(".")[2] for up in code.above(call) if isinstance(up, ast.Call)
        }:
            continue  # a name in a table, say, makes no key
        if made in _WEAK_CURVES:
            yield at("short-key", call)


def weak_signatures(code: CodeIndex) -> Iterator[Found]:
    """Look at tokens that are signed and at how signatures are compared."""
    yield from _unverified(code)
    yield from _literal_keys(code)
    for compare in code.of(ast.Compare):
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.Eq | ast.NotEq):
            yield from _leaky(code, compare)


def _unverified(code: CodeIndex) -> Iterator[Found]:
    decodes = list(code.calls_to(*_DECODE))
    # Many programs read the issuer or the key's id first, and check the signature with it; others have a setting.
    sure = any(not _is_blind(code, call) for call in decodes)
    for call in () if sure else decodes:
        if _is_blind(code, call) and not (_is_a_choice(code, call) or _is_asked_for_its_key(code, call)):
            yield at("jwt-not-verified", call)
    checked = {code.scope_of(call) for call in code.of(ast.Call) if code.name(call.func).endswith(".verify_jwt")}
    for call in code.calls_to("python_jwt.process_jwt", "jwt.process_jwt"):
        if code.scope_of(call) not in checked:
            yield at("jwt-not-verified", call)


def _is_asked_for_its_key(code: CodeIndex, call: ast.Call) -> bool:
    """Whether of the token only that is read which says who signed it, with which key, and until when it holds."""
    assign = code.parents.get(call)
    target = assign.targets[0] if isinstance(assign, ast.Assign) else None
    uses = [*code.uses(call, target.id)] if isinstance(target, ast.Name) else []
    read = [label(code, _reading(code, use)) for use in uses]
    return bool(read) and set(read) <= {"iss", "kid", "alg", "exp"}


def _reading(code: CodeIndex, use: ast.Name) -> ast.AST | None:
    """The subscript of a name, or the call of its `get`."""
    above = code.parents.get(use)
    return code.parents.get(above) if isinstance(above, ast.Attribute) else above


def _is_a_choice(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the function also asks a value that is named after the verification whether to do it."""
    function = code.function(call)
    tests = [node.test for node in code.under(*function.body) if isinstance(node, ast.If)] if function else []
    return any(_VERIFY & set(words(label(code, part))) for part in code.under(*tests))


def _is_blind(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the signature is not checked, by an option or by an algorithm that has none."""
    if code.constant(argument(call, None, "verify")) is False:
        return True
    options = code.value(argument(call, None, "options"))
    if isinstance(options, ast.Dict):
        for key, value in zip(options.keys, options.values, strict=True):
            if code.text(key) == "verify_signature" and code.constant(value) is False:
                return True
    allowed = code.value(argument(call, 2, "algorithms"))
    listed = allowed.elts if isinstance(allowed, ast.List | ast.Tuple | ast.Set) else [allowed]
    return any(code.text(each).lower() == "none" for each in listed)


def _literal_keys(code: CodeIndex) -> Iterator[Found]:
    for call in (*code.calls_to(*_ENCODE), *code.calls_to(*_DECODE)):
        if is_static(code, argument(call, 1, "key")) and not _is_blind(code, call):
            yield at("hard-coded-key", call)


def _leaky(code: CodeIndex, compare: ast.Compare) -> Iterator[Found]:
    sides = (compare.left, compare.comparators[0])
    if any(isinstance(code.value(side), ast.Constant) for side in sides):
        return
    if any(_is_mac(code, side) for side in sides):
        yield at("timing-comparison", compare)
    elif all(_SIGNED & set(words(label(code, side))) for side in sides):
        yield at("timing-comparison-named", compare)


def _is_mac(code: CodeIndex, node: ast.expr) -> bool:
    """Whether an expression is a computed HMAC, or text made of one."""
    found = code.value(node)
    for _ in range(_MAX_CHAIN):
        if not isinstance(found, ast.Call):
            break
        if code.name(found.func) in _MACS:
            return True
        inner = found.func.value if isinstance(found.func, ast.Attribute) else None
        if inner is None or (isinstance(inner, ast.Name) and found.args and code.value(inner) is inner):
            inner = found.args[0] if found.args else None
        found = code.value(inner)
    return False
