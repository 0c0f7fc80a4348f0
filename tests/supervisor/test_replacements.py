"""What replaces the lines of a finding goes with these lines, whoever speaks for the defect."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.contracts import Finding, Settlement
from reviewbot.supervisor.clusters import clusters_of
from reviewbot.supervisor.merging import merge, merged, said_again
from reviewbot.supervisor.settling import settle
from reviewbot.supervisor.weighing import Rules

MakeFinding = Callable[..., Finding]

RULES = Rules({"security": 80, "logic": 80}, max_findings=50)


def test_a_speaker_without_one_takes_that_of_the_same_lines(a_finding: MakeFinding) -> None:
    one = said_again(a_finding(), a_finding(replacement="run(name)"))

    assert one.replacement == "run(name)"


@pytest.mark.parametrize("mine", ["", "a()"])
def test_a_speaker_keeps_its_own_even_where_it_deletes(a_finding: MakeFinding, mine: str) -> None:
    assert said_again(a_finding(replacement=mine), a_finding(replacement="b()")).replacement == mine


def test_what_replaces_other_lines_is_not_taken(a_finding: MakeFinding) -> None:
    assert said_again(a_finding(), a_finding(line=1, end_line=2, replacement="run(name)")).replacement is None


def test_the_order_of_answers_does_not_choose_between_two(a_finding: MakeFinding) -> None:
    pair = [a_finding(replacement=text) for text in ("a()", "b()")]

    assert merge(pair) == merge(pair[::-1])


@pytest.mark.parametrize(("line", "kept", "expected"), [(1, "f1", "b()"), (2, "f2", None)])
def test_the_advice_that_stands_brings_its_replacement_where_it_is_about_the_same_lines(
    a_finding: MakeFinding, line: int, kept: str, expected: str | None
) -> None:
    known = {"sources": ("model:x",), "end_line": 2}
    first = a_finding(**known, suggestion="a()", replacement="a()", category="injection", confidence=95)
    other = a_finding(
        **known, type="logic", line=line, suggestion="b()", replacement="b()", category="bug", message="a name breaks"
    )
    answer = Settlement(
        cluster="c1", same_cause=True, keep=(kept,), severity="warning", reason="one edit", resolved=True
    )

    found = settle(clusters_of(merged([first, other]), RULES, 20), [answer], RULES)

    assert [(each.suggestion, each.replacement) for each in found.single] == [("b()", expected)]
