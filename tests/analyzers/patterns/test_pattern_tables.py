"""The tables of patterns: queries that compile, predicates that exist, expressions that are linear, counts that fit."""

from __future__ import annotations

import re

import pytest

from reviewbot.analyzers.core.rules import Rule, packaged_rules
from reviewbot.analyzers.patterns.languages import TABLES, syntax_of
from reviewbot.analyzers.patterns.predicates import _CHECKS
from reviewbot.review.calibration import Calibration
from tests.make import one_fast

NAMES = sorted(set(TABLES.values()))
RULES = [(name, rule) for name in NAMES for rule in packaged_rules(name, Calibration()).rules.values()]
PREDICATE = re.compile(r"\(#(?:not-)?([a-z-]+)\? ")
EXPRESSION = re.compile(r'\(#(?:not-)?(?:text|scope|before|after|file)\? @\w+ "((?:[^"\\]|\\.)*)"')
LEAST_RULES = 10
"""Of a language: with fewer, that a file was read would not say much."""


@pytest.mark.parametrize("language", one_fast(sorted(TABLES)))
def test_every_query_of_a_language_compiles(language: str) -> None:
    table = TABLES[language]
    rules = packaged_rules(table, Calibration()).rules.values()

    for rule in rules:
        if not rule.languages or language in rule.languages:
            assert syntax_of(table).query(language, rule.query).capture_count > 0
    assert len(rules) >= LEAST_RULES


@pytest.mark.parametrize(("table", "rule"), RULES, ids=[rule.code for _, rule in RULES])
def test_a_rule_names_its_fix_and_known_predicates(table: str, rule: Rule) -> None:
    assert "@hit" in rule.query
    assert rule.message
    assert rule.trigger
    assert rule.fix
    assert rule.cwe
    assert set(PREDICATE.findall(rule.query)) <= {*_CHECKS, "eq", "any-of"}
    assert "#not-any-of?" not in rule.query, "tree-sitter 0.26 lets values of the list pass: write #not-text?"
    for expression in EXPRESSION.findall(rule.query):
        re.compile(re.sub(r"\\(.)", r"\1", expression))


def test_the_languages_of_a_rule_are_some_of_its_table() -> None:
    for table, rule in RULES:
        assert set(rule.languages) <= {language for language, of in TABLES.items() if of == table}
