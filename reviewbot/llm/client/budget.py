"""Budgets of a run: what it may spend on models, what it has spent, and how long it may take.

A call is asked for before it is made, with the most that it can cost. So calls at the same time cannot overshoot
together: while the others are under way their reservations count, and a call that fits only once they have cost less
than they might, waits for them instead of being refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import BudgetError
from reviewbot.domain.ports import Clock

NOT_WORKERS = frozenset({"planner", "judge"})
"""Purposes whose tokens no worker's budget covers."""


@dataclass(frozen=True)
class SpendLimits:
    """What may be spent; None: no limit. Tokens are all that is read and written, cached ones included."""

    max_cost_usd: float | None = None
    """Of calls whose price is known; the others count as calls and tokens only."""
    max_calls: int | None = None
    max_tokens: int | None = None
    worker_tokens: int | None = None
    """Of each worker, in all of its tasks together."""


class Deadline:
    """A moment after which nothing more is begun."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def remaining_s(self) -> float:
        """Seconds until then; never below 0."""
        return max(0.0, self._end - self._clock.monotonic())


@dataclass(eq=False)
class Reservation:
    """The most that a call under way can cost. `settle` it with what it did cost; otherwise it is given back.

    The last word counts: a call that may be stopped is settled when it goes out, and again once it was answered.
    """

    purpose: str
    tokens: int
    cost_usd: float = 0.0
    usage: Usage | None = field(default=None, init=False)

    def settle(self, usage: Usage) -> None:
        """The call used this much, as far as is known."""
        self.usage = usage


class _Budget(NamedTuple):
    """One limit, what is spent of it, what calls under way may still take, and what the call at hand may take."""

    what: str
    setting: str
    limit: float
    spent: float
    reserved: float
    wanted: float

    @property
    def refuses(self) -> bool:
        return self.spent + self.wanted > self.limit

    @property
    def full(self) -> bool:
        return self.spent + self.reserved + self.wanted > self.limit


class SpendLedger:
    """The usage (`ports.UsageLedger`) and the budgets of one run. For one event loop."""

    def __init__(self, limits: SpendLimits | None = None) -> None:
        self._limits = limits or SpendLimits()
        self._spent: dict[str, Usage] = {}
        self._open: set[Reservation] = set()
        self._changed = asyncio.Event()

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        """What was used, by purpose."""
        return dict(self._spent)

    def check(self, purpose: str, tokens: int, cost_usd: float | None) -> None:
        """Raises BudgetError where such a call would find no room, whatever those under way will have cost."""
        self._fits(Reservation(purpose, tokens, cost_usd or 0.0))

    @asynccontextmanager
    async def reserve(self, purpose: str, tokens: int, cost_usd: float | None) -> AsyncIterator[Reservation]:
        """Room for one call of at most so many tokens and dollars (None: its price is not known).

        Waits while other calls might still leave that room. Raises BudgetError where it is not there.
        """
        mine = Reservation(purpose, tokens, cost_usd or 0.0)
        while not self._fits(mine):
            await self._changed.wait()
        self._open.add(mine)
        try:
            yield mine
        finally:
            self._open.discard(mine)
            if mine.usage is not None:
                self._spent[purpose] = self._spent.get(purpose, Usage()) + mine.usage
            self._changed.set()
            self._changed = asyncio.Event()

    def _fits(self, mine: Reservation) -> bool:
        """Whether there is room now. Raises BudgetError where there never will be."""
        budgets = list(self._budgets(mine))
        for each in budgets:
            if each.refuses:
                raise BudgetError(_refusal(each))
        return not any(each.full for each in budgets)

    def _budgets(self, mine: Reservation) -> Iterator[_Budget]:
        limits, done = self._limits, sum(self._spent.values(), Usage())
        if limits.max_cost_usd is not None and mine.cost_usd:
            reserved = sum(each.cost_usd for each in self._open)
            setting = "--max-cost or REVIEWBOT_MAX_COST"
            yield _Budget("dollars", setting, limits.max_cost_usd, done.cost_usd, reserved, mine.cost_usd)
        if limits.max_calls is not None:
            setting = "REVIEWBOT_MAX_CALLS"
            yield _Budget("calls", setting, limits.max_calls, done.calls, len(self._open), 1)
        if limits.max_tokens is not None:
            reserved = sum(each.tokens for each in self._open)
            setting = "REVIEWBOT_MAX_TOKENS"
            yield _Budget("tokens", setting, limits.max_tokens, done.tokens, reserved, mine.tokens)
        if limits.worker_tokens is not None and mine.purpose not in NOT_WORKERS:
            own = self._spent.get(mine.purpose, Usage()).tokens
            reserved = sum(each.tokens for each in self._open if each.purpose == mine.purpose)
            what, setting = f"tokens of the {mine.purpose} worker", "REVIEWBOT_WORKER_TOKENS"
            yield _Budget(what, setting, limits.worker_tokens, own, reserved, mine.tokens)


def _refusal(budget: _Budget) -> str:
    def number(value: float) -> str:
        return f"{value:.2f}" if budget.what == "dollars" else f"{value:.0f}"

    return (
        f"the budget of {number(budget.limit)} {budget.what} has no room for another call: "
        f"{number(budget.spent)} spent, up to {number(budget.wanted)} more wanted; raise it with {budget.setting}"
    )
