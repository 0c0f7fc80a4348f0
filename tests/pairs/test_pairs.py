"""The gate of our own pairs: every rule tells what is wrong from what is right and as alike as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reviewbot import wiring
from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.ruff.run import SYNTAX
from reviewbot.analyzers.text.debug_statements import _PATTERNS
from reviewbot.diff.paths import is_test
from reviewbot.redact.patterns import KINDS
from tests.pairs.pair_cases import Answer, Pair, Side, all_pairs, certain, tables, true_findings

pytestmark = pytest.mark.pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    Answers = dict[tuple[str, Side], Answer]

PAIRS = all_pairs()
EVERY = [pair for pairs in PAIRS.values() for pair in pairs]
WITH_PAIRS = {(pair.tool, pair.rule) for pair in EVERY}

MIN_PAIRS = 200
MIN_PRECISION = 0.90
"""The true share of all that would be posted about both sides of the pairs of a file."""

MIN_POSTED = 0.25
"""For how many of its pairs, at least, what is wrong would be posted."""

NOT_POSTED = frozenset({"repository_rules", "migrations"})
"""Groups of which a pair alone posts nothing. A rule is the repository's own where about two dozen of its other files
keep it, and a pair has none (tests/analyzers/ruff/test_repository_rules.py has them). What a migration drops it is
mostly meant to drop: a hint."""

MOSTLY_HELD_BACK = frozenset({
    "actionlint", "hadolint", "loop_costs", "oxlint", "patterns_csharp", "patterns_java", "patterns_kotlin",
    "patterns_ruby", "patterns_rust", "ruff_logic", "ruff_performance", "ruff_security", "ruff_style", "shellcheck",
    "squawk", "zizmor",
})  # fmt: skip
"""Groups of which most rules stand below 80: too few of their hits were judged or right on other projects."""


def told(answer: Answer) -> list[str]:
    """The findings in a form that explains a failed test."""
    return [f"{f.rule} on line {f.line} at {f.confidence}: {f.message}" for f in answer.findings]


def test_what_is_wrong_is_told_on_its_lines(pair: Pair, answers_of: Callable[[str], Answers]) -> None:
    answer = answers_of(pair.group)[pair.name, "wrong"]

    covered = {line for f in answer.of_rule(pair) for line in (*range(f.line, f.end_line + 1), *f.also)}

    assert set(pair.marks) <= covered, told(answer)


def test_what_is_right_is_not_told(pair: Pair, answers_of: Callable[[str], Answers]) -> None:
    answer = answers_of(pair.group)[pair.name, "right"]

    assert answer.of_rule(pair) == (), told(answer)
    assert certain(answer.findings) == (), told(answer)
    assert answer.gaps == ()


def test_what_would_be_posted_of_the_pairs_is_true(group: str, answers_of: Callable[[str], Answers]) -> None:
    told_of = answers_of(group)
    true = posted = 0
    for pair in PAIRS[group]:
        wrong = certain(told_of[pair.name, "wrong"].findings)
        true += len(true_findings(pair, wrong))
        posted += len(wrong) + len(certain(told_of[pair.name, "right"].findings))

    least = 0 if group in NOT_POSTED | MOSTLY_HELD_BACK else MIN_POSTED * len(PAIRS[group])
    assert posted >= least
    assert true >= MIN_PRECISION * posted


def test_there_are_pairs_enough() -> None:
    assert len(EVERY) >= MIN_PAIRS


@pytest.mark.parametrize("table", tables())
def test_every_rule_of_a_table_has_a_pair(table: str) -> None:
    rules = packaged_rules(table).rules.values()

    assert sorted(rule.code for rule in rules if (rule.tool, rule.code) not in WITH_PAIRS) == []


def test_every_rule_of_the_scans_has_a_pair() -> None:
    secrets = {("secrets", kind.lower().replace(" ", "-")) for kind in KINDS}
    leftovers = {
        ("debug-leftovers", f"leftover-{pattern.rule}") for patterns in _PATTERNS.values() for pattern in patterns
    }

    assert secrets | leftovers | {("merge-conflicts", "merge-conflict"), ("ruff-logic", SYNTAX)} <= WITH_PAIRS


def test_every_pair_is_about_a_rule_that_exists() -> None:
    ruled = {rule.tool for table in tables() for rule in packaged_rules(table).rules.values()}
    known = {(rule.tool, rule.code) for table in tables() for rule in packaged_rules(table).rules.values()}

    assert {(tool, rule) for tool, rule in WITH_PAIRS - known if tool in ruled} <= {("ruff-logic", SYNTAX)}


def test_every_file_of_pairs_is_about_a_tool_that_its_worker_has() -> None:
    cards = {card.name: card for card in wiring.load_workers(None).cards}

    assert sorted({pair.tool for pair in EVERY} - all_tools().keys()) == []
    assert [pair.name for pair in EVERY if pair.tool not in cards[pair.worker].tools] == []


def test_no_pair_stands_where_tests_stand_but_for_rules_about_tests() -> None:
    stands = {pair.rule for pair in EVERY if is_test(pair.path)}

    assert stands == {rule for rule in stands if rule.startswith("test-")} | {"assertion-always-holds"}
