"""Corroboration: what several programs say of one place, and of one flow, is believed more than what one says alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import pytest

from reviewbot.domain.contracts import SURE, Finding
from reviewbot.review.combine.dedupe import REACH, merge
from reviewbot.review.verify.verifier import AGREEMENT_BONUS, FOREIGN_BONUS, HIGHEST_CONFIDENCE
from tests.make import MakeFinding


@pytest.fixture
def pattern(a_finding: MakeFinding) -> Callable[..., Finding]:
    """What a rule says of the line on which a statement is built."""

    def make(**fields: object) -> Finding:
        known = {"line": 10, "rule": "S608", "cwe": 89, "confidence": 70, "sources": ("ruff-security",)}
        return a_finding(**{**known, **fields})

    return make


@pytest.fixture
def flow(a_finding: MakeFinding) -> Callable[..., Finding]:
    """What an analysis of flows says of the line on which the statement is run."""

    def make(**fields: object) -> Finding:
        known = {
            "line": 12,
            "also": (4, 10),
            "rule": "sql-external",
            "cwe": 89,
            "confidence": 72,
            "sources": ("taint",),
        }
        return a_finding(**{**known, "message": "a request's value reaches a statement", **fields})

    return make


def test_two_programs_that_agree_on_a_line_are_believed_more_and_are_not_sure(
    pattern: MakeFinding, flow: MakeFinding
) -> None:
    [[joined], _] = merge([pattern(), flow(line=10)])

    assert joined.confidence == SURE - 1
    assert joined.sources == ("ruff-security", "taint")


def test_what_was_counted_for_the_two_takes_the_place_of_the_bonus(pattern: MakeFinding, flow: MakeFinding) -> None:
    asked: list[tuple[set[str], set[str]]] = []

    def together(sources: Iterable[str], rules: Iterable[str]) -> int:
        asked.append((set(sources), set(rules)))
        return 93

    [[joined], _] = merge([pattern(), flow(line=10)], together)

    assert joined.confidence == 93
    assert asked == [({"ruff-security", "taint"}, {"S608", "sql-external"})]


def test_a_low_count_for_the_two_counts_as_well(pattern: MakeFinding, flow: MakeFinding) -> None:
    [[joined], _] = merge([pattern(), flow(line=10)], lambda _sources, _rules: 40)

    assert joined.confidence == 40


def test_two_programs_that_mean_different_weaknesses_do_not_support_each_other(
    pattern: MakeFinding, flow: MakeFinding
) -> None:
    [[joined], _] = merge([pattern(), flow(line=10, cwe=78)])

    assert joined.confidence == 72


def test_a_report_handed_in_gains_more_from_one_of_ours(pattern: MakeFinding) -> None:
    [[joined], _] = merge([pattern(), pattern(confidence=65, sources=("imported:other",), rule="x")])

    assert joined.confidence == 70 + FOREIGN_BONUS


def test_what_was_counted_for_two_holds_for_unlikely_rules_too(pattern: MakeFinding, flow: MakeFinding) -> None:
    [[joined], _] = merge([pattern(confidence=30), flow(line=10, confidence=40)], lambda _sources, _rules: 93)

    assert joined.confidence == 93


def test_two_reports_handed_in_gain_little_from_each_other(pattern: MakeFinding) -> None:
    first, second = (pattern(confidence=65, sources=(f"imported:{name}",), rule=name) for name in "ab")

    [[joined], _] = merge([first, second])

    assert joined.confidence == 65 + AGREEMENT_BONUS


def test_agreement_never_makes_certain(pattern: MakeFinding) -> None:
    [[joined], _] = merge([pattern(confidence=97), pattern(confidence=97, rule="x", sources=("imported:other",))])

    assert joined.confidence == HIGHEST_CONFIDENCE


def test_where_a_statement_is_built_and_where_it_runs_are_one_defect(pattern: MakeFinding, flow: MakeFinding) -> None:
    [[joined], _] = merge([flow(), pattern()])

    assert (joined.line, joined.also, joined.confidence) == (12, (4, 10), SURE - 1)


@pytest.mark.parametrize(
    "fields",
    [{"also": (4, 11)}, {"cwe": None}, {"cwe": 78}, {"sources": ("ruff-security",)}, {"line": 11 + REACH}],
    ids=["off the way", "no weakness named", "another weakness", "the same tool", "far away"],
)
def test_what_is_no_part_of_the_way_stays_a_defect_of_its_own(
    fields: dict[str, object], pattern: MakeFinding, flow: MakeFinding
) -> None:
    single, conflicts = merge([pattern(), flow(**fields)])

    assert (len(single), conflicts) == (2, [])


def test_two_workers_may_contradict_each_other_on_one_line_alone(pattern: MakeFinding, flow: MakeFinding) -> None:
    single, conflicts = merge([pattern(severity="info", type="logic"), flow(severity="critical", also=())])

    assert (len(single), conflicts) == (2, [])


@pytest.mark.parametrize("rule", ["S608", "S608:named"])
def test_a_rule_of_ours_that_is_handed_in_is_no_second_witness(pattern: MakeFinding, rule: str) -> None:
    [[joined], _] = merge([pattern(rule=rule), pattern(confidence=90, sources=("imported:bandit",))])

    assert joined.confidence == 70
    assert joined.sources == ("imported:bandit", "ruff-security")


def test_one_rule_handed_in_twice_is_one_witness(pattern: MakeFinding) -> None:
    [[joined], _] = merge([pattern(confidence=65, sources=(f"imported:{name}",)) for name in ("bandit", "ruff")])

    assert joined.confidence == 65


def test_rules_without_names_of_two_programs_are_two_witnesses(pattern: MakeFinding) -> None:
    [[joined], _] = merge([pattern(rule=""), pattern(rule="", sources=("imported:other",))])

    assert joined.confidence == 70 + FOREIGN_BONUS


def test_what_is_handed_in_supports_a_flow_that_names_the_defect_by_another_rule(
    pattern: MakeFinding, flow: MakeFinding
) -> None:
    [[joined], _] = merge([pattern(confidence=65, sources=("imported:bandit",)), flow(line=10)])

    assert joined.confidence == 72 + FOREIGN_BONUS


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([("third", "third")], SURE - 1),
        ([("model:x", "")], 72 + AGREEMENT_BONUS),
        ([("imported:bandit", "S608")], SURE - 1),
        ([("imported:a", "a")], 72 + FOREIGN_BONUS),
        ([("imported:a", "a"), ("imported:b", "b"), ("model:x", "")], 72 + FOREIGN_BONUS),
    ],
    ids=["a third program", "a model", "a copy", "another one", "all of them"],
)
def test_bonuses_do_not_add_up_and_no_order_changes_them(
    pattern: MakeFinding, flow: MakeFinding, more: list[tuple[str, str]], expected: int
) -> None:
    votes = [pattern(), flow(line=10)]
    votes += [pattern(confidence=60, sources=(source,), rule=rule) for source, rule in more]

    for order in itertools.permutations(votes):
        [[joined], _] = merge(order)
        assert joined.confidence == expected
        assert len(joined.sources) == len(votes)


@pytest.mark.parametrize(
    ("source", "rule", "expected"),
    [("imported:bandit", "S608", 60), ("imported:a", "a", 65 + FOREIGN_BONUS), ("model:x", "", 65 + AGREEMENT_BONUS)],
)
def test_a_count_may_be_raised_once_by_who_was_not_counted(
    pattern: MakeFinding, flow: MakeFinding, source: str, rule: str, expected: int
) -> None:
    votes = [pattern(), flow(line=10), pattern(confidence=65, sources=(source,), rule=rule)]

    [[joined], _] = merge(votes, lambda sources, _rules: 60 if set(sources) == {"ruff-security", "taint"} else None)

    assert joined.confidence == expected
