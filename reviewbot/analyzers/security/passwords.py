"""Find weak password hashing, and predictable random numbers in sessions, tokens and passwords.

Weak: a fast hash, too few rounds, a salt that is the same for all users.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import PASSWORDS, argument, at, is_password, label, words
from reviewbot.tables import words_in

_FAST = frozenset(
    f"hashlib.{name}"
    for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s")
)
_BROKEN = frozenset({"md5", "sha1"})
_KEPT_WITH = PASSWORDS | {"secret", "token", "credential", "credentials", "signature"}
"""Words of what a digest goes to that tell that security depends on it."""

_NOT_KEPT = frozenset({"cache", "crypt", "apr", "htpasswd"})
"""Words of a function that keeps nothing, or computes a form of hash that a file of users has."""

_SLOW = frozenset({"bcrypt", "argon2", "scrypt", "pbkdf2", "hashpw", "hash_password", "make_password", "kdf"})
_LEAKED = frozenset({"pwned", "pwnedpasswords", "breach", "breached", "hibp", "leaked"})
"""Words of code that asks a service of known passwords, whose protocol is made of fast hashes."""

_METHODS = ("random", "randint", "randrange", "choice", "choices", "sample", "uniform", "getrandbits", "randbytes")
_WEAK = frozenset(
    [f"random.{method}" for method in _METHODS]
    + [f"numpy.random.{method}" for method in ("rand", "randint", "random", "choice", "bytes")]
)
_GUESSABLE = "uuid.uuid1"

_SECRETS = PASSWORDS | {"secret", "otp", "csrf", "apikey", "totp", "pincode", "captcha"}
_TOKENS = frozenset({"token", "session", "cookies"})
_OF_TOKENS = words_in("names/security", "of_tokens")
"""Words beside "token" or "session" that tell it from a token of a language, a session of a database or a game."""

_NOT_SECRET = words_in("names/security", "not_secret")

_PICKS = frozenset({"choice", "choices", "sample"})
_ALPHABETS = words_in("names/security", "alphabets")
"""Words of a collection whose elements are parts of a secret and no secrets, or whatever else, themselves."""

_CORPORA = frozenset({"vocab", "vocabulary", "tokenizer", "corpus"})
_MADE_BY = frozenset({"str", "hex", "format", "bytes"})
_MAKERS = frozenset({"reset", "otp", "secret"}) | PASSWORDS
"""Words of a function that makes secrets."""

_STORES = frozenset({"session", "sessions", "cookie", "cookies", "token", "tokens"})
"""What a store of secrets has in its name."""


def fast_hashes(code: CodeIndex) -> Iterator[Found]:
    """Look for passwords that are hashed quickly; not where another server is asked, whose protocol says how to."""
    for call in () if code.imports("requests", "httpx") else code.of(ast.Call):
        hashed = _hashed(code, call)
        if hashed is not None and holds_password(code, hashed) and not _excused(code, call):
            yield at("fast-password-hash", call, cause=call.func)


def weak_hashes(code: CodeIndex) -> Iterator[Found]:
    """A broken hash whose result goes, one or two names later, to something with the name of a secret."""
    for call in code.of(ast.Call):
        if not _is_broken(code, call) or code.constant(argument(call, None, "usedforsecurity")) is False:
            continue
        names = {name for name in [_target(code, call)] if name}
        for name in [*names]:
            names |= {_target(code, use) for use in code.uses(call, name)} - {""}
        uses = (use for name in sorted(names) for use in code.uses(call, name))
        if any(_is_kept_with_secrets(code, use) for use in uses) and not _excused(code, call):
            yield at("weak-hash-of-secret", call, cause=call.func)


def _is_broken(code: CodeIndex, call: ast.Call) -> bool:
    module, _, name = code.name(call.func).rpartition(".")
    if module != "hashlib":
        return False
    return (code.text(argument(call, 0, "name")).lower() if name == "new" else name) in _BROKEN


def _statement(code: CodeIndex, node: ast.AST) -> ast.stmt | None:
    return next((above for above in code.above(node) if isinstance(above, ast.stmt)), None)


def _target(code: CodeIndex, node: ast.AST) -> str:
    """The one name that the statement around an expression gives it; empty where there is none."""
    match _statement(code, node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _is_kept_with_secrets(code: CodeIndex, use: ast.Name) -> bool:
    """Whether a simple statement puts a value into something whose own name or file is one of secrets."""
    statement = _statement(code, use)
    if not isinstance(statement, ast.Assign | ast.Expr):
        return False
    if isinstance(statement, ast.Assign):
        return any(_KEPT_WITH & set(words(label(code, target))) for target in statement.targets)
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr == "update":
        return False
    store = code.value(call.func.value)
    said = (node for part in (call.func.value, store) if part is not None for node in code.under(part))
    return any(_KEPT_WITH & set(words(_named(node))) for node in said)


def _named(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case _:
            return ""


def _hashed(code: CodeIndex, call: ast.Call) -> ast.expr | None:
    """What a call puts into a fast hash, or None."""
    if _is_fast(code, call):
        return argument(call, 1 if code.name(call.func) == "hashlib.new" else 0, "string", "data")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "update":
        made = code.value(call.func.value)
        if isinstance(made, ast.Call) and _is_fast(code, made):
            return argument(call, 0)
    return None


def _is_fast(code: CodeIndex, call: ast.Call) -> bool:
    name = code.name(call.func)
    return name in _FAST or (name == "hashlib.new" and bool(code.text(argument(call, 0, "name"))))


def holds_password(code: CodeIndex, node: ast.expr) -> bool:
    """Whether a password itself is in the expression: not its length, nor what another function made of it."""
    stack = [node]
    while stack:
        found = stack.pop()
        if isinstance(found, ast.Call):
            kept = isinstance(found.func, ast.Attribute) and found.func.attr in {"encode", "strip", "format", "join"}
            plain = code.name(found.func) in {"str", "bytes", "bytearray"}
            stack += [found.func.value] if kept and isinstance(found.func, ast.Attribute) else []
            stack += found.args if kept or plain else []
        elif isinstance(found, ast.BinOp):
            stack += [found.left, found.right]
        elif isinstance(found, ast.JoinedStr | ast.Tuple | ast.List):
            stack += found.values if isinstance(found, ast.JoinedStr) else found.elts
        elif isinstance(found, ast.FormattedValue):
            stack.append(found.value)
        # One of the program's own settings is no user's.
        if is_password(label(code, found)) and not {"cfg", "conf", "config", "settings"} & set(words(code.name(found))):
            return True
    return False


def _excused(code: CodeIndex, call: ast.Call) -> bool:
    """Whether a slow hash follows or stands beside it, or nothing is kept: a cache, or a list of leaked passwords.

    A digest that stands under "password" in a collection is sent to a service whose protocol says how it is made. Code
    that checks passwords with a slow hash as well reads the hashes of others in the form in which they are kept.
    """
    function = code.function(call)
    if function is not None and _NOT_KEPT & set(words(function.name)):
        return True
    # A class of the algorithm's own name is one of those that the settings choose from.
    algorithm = code.name(call.func).rpartition(".")[2]
    if any(isinstance(up, ast.ClassDef) and algorithm in up.name.lower() for up in code.above(call)):
        return True
    if _is_sent(code, call) or _is_key(code, call) or _is_cut(code, call) or _is_fingerprint(code, call):
        return True
    for node in code.above(call):
        if node is function:
            break
        if isinstance(node, ast.Call) and set(words(code.name(node.func))) & _SLOW:
            return True
    around = code.under(*(function.body if function else [call]))
    names = (node for node in around if isinstance(node, ast.Name | ast.Attribute | ast.Constant))
    said = [function.name if function else "", *(label(code, node) or code.text(node)[:200] for node in names)]
    return any((_LEAKED | _SLOW) & set(words(name)) for name in said)


def _is_sent(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the digest is an item of a literal dictionary under the name of a password, as requests have it."""
    below: ast.AST = call
    for above in code.above(call):
        if isinstance(above, ast.Dict):
            items = zip(above.keys, above.values, strict=True)
            return any(value is below and key is not None and is_password(code.text(key)) for key, value in items)
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False


