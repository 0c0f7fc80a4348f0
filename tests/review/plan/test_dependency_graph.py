"""Who waits for whom: circles, orders and lengths."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.review.plan.validate_plan import circle, in_order, longest

NAMES = [f"t{n}" for n in range(8)]


def test_names_that_wait_for_each_other_are_a_circle() -> None:
    assert circle({"a": ["b"], "b": ["a"]}) in {("a", "b", "a"), ("b", "a", "b")}
    assert circle({"a": ["a"]}) == ("a", "a")
    assert circle({"a": ["b"], "b": []}) is None


def test_names_come_after_those_that_they_wait_for_and_else_as_they_were() -> None:
    assert in_order({"c": ["a", "d"], "b": [], "a": [], "d": ["a"]}) == ["a", "d", "c", "b"]
    assert in_order({}) == []


def test_the_longest_chain_counts_its_names() -> None:
    assert longest({"a": [], "b": ["a"], "c": ["b", "a"], "d": []}) == 3
    assert longest({}) == 0


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), min_size=8, max_size=8))
def test_a_graph_without_a_circle_has_an_order_and_one_with_a_circle_names_it(drawn: list[list[int]]) -> None:
    waits = {name: [NAMES[n] for n in drawn[at]] for at, name in enumerate(NAMES)}
    found = circle(waits)

    if found is None:
        order = in_order(waits)
        assert sorted(order) == NAMES
        assert all(order.index(other) < order.index(name) for name in NAMES for other in waits[name])
        assert 1 <= longest(waits) <= len(NAMES)
    else:
        assert found[0] == found[-1]
        # graphlib names a circle from the one that is waited for to the one that waits.
        assert all(one in waits[other] for one, other in pairwise(found))
