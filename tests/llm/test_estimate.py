"""What a review will cost, before any model is asked: likely, at most, and what nothing is known of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import Plan, ReviewTask, Usage
from reviewbot.domain.ports import ModelRequest, OfferedTool, Text, Turn
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimate_tokens, request_text
from reviewbot.llm.estimate import (
    ASSUMPTIONS,
    AT_MOST,
    CLAIM_TOKENS,
    FINAL_ANSWER,
    LIKELY_TURNS,
    MAX_CLAIMS,
    MAX_HINT_TOKENS,
    MAX_TURN_TOKENS,
    MIN_CLAIMS,
    RULING_TOKENS,
    TURN_ANSWER,
    TURN_RESULTS,
    CallCounts,
    Estimate,
    Preview,
    estimate,
)
from reviewbot.report.estimate_report import render_estimate

Make = Callable[..., Any]

MODELS: Any = {"small": "small-1", "medium": "middle-1", "large": "large-1"}
TOOL = OfferedTool("read", "Reads.", {"type": "object"})


def a_dollar_a_token(model: str, usage: Usage) -> float | None:
    del model
    return usage.input_tokens + usage.cached_tokens + usage.cache_write_tokens + usage.output_tokens


def small_is_unknown(model: str, usage: Usage) -> float | None:
    return None if model == "small-1" else a_dollar_a_token(model, usage)


@pytest.fixture
def preview(a_task: Callable[..., ReviewTask], a_request: Callable[..., ModelRequest]) -> Callable[..., Preview]:
    """A review of one reader, which answers two tasks."""

    def make(*requests: ModelRequest, **fields: Any) -> Preview:
        tasks = (a_task("logic:a"), a_task("style:a", worker="style"), a_task("security:a", programs_only=True))
        first = a_request("x" * 4_000, tools=(TOOL,), tier="large", max_tokens=20_000)
        plan = Plan(goal="g", tasks=tasks, reason="r")
        judge = a_request("judge these", tools=(TOOL,), max_tokens=8_000)
        bounds = Bounds(tool_turns=2, result_chars=4_000)
        return Preview(plan, requests=requests or (first,), **{"judge": judge, "judge_bounds": bounds, **fields})

    return make


def counted(preview: Preview, **fields: Any) -> Estimate:
    return estimate(preview, fields.get("prices", a_dollar_a_token), MODELS)


def told(found: Estimate) -> str:
    return render_estimate(found.headline, found.parts, found.assumptions, width=100, colour=False)


def test_a_reader_writes_its_request_to_the_cache_and_reads_it_in_every_further_turn(
    preview: Callable[..., Preview],
) -> None:
    made = preview()
    size = estimate_tokens(made.requests[0])

    reader, judge = counted(made).shares

    assert (reader.name, reader.tasks, reader.calls) == ("reader", 2, CallCounts(1, LIKELY_TURNS, 11))
    assert reader.usage == Usage(
        calls=3,
        cached_tokens=2 * size + TURN_RESULTS + TURN_ANSWER,
        cache_write_tokens=size + 2 * (TURN_RESULTS + TURN_ANSWER),
        output_tokens=2 * TURN_ANSWER + FINAL_ANSWER,
    )
    assert made.judge is not None
    # Its prefix is in the readers' cache.
    first = estimate_tokens(made.judge) + MIN_CLAIMS * CLAIM_TOKENS
    known = estimate_tokens(replace(made.judge, turns=()))
    assert (judge.name, judge.calls) == ("judge", CallCounts(0, 2, 25))
    assert judge.usage == Usage(
        calls=2,
        cached_tokens=known + first,
        cache_write_tokens=first - known + TURN_RESULTS + TURN_ANSWER,
        output_tokens=TURN_ANSWER + MIN_CLAIMS * RULING_TOKENS,
    )


def test_at_most_every_turn_all_room_and_every_token_are_counted(preview: Callable[..., Preview]) -> None:
    made = preview(bounds=Bounds(tool_turns=1, result_chars=400), judge=None)
    [request] = made.requests

    [reader] = counted(made).shares

    room = MAX_HINT_TOKENS + 400 // CHARS_PER_TOKEN + 5 * MAX_TURN_TOKENS
    whole = math.ceil(AT_MOST * (estimate_tokens(request) + room) + request.max_tokens)
    assert reader.calls == CallCounts(1, 2, 5)
    assert reader.most == 5 * whole + request.max_tokens
    assert reader.dollars is not None
    assert reader.dollars < reader.most


def test_without_tools_a_reader_answers_at_once(preview: Callable[..., Preview], a_request: Make) -> None:
    [reader] = counted(preview(a_request(tools=()), judge=None)).shares

    assert reader.calls == CallCounts(1, 1, 2)


def test_no_answer_is_longer_than_the_request_allows(preview: Callable[..., Preview], a_request: Make) -> None:
    [reader] = counted(preview(a_request(tools=(), max_tokens=300), judge=None)).shares

    assert reader.usage.output_tokens == 300


def test_what_several_readers_are_shown_alike_is_read_from_the_cache_by_all_but_the_first(
    preview: Callable[..., Preview], a_request: Make
) -> None:
    shared = Text("the same change " * 500, cached=True)
    requests = [
        a_request(turns=(Turn("user", (shared, Text(task))),), max_tokens=20_000)
        for task in ("logic", "style", "logic")
    ]
    prefix = estimate_tokens(replace(requests[0], turns=(Turn("user", (shared,)),)))

    [apart] = counted(preview(requests[0], judge=None)).shares
    [together] = counted(preview(*requests, judge=None)).shares

    assert apart.usage.cached_tokens == 0
    assert together.usage.cached_tokens == 2 * prefix
    assert together.usage.cache_write_tokens == sum(map(estimate_tokens, requests)) - 2 * prefix


def test_a_longer_change_has_more_claims_to_judge_up_to_a_bound(
    preview: Callable[..., Preview], a_task: Make, a_payload: Make
) -> None:
    made = preview()
    for lines, claims in ((10, MIN_CLAIMS), (60, 3), (5_000, MAX_CLAIMS)):
        task = a_task("logic:a", payload=a_payload("\n".join(f"+x = {n}" for n in range(lines))))
        _, judge = counted(replace(made, plan=made.plan.model_copy(update={"tasks": (task,)}))).shares
        assert judge.usage.output_tokens == TURN_ANSWER + claims * RULING_TOKENS


def test_the_whole_is_the_sum_of_its_shares_and_every_reader_counts(
    preview: Callable[..., Preview], a_request: Make
) -> None:
    requests = (a_request("a", tools=(TOOL,)), a_request("b", tools=(TOOL,)))

    found = counted(preview(*requests))

    assert found.calls == found.shares[0].calls + found.shares[1].calls
    assert found.usage == found.shares[0].usage + found.shares[1].usage
    assert found.dollars == (found.shares[0].dollars or 0) + (found.shares[1].dollars or 0)
    assert found.shares[0].calls.likely == 2 * LIKELY_TURNS


def test_the_planner_is_counted_once_and_at_most_with_a_repair_of_its_answer(
    preview: Callable[..., Preview], a_request: Make
) -> None:
    question = a_request("plan this", tier="small", max_tokens=900)

    planner = counted(preview(question=question)).shares[0]

    read = estimate_tokens(question)
    assert (planner.name, planner.calls) == ("planner", CallCounts(1, 1, 2))
    assert planner.dollars == read + 900
    assert planner.most == math.ceil(AT_MOST * read) + math.ceil(AT_MOST * read + 900) + 2 * 900


def test_a_plan_without_readers_asks_nobody(preview: Callable[..., Preview]) -> None:
    found = counted(replace(preview(), requests=()))

    assert found.headline == "No model would be asked: $0.00."
    assert (found.parts, found.assumptions, found.dollars) == ({}, (), 0)


def test_what_cannot_be_priced_is_unknown_and_named(preview: Callable[..., Preview], a_request: Make) -> None:
    found = counted(preview(a_request(tier="small")), prices=small_is_unknown)

    assert (found.dollars, found.most, found.unpriced) == (None, None, ("small-1",))
    assert "Likely price unknown" in told(found)
    assert "The price of small-1 is not known." in told(found)


def test_a_limit_of_dollars_is_the_bound_where_it_is_lower(preview: Callable[..., Preview]) -> None:
    made = preview()

    most = counted(made).most
    assert "at most $2.00 (--max-cost):" in estimate(made, a_dollar_a_token, MODELS, 2.0).headline
    told_of_both = f"at most ${most:.2f} if no answer is asked for again, else $1000000000.00 (--max-cost):"
    assert told_of_both in estimate(made, a_dollar_a_token, MODELS, 1e9).headline
    assert f"at most ${most:.2f} if no answer is asked for again:" in estimate(made, a_dollar_a_token, MODELS).headline


def test_it_is_told_with_what_it_rests_on(preview: Callable[..., Preview]) -> None:
    text = told(counted(preview()))

    assert text.startswith("Likely $")
    assert "reader: 2 tasks, 3 calls (1 to 11)" in " ".join(text.split())
    assert all(" ".join(each.split()) in " ".join(text.split()) for each in ASSUMPTIONS)


def test_a_request_can_be_read_by_people(a_request: Make) -> None:
    text = request_text(a_request("is this right?", tools=(TOOL,), schema={"type": "object"}))

    assert [part in text for part in ("is this right?", "## tool read: Reads.", "## schema of the answer")] == [
        True
    ] * 3
