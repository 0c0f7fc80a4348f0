"""Estimate the likely and the highest cost of a review. Asks no model: pure arithmetic over the first requests.

The first request of each reader is known exactly but for the analyzers' results; how many turns of look-ups follow, and
what there is to judge, is estimated from measured reviews (docs/quality.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.domain.contracts import Plan, Tier, Usage
from reviewbot.domain.ports import ModelRequest, Text, Turn
from reviewbot.llm.agents.conversation import MAX_LATE_TURNS, Bounds
from reviewbot.llm.agents.judge import BATCH, MAX_JUDGED
from reviewbot.llm.client.requests import CHARS_PER_TOKEN, estimate_tokens
from reviewbot.llm.prompts.analyzer_hints import MAX_HINTS, MAX_MESSAGE, MAX_QUOTE
from reviewbot.llm.prompts.judge_prompt import MAX_PROOF_CHARS
from reviewbot.wording import with_count

LIKELY_TURNS = 3
"""Calls of a reader: two turns of look-ups and the answer."""
TURN_RESULTS = 2_500
"""Tokens that a turn's look-ups bring."""
TURN_ANSWER, FINAL_ANSWER = 400, 2_500
"""Tokens that a reader writes in a turn with calls, and in its answer."""
JUDGE_TURNS, CLAIM_TOKENS, RULING_TOKENS = 2, 600, 300
"""Calls of a judge (one turn of look-ups, and the rulings); tokens of a claim with its proof, and of a ruling."""
MIN_CLAIMS, MAX_CLAIMS, LINES_A_CLAIM = 2, 5, 20
"""Likely claims: one for so many lines that are shown, within these bounds."""
PLAN_ANSWER = 2_000
"""Tokens of a plan."""
PLANNER, READER, JUDGE = "planner", "reader", "judge"
PLANNER_CALLS = 2
"""At most: the request for a plan, and once more with the faults of the answer."""

AT_MOST = 4 / 3
"""Tokens for each token that is counted by the number of characters."""
MAX_HINT_TOKENS = MAX_HINTS * (MAX_QUOTE + MAX_MESSAGE + 150) // CHARS_PER_TOKEN
"""Of the analyzers' results, with their names and places."""
MAX_TURN_TOKENS = 400
"""Of what the program adds to a turn: delimiters, what is left to be looked up, the quotes that are to be repaired."""

ASSUMPTIONS = (
    f"{CHARS_PER_TOKEN} characters are one token; newer models count up to a third more, as the bound does",
    f"a reader takes about {LIKELY_TURNS} calls; what one call sent, the next one reads from the provider's cache",
    f"about {TURN_RESULTS:,} tokens of look-ups a turn and {FINAL_ANSWER:,} of an answer; up to {MAX_CLAIMS} claims",
    "at most: every turn, all room for look-ups, every token that may be written, and all requests of the judge",
    "no answer is known from an earlier run, and each can be used: none is asked for again, by whatever model",
    "the readers are those of the plan that rules make; what a planner or a failure adds is bounded by --max-cost",
)
"""What the figures rest on, in words."""

Priced = Callable[[str, Usage], float | None]
"""Dollars for one call of a model; None where its price is not known."""


@dataclass(frozen=True)
class CallCounts:
    """How many calls: at least, likely and at most."""

    least: int
    likely: int
    most: int

    def __add__(self, other: CallCounts) -> CallCounts:
        """Both together."""
        return CallCounts(self.least + other.least, self.likely + other.likely, self.most + other.most)


