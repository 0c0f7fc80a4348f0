"""Find predictable random numbers where they must not be guessable: sessions, tokens, passwords."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import PASSWORDS, argument, at, label, words
from reviewbot.tables import words_in

_METHODS = ("random", "randint", "randrange", "choice", "choices", "sample", "uniform", "getrandbits", "randbytes")
_WEAK = frozenset(
    [f"random.{method}" for method in _METHODS]
    + [f"numpy.random.{method}" for method in ("rand", "randint", "random", "choice", "bytes")]
)
_GUESSABLE = "uuid.uuid1"

_SECRETS = PASSWORDS | {"secret", "otp", "csrf", "nonce", "salt", "cookie", "apikey", "totp", "pincode", "captcha"}
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


def weak_random(facts: Facts) -> Iterator[Found]:
    """Look at where the module random makes something that must be secret."""
    for call in facts.of(ast.Call):
        name = facts.name(call.func)
        if (name in _WEAK or name == _GUESSABLE) and not _is_pick(facts, call) and _is_kept_secret(facts, call):
            yield at("guessable-secret" if name in _WEAK else "guessable-uuid", call)


def _is_secret(name: str, *, made: bool = True) -> bool:
    said = set(words(name))
    if said & _NOT_SECRET or (not made and _is_bare(name)):
        return False
    return bool(said & _SECRETS or (said & _TOKENS and (said <= _TOKENS or said & _OF_TOKENS)))


def _is_pick(facts: Facts, call: ast.Call) -> bool:
    """Whether a call picks one of some things that are there already, and makes nothing of letters."""
    if any(_CORPORA & set(words(label(facts, node))) for part in call.args for node in facts.under(part)):
        return True
    picked = argument(call, 0, "population", "seq", "a")
    if facts.name(call.func).rpartition(".")[2] not in _PICKS or picked is None:
        return False
    return not _is_joined(facts, call) and not _is_alphabet(facts, picked)


def _is_alphabet(facts: Facts, node: ast.expr) -> bool:
    """Whether an expression holds characters or numbers, as far as its text and its names tell."""
    found = facts.value(node)
    under = [part for side in (node, found) if side is not None for part in facts.under(side)]
    return any(
        bool(isinstance(part, ast.expr) and facts.text(part))
        or (isinstance(part, ast.Call) and facts.name(part.func) == "range")
        or bool(isinstance(part, ast.Name | ast.Attribute) and _ALPHABETS & set(words(facts.name(part))))
        for part in under
    )


def _is_joined(facts: Facts, call: ast.Call) -> bool:
    return any(isinstance(made, ast.Call) and _attribute(made) == "join" for made in _around(facts, call))


def _around(facts: Facts, call: ast.Call) -> Iterator[ast.AST]:
    """What a call stands in, up to its statement."""
    for above in facts.above(call):
        if isinstance(above, ast.stmt):
            return
        yield above


def _attribute(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_made_text(facts: Facts, call: ast.Call) -> bool:
    """Whether more than a name indicates a secret: text or bits are made, or the function is named after secrets."""
    name = facts.name(call.func).rpartition(".")[2]
    if name in _PICKS or name in {"getrandbits", "randbytes", "bytes", "uuid1"}:
        return True
    for made in _around(facts, call):
        if isinstance(made, ast.JoinedStr):
            return True
        if isinstance(made, ast.Call):
            last = _attribute(made)
            if last in {"join", "format", "hexdigest", "set_cookie"} or facts.name(made.func) in _MADE_BY:
                return True
    function = facts.function(call)
    said = set(words(function.name)) if function is not None else set()
    return bool(said & _MAKERS or (said & _TOKENS and said & (_OF_TOKENS - _TOKENS)))


def _is_bare(name: str) -> bool:
    """Whether a name says token or session and no more: that of a language or of a database may be meant."""
    said = set(words(name))
    return bool(said) and said <= _TOKENS


def _is_kept_secret(facts: Facts, call: ast.Call) -> bool:
    """Whether the value goes to something with the name of a secret, there and then or one name later."""
    made = _is_made_text(facts, call)
    if _is_secret_place(facts, call, made=made):
        return True
    statement = _statement(facts, call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    if set(words(statement.targets[0].id)) & _NOT_SECRET:
        return False
    return any(_is_secret_place(facts, use, made=made) for use in facts.uses(call, statement.targets[0].id))


def _is_secret_place(facts: Facts, node: ast.expr, *, made: bool) -> bool:
    """Whether what an expression gives is assigned to, stored under, passed as or returned as a secret.

    `made`: something beside the name tells so; without it a bare "token" is none.
    """
    below: ast.AST = node
    for above in facts.above(node):
        match above:
            case ast.Assign() if below is above.value:
                return any(_is_secret_target(facts, target, made=made) for target in above.targets)
            case ast.AnnAssign() | ast.AugAssign() if below is above.value:
                return _is_secret_target(facts, above.target, made=made)
            case ast.keyword():
                return _is_secret(above.arg or "", made=made)
            case ast.Return():
                function = facts.function(above)
                return function is not None and _is_secret(function.name, made=made)
            case ast.Call() if facts.name(above.func).endswith(".set_cookie") and below in above.args:
                return _is_secret(facts.text(above.args[0]))
            case ast.Compare() | ast.IfExp() | ast.stmt() | ast.Subscript():
                return False
        below = above
    return False


def _is_secret_target(facts: Facts, target: ast.expr, *, made: bool) -> bool:
    """Whether something that is assigned to is a secret, by its own name or by that of the store it is put into."""
    if isinstance(target, ast.Subscript):
        store, named = set(words(label(facts, target.value))), label(facts, target)
        return _is_secret(named, made=made) or (not named and made and bool(store & _STORES))
    return _is_secret(label(facts, target), made=made)


def _statement(facts: Facts, node: ast.AST) -> ast.AST | None:
    return next((above for above in facts.above(node) if isinstance(above, ast.stmt)), None)
