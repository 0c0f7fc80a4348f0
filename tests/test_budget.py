"""What may be spent, also by calls at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.budget import Deadline, Ledger, Limits, tokens_of
from reviewbot.contracts import Usage
from reviewbot.errors import BudgetError


def spend(ledger: Ledger, purpose: str = "logic", tokens: int = 10, dollars: float | None = None) -> None:
    """One call that costs as much as it was said to."""

    async def run() -> None:
        async with ledger.reserved(purpose, tokens, dollars) as reservation:
            reservation.settle(Usage(calls=1, input_tokens=tokens, cost_usd=dollars or 0.0))

    asyncio.run(run())


def test_without_limits_everything_is_noted_and_nothing_refused() -> None:
    ledger = Ledger()
    spend(ledger, "logic", 10**9, 10**6)
    spend(ledger, "logic", 5)
    spend(ledger, "planner", 7)
    assert ledger.spent() == {
        "logic": Usage(calls=2, input_tokens=10**9 + 5, cost_usd=10**6),
        "planner": Usage(calls=1, input_tokens=7),
    }


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            Limits(max_cost_usd=0.25),
            "budget of 0.25 dollars .* 0.20 spent, up to 0.10 more .* --max-cost or REVIEWBOT_MAX_COST",
        ),
        (Limits(max_calls=2), "budget of 2 calls .* 2 spent, up to 1 more wanted; raise it with REVIEWBOT_MAX_CALLS"),
        (Limits(max_tokens=25), "budget of 25 tokens .* 20 spent, up to 10 more .* REVIEWBOT_MAX_TOKENS"),
        (Limits(worker_tokens=25), "25 tokens of the logic worker .* 20 spent, up to 10 .* REVIEWBOT_WORKER_TOKENS"),
    ],
)
def test_a_budget_without_room_names_itself_what_is_spent_and_its_setting(limits: Limits, words: str) -> None:
    ledger = Ledger(limits)
    spend(ledger, dollars=0.1)
    spend(ledger, dollars=0.1)
    with pytest.raises(BudgetError, match=words):
        spend(ledger, dollars=0.1)


def test_a_call_of_unknown_price_is_held_to_the_other_budgets_only() -> None:
    ledger = Ledger(Limits(max_cost_usd=0.0, max_tokens=10))
    spend(ledger, tokens=10, dollars=None)
    with pytest.raises(BudgetError, match="tokens"):
        spend(ledger, tokens=1, dollars=None)


def test_a_workers_tokens_are_its_own_and_concern_no_one_who_is_no_worker() -> None:
    ledger = Ledger(Limits(worker_tokens=10))
    spend(ledger, "logic")
    spend(ledger, "style")
    for _ in range(3):
        spend(ledger, "verifier", 100)
    with pytest.raises(BudgetError, match="logic worker"):
        spend(ledger, "logic", 1)


def test_a_call_that_failed_gives_back_what_it_had_reserved() -> None:
    ledger = Ledger(Limits(max_calls=1))

    async def fail() -> None:
        async with ledger.reserved("logic", 10, None):
            raise RuntimeError

    for _ in range(3):
        with pytest.raises(RuntimeError):
            asyncio.run(fail())
    assert ledger.spent() == {}
    spend(ledger)


def test_the_last_word_about_a_call_counts() -> None:
    ledger = Ledger()

    async def run() -> None:
        async with ledger.reserved("logic", 10, None) as reservation:
            reservation.settle(Usage(calls=1, input_tokens=9))
            reservation.settle(Usage(calls=1, input_tokens=7))

    asyncio.run(run())
    assert ledger.spent() == {"logic": Usage(calls=1, input_tokens=7)}


def test_a_look_whether_there_is_room_takes_none_and_waits_for_nobody() -> None:
    ledger = Ledger(Limits(max_calls=1))

    async def run() -> None:
        async with ledger.reserved("logic", 10, None) as reservation:
            ledger.check("logic", 10, None)  # the one under way may still fail
            reservation.settle(Usage(calls=1))

    asyncio.run(run())
    with pytest.raises(BudgetError, match="REVIEWBOT_MAX_CALLS"):
        ledger.check("logic", 10, None)
    assert ledger.spent() == {"logic": Usage(calls=1)}


def test_a_call_waits_for_others_that_may_leave_room_for_it() -> None:
    ledger = Ledger(Limits(max_cost_usd=1.0))
    order: list[str] = []

    async def call(name: str, most: float, real: float, begun: asyncio.Event, go: asyncio.Event) -> None:
        async with ledger.reserved("logic", 1, most) as reservation:
            order.append(f"{name} begins")
            begun.set()
            await go.wait()
            reservation.settle(Usage(calls=1, cost_usd=real))
            order.append(f"{name} ends")

    async def run() -> None:
        begun, go, last = asyncio.Event(), asyncio.Event(), asyncio.Event()
        last.set()
        first = asyncio.create_task(call("first", 0.8, 0.1, begun, go))
        await begun.wait()
        second = asyncio.create_task(call("second", 0.8, 0.8, asyncio.Event(), last))
        await asyncio.sleep(0)
        assert order == ["first begins"]
        go.set()
        await asyncio.gather(first, second)

    asyncio.run(run())
    assert order == ["first begins", "first ends", "second begins", "second ends"]


def test_a_call_that_waited_in_vain_is_refused() -> None:
    ledger = Ledger(Limits(max_calls=1))

    async def call(name: str) -> str:
        async with ledger.reserved("logic", 1, None) as reservation:
            await asyncio.sleep(0)
            reservation.settle(Usage(calls=1))
        return name

    async def run() -> list[Any]:
        return await asyncio.gather(*map(call, "abc"), return_exceptions=True)

    first, *others = asyncio.run(run())
    assert first == "a"
    assert [type(each) for each in others] == [BudgetError, BudgetError]


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 100), st.booleans()), max_size=12),
    st.integers(0, 200),
    st.integers(0, 6),
)
def test_calls_at_the_same_time_never_overshoot_together(
    calls: list[tuple[int, int, bool]], most_tokens: int, most_calls: int
) -> None:
    """Each call says what it takes at most, takes a share of that, and may fail."""
    ledger = Ledger(Limits(max_tokens=most_tokens, max_calls=most_calls))

    async def call(most: int, share: int, fails: bool) -> None:  # noqa: FBT001 - drawn
        async with ledger.reserved("logic", most, None) as reservation:
            await asyncio.sleep(0)
            if fails:
                raise RuntimeError
            reservation.settle(Usage(calls=1, output_tokens=most * share // 100))

    async def run() -> list[Any]:
        return await asyncio.gather(*(call(*each) for each in calls), return_exceptions=True)

    outcomes = asyncio.run(run())
    total = sum(ledger.spent().values(), Usage())
    assert tokens_of(total) <= most_tokens
    assert total.calls <= most_calls
    assert {type(each) for each in outcomes} <= {type(None), BudgetError, RuntimeError}


def test_a_deadline_counts_down_to_nothing_and_no_further(clock: Any) -> None:
    deadline = Deadline(clock, 10)
    assert deadline.left_s() == 10
    clock.now = 4.0
    assert deadline.left_s() == 6
    clock.now = 99.0
    assert deadline.left_s() == 0
