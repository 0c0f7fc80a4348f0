"""Find weak password hashing: a fast hash, too few rounds, a salt that is the same for all users."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import PASSWORDS, argument, at, is_open, is_password, is_static, label, words

_FAST = frozenset(
    f"hashlib.{name}"
    for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s")
)
_BROKEN = frozenset({"md5", "sha1"})
_KEPT_WITH = PASSWORDS | {"secret", "token", "credential", "credentials", "signature"}
"""Words of what a digest goes to that tell that security depends on it."""

_SLOW = frozenset({"bcrypt", "argon2", "scrypt", "pbkdf2", "hashpw", "hash_password", "make_password", "kdf"})
_LEAKED = frozenset({"pwned", "pwnedpasswords", "breach", "breached", "hibp", "leaked"})
"""Words of code that asks a service of known passwords, whose protocol is made of fast hashes."""

_HAZMAT = "cryptography.hazmat.primitives.kdf."
_KDFS: dict[str, tuple[int | None, int | None, tuple[str, ...]]] = {
    "hashlib.pbkdf2_hmac": (2, 3, ("iterations",)),
    f"{_HAZMAT}pbkdf2.PBKDF2HMAC": (2, 3, ("iterations",)),
    "Crypto.Protocol.KDF.PBKDF2": (1, 3, ("count",)),
    "hashlib.scrypt": (None, None, ()),
    f"{_HAZMAT}scrypt.Scrypt": (0, None, ()),
    "Crypto.Protocol.KDF.scrypt": (1, None, ()),
    "argon2.low_level.hash_secret": (1, None, ()),
    "argon2.low_level.hash_secret_raw": (1, None, ()),
    "bcrypt.hashpw": (1, None, ()),
    "bcrypt.kdf": (1, None, ()),
    "crypt.crypt": (1, None, ()),
}
"""Functions that make a key of a password: where the salt and the number of rounds stand."""

_MIN_ROUNDS = 100_000
"""Of PBKDF2. Guidance of 2023 asks for 600,000 with SHA-256 and 210,000 with SHA-512; far below is a mistake."""

_MIN_DOUBLINGS = 10
"""Of bcrypt, the least that is still advised."""


def weak_passwords(facts: Facts) -> Iterator[Found]:
    """Look at how passwords are hashed."""
    yield from _fast_hashes(facts)
    yield from _weak_hashes(facts)
    yield from _derived(facts)
    for call in facts.calls("bcrypt.gensalt"):
        rounds = facts.number(argument(call, 0, "rounds"))
        if rounds is not None and rounds < _MIN_DOUBLINGS:
            yield at("few-rounds", call)


def _fast_hashes(facts: Facts) -> Iterator[Found]:
    for call in facts.of(ast.Call):
        hashed = _hashed(facts, call)
        if hashed is not None and _holds_password(facts, hashed) and not _excused(facts, call):
            yield at("fast-password-hash", call, cause=call.func)


def _weak_hashes(facts: Facts) -> Iterator[Found]:
    """A broken hash whose result goes, one or two names later, to something with the name of a secret."""
    for call in facts.of(ast.Call):
        if not _is_broken(facts, call) or facts.constant(argument(call, None, "usedforsecurity")) is False:
            continue
        names = {name for name in [_target(facts, call)] if name}
        for name in [*names]:
            names |= {_target(facts, use) for use in facts.uses(call, name)} - {""}
        uses = (use for name in sorted(names) for use in facts.uses(call, name))
        if any(_is_kept_with_secrets(facts, use) for use in uses) and not _excused(facts, call):
            yield at("weak-hash-of-secret", call, cause=call.func)


def _is_broken(facts: Facts, call: ast.Call) -> bool:
    module, _, name = facts.name(call.func).rpartition(".")
    if module != "hashlib":
        return False
    return (facts.text(argument(call, 0, "name")).lower() if name == "new" else name) in _BROKEN


def _statement(facts: Facts, node: ast.AST) -> ast.stmt | None:
    return next((above for above in facts.above(node) if isinstance(above, ast.stmt)), None)


def _target(facts: Facts, node: ast.AST) -> str:
    """The one name that the statement around an expression gives it; empty where there is none."""
    match _statement(facts, node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _is_kept_with_secrets(facts: Facts, use: ast.Name) -> bool:
    """Whether a simple statement puts a value into something whose own name or file is one of secrets."""
    statement = _statement(facts, use)
    if not isinstance(statement, ast.Assign | ast.Expr):
        return False
    if isinstance(statement, ast.Assign):
        return any(_KEPT_WITH & set(words(label(facts, target))) for target in statement.targets)
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr == "update":
        return False
    store = facts.value(call.func.value)
    said = (node for part in (call.func.value, store) if part is not None for node in facts.under(part))
    return any(_KEPT_WITH & set(words(_named(node))) for node in said)


def _named(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case _:
            return ""


def _hashed(facts: Facts, call: ast.Call) -> ast.expr | None:
    """What a call puts into a fast hash, or None."""
    if _is_fast(facts, call):
        return argument(call, 1 if facts.name(call.func) == "hashlib.new" else 0, "string", "data")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        made = facts.value(call.func.value)
        if isinstance(made, ast.Call) and _is_fast(facts, made):
            return argument(call, 0)
    return None


def _is_fast(facts: Facts, call: ast.Call) -> bool:
    name = facts.name(call.func)
    return name in _FAST or (name == "hashlib.new" and bool(facts.text(argument(call, 0, "name"))))


def _holds_password(facts: Facts, node: ast.expr) -> bool:
    """Whether a password itself is in the expression: not its length, nor what another function made of it."""
    stack = [node]
    while stack:
        found = stack.pop()
        if isinstance(found, ast.Call):
            kept = isinstance(found.func, ast.Attribute) and found.func.attr in {"encode", "strip", "format", "join"}
            plain = facts.name(found.func) in {"str", "bytes", "bytearray"}
            stack += [found.func.value] if kept and isinstance(found.func, ast.Attribute) else []
            stack += found.args if kept or plain else []
        elif isinstance(found, ast.BinOp):
            stack += [found.left, found.right]
        elif isinstance(found, ast.JoinedStr | ast.Tuple | ast.List):
            stack += found.values if isinstance(found, ast.JoinedStr) else found.elts
        elif isinstance(found, ast.FormattedValue):
            stack.append(found.value)
        if is_password(label(facts, found)):
            return True
    return False


def _excused(facts: Facts, call: ast.Call) -> bool:
    """Whether a slow hash follows or stands beside it, or the code asks for passwords that are known to have leaked.

    Code that checks passwords with a slow hash as well reads the hashes of others in the form in which they are kept.
    """
    function = facts.function(call)
    for node in facts.above(call):
        if node is function:
            break
        if isinstance(node, ast.Call) and set(words(facts.name(node.func))) & _SLOW:
            return True
    around = facts.under(*(function.body if function else [call]))
    names = (node for node in around if isinstance(node, ast.Name | ast.Attribute | ast.Constant))
    said = [function.name if function else "", *(label(facts, node) or facts.text(node)[:200] for node in names)]
    return any((_LEAKED | _SLOW) & set(words(name)) for name in said)


def _derived(facts: Facts) -> Iterator[Found]:
    for call in facts.calls(*_KDFS):
        salt_at, rounds_at, rounds_named = _KDFS[facts.name(call.func)]
        if is_open(call):
            continue
        if is_static(facts, argument(call, salt_at, "salt")):
            yield at("static-salt", call)
        rounds = facts.number(argument(call, rounds_at, *rounds_named)) if rounds_named else None
        if rounds is not None and rounds < _MIN_ROUNDS:
            yield at("few-rounds", call)
