"""What may be spent, also by calls at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import BudgetError
from reviewbot.llm.client.budget import Deadline, SpendLedger, SpendLimits


def spend(ledger: SpendLedger, purpose: str = "logic", tokens: int = 10, dollars: float | None = None) -> None:
    """One call that costs as much as it was said to."""

    async def run() -> None:
        async with ledger.reserve(purpose, tokens, dollars) as reservation:
            reservation.settle(Usage(calls=1, input_tokens=tokens, cost_usd=dollars or 0.0))

    asyncio.run(run())


def test_without_limits_everything_is_noted_and_nothing_refused() -> None:
    ledger = SpendLedger()
    spend(ledger, "logic", 10**9, 10**6)
    spend(ledger, "logic", 5)
    spend(ledger, "planner", 7)
    assert ledger.usage_by_purpose() == {
        "logic": Usage(calls=2, input_tokens=10**9 + 5, cost_usd=10**6),
        "planner": Usage(calls=1, input_tokens=7),
    }


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            SpendLimits(max_cost_usd=0.25),
            "budget of 0.25 dollars .* 0.20 spent, up to 0.10 more .* --max-cost or REVIEWBOT_MAX_COST",
        ),
        (
            SpendLimits(max_calls=2),
            "budget of 2 calls .* 2 spent, up to 1 more wanted; raise it with REVIEWBOT_MAX_CALLS",
        ),
        (SpendLimits(max_tokens=25), "budget of 25 tokens .* 20 spent, up to 10 more .* REVIEWBOT_MAX_TOKENS"),
        (
            SpendLimits(worker_tokens=25),
            "25 tokens of the logic worker .* 20 spent, up to 10 .* REVIEWBOT_WORKER_TOKENS",
        ),
    ],
)
def test_a_budget_without_room_names_itself_what_is_spent_and_its_setting(limits: SpendLimits, words: str) -> None:
    ledger = SpendLedger(limits)
    spend(ledger, dollars=0.1)
    spend(ledger, dollars=0.1)
    with pytest.raises(BudgetError, match=words):
        spend(ledger, dollars=0.1)


def test_a_call_of_unknown_price_is_held_to_the_other_budgets_only() -> None:
    ledger = SpendLedger(SpendLimits(max_cost_usd=0.0, max_tokens=10))
    spend(ledger, tokens=10, dollars=None)
    with pytest.raises(BudgetError, match="tokens"):
        spend(ledger, tokens=1, dollars=None)


def test_a_call_of_unknown_price_under_way_takes_no_dollars_from_one_whose_price_is_known() -> None:
    ledger = SpendLedger(SpendLimits(max_cost_usd=1.0))

    async def run() -> None:
        async with ledger.reserve("logic", 10, None), ledger.reserve("logic", 10, 1.0) as reservation:
            reservation.settle(Usage(calls=1, cost_usd=1.0))

    asyncio.run(run())
    assert ledger.usage_by_purpose() == {"logic": Usage(calls=1, cost_usd=1.0)}


@pytest.mark.parametrize(
    ("limits", "calls"),
    [
        (SpendLimits(max_cost_usd=0.5), [("logic", 1, 0.25), ("style", 1, 0.25)]),
        (SpendLimits(max_calls=2), [("logic", 1, None), ("style", 1, None)]),
        (SpendLimits(max_tokens=20), [("logic", 10, None), ("style", 10, None)]),
        (SpendLimits(worker_tokens=10), [("logic", 10, None), ("style", 10, None)]),
        (SpendLimits(worker_tokens=10), [("planner", 99, None), ("judge", 99, None)]),
    ],
)
def test_what_fits_to_the_last_unit_is_spent_by_calls_at_the_same_time(
    limits: SpendLimits, calls: list[tuple[str, int, float | None]]
) -> None:
    """None of them has to wait for another, or it would wait for ever."""
    ledger = SpendLedger(limits)
    all_begun = asyncio.Barrier(len(calls))

    async def call(purpose: str, tokens: int, dollars: float | None) -> None:
        async with ledger.reserve(purpose, tokens, dollars) as reservation:
            await asyncio.wait_for(all_begun.wait(), 60)
            reservation.settle(Usage(calls=1, input_tokens=tokens, cost_usd=dollars or 0.0))

    async def run() -> None:
        await asyncio.gather(*(call(*each) for each in calls))

    asyncio.run(run())
    assert {purpose: usage.input_tokens for purpose, usage in ledger.usage_by_purpose().items()} == {
        purpose: tokens for purpose, tokens, _ in calls
    }


@pytest.mark.parametrize("field", ["input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens"])
def test_every_kind_of_token_counts_against_a_budget(field: str) -> None:
    ledger = SpendLedger(SpendLimits(max_tokens=10))

    async def run() -> None:
        async with ledger.reserve("logic", 10, None) as reservation:
            reservation.settle(Usage(calls=1, **{field: 8}))

    asyncio.run(run())
    ledger.check("logic", 2, None)
    with pytest.raises(BudgetError, match="8 spent, up to 3 more"):
        ledger.check("logic", 3, None)


def test_a_workers_tokens_under_way_are_no_other_workers_business() -> None:
    ledger = SpendLedger(SpendLimits(worker_tokens=10))

    async def run() -> None:
        async with ledger.reserve("logic", 8, None), ledger.reserve("style", 8, None):
            ledger.check("logic", 10, None)  # a look does not wait for those under way

    asyncio.run(run())


def test_a_workers_tokens_are_its_own_and_concern_no_one_who_is_no_worker() -> None:
    ledger = SpendLedger(SpendLimits(worker_tokens=10))
    spend(ledger, "logic")
    spend(ledger, "style")
    for _ in range(3):
        spend(ledger, "judge", 100)
    with pytest.raises(BudgetError, match="logic worker"):
        spend(ledger, "logic", 1)


def test_a_call_that_failed_gives_back_what_it_had_reserved() -> None:
    ledger = SpendLedger(SpendLimits(max_calls=1))

    async def fail() -> None:
        async with ledger.reserve("logic", 10, None):
            raise RuntimeError

    for _ in range(3):
        with pytest.raises(RuntimeError):
            asyncio.run(fail())
    assert ledger.usage_by_purpose() == {}
    spend(ledger)


def test_the_last_word_about_a_call_counts() -> None:
    ledger = SpendLedger()

    async def run() -> None:
        async with ledger.reserve("logic", 10, None) as reservation:
            reservation.settle(Usage(calls=1, input_tokens=9))
            reservation.settle(Usage(calls=1, input_tokens=7))

    asyncio.run(run())
    assert ledger.usage_by_purpose() == {"logic": Usage(calls=1, input_tokens=7)}


def test_a_look_whether_there_is_room_takes_none_and_waits_for_nobody() -> None:
    ledger = SpendLedger(SpendLimits(max_calls=1))

    async def run() -> None:
        async with ledger.reserve("logic", 10, None) as reservation:
            ledger.check("logic", 10, None)  # the one under way may still fail
            reservation.settle(Usage(calls=1))

    asyncio.run(run())
    with pytest.raises(BudgetError, match="REVIEWBOT_MAX_CALLS"):
        ledger.check("logic", 10, None)
    assert ledger.usage_by_purpose() == {"logic": Usage(calls=1)}


def test_a_call_waits_for_others_that_may_leave_room_for_it() -> None:
    ledger = SpendLedger(SpendLimits(max_cost_usd=1.0))
    order: list[str] = []

    async def call(name: str, most: float, real: float, begun: asyncio.Event, go: asyncio.Event) -> None:
        async with ledger.reserve("logic", 1, most) as reservation:
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
    ledger = SpendLedger(SpendLimits(max_calls=1))

    async def call(name: str) -> str:
        async with ledger.reserve("logic", 1, None) as reservation:
            await asyncio.sleep(0)
            reservation.settle(Usage(calls=1))
        return name

    async def run() -> list[Any]:
        return await asyncio.gather(*map(call, "abc"), return_exceptions=True)

    first, *others = asyncio.run(run())
    assert first == "a"
    assert [type(each) for each in others] == [BudgetError, BudgetError]


class Watched(SpendLimits):
    """Limits that notice somebody who looks at them all the time instead of waiting."""

    looks = 0

    def __getattribute__(self, name: str) -> Any:
        if name == "max_calls":
            Watched.looks += 1
            assert Watched.looks < 100, "nobody waits here"
        return super().__getattribute__(name)


def test_a_call_waits_through_the_ends_of_several_others() -> None:
    Watched.looks = 0
    ledger = SpendLedger(Watched(max_cost_usd=1.0))
    order: list[str] = []

    async def call(name: str, most: float, real: float, go: asyncio.Event) -> None:
        async with ledger.reserve("logic", 1, most) as reservation:
            await go.wait()
            reservation.settle(Usage(calls=1, cost_usd=real))
            order.append(name)

    async def run() -> None:
        gates = [asyncio.Event() for _ in range(3)]
        costs = [("first", 0.4, 0.0), ("second", 0.4, 0.1), ("third", 0.8, 0.8)]
        calls = []
        for gate, cost in zip(gates, costs, strict=True):
            calls.append(asyncio.create_task(call(*cost, gate)))
            await asyncio.sleep(0)
        gates[2].set()
        for gate in gates[:2]:
            gate.set()
            for _ in range(5):
                await asyncio.sleep(0)
        await asyncio.gather(*calls)

    asyncio.run(run())
    assert order == ["first", "second", "third"]
    assert ledger.usage_by_purpose()["logic"].calls == 3


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 100), st.booleans()), max_size=12),
    st.integers(0, 200),
    st.integers(0, 6),
)
def test_calls_at_the_same_time_never_overshoot_together(
    calls: list[tuple[int, int, bool]], most_tokens: int, most_calls: int
) -> None:
    """Each call says what it takes at most, takes a share of that, and may fail."""
    ledger = SpendLedger(SpendLimits(max_tokens=most_tokens, max_calls=most_calls))

    async def call(most: int, share: int, fails: bool) -> None:  # noqa: FBT001 - drawn
        async with ledger.reserve("logic", most, None) as reservation:
            await asyncio.sleep(0)
            if fails:
                raise RuntimeError
            reservation.settle(Usage(calls=1, output_tokens=most * share // 100))

    async def run() -> list[Any]:
        return await asyncio.gather(*(call(*each) for each in calls), return_exceptions=True)

    outcomes = asyncio.run(run())
    total = sum(ledger.usage_by_purpose().values(), Usage())
    assert total.tokens <= most_tokens
    assert total.calls <= most_calls
    assert {type(each) for each in outcomes} <= {type(None), BudgetError, RuntimeError}


def test_a_deadline_begins_when_it_is_set(clock: Any) -> None:
    clock.now = 100.0
    deadline = Deadline(clock, 10)
    clock.now = 104.0
    assert deadline.remaining_s() == 6


def test_a_deadline_counts_down_to_nothing_and_no_further(clock: Any) -> None:
    deadline = Deadline(clock, 10)
    assert deadline.remaining_s() == 10
    clock.now = 4.0
    assert deadline.remaining_s() == 6
    clock.now = 99.0
    assert deadline.remaining_s() == 0
