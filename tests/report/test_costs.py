"""What a review cost, in words: what is unknown is called so, and what is unusual is named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Timings, Usage, WorkerUsage
from reviewbot.report.costs import (
    Cost,
    anomalies,
    asked_models,
    bill,
    cost_line,
    dollars,
    in_words,
    seconds,
    speed_up,
)
from tests.make import MakeReview
from tests.rendering import render_terminal

LOGIC = Usage(calls=3, input_tokens=1_000, output_tokens=20, cached_tokens=3_000, cache_write_tokens=400, cost_usd=1.5)


def row(worker: str, **fields: Any) -> WorkerUsage:
    return WorkerUsage(worker=worker, **{"tasks": 2, "findings": 1, "duration_ms": 900, "usage": LOGIC, **fields})


def used(worker: str, count: int) -> WorkerUsage:
    return row(worker, usage=Usage(calls=1, input_tokens=count))


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (1_240, "1.2 s"),
        (59_949, "59.9 s"),
        (59_950, "1 min"),
        (60_000, "1 min"),
        (200_400, "3 min 20 s"),
    ],
)
def test_a_duration_is_told_in_its_own_unit(milliseconds: int, words: str) -> None:
    assert seconds(milliseconds) == words


def test_the_cost_line_says_that_no_model_was_used(make_review: MakeReview) -> None:
    assert cost_line(make_review()) == (
        "No model was used: $0.00. Engine analyzers. Took 1.2 s; longest chain of tasks 820 ms, "
        "all tasks one after the other 3.4 s."
    )


def test_the_cost_line_counts_tokens_and_dollars_and_the_time_that_was_saved(make_review: MakeReview) -> None:
    usage = Usage(input_tokens=12_000, output_tokens=800, cached_tokens=9_000, cost_usd=0.025)

    assert cost_line(make_review(usage=usage)) == (
        "Model use: $0.03; tokens in 12,000, cached 9,000, out 800. Engine analyzers. Took 1.2 s; longest chain of "
        "tasks 820 ms, all tasks one after the other 3.4 s (2.8 times as fast)."
    )


def test_the_cost_line_names_the_calls_whose_tokens_are_estimates(make_review: MakeReview) -> None:
    usage = Usage(calls=7, input_tokens=12_000, output_tokens=800, cost_usd=0.025, estimated_calls=2)

    assert "Estimated from the lengths of request and answer for 2 of 7 calls" in cost_line(make_review(usage=usage))


def test_what_was_written_to_the_cache_is_told_where_there_was_any(make_review: MakeReview) -> None:
    assert "cached 3,000, written to the cache 400, out 20." in cost_line(make_review(usage=LOGIC))


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), "$0.00"),
        (Usage(cost_usd=12.345), "$12.35"),
        (Usage(cost_usd=0.0004), "$0.0004"),
        (Usage(cost_usd=0.000_04), "$0.0001"),
        (Usage(cost_usd=0.01), "$0.01"),
        (Usage(calls=1, unpriced_calls=1), "unknown"),
        (Usage(calls=2, cost_usd=0.5, unpriced_calls=1), "$0.50 and an unknown price"),
    ],
)
def test_what_is_not_known_to_cost_nothing_is_not_said_to(usage: Usage, words: str) -> None:
    assert dollars(usage) == words


@pytest.mark.parametrize(("wall", "sequential", "words"), [(0, 9, ""), (10, 9, ""), (10, 10, ""), (10, 35, "3.5")])
def test_the_speed_up_is_told_where_there_is_one(
    wall: int, sequential: int, words: str, make_review: MakeReview
) -> None:
    times = Timings(wall_ms=wall, critical_path_ms=0, sequential_ms=sequential)

    told = speed_up(make_review(timings=times, usage=LOGIC))

    assert told == (f"{words} times as fast" if words else "")
    assert (told in cost_line(make_review(timings=times, usage=LOGIC))) is True


def test_a_bill_has_workers_and_roles_and_their_sum(make_review: MakeReview) -> None:
    planner = row("planner", tasks=0, findings=0, duration_ms=0, usage=Usage(calls=1, unpriced_calls=1))
    review = make_review(workers=(row("logic"), planner), usage=LOGIC + planner.usage)

    logic, role, both = bill(review)

    assert logic == Cost("logic", "2", "1", "3", "1,000", "3,000", "400", "20", "$1.50", "900 ms")
    assert (role.tasks, role.findings, role.dollars, role.time) == ("", "", "unknown", "")
    assert (both.who, both.calls, both.dollars) == ("all", "4", "$1.50 and an unknown price")
    assert in_words(logic) == (
        "2 tasks, 1 finding, 3 calls, in 1,000, cached 3,000, written 400, out 20, $1.50, 900 ms"
    )
    assert in_words(role) == "1 call, in 0, cached 0, written 0, out 0, price unknown"


def test_a_worker_that_asked_nobody_has_no_tokens_to_tell_of(make_review: MakeReview) -> None:
    review = make_review(workers=(row("logic"), row("style", usage=Usage())), usage=LOGIC)

    assert in_words(bill(review)[1]) == "2 tasks, 1 finding, no call of its own, 900 ms"


def test_without_a_model_there_is_no_bill(make_review: MakeReview) -> None:
    review = make_review(workers=(row("logic", usage=Usage()),))

    assert bill(review) == []
    assert not asked_models(review)
    assert "Cost" not in render_terminal(review, width=80, colour=False)


def test_without_workers_the_cost_line_is_all(make_review: MakeReview) -> None:
    assert bill(make_review(usage=LOGIC)) == []


def test_a_worker_that_took_far_more_than_the_others_is_named() -> None:
    rows = [used("logic", 3_100), used("style", 1_000), used("security", 900), used("judge", 90_000)]

    assert anomalies(rows) == [
        "logic took 3,100 tokens, 3.1 times what is usual among the workers of this run",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [used("logic", 9_000), used("style", 1)],
        [used("logic", 3_000), used("style", 1_000), used("security", 900)],
        [used("logic", 9_000), used("style", 1), used("security", 0), used("planner", 5)],
    ],
    ids=["none", "two", "three times", "two that asked"],
)
def test_what_is_usual_is_not_named(rows: list[WorkerUsage]) -> None:
    assert anomalies(rows) == []


@given(counts=st.lists(st.integers(0, 10**9), max_size=8))
def test_fewer_than_half_of_the_workers_are_unusual(counts: list[int]) -> None:
    rows = [used(f"w{n}", count) for n, count in enumerate(counts)]

    assert len(anomalies(rows)) <= len([row for row in rows if row.usage.tokens]) // 2


@pytest.mark.parametrize("width", [20, 60, 120])
def test_a_bill_fits_its_terminal_and_obeys_nothing(width: int, make_review: MakeReview) -> None:
    review = make_review(workers=(row("lo\x1b[2Jgic"),), usage=LOGIC)

    shown = render_terminal(review, width=width, colour=False)

    assert "lo\\x1b[2Jgic: " in shown
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.split("\n")) <= max(width, 30)


@pytest.mark.parametrize("role", ["planner", "reader", "judge"])
def test_who_is_no_worker_has_no_tasks_and_is_no_unusual_worker(role: str, make_review: MakeReview) -> None:
    dear = Usage(calls=1, input_tokens=10**9)
    rows = (row("logic"), row("style"), row("security"), row(role, usage=dear))

    assert anomalies(rows) == []
    assert (bill(make_review(workers=rows))[3].who, bill(make_review(workers=rows))[3].tasks) == (role, "")
