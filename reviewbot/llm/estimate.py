"""What a review of a plan is likely to cost, before anything is asked. Pure arithmetic over the plan and the prompts.

It is a guess and says so: what a model will find, and so what there is to verify, nobody knows before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from reviewbot.contracts import Plan, ReviewTask, Tier, Usage
from reviewbot.coverage import counted
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimated_tokens
from reviewbot.ports import Crew, ModelRequest
from reviewbot.prices import TIERS

COMMON_CHARS = 8_000
"""Of every request of a worker beside its own prompt: the rules that all share, and the schema of the answer."""

AROUND = 1.5
"""What is sent for each character of a slice: the slice, and what stands around it that the worker is told."""

FRAME_CHARS = 600
"""Of each slice: its name, its fences, the task's instruction."""

ANSWER_TOKENS = 400
"""Of one answer: most hold one finding or none, and a finding takes about three hundred."""

LIKELY_CANDIDATES = 1
"""Of a task. Workers report more than is true, and many slices hold nothing."""

MOST_CANDIDATES = 8
"""Of a task, each verified alone. More are rare, and the budget of the run bounds them all the same."""

PLANNER = "planner"
VERIFIER = "verifier"
VERIFIER_TIER: Tier = "sonnet"
"""Of most candidates, where no stronger one found them; critical and contested ones go one tier higher."""

VERIFIER_CHARS = 9_000
"""Of its request beside the code: its rubric with examples, and the schema."""

VERIFIER_TOKENS = 300
"""Of one ruling with its proof."""

MAX_OTHER_CALLS = 4
"""Two of the synthesizer, the critic, and one more of the planner where findings may ask for tasks."""

PLANNER_CALLS = 2
"""The request for a plan, and once more with the faults of the answer."""

ASSUMPTIONS = (
    f"{CHARS_PER_TOKEN} characters are one token; newer models count up to a third more",
    f"about {LIKELY_CANDIDATES} finding of each task has to be verified, at most {MOST_CANDIDATES}",
    f"an answer takes about {ANSWER_TOKENS} tokens, a ruling {VERIFIER_TOKENS}",
    "nothing is read from a cache, and no answer is known from an earlier run",
    "no task is tried again or climbs a tier",
    "the planner is counted with its longest answer, and with a second request",
)
"""What the figures rest on, in words."""

Priced = Callable[[str, Usage], float | None]
"""Dollars for one call of a model; None where its price is not known."""


@dataclass(frozen=True)
class Calls:
    """How many calls: at least, likely and at most."""

    least: int
    likely: int
    most: int

    def __add__(self, other: Calls) -> Calls:
        """Both together."""
        return Calls(self.least + other.least, self.likely + other.likely, self.most + other.most)


@dataclass(frozen=True)
class Share:
    """What one worker, or the verifier, is likely to take. Tokens and dollars are those of the likely calls."""

    worker: str
    models: tuple[str, ...]
    tasks: int
    calls: Calls
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """None where the price of one of the models is not known."""


