"""What a review is likely to cost, and at most, before any model is asked. Pure arithmetic over the first requests.

The first request of each reader is known exactly but for the analyzers' results; how many turns of look-ups follow, and
what there is to judge, is estimated from measured reviews (docs/quality.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.contracts import Plan, Tier, Usage
from reviewbot.llm.agents.conversation import MAX_LATE_TURNS, Bounds
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimated_tokens
from reviewbot.ports import ModelRequest
from reviewbot.wording import counted

LIKELY_TURNS = 3
"""Calls of a reader: two turns of look-ups and the answer."""
TURN_RESULTS = 2_500
"""Tokens that a turn's look-ups bring."""
TURN_ANSWER, FINAL_ANSWER = 400, 2_500
"""Tokens that a reader writes in a turn with calls, and in its answer."""
JUDGE_REQUEST, JUDGE_ANSWER = 6_000, 1_500
"""Tokens of the judge's likely request (some claims with their hunks and proofs) and of its rulings."""
MAX_JUDGE_REQUEST, MAX_JUDGE_ANSWER = 40_000, 8_000
"""The same at most: twelve claims with the longest hunks and proofs."""
MAX_JUDGE_REQUESTS = 4
"""Three batches, and critical claims once more."""
PLANNER, READER, JUDGE = "planner", "reader", "judge"
PLANNER_CALLS = 2
"""The request for a plan, and once more with the faults of the answer."""

