"""What a review cost, per worker and per role, in tokens, dollars and time. Nothing here is escaped yet.

A price that is not known is called unknown. It is never shown as nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from reviewbot.domain.contracts import Review, Usage, WorkerUsage
from reviewbot.wording import with_count

ROLES = ("planner", "reader", "judge")
"""Roles that ask models beside the workers."""

UNUSUAL = 3
"""Times the median of the workers: below it the difference is what their chunks and tools make of it."""

MIN_WORKERS = 3
"""Of two workers the median lies between them, and neither is the usual one."""

UNKNOWN = "unknown"
"""What stands for a price that is not known."""

_CENT = 0.01
_MIN_SHOWN_USD = 0.0001
"""The smallest amount that four digits show. What cost less did cost something, and is shown as this much."""
_SECOND = 1_000  # milliseconds
_ALMOST_A_MINUTE = 59_950
"""Milliseconds. From here on one digit behind the point would round to 60.0 seconds."""


class Cost(NamedTuple):
    """One line of the bill, in words, for a worker or a role."""

    who: str
    tasks: str
    findings: str
    calls: str
    tokens_in: str
    cache_read: str
    cache_write: str
    tokens_out: str
    dollars: str
    time: str


def asked_models(review: Review) -> bool:
    """Whether anything was asked of a model, or taken from the journal that one was asked before."""
    return review.usage != Usage() or any(row.usage != Usage() for row in review.workers)


def cost_line(review: Review, *, chains: bool = True) -> str:
    """What the review cost in money and in time; with `chains` also what its tasks took together."""
    usage, times = review.usage, review.timings
    cost = "No model was used: $0.00."
    faster = ""
    if asked_models(review):
        written = f", written to the cache {usage.cache_write_tokens:,}" if usage.cache_write_tokens else ""
        cost = (
            f"Model use: {dollars(usage)}; tokens in {usage.input_tokens:,}, cached {usage.cached_tokens:,}{written}, "
            f"out {usage.output_tokens:,}.{_estimate_note(usage)}"
        )
        faster = f" ({speed_up(review)})" if speed_up(review) else ""
    text = f"{cost} Engine {review.engine}. Took {seconds(times.wall_ms)}"
    if not chains:
        return f"{text}."
    return (
        f"{text}; longest chain of tasks {seconds(times.critical_path_ms)}, "
        f"all tasks one after the other {seconds(times.sequential_ms)}{faster}."
    )


def _estimate_note(usage: Usage) -> str:
    """How many calls are in these figures by estimate."""
    if not usage.estimated_calls:
        return ""
    calls = f"{usage.estimated_calls:,} of {with_count(usage.calls, 'call')}"
    return (
        f" Estimated from the lengths of request and answer for {calls}, of which the provider gave no usable counts."
    )


def speed_up(review: Review) -> str:
    """How much sooner it was done than with one task after the other; empty where it was not."""
    times = review.timings
    if not times.wall_ms or times.sequential_ms <= times.wall_ms:
        return ""
    return f"{times.sequential_ms / times.wall_ms:.1f} times as fast"


def dollars(usage: Usage) -> str:
    """Money in words; what calls of unknown price cost is unknown, and not nothing."""
    known = f"${max(_MIN_SHOWN_USD, usage.cost_usd):.4f}" if 0 < usage.cost_usd < _CENT else f"${usage.cost_usd:.2f}"
    if not usage.unpriced_calls:
        return known
    return f"{known} and an unknown price" if usage.cost_usd else UNKNOWN


def bill(review: Review) -> list[Cost]:
    """One line for each worker and role, then the sum; empty where no model was asked."""
    if not asked_models(review):
        return []
    rows = [_cost(row.worker, row.usage, row) for row in review.workers]
    return [*rows, _cost("all", review.usage, None)] if rows else []


def _cost(who: str, usage: Usage, row: WorkerUsage | None) -> Cost:
    has_tasks = row is not None and who not in ROLES
    return Cost(
        who=who,
        tasks=f"{row.tasks:,}" if row is not None and has_tasks else "",
        findings=f"{row.findings:,}" if row is not None and has_tasks else "",
        calls=f"{usage.calls:,}",
        tokens_in=f"{usage.input_tokens:,}",
        cache_read=f"{usage.cached_tokens:,}",
        cache_write=f"{usage.cache_write_tokens:,}",
        tokens_out=f"{usage.output_tokens:,}",
        dollars=dollars(usage),
        time=seconds(row.duration_ms) if row is not None and row.duration_ms else "",
    )


def anomalies(workers: Sequence[WorkerUsage]) -> list[str]:
    """What is unusual in a bill: each worker that took far more tokens than the others, in one line."""
    spent = {row.worker: row.usage.tokens for row in workers if row.worker not in ROLES and row.usage.tokens}
    if len(spent) < MIN_WORKERS:
        return []
    usual = median(spent.values())
    return [
        f"{worker} took {count:,} tokens, {count / usual:.1f} times what is usual among the workers of this run"
        for worker, count in spent.items()
        if count > UNUSUAL * usual
    ]


def in_words(cost: Cost) -> str:
    """One line of the bill as a sentence."""
    work = [_count_tokens(cost.tasks, "task"), _count_tokens(cost.findings, "finding")] if cost.tasks else []
    used = ["no call of its own"]
    if cost.calls != "0":
        used = [
            _count_tokens(cost.calls, "call"),
            f"in {cost.tokens_in}",
            f"cached {cost.cache_read}",
            f"written {cost.cache_write}",
            f"out {cost.tokens_out}",
            f"price {cost.dollars}" if cost.dollars == UNKNOWN else cost.dollars,
        ]
    return ", ".join([*work, *used, *([cost.time] if cost.time else [])])


def _count_tokens(number: str, noun: str) -> str:
    return f"{number} {noun}{'' if number == '1' else 's'}"


def seconds(milliseconds: int) -> str:
    """A duration for people: "850 ms", "1.2 s", "3 min 20 s"."""
    if milliseconds < _SECOND:
        return f"{milliseconds} ms"
    if milliseconds < _ALMOST_A_MINUTE:
        return f"{milliseconds / _SECOND:.1f} s"
    minutes, rest = divmod(round(milliseconds / _SECOND), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
