"""What is kept where there are more findings than a review can hold."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import SEVERITY_ORDER, Candidate
from reviewbot.review.finding_limits import keep
from tests.make import MakeCandidate


def test_what_is_no_flood_is_kept_in_its_order(a_candidate: MakeCandidate) -> None:
    candidates = [a_candidate(rule=rule, confidence=50 + at) for at, rule in enumerate("abab")]

    kept = keep(candidates, 4, 2)

    assert (list(kept.candidates), kept.total, kept.flood) == (candidates, 4, "")


def test_a_rule_that_floods_does_not_crowd_out_another(a_candidate: MakeCandidate) -> None:
    loud = [a_candidate(rule="loud", severity="critical", confidence=99) for _ in range(1_000)]
    quiet = a_candidate(rule="quiet", severity="info", confidence=10)

    kept = keep([*loud, quiet], 10, 5)

    assert Counter(each.rule for each in kept.candidates) == {"loud": 5, "quiet": 1}
    assert kept.flood == ("1001 findings here (loud 1000 times, quiet once); 6 are kept, the worst of each rule")


def test_of_one_rule_the_worst_and_surest_are_kept(a_candidate: MakeCandidate) -> None:
    flood = [a_candidate(severity="info", confidence=10)] * 999
    flood += [a_candidate(severity="critical", confidence=50), a_candidate(severity="info", confidence=99)]

    kept = keep(flood, 3, 100)

    assert [(each.severity, each.confidence) for each in kept.candidates] == [
        ("critical", 50), ("info", 99), ("info", 10),
    ]  # fmt: skip


def test_without_a_rule_the_category_counts_as_one(a_candidate: MakeCandidate) -> None:
    kept = keep([a_candidate(rule="", category=name) for name in ("x", "x", "y")], 2, 9)

    assert [each.category for each in kept.candidates] == ["x", "y"]
    assert kept.counts == {"x": 2, "y": 1}


def test_of_many_rules_the_loudest_are_named(a_candidate: MakeCandidate) -> None:
    kept = keep([a_candidate(rule=rule) for rule in "aaabbcdefg"], 7, 9)

    assert kept.flood.startswith("10 findings here (a 3 times, b 2 times, c once, d once, e once and others)")


def test_a_flood_of_any_length_takes_little_memory(a_candidate: MakeCandidate) -> None:
    there: weakref.WeakSet[Candidate] = weakref.WeakSet()
    most = 0

    def endless() -> Iterator[Candidate]:
        nonlocal most
        for line in range(1, 5_001):
            candidate = a_candidate(line=line)
            there.add(candidate)
            most = max(most, len(there))
            yield candidate

    assert keep(endless(), 10, 10).total == 5_000
    assert most <= 25


@given(
    given=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(list(SEVERITY_ORDER)), st.integers(0, 100))),
    limit=st.integers(1, 6),
    per_rule=st.integers(1, 3),
)
def test_each_rule_that_was_found_is_told_as_long_as_there_is_room(
    a_candidate: MakeCandidate, given: list[tuple[str, Any, int]], limit: int, per_rule: int
) -> None:
    candidates = [a_candidate(rule=rule, severity=severity, confidence=sure) for rule, severity, sure in given]

    kept = keep(candidates, limit, per_rule)

    counts = Counter(each.rule for each in kept.candidates)
    assert kept.counts == Counter(rule for rule, _, _ in given)
    assert len(kept.candidates) == min(limit, sum(min(per_rule, times) for times in kept.counts.values()))
    assert all(times <= per_rule for times in counts.values())
    assert len(counts) == min(limit, len(kept.counts))
    for rule in counts:
        worst = min((SEVERITY_ORDER[s], -c) for r, s, c in given if r == rule)
        assert worst in {
            (SEVERITY_ORDER[each.severity], -each.confidence) for each in kept.candidates if each.rule == rule
        }
