"""Secrets in text: where they stand, and the same text with their values masked. Pure and linear in the text.

Two kinds are known. A provider's token has a prefix that the provider chose so that it can be recognised. A named
value is a string of high entropy that is assigned to something called password, token or the like: a hint, no more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MASK = "****"
"""Of one length whatever it hides: the length of a secret is nobody's business."""

NAMED = "named value"
"""The kind of a secret that is recognised by the name that it is assigned to."""

PRIVATE_KEY = "private key"
"""The kind of a PEM block. Its header is no secret; what follows it is."""

_NAMED_CONFIDENCE = 60
_BARE_HEADER_CONFIDENCE = 60
"""Programs that read keys name the header too."""

_MIN_ENTROPY_BITS = 3.3
"""Per character. English words stay below it at this length, random letters and digits above."""

_FEW_DISTINCT = 4
"""A token of at most so many different characters was typed by hand."""


class Secret(NamedTuple):
    """One secret in a text. `start` to `end` is all of it, the first `shown` characters may be shown."""

    kind: str
    start: int
    end: int
    shown: int
    confidence: int
    """How sure it is that this kind of thing is a secret, 0-100, placeholders not counted."""
    placeholder: bool
    """It looks like a stand-in from documentation rather than a real value."""


class _Provider(NamedTuple):
    kind: str
    prefix: str
    body: str
    confidence: int


# Every body is a bounded class without nested repetition, so that no text can make the search run away.
_PROVIDERS = (
    _Provider("AWS access key id", r"AKIA|ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", 97),
    _Provider("GitHub token", r"gh[pousr]_", r"[A-Za-z0-9]{36,255}", 99),
    _Provider("GitHub fine-grained token", r"github_pat_", r"[A-Za-z0-9_]{22,255}", 99),
    _Provider("GitLab token", r"glpat-", r"[A-Za-z0-9_-]{20,255}", 98),
    _Provider("Slack token", r"xox[abeoprs]-", r"[A-Za-z0-9-]{10,255}", 97),
    _Provider("Slack webhook", r"hooks\.slack\.com/services/", r"[A-Za-z0-9/]{30,80}", 95),
    _Provider("Stripe live key", r"[sr]k_live_", r"[A-Za-z0-9]{16,255}", 99),
    _Provider("Google API key", r"AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", 95),
    _Provider("npm token", r"npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])", 98),
    _Provider("PyPI token", r"pypi-AgE", r"[A-Za-z0-9_-]{40,500}", 99),
    _Provider("Anthropic key", r"sk-ant-", r"[A-Za-z0-9_-]{20,255}", 98),
    _Provider("OpenAI key", r"sk-(?:proj|svcacct|admin)-", r"[A-Za-z0-9_-]{40,255}", 97),
    _Provider("Hugging Face token", r"hf_", r"[A-Za-z0-9]{34,60}", 96),
    _Provider("SendGrid key", r"SG\.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}", 98),
    _Provider(
        PRIVATE_KEY,
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        # Long runs of base64 on this line and the next ones (a diff's "+" is in the class, a written "\n" too).
        r"(?:[\s\"',]{0,80}[A-Za-z0-9+/=\\]{16,4096}){0,400}"
        # The last, short run counts only where the end is marked.
        r"(?:[\s\"',]{0,80}[A-Za-z0-9+/=\\]{1,4096}(?=[\s\"',+]{0,80}-----END))?",
        97,
    ),
)
KINDS = (*(provider.kind for provider in _PROVIDERS), NAMED)
"""Every kind of secret."""

_PROVIDER = re.compile("|".join(f"(?P<p{i}>{p.prefix})(?:{p.body})" for i, p in enumerate(_PROVIDERS)))
_ASSIGNED = re.compile(
    r"(?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z0-9_-]{0,30}"
    r"[\"']?[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}[\"'`](?P<value>[^\s\"'`]{16,200})[\"'`]",
    re.IGNORECASE,
)
_STAND_IN = re.compile(
    r"example|placeholder|dummy|sample|change_?me|redacted|your|x{4}|0{4}|\*{3}|\.{3}|12345678|abcdefgh", re.IGNORECASE
)
_REFERENCE = re.compile(r"[${<]|://|^[./~]|^[a-z_]+(?:[.:/-][a-z_]+)*$", re.IGNORECASE)
"""A value that points at something: a template, an address, a path, words joined by dots or dashes."""


def find_secrets(text: str) -> Iterator[Secret]:
    """All secrets of a text in the order of their place, without overlaps; `text` may have any number of lines."""
    end = 0
    found = (*_provider_tokens(text), *_named_values(text))
    for secret in sorted(found, key=lambda secret: (secret.start, secret.kind == NAMED)):
        if secret.start >= end:
            end = secret.end
            yield secret


def redact(text: str, *, keep_lines: bool = False) -> str:
    """The text with the value of every secret masked; a provider's prefix stays. Doing it twice changes nothing.

    With `keep_lines` a secret of several lines stays that many lines, so that line numbers hold.
    """
    parts: list[str] = []
    done = 0
    for secret in find_secrets(text):
        hidden = secret.start + secret.shown
        if hidden < secret.end:
            parts += [text[done:hidden], MASK, "\n" * text.count("\n", hidden, secret.end) if keep_lines else ""]
            done = secret.end
    return "".join([*parts, text[done:]])


def _provider_tokens(text: str) -> Iterator[Secret]:
    for match in _PROVIDER.finditer(text):
        group = match.lastgroup or "p0"
        provider = _PROVIDERS[int(group[1:])]
        body = text[match.end(group) : match.end()]
        shown = match.end(group) - match.start()
        confidence = provider.confidence if body else _BARE_HEADER_CONFIDENCE
        yield Secret(provider.kind, match.start(), match.end(), shown, confidence, bool(body) and _is_stand_in(body))


def _named_values(text: str) -> Iterator[Secret]:
    for match in _ASSIGNED.finditer(text):
        value = match["value"]
        if _looks_random(value) and not _is_stand_in(value):
            yield Secret(NAMED, match.start("value"), match.end("value"), 0, _NAMED_CONFIDENCE, placeholder=False)


def _is_stand_in(body: str) -> bool:
    return bool(_STAND_IN.search(body)) or len(set(body)) <= _FEW_DISTINCT


def _looks_random(value: str) -> bool:
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and not _REFERENCE.search(value) and _entropy(value) >= _MIN_ENTROPY_BITS


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
