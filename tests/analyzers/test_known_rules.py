"""The names of rules that a setting or an ignore comment may hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reviewbot.analyzers.catalog import known_rules
from reviewbot.analyzers.core.rules import WORDS

PAIRS = Path(__file__).parents[1] / "pairs"
TOLD = sorted(
    {
        (path.stem, str(pair["rule"]).removesuffix(WORDS))
        for path in PAIRS.glob("*.toml")
        for pair in tomllib.loads(path.read_text("utf-8"))["pair"]
        if "rule" in pair and path.stem != "repository_rules"
    }
)


def test_every_rule_that_a_tool_is_tested_for_is_known() -> None:
    unknown = [told for told in TOLD if told[1] not in known_rules()]

    assert unknown == []
    assert len(TOLD) > 100


@pytest.mark.parametrize(
    ("rule", "category"),
    [("S602", "command-injection"), ("leftover-print", "debug"), ("npm-token", "secret"), ("invalid-syntax", "syntax"),
     ("merge-conflict", "merge-conflict")],
)  # fmt: skip
def test_each_has_its_category(rule: str, category: str) -> None:
    assert known_rules()[rule] == category