@dataclass(frozen=True)
class Share:
    """What planner, readers or judge are likely to take; `most` is what they can take."""

    name: str
    models: tuple[str, ...]
    tasks: int
    calls: CallCounts
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
    def calls(self) -> CallCounts:
        """Number of calls of all shares."""
        return sum((share.calls for share in self.shares), start=CallCounts(0, 0, 0))

    @property
    def usage(self) -> Usage:
        """Usage of the likely calls."""
        return sum((share.usage for share in self.shares), start=Usage())

    @property
    def dollars(self) -> float | None:
        """Dollars for the likely calls; None where a price is not known."""
        return _sum(share.dollars for share in self.shares)

    @property
    def most(self) -> float | None:
        """Dollars at most; None where a price is not known."""
        return _sum(share.most for share in self.shares)

    @property
    def headline(self) -> str:
        """Likely and highest cost as a sentence; an unknown price is called unknown."""
        if not self.shares:
            return "No model would be asked: $0.00."
        unknown = f" The price of {', '.join(self.unpriced)} is not known." if self.unpriced else ""
        most, limit = self.most, self.max_cost
        bound = f"{_dollars(most)} if no answer is asked for again"
        if limit is not None:
            over = most is None or most > limit
            bound = f"{_dollars(limit)} (--max-cost)" if over else f"{bound}, else {_dollars(limit)} (--max-cost)"
        return f"Likely {_dollars(self.dollars)}, at most {bound}: {_taken(self)}.{unknown}"

    @property
    def parts(self) -> dict[str, str]:
        """Each share in words, by who takes it."""
        return {
            share.name: (f"{with_count(share.tasks, 'task')}, " if share.tasks else "")
            + f"{_taken(share)}, {_dollars(share.dollars)}, {', '.join(share.models)}"
            for share in self.shares
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the estimate, as sentences."""
        return ASSUMPTIONS if self.shares else ()


@dataclass(frozen=True)
class _Call:
    """One call."""

    model: str
    usage: Usage


@dataclass(frozen=True)
class Preview:
    """The planned requests of a review, before any model is asked."""

    plan: Plan
    question: ModelRequest | None = None
    """What a planner's model would be asked for a better plan."""
    requests: tuple[ModelRequest, ...] = ()
    """The first request of each reader, without the analyzers' results."""
    bounds: Bounds = Bounds()  # noqa: RUF009 - a frozen value
    judge: ModelRequest | None = None
    """What a judge would be sent beside claims; None: none is asked."""
    judge_bounds: Bounds = Bounds()  # noqa: RUF009 - a frozen value


def estimate(preview: Preview, prices: Priced, models: Mapping[Tier, str], max_cost: float | None = None) -> Estimate:
    """What a review is likely to take, and at most. `models` has the id of every tier's model.

    `max_cost`: the dollars after which no further call is made; None: no such limit.
    """
    shares: list[Share] = []
    if preview.requests:
        if preview.question is not None:
            shares.append(_planner(preview.question, models, prices))
        shares.append(_readers(preview, models, prices))
        if preview.judge is not None:
            shares.append(_judge(preview, preview.judge, models, prices))
    unpriced = dict.fromkeys(model for share in shares for model in share.models if prices(model, _ONE) is None)
    return Estimate(tuple(shares), tuple(unpriced), max_cost)


_ONE = Usage(calls=1, input_tokens=1, output_tokens=1)


def _planner(question: ModelRequest, models: Mapping[Tier, str], prices: Priced) -> Share:
    """One request; at most both at their longest: the second one repeats the first and its answer."""
    model, read, write = models[question.tier], estimate_tokens(question), question.max_tokens
    likely = Usage(calls=1, input_tokens=read, output_tokens=min(write, PLAN_ANSWER))
    most = [_written(AT_MOST * read, write), _written(AT_MOST * read + write, write)]
    return _share(
        PLANNER,
        0,
        CallCounts(1, 1, PLANNER_CALLS),
        [_Call(model, likely)],
        [_Call(model, each) for each in most],
        prices,
    )


def _readers(preview: Preview, models: Mapping[Tier, str], prices: Priced) -> Share:
    counts = [_turns(request, preview.bounds) for request in preview.requests]
    likely, most = list[_Call](), list[_Call]()
    shared: set[tuple[object, ...]] = set()
    for request, (turns, max_turns) in zip(preview.requests, counts, strict=True):
        model, size = models[request.tier], estimate_tokens(request)
        prefix = _prefix(request)
        known = estimate_tokens(prefix) if _key(prefix) in shared else 0
        shared.add(_key(prefix))
        likely += _conversation(model, known, size - known, turns, request.max_tokens, FINAL_ANSWER)
        room = preview.bounds.result_chars // CHARS_PER_TOKEN if request.tools else 0
        longest = AT_MOST * (size + MAX_HINT_TOKENS + room + MAX_TURN_TOKENS * max_turns) + request.max_tokens
        most += [_Call(model, _written(longest, 0))] * max_turns
        most.append(_Call(model, Usage(output_tokens=request.max_tokens)))
    tasks = sum(not task.programs_only for task in preview.plan.tasks)
    calls = CallCounts(len(counts), sum(count for count, _ in counts), sum(count for _, count in counts))
    return _share(READER, tasks, calls, likely, most, prices)


def _judge(preview: Preview, request: ModelRequest, models: Mapping[Tier, str], prices: Priced) -> Share:
    """One request, whose prefix the readers' cache has; at most all batches, and their critical claims once more."""
    model, bounds = models[request.tier], preview.judge_bounds
    known = estimate_tokens(_prefix(request))
    own = estimate_tokens(request) - known
    turns = min(JUDGE_TURNS, bounds.tool_turns + 1) if request.tools else 1
    claims = min(MAX_CLAIMS, max(MIN_CLAIMS, _lines(preview.plan) // LINES_A_CLAIM))
    likely = _conversation(model, known, own + claims * CLAIM_TOKENS, turns, request.max_tokens, claims * RULING_TOKENS)
    max_turns = 1 + bounds.tool_turns + MAX_LATE_TURNS if request.tools else 1
    # Each part of the change has its own requests: one that is not full, and one for critical claims.
    requests = MAX_JUDGED // BATCH + 2 * len(preview.requests)
    shown = max(estimate_tokens(_prefix(each)) for each in preview.requests)
    room = (bounds.result_chars + MAX_PROOF_CHARS) // CHARS_PER_TOKEN if request.tools else 0
    each = AT_MOST * (shown + own + room + MAX_TURN_TOKENS * max_turns) + request.max_tokens
    # Each claim stands in one batch, and perhaps in the request for a second ruling; readers can write no more of them.
    written = sum(each.max_tokens for each in preview.requests)
    calls = requests * max_turns
    read = calls * each + 2 * max_turns * AT_MOST * written
    most = [_Call(model, _written(read / calls, 0))] * calls
    most.append(_Call(model, Usage(output_tokens=requests * request.max_tokens)))
    return _share(JUDGE, 0, CallCounts(0, turns, calls), likely, most, prices)


def _lines(plan: Plan) -> int:
    """Lines of the change that readers are shown."""
    slices = {payload for task in plan.tasks if not task.programs_only for payload in task.slices}
    return sum(payload.code.count("\n") + 1 for payload in slices)


def _turns(request: ModelRequest, bounds: Bounds) -> tuple[int, int]:
    """How many calls a conversation is likely to take, and at most: a repair is one more."""
    if not request.tools:
        return 1, 2
    return min(LIKELY_TURNS, bounds.tool_turns + 1), bounds.tool_turns + MAX_LATE_TURNS + 2


def _prefix(request: ModelRequest) -> ModelRequest:
    """What comes before the first mark of the cache, and may be the same for several readers."""
    part = request.turns[0].parts[0]
    cached = isinstance(part, Text) and part.cached
    return replace(request, turns=(Turn("user", (part,)),) if cached else ())


def _key(request: ModelRequest) -> tuple[object, ...]:
    return (request.tier, request.system, request.turns, tuple(tool.name for tool in request.tools))


def _conversation(model: str, known: int, new: int, turns: int, most: int, answer: int) -> list[_Call]:
    """Each call reads what the one before sent from the cache, and writes what is new to it."""
    made: list[_Call] = []
    for turn in range(turns):
        written = min(most, answer if turn == turns - 1 else TURN_ANSWER)
        made.append(_Call(model, Usage(calls=1, cached_tokens=known, cache_write_tokens=new, output_tokens=written)))
        known, new = known + new, TURN_RESULTS + written
    return made


def _written(tokens: float, output: int) -> Usage:
    """A call of which nothing is read from the cache, and all is written to it."""
    return Usage(calls=1, cache_write_tokens=math.ceil(tokens), output_tokens=output)


def _share(
    name: str, tasks: int, calls: CallCounts, likely: Sequence[_Call], most: Sequence[_Call], prices: Priced
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
        f"{with_count(calls.likely, 'call')} ({calls.least:,} to {calls.most:,}), "
        f"{read:,} tokens in ({usage.cached_tokens:,} cached), {usage.output_tokens:,} out"
    )


def _dollars(amount: float | None) -> str:
    return "price unknown" if amount is None else f"${amount:.2f}"
