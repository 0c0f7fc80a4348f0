"""Numbers that can be foretold, used where nobody may guess them: sessions, tokens, passwords."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reviewbot.tools.security_checks.words import PASSWORDS, at, label, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewbot.tools.python_tool import Found
    from reviewbot.tools.security_checks.facts import Facts

_METHODS = ("random", "randint", "randrange", "choice", "choices", "sample", "uniform", "getrandbits", "randbytes")
_WEAK = frozenset(
    [f"random.{method}" for method in _METHODS]
    + [f"numpy.random.{method}" for method in ("rand", "randint", "random", "choice", "bytes")]
)
_GUESSABLE = "uuid.uuid1"

_SECRETS = PASSWORDS | {"secret", "otp", "csrf", "nonce", "salt", "cookie", "apikey", "totp", "pincode", "captcha"}
_TOKENS = frozenset({"token", "session", "cookies"})
_OF_TOKENS = frozenset(
    {"access", "auth", "reset", "csrf", "bearer", "refresh", "user", "generate", "create", "new", "make", "session",
     "api", "verification", "activation", "login", "security", "confirm", "get", "gen", "invite", "id", "key", "my",
     "remember", "cookies", "cookie", "value", "secret", "random"}
)  # fmt: skip
"""Words beside "token" or "session" that tell it from a token of a language, a session of a database or a game."""

_NOT_SECRET = frozenset(
    {"test", "fake", "mock", "sample", "sampling", "logits", "train", "dropout", "vocab", "tokenizer", "tokens",
     "count", "length", "len", "num", "index", "delay", "timeout", "expiry", "size"}
)  # fmt: skip

_STORES = ("session", "cookie", "token")
"""What a store of secrets has in its name."""


def weak_random(facts: Facts) -> Iterator[Found]:
    """Look at where the module random makes something that must be secret."""
    for call in facts.of(ast.Call):
        name = facts.name(call.func)
        if (name in _WEAK or name == _GUESSABLE) and _is_kept_secret(facts, call):
            yield at("guessable-secret" if name in _WEAK else "guessable-uuid", call)


def _is_secret(name: str) -> bool:
    said = set(words(name))
    if said & _NOT_SECRET:
        return False
    return bool(said & _SECRETS or (said & _TOKENS and (said <= _TOKENS or said & _OF_TOKENS)))


def _is_kept_secret(facts: Facts, call: ast.Call) -> bool:
    """Whether the value goes to something with the name of a secret, there and then or one name later."""
    if _is_secret_place(facts, call):
        return True
    statement = _statement(facts, call)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    if set(words(statement.targets[0].id)) & _NOT_SECRET:
        return False
    return any(_is_secret_place(facts, use) for use in facts.uses(call, statement.targets[0].id))


def _is_secret_place(facts: Facts, node: ast.expr) -> bool:
    """Whether what an expression gives is assigned to, stored under, passed as or returned as a secret."""
    below: ast.AST = node
    for above in facts.above(node):
        match above:
            case ast.Assign() if below is above.value:
                return any(_is_secret_target(facts, target) for target in above.targets)
            case ast.AnnAssign() | ast.AugAssign() if below is above.value:
                return _is_secret_target(facts, above.target)
            case ast.keyword():
                return _is_secret(above.arg or "")
            case ast.Return():
                function = facts.function(above)
                return function is not None and _is_secret(function.name)
            case ast.Call() if facts.name(above.func).endswith(".set_cookie") and below in above.args:
                return _is_secret(facts.text(above.args[0]))
            case ast.Compare() | ast.IfExp() | ast.stmt() | ast.Subscript():
                return False
        below = above
    return False


def _is_secret_target(facts: Facts, target: ast.expr) -> bool:
    """Whether something that is assigned to is a secret, by its own name or by that of the store it is put into."""
    if isinstance(target, ast.Subscript):
        store, named = label(facts, target.value).lower(), label(facts, target)
        return _is_secret(named) or (not named and any(word in store for word in _STORES))
    return _is_secret(label(facts, target))


def _statement(facts: Facts, node: ast.AST) -> ast.AST | None:
    return next((above for above in facts.above(node) if isinstance(above, ast.stmt)), None)