@dataclass(frozen=True)
class Estimate:
    """The whole. `calls` counts a planner and the like as well, at most."""

    shares: tuple[Share, ...]
    calls: Calls
    input_tokens: int
    output_tokens: int
    dollars: float | None
    unpriced: tuple[str, ...]
    """Models whose price is not known."""

    @property
    def headline(self) -> str:
        """All of it in words. What is not known is called so."""
        if not self.shares:
            return "No model would be asked: $0.00."
        unknown = f" The price of {', '.join(self.unpriced)} is not known." if self.unpriced else ""
        return f"Likely {_dollars(self.dollars)}: {_taken(self)}.{unknown}"

    @property
    def parts(self) -> dict[str, str]:
        """Each share in words, by who takes it."""
        return {
            share.worker: (f"{counted(share.tasks, 'task')}, " if share.tasks else "")
            + f"{_taken(share)}, {_dollars(share.dollars)}, {', '.join(share.models)}"
            for share in self.shares
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it rests on, in words."""
        return ASSUMPTIONS if self.shares else ()


@dataclass(frozen=True)
class _Call:
    """One call that is likely to be made."""

    model: str
    usage: Usage


def estimate(
    plan: Plan, crew: Crew, prices: Priced, models: Mapping[Tier, str], question: ModelRequest | None = None
) -> Estimate:
    """What the tasks of a plan are likely to take. `models` has the id of every tier's model.

    `question` is what a planner would be asked first; it counts with the most that planning may take.
    """
    asking = [task for task in plan.tasks if not task.programs_only]
    by_worker: dict[str, list[ReviewTask]] = {}
    for task in asking:
        by_worker.setdefault(task.worker, []).append(task)
    planning = [] if question is None else _of_planner(question, models)
    shares = [_share(PLANNER, planning, Calls(1, PLANNER_CALLS, PLANNER_CALLS), prices)] if planning else []
    shares += [
        _share(
            worker,
            [_of_worker(task, len(crew.prompts.get(worker, "")), models) for task in tasks],
            Calls(len(tasks), len(tasks), sum(task.constraints.max_turns for task in tasks)),
            prices,
        )
        for worker, tasks in by_worker.items()
    ]
    if asking:
        rulings = [_of_verifier(task, models) for task in asking for _ in range(LIKELY_CANDIDATES)]
        shares.append(_share(VERIFIER, rulings, Calls(0, len(rulings), MOST_CANDIDATES * len(asking)), prices))
    others = Calls(0, 0, MAX_OTHER_CALLS if asking else 0)
    return Estimate(
        shares=tuple(shares),
        calls=sum((share.calls for share in shares), start=others),
        input_tokens=sum(share.input_tokens for share in shares),
        output_tokens=sum(share.output_tokens for share in shares),
        dollars=_sum(share.dollars for share in shares),
        unpriced=_unpriced(shares, prices),
    )


def _share(worker: str, likely: list[_Call], calls: Calls, prices: Priced) -> Share:
    return Share(
        worker=worker,
        models=tuple(dict.fromkeys(call.model for call in likely)),
        tasks=0 if worker in (PLANNER, VERIFIER) else len(likely),
        calls=calls,
        input_tokens=sum(call.usage.input_tokens for call in likely),
        output_tokens=sum(call.usage.output_tokens for call in likely),
        # Call by call: long prompts may have a price of their own.
        dollars=_sum(prices(call.model, call.usage) for call in likely),
    )


def _of_planner(question: ModelRequest, models: Mapping[Tier, str]) -> list[_Call]:
    """Both requests at their longest: the second one repeats the first and its answer."""
    read, write = estimated_tokens(question), question.max_tokens
    model = models[question.tier]
    return [_Call(model, Usage(calls=1, input_tokens=tokens, output_tokens=write)) for tokens in (read, read + write)]


def _of_worker(task: ReviewTask, prompt_chars: int, models: Mapping[Tier, str]) -> _Call:
    chars = COMMON_CHARS + prompt_chars + _code_chars(task)
    answer = min(ANSWER_TOKENS, task.constraints.max_tokens)
    return _Call(models[task.constraints.tier], _usage(chars, answer))


def _of_verifier(task: ReviewTask, models: Mapping[Tier, str]) -> _Call:
    """A ruling about one finding sees all slices of the task that it comes from, and is by no weaker tier."""
    tier = max(VERIFIER_TIER, task.constraints.tier, key=TIERS.index)
    return _Call(models[tier], _usage(VERIFIER_CHARS + _code_chars(task), VERIFIER_TOKENS))


def _code_chars(task: ReviewTask) -> int:
    return sum(FRAME_CHARS + round(AROUND * (len(each.code) + len(each.context))) for each in task.slices)


def _usage(chars: int, output_tokens: int) -> Usage:
    return Usage(calls=1, input_tokens=-(-chars // CHARS_PER_TOKEN), output_tokens=output_tokens)


def _sum(parts: Iterable[float | None]) -> float | None:
    """None where one part is not known: a sum without it would look like the whole."""
    found = list(parts)
    known = [part for part in found if part is not None]
    return sum(known) if len(known) == len(found) else None


def _unpriced(shares: Iterable[Share], prices: Priced) -> tuple[str, ...]:
    asked = dict.fromkeys(model for share in shares for model in share.models)
    return tuple(model for model in asked if prices(model, Usage(calls=1, input_tokens=1, output_tokens=1)) is None)


def _taken(part: Estimate | Share) -> str:
    calls = part.calls
    return (
        f"{counted(calls.likely, 'call')} ({calls.least:,} to {calls.most:,}), "
        f"{part.input_tokens:,} tokens in, {part.output_tokens:,} out"
    )


def _dollars(amount: float | None) -> str:
    return "price unknown" if amount is None else f"${amount:.2f}"