ASSUMPTIONS = (
    f"{CHARS_PER_TOKEN} characters are one token; newer models count up to a third more",
    f"a reader takes about {LIKELY_TURNS} calls; what one call sent, the next one reads from the provider's cache",
    f"about {TURN_RESULTS:,} tokens of look-ups a turn, {FINAL_ANSWER:,} of an answer, one request of a judge",
    "at most: every turn, all room for look-ups, every token that may be written, and all requests of the judge",
    "no answer is known from an earlier run, and no task is tried again or climbs a tier",
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
    """What planner, readers or judge are likely to take; `most` is what they can take."""

    name: str
    models: tuple[str, ...]
    tasks: int
    calls: Calls
    usage: Usage
    dollars: float | None
    """None where the price of one of the models is not known."""
    most: float | None


@dataclass(frozen=True)
class Estimate:
    """The whole."""

    shares: tuple[Share, ...]
    unpriced: tuple[str, ...]
    """Models whose price is not known."""
    max_cost: float | None = None
    """Dollars after which no further call is made."""

    @property
    def calls(self) -> Calls:
        """Of all shares."""
        return sum((share.calls for share in self.shares), start=Calls(0, 0, 0))

    @property
    def usage(self) -> Usage:
        """Of the likely calls."""
        return sum((share.usage for share in self.shares), start=Usage())

    @property
    def dollars(self) -> float | None:
        """Of the likely calls; None where a price is not known."""
        return _sum(share.dollars for share in self.shares)

    @property
    def most(self) -> float | None:
        """Dollars at most; None where a price is not known."""
        return _sum(share.most for share in self.shares)

    @property
    def headline(self) -> str:
        """All of it in words. What is not known is called so."""
        if not self.shares:
            return "No model would be asked: $0.00."
        unknown = f" The price of {', '.join(self.unpriced)} is not known." if self.unpriced else ""
        most, limit = self.most, self.max_cost
        bound = (
            f"{_dollars(limit)} (--max-cost)"
            if limit is not None and (most is None or most > limit)
            else _dollars(most)
        )
        return f"Likely {_dollars(self.dollars)}, at most {bound}: {_taken(self)}.{unknown}"

    @property
    def parts(self) -> dict[str, str]:
        """Each share in words, by who takes it."""
        return {
            share.name: (f"{counted(share.tasks, 'task')}, " if share.tasks else "")
            + f"{_taken(share)}, {_dollars(share.dollars)}, {', '.join(share.models)}"
            for share in self.shares
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it rests on, in words."""
        return ASSUMPTIONS if self.shares else ()


@dataclass(frozen=True)
class _Call:
    """One call."""

    model: str
    usage: Usage


@dataclass(frozen=True)
class Preview:
    """What is known of a review before any model is asked."""

    plan: Plan
    question: ModelRequest | None = None
    """What a planner's model would be asked for a better plan."""
    requests: tuple[ModelRequest, ...] = ()
    """The first request of each reader, without the analyzers' results."""
    bounds: Bounds = Bounds()  # noqa: RUF009 - a frozen value
    judging: bool = False


def estimate(preview: Preview, prices: Priced, models: Mapping[Tier, str], max_cost: float | None = None) -> Estimate:
    """What a review is likely to take, and at most. `models` has the id of every tier's model.

    `max_cost`: the dollars after which no further call is made; None: no such limit.
    """
    shares: list[Share] = []
    if preview.question is not None and preview.requests:
        asked = _planner_calls(preview.question, models)
        shares.append(_share(PLANNER, 0, Calls(1, PLANNER_CALLS, PLANNER_CALLS), asked, asked, prices))
    if preview.requests:
        turns = [_turns(request, preview.bounds) for request in preview.requests]
        both = list(zip(preview.requests, turns, strict=True))
        likely = [call for request, (count, _) in both for call in _reader_calls(request, models, count)]
        most = [call for request, (_, count) in both for call in _most_of(request, models, count, preview.bounds)]
        tasks = sum(not task.programs_only for task in preview.plan.tasks)
        calls = Calls(len(turns), sum(count for count, _ in turns), sum(count for _, count in turns))
        shares.append(_share(READER, tasks, calls, likely, most, prices))
    if preview.requests and preview.judging:
        judge = models[max(preview.requests, key=lambda each: each.tier == "opus").tier]
        one = [_Call(judge, Usage(calls=1, input_tokens=JUDGE_REQUEST, output_tokens=JUDGE_ANSWER))]
        per_request = 1 + 2 + MAX_LATE_TURNS
        full = Usage(calls=1, input_tokens=MAX_JUDGE_REQUEST, output_tokens=MAX_JUDGE_ANSWER)
        every = [_Call(judge, full)] * (MAX_JUDGE_REQUESTS * per_request)
        shares.append(_share(JUDGE, 0, Calls(0, 1, len(every)), one, every, prices))
    unpriced = dict.fromkeys(model for share in shares for model in share.models if prices(model, _ONE) is None)
    return Estimate(tuple(shares), tuple(unpriced), max_cost)


_ONE = Usage(calls=1, input_tokens=1, output_tokens=1)


def _turns(request: ModelRequest, bounds: Bounds) -> tuple[int, int]:
    """How many calls a conversation is likely to take, and at most: a repair is one more."""
    if not request.tools:
        return 1, 2
    return min(LIKELY_TURNS, bounds.tool_turns + 1), bounds.tool_turns + MAX_LATE_TURNS + 2


def _reader_calls(request: ModelRequest, models: Mapping[Tier, str], turns: int) -> list[_Call]:
    """Each call reads what the one before sent from the cache, and writes what is new to it."""
    model, known, new = models[request.tier], 0, estimated_tokens(request)
    made: list[_Call] = []
    for turn in range(turns):
        written = min(request.max_tokens, FINAL_ANSWER if turn == turns - 1 else TURN_ANSWER)
        made.append(_Call(model, Usage(calls=1, cached_tokens=known, cache_write_tokens=new, output_tokens=written)))
        known, new = known + new, TURN_RESULTS + written
    return made


def _most_of(request: ModelRequest, models: Mapping[Tier, str], turns: int, bounds: Bounds) -> list[_Call]:
    """Every turn with all room for results used, every token written, and nothing read from a cache."""
    size = estimated_tokens(request) + bounds.result_chars // CHARS_PER_TOKEN + request.max_tokens
    spent = Usage(calls=1, cache_write_tokens=size)
    return [
        *[_Call(models[request.tier], spent)] * turns,
        _Call(models[request.tier], Usage(output_tokens=request.max_tokens)),
    ]


def _planner_calls(question: ModelRequest, models: Mapping[Tier, str]) -> list[_Call]:
    """Both requests at their longest: the second one repeats the first and its answer."""
    read, write = estimated_tokens(question), question.max_tokens
    model = models[question.tier]
    return [_Call(model, Usage(calls=1, input_tokens=tokens, output_tokens=write)) for tokens in (read, read + write)]


def _share(
    name: str, tasks: int, calls: Calls, likely: Sequence[_Call], most: Sequence[_Call], prices: Priced
) -> Share:
    return Share(
        name=name,
        models=tuple(dict.fromkeys(call.model for call in likely)),
        tasks=tasks,
        calls=calls,
        usage=sum((call.usage for call in likely), start=Usage()),
        # Call by call: long prompts may have a price of their own.
        dollars=_sum(prices(call.model, call.usage) for call in likely),
        most=_sum(prices(call.model, call.usage) for call in most),
    )


def _sum(parts: Iterable[float | None]) -> float | None:
    """None where one part is not known: a sum without it would look like the whole."""
    found = list(parts)
    known = [part for part in found if part is not None]
    return sum(known) if len(known) == len(found) else None


def _taken(part: Estimate | Share) -> str:
    calls, usage = part.calls, part.usage
    read = usage.input_tokens + usage.cached_tokens + usage.cache_write_tokens
    return (
        f"{counted(calls.likely, 'call')} ({calls.least:,} to {calls.most:,}), "
        f"{read:,} tokens in ({usage.cached_tokens:,} cached), {usage.output_tokens:,} out"
    )


def _dollars(amount: float | None) -> str:
    return "price unknown" if amount is None else f"${amount:.2f}"