def _is_key(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the digest becomes a key or a vector of a cipher."""
    statement = _statement(code, call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any({"iv", "nonce", "key"} & set(words(label(code, target))) for target in targets)


def _is_cut(code: CodeIndex, call: ast.Call) -> bool:
    """Whether a few digits of the digest are taken, as for a name."""
    above = [*islice(code.above(call), 3)]
    return any(isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) for node in above)


def _is_fingerprint(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the same object is fed with other hashes as well."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "update" else None
    fed = (
        (code.parents.get(code.parents[use]) for use in code.uses(call, holder.id))
        if isinstance(holder, ast.Name)
        else ()
    )
    given = (part for each in fed if isinstance(each, ast.Call) for part in each.args)
    return any({"hash", "digest"} & set(words(label(code, part))) for part in given)


def weak_random(code: CodeIndex) -> Iterator[Found]:
    """Look at where the module random makes something that must be secret."""
    for call in code.of(ast.Call):
        name = code.name(call.func)
        if (name in _WEAK or name == _GUESSABLE) and not _is_pick(code, call) and _is_kept_secret(code, call):
            yield at("guessable-secret" if name in _WEAK else "guessable-uuid", call)


def _is_secret(name: str, *, made: bool = True) -> bool:
    said = set(words(name))
    if said & _NOT_SECRET or (not made and _is_bare(name)):
        return False
    return bool(said & _SECRETS or (said & _TOKENS and (said <= _TOKENS or said & _OF_TOKENS)))


def _is_pick(code: CodeIndex, call: ast.Call) -> bool:
    """Whether a call picks one of some things that are there already, and makes nothing of letters."""
    if any(_CORPORA & set(words(label(code, node))) for part in call.args for node in code.under(part)):
        return True
    picked = argument(call, 0, "population", "seq", "a")
    if code.name(call.func).rpartition(".")[2] not in _PICKS or picked is None:
        return False
    return not _is_joined(code, call) and not _is_alphabet(code, picked)


def _is_alphabet(code: CodeIndex, node: ast.expr) -> bool:
    """Whether an expression holds characters or numbers, as far as its text and its names tell."""
    found = code.value(node)
    under = [part for side in (node, found) if side is not None for part in code.under(side)]
    return any(
        bool(isinstance(part, ast.expr) and code.text(part))
        or (isinstance(part, ast.Call) and code.name(part.func) == "range")
        or bool(isinstance(part, ast.Name | ast.Attribute) and _ALPHABETS & set(words(code.name(part))))
        for part in under
    )


def _is_joined(code: CodeIndex, call: ast.Call) -> bool:
    return any(isinstance(made, ast.Call) and _attribute(made) == "join" for made in _enclosing_nodes(code, call))


def _enclosing_nodes(code: CodeIndex, call: ast.Call) -> Iterator[ast.AST]:
    """What a call stands in, up to its statement."""
    for above in code.above(call):
        if isinstance(above, ast.stmt):
            return
        yield above


def _attribute(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_made_text(code: CodeIndex, call: ast.Call) -> bool:
    """Whether more than a name indicates a secret: text or bits are made, or the function is named after secrets."""
    name = code.name(call.func).rpartition(".")[2]
    if name in _PICKS or name in {"getrandbits", "randbytes", "bytes", "uuid1"}:
        return True
    for made in _enclosing_nodes(code, call):
        if isinstance(made, ast.JoinedStr):
            return True
        if isinstance(made, ast.Call):
            last = _attribute(made)
            if last in {"join", "format", "hexdigest", "set_cookie"} or code.name(made.func) in _MADE_BY:
                return True
    function = code.function(call)
    said = set(words(function.name)) if function is not None else set()
    return bool(said & _MAKERS or (said & _TOKENS and said & (_OF_TOKENS - _TOKENS)))


def _is_bare(name: str) -> bool:
    """Whether a name says token or session and no more: that of a language or of a database may be meant."""
    said = set(words(name))
    return bool(said) and said <= _TOKENS


def _is_kept_secret(code: CodeIndex, call: ast.Call) -> bool:
    """Whether the value goes to something with the name of a secret, there and then or one name later."""
    made = _is_made_text(code, call)
    if _is_secret_place(code, call, made=made):
        return True
    statement = _statement(code, call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    if set(words(statement.targets[0].id)) & _NOT_SECRET:
        return False
    return any(_is_secret_place(code, use, made=made) for use in code.uses(call, statement.targets[0].id))


def _is_secret_place(code: CodeIndex, node: ast.expr, *, made: bool) -> bool:
    """Whether what an expression gives is assigned to, stored under, passed as or returned as a secret.

    `made`: something beside the name tells so; without it a bare "token" does not count.
    """
    below: ast.AST = node
    for above in code.above(node):
        match above:
            case ast.Assign() if below is above.value:
                return any(_is_secret_target(code, target, made=made) for target in above.targets)
            case ast.AnnAssign() | ast.AugAssign() if below is above.value:
                return _is_secret_target(code, above.target, made=made)
            case ast.keyword():
                return _is_secret(above.arg or "", made=made)
            case ast.Return():
                function = code.function(above)
                return function is not None and _is_secret(function.name, made=made)
            case ast.Call() if code.name(above.func).endswith(".set_cookie") and below in above.args:
                return _is_secret(code.text(above.args[0]))
            case ast.Compare() | ast.IfExp() | ast.stmt() | ast.Subscript():
                return False
        below = above
    return False


def _is_secret_target(code: CodeIndex, target: ast.expr, *, made: bool) -> bool:
    """Whether something that is assigned to is a secret, by its own name or by that of the store it is put into."""
    if isinstance(target, ast.Subscript):
        store, named = set(words(label(code, target.value))), label(code, target)
        return _is_secret(named, made=made) or (not named and made and bool(store & _STORES))
    return _is_secret(label(code, target), made=made)
