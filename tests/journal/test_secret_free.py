"""A journal that keeps nothing that holds a secret."""

from __future__ import annotations

import json

import pytest

from reviewbot.journal.secret_free import SecretFreeJournal
from reviewbot.redact.mask import SecretMask
from reviewbot.sources.memory import MemoryJournal

TOKEN = "gh" + "p_" + "aB3" * 12
KNOWN = "q8W3e7R2t6Y1u5I9"


def journal() -> SecretFreeJournal:
    return SecretFreeJournal(MemoryJournal(), SecretMask([f"password = '{KNOWN}'"]))


@pytest.mark.parametrize(
    "value",
    [
        json.dumps({"quote": f"KEY = {TOKEN}"}),
        json.dumps({"text": json.dumps({"findings": [{"quote": 'password = "tr0ub4dor&3xKq9Zp"'}]})}),
        json.dumps({"calls": [{TOKEN: 1}]}),
        json.dumps({"text": f"it is {KNOWN[:8]}`{KNOWN[8:]}"}),
        "[" * 60 + "]" * 60,
        json.dumps({"text": "{" + f"no JSON, but {KNOWN}"}),
        KNOWN,
    ],
    ids=["a key", "an answer within", "a name", "by its value", "nested", "no JSON", "plain"],
)
def test_what_quotes_a_secret_is_not_kept(value: str) -> None:
    kept = journal()

    kept.put("key", value)

    assert kept.get("key") is None


@pytest.mark.parametrize(
    "value", ['{"quote": "return 1"}', '{"quote": "token = ghp_****"}', "[1, 2]", "words", "", '["{no JSON"]']
)
def test_everything_else_is(value: str) -> None:
    kept = journal()

    kept.put("key", value)

    assert kept.get("key") == value
