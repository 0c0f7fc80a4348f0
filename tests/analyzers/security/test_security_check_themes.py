"""Which themes are looked at in test code: those with a rule that speaks there."""

from __future__ import annotations

import ast

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.python.views import Budget, View
from reviewbot.analyzers.security import check

CODE = """
import itertools
import requests
from Crypto.Cipher import AES

itertools.izip(a, b)
cipher = AES.new(key, AES.MODE_ECB)
requests.get(url, verify=False)
"""


def seen(path: str) -> set[str]:
    view = View(path, ast.parse(CODE), CODE, whole=True, added=frozenset(range(1, 20)))
    return {found.rule for found in check(view, Budget())}


def test_every_rule_that_speaks_in_test_code_is_of_a_theme_that_is_looked_at_there() -> None:
    speaking = {rule.code for rule in packaged_rules("security_checks").rules.values() if rule.tests}

    assert speaking <= {"ecb-mode", "removed-function"}
    assert speaking <= seen("tests/test_app.py")


def test_other_themes_are_looked_at_outside_of_test_code_alone() -> None:
    assert "tls-not-verified" in seen("src/app.py")
    assert "tls-not-verified" not in seen("tests/test_app.py")
