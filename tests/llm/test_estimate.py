"""What a review is likely to cost: counted from the plan, honest about what is not known, and the same each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.contracts import Plan, ReviewTask, Usage
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimated_tokens
from reviewbot.llm.estimate import (
    ANSWER_TOKENS,
    ASSUMPTIONS,
    MAX_OTHER_CALLS,
    MOST_CANDIDATES,
    VERIFIER_CHARS,
    VERIFIER_TOKENS,
    Calls,
    Estimate,
    estimate,
)
from reviewbot.output.estimate_report import render_estimate
from reviewbot.ports import Crew

Make = Callable[..., Any]

MODELS: Any = {"haiku": "small-1", "sonnet": "middle-1", "opus": "large-1"}
RATES = {"small-1": 1.0, "middle-1": 10.0, "large-1": 100.0}


def dollars(model: str, usage: Usage) -> float | None:
    """A dollar for a token of the small one, and so on."""
    return RATES[model] * (usage.input_tokens + usage.output_tokens)


def small_is_unknown(model: str, usage: Usage) -> float | None:
    return None if model == "small-1" else dollars(model, usage)


def told(found: Estimate) -> str:
    return render_estimate(found.headline, found.parts, found.assumptions, width=100, colour=False)


def plan_of(*tasks: ReviewTask) -> Plan:
    return Plan(goal="g", tasks=tasks, reason="r")


@pytest.fixture(name="plan")
def _plan(a_task: Make, a_payload: Make) -> Plan:
    """Two tasks of a cheap worker and one of a dear one."""
    return plan_of(
        a_task("style:a.py#1"),
        a_task("style:b.py#1", payload=a_payload("+y = 2\n+z = 3")),
        a_task("logic:a.py#1", tier="opus", higher_tiers=()),
    )


@pytest.fixture(name="crew")
def _crew(a_crew: Make, a_card: Make) -> Crew:
    crew: Crew = a_crew(a_card("style"), a_card("logic"))
    return crew


def test_each_worker_is_counted_and_what_has_to_be_verified(plan: Plan, crew: Crew) -> None:
    found = estimate(plan, crew, dollars, MODELS)

    turns = [task.constraints.max_turns for task in plan.tasks]
    assert [(share.worker, share.tasks, share.models, share.calls) for share in found.shares] == [
        ("style", 2, ("small-1",), Calls(2, 2, turns[0] + turns[1])),
        ("logic", 1, ("large-1",), Calls(1, 1, turns[2])),
        ("verifier", 0, ("middle-1", "large-1"), Calls(0, 3, 3 * MOST_CANDIDATES)),
    ]
    assert found.calls == Calls(3, 6, sum(turns) + 3 * MOST_CANDIDATES + MAX_OTHER_CALLS)
    assert found.output_tokens == 3 * ANSWER_TOKENS + 3 * VERIFIER_TOKENS
    assert found.assumptions == ASSUMPTIONS


def test_the_whole_is_the_sum_of_its_shares(plan: Plan, crew: Crew) -> None:
    found = estimate(plan, crew, dollars, MODELS)

    assert found.input_tokens == sum(share.input_tokens for share in found.shares) > 0
    assert found.dollars == sum(share.dollars or 0 for share in found.shares) > 0
    assert found.unpriced == ()
    for share in found.shares[:2]:
        assert share.dollars == RATES[share.models[0]] * (share.input_tokens + share.output_tokens)


def test_what_cannot_be_priced_is_unknown_and_named(plan: Plan, crew: Crew) -> None:
    found = estimate(plan, crew, small_is_unknown, MODELS)

    assert [share.dollars is None for share in found.shares] == [True, False, False]
    assert found.dollars is None
    assert found.unpriced == ("small-1",)


def test_the_planner_is_counted_at_its_most(plan: Plan, crew: Crew, a_request: Make) -> None:
    question = a_request("x" * 40_000, tier="haiku", max_tokens=8_000)
    found = estimate(plan, crew, dollars, MODELS, question)

    read = estimated_tokens(question)
    planner, *others = found.shares
    assert (planner.worker, planner.tasks, planner.calls) == ("planner", 0, Calls(1, 2, 2))
    assert (planner.input_tokens, planner.output_tokens) == (2 * read + 8_000, 16_000)
    assert others == list(estimate(plan, crew, dollars, MODELS).shares)


def test_an_empty_plan_asks_nobody(crew: Crew) -> None:
    found = estimate(plan_of(), crew, dollars, MODELS)

    assert (found.shares, found.calls, found.dollars) == ((), Calls(0, 0, 0), 0)
    assert told(found) == "No model would be asked: $0.00.\n"


def test_a_task_for_programs_alone_asks_nobody(crew: Crew, a_task: Make) -> None:
    task = a_task("style:a.py#1", programs_only=True)

    assert estimate(plan_of(task), crew, dollars, MODELS).calls.most == 0


def test_a_worker_without_a_card_is_counted_as_well(crew: Crew, a_task: Make) -> None:
    found = estimate(plan_of(a_task("special:a.py#1")), crew, dollars, MODELS)

    assert found.shares[0].worker == "special"


def test_no_answer_is_longer_than_its_task_allows(crew: Crew, a_task: Make) -> None:
    task = a_task("style:a.py#1")
    short = task.model_copy(update={"constraints": task.constraints.model_copy(update={"max_tokens": 256})})

    assert estimate(plan_of(short), crew, dollars, MODELS).shares[0].output_tokens == 256


@given(lines=st.integers(1, 400), more=st.integers(1, 400))
def test_more_code_costs_more(lines: int, more: int, a_task: Make, a_payload: Make, a_crew: Make) -> None:
    def tokens(count: int) -> int:
        payload = a_payload("\n".join(["+value = compute(value)"] * count))
        return estimate(plan_of(a_task(payload=payload)), a_crew(), dollars, MODELS).input_tokens

    assert tokens(lines) < tokens(lines + more)


def test_slices_that_are_read_in_one_go_share_the_prompt(a_task: Make, a_payload: Make, a_crew: Make) -> None:
    one, two = a_payload("+x = 1"), a_payload("+y = 2", path="b.py")
    crew = a_crew()

    together = estimate(plan_of(a_task(payload=one, more=(two,))), crew, dollars, MODELS)
    apart = estimate(plan_of(a_task(payload=one), a_task("logic:b#1", payload=two)), crew, dollars, MODELS)

    assert together.calls.likely < apart.calls.likely
    assert together.input_tokens < apart.input_tokens


def test_a_ruling_sees_all_slices_of_its_task(a_task: Make, a_payload: Make, a_crew: Make) -> None:
    def judged(*payloads: Any) -> int:
        task = a_task(payload=payloads[0], more=payloads[1:])
        share = estimate(plan_of(task), a_crew(), dollars, MODELS).shares[-1]
        assert share.worker == "verifier"
        return share.input_tokens

    slices = [a_payload("+value = compute()\n" * 200, path=f"{name}.py") for name in "abc"]
    alone, together = judged(slices[0]), judged(*slices)
    assert together - alone == pytest.approx(2 * (alone - VERIFIER_CHARS / CHARS_PER_TOKEN), abs=5)


@pytest.mark.parametrize(("tier", "judge"), [("haiku", "middle-1"), ("sonnet", "middle-1"), ("opus", "large-1")])
def test_nobody_is_judged_by_a_weaker_model(tier: str, judge: str, a_task: Make, a_crew: Make) -> None:
    task = a_task(tier=tier, higher_tiers=())
    assert estimate(plan_of(task), a_crew(), dollars, MODELS).shares[-1].models == (judge,)


def test_it_is_told_with_what_it_rests_on(plan: Plan, crew: Crew) -> None:
    found: Estimate = estimate(plan, crew, lambda model, usage: (dollars(model, usage) or 0) / 1e6, MODELS)

    page = told(found)

    assert page.startswith(f"Likely ${found.dollars:.2f}: 6 calls (3 to {found.calls.most}), ")
    assert "\n  style: 2 tasks, 2 calls (2 to " in page
    assert "\n  verifier: 3 calls (0 to 24)" in page
    assert all(assumption in page for assumption in ASSUMPTIONS)


def test_an_unknown_price_is_never_told_as_nothing(plan: Plan, crew: Crew) -> None:
    page = told(estimate(plan, crew, lambda *_: None, MODELS))

    assert page.startswith("Likely price unknown: ")
    assert "The price of small-1, large-1, middle-1 is not known." in " ".join(page.split())
    assert "$" not in page


def test_a_name_in_an_estimate_obeys_nothing(crew: Crew, a_task: Make) -> None:
    models: Any = dict.fromkeys(MODELS, "m\x1b[2J")

    page = told(estimate(plan_of(a_task()), crew, lambda *_: None, models))

    assert "m\\x1b[2J" in page
    assert "\x1b" not in page
