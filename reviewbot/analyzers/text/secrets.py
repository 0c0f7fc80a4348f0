"""Secrets on added lines: tokens that a provider's prefix gives away, private keys, and values that are named like one.

The value itself never leaves this module: messages and quotes show a provider's prefix at the most.
"""

from __future__ import annotations

import re
import string
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_runs
from reviewbot.analyzers.core.reports import LineScan, message_of, quote_of
from reviewbot.diff.language import kind_of
from reviewbot.diff.paths import place_of
from reviewbot.domain.contracts import SECRET, Candidate, Severity
from reviewbot.domain.ports import ChangedFile
from reviewbot.redact.mask import MASK
from reviewbot.redact.patterns import ACCESS_KEY_ID, KINDS, NAMED, PRIVATE_KEY, Secret, find_secrets

_HARDCODED = 798
"""CWE: use of hard-coded credentials."""

_PLACEHOLDER_CONFIDENCE = 30
_SAMPLE_CONFIDENCE = 70
"""Of keys and invented tokens outside of the product: many test suites carry a key that opens nothing."""

_HINT_CONFIDENCE = 40
"""Of a hint where it is most often wrong: a named value in a test, a key's header without a key."""

_HINT = 60

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_CHECKED = re.compile(r"(?:gh[pousr]|npm)_(?P<random>[A-Za-z0-9]{30})(?P<sum>[A-Za-z0-9]{6})")
"""Tokens that end with the CRC-32 of their random part in six digits of base 62."""

_TRIAL = re.compile(
    r"(?<![A-Za-z])(?i:tests?|testing|demo|dev|development|dummy|examples?|exploits?|fake|insecure|local|localhost|mock"
    r"|samples?|snakeoil|vagrant)(?![a-z])|\n\s*(?:\*|//|#|/\*|--\s)"
)
"""What says of a private key that it opens nothing of worth: words of the path or of the line on which it begins, which
follow one another, or that the line is a comment."""

_IN_USE = re.compile(r"(?<![A-Za-z])(?i:prod|production|live)(?![a-z])")
_UNKNOWN_CONFIDENCE = 75
"""Of a private key about whose use nothing is said: of 23 judged ones in public projects all were samples, or keys for
development and tests. Since one that is in use is critical, it goes to a person."""

_SIGNED = re.compile(r"(?i)(?:AWSAccessKeyId=|X-Amz-Credential=)$")
_SIGNED_CHARS = 20
"""Of an address that was signed for some minutes: the id of the key stands in it, the key does not."""

_TRIGGER = "Everyone who can read the repository, now or in its history, has it."
_FIX = "Revoke it; removing it is not enough."


_RULES = {kind: kind.lower().replace(" ", "-") for kind in KINDS}
RULES = dict.fromkeys(_RULES.values(), SECRET)
"""The category of each of its rules."""


class SecretScan(LineScan):
    """The tool `secrets`."""

    name = "secrets"

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        for block in added_runs(file):  # a private key has more than one line
            text = "\n".join(line.text for line in block)
            yield from (_candidate(file, block, secret, text) for secret in find_secrets(text))


def _candidate(file: ChangedFile, block: Sequence[ChangedLine], secret: Secret, text: str) -> Candidate:
    starts = [*accumulate((len(line.text) + 1 for line in block[:-1]), initial=0)]
    first = block[bisect_right(starts, secret.start) - 1]
    last = block[bisect_right(starts, max(secret.end - 1, secret.start)) - 1]
    value = text[secret.start : secret.end]
    said = f"{file.path}\n{first.text}"
    shown = kind_of(file.language) == "prose" or _TRIAL.search(said) is not None
    aside = place_of(file.path) != "product" or (secret.kind == PRIVATE_KEY and shown)
    # A token that is cut off by dots is there to show its form. It is masked all the same.
    cut = text.startswith(("...", "\u2026"), secret.end) and secret.kind not in {PRIVATE_KEY, NAMED}
    signed = cut or _SIGNED.search(text[max(0, secret.start - _SIGNED_CHARS) : secret.start]) is not None
    in_use = _IN_USE.search(said) is not None
    severity, confidence = _weight(secret, value, aside=aside, in_use=in_use, signed=signed)
    begin = text[secret.start : secret.start + secret.shown]
    what = f"{secret.kind}: {begin}{MASK}" if secret.kind not in {NAMED, PRIVATE_KEY} else secret.kind
    return Candidate(
        severity=severity,
        path=file.path,
        quote=quote_of(first.text),
        message=message_of(f"Hard-coded {what}"),
        confidence=confidence,
        source="secrets",
        category=SECRET,
        rule=_RULES[secret.kind],
        line=first.number,
        end_line=last.number,
        trigger=_TRIGGER,
        suggestion=_FIX,
        cwe=_HARDCODED,
        token=value,
    )


def _weight(secret: Secret, value: str, *, aside: bool, in_use: bool, signed: bool) -> tuple[Severity, int]:
    """How much it matters and how sure it is.

    `aside`: it stands in tests, examples or tooling, or is a key that is there to be read or tried out; `in_use`: its
    place says that it is one of production; `signed`: it is the part of a signed address that is no secret, or cut
    off by dots.
    """
    if secret.placeholder:
        return "info", _PLACEHOLDER_CONFIDENCE
    bare_header = secret.kind == PRIVATE_KEY and secret.confidence <= _HINT
    if bare_header or (secret.kind == NAMED and aside):
        return "info", _HINT_CONFIDENCE
    if secret.kind == PRIVATE_KEY and not aside and not in_use:
        return "critical", _UNKNOWN_CONFIDENCE
    if signed or (aside and (secret.kind in {PRIVATE_KEY, ACCESS_KEY_ID} or _is_invented(value))):
        return "warning", _SAMPLE_CONFIDENCE
    return "critical", secret.confidence


def _is_invented(token: str) -> bool:
    """Whether a token lacks the checksum that GitHub and npm write at the end of each that they give out."""
    checked = _CHECKED.fullmatch(token)
    if checked is None:
        return False
    number, digits = zlib.crc32(checked["random"].encode()), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits.rjust(len(checked["sum"]), "0") != checked["sum"]
