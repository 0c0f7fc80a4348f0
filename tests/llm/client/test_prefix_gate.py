"""Requests with one cached prefix: the first one alone until its answer begins, the others then at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from reviewbot.domain.contracts import Tier, Usage
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import ModelReply, ModelRequest, Text, Turn
from reviewbot.llm.client.prefix_gate import MIN_TOKENS, PrefixGate
from tests.make import MakeRequest

MODELS: dict[Tier, str] = {"small": "a", "medium": "b", "large": "c"}
LONG = "x = 1\n" * MIN_TOKENS


class Provider:
    """Answers begin, and end, when they are let."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.begin: dict[str, asyncio.Event] = {}
        self.end = asyncio.Event()

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.sent.append(request.subject)
        await self.begin.setdefault(request.subject, asyncio.Event()).wait()
        if request.subject == "broken":
            raise EngineError("it broke")
        assert request.on_usage is not None
        request.on_usage(Usage(calls=1))
        await self.end.wait()
        return ModelReply("{}", (), "end", Usage(calls=1), "m")

    def let_begin(self, name: str) -> None:
        self.begin.setdefault(name, asyncio.Event()).set()


async def settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.fixture
def asking(a_request: MakeRequest) -> MakeRequest:
    """A reader's request: what all share, marked for the cache, and what is its own."""

    def make(name: str, shared: str = LONG, *, cached: bool = True, **fields: object) -> ModelRequest:
        turns = (Turn("user", (Text(shared, cached=cached), Text(f"the task of {name}"))),)
        return a_request(subject=name, turns=turns, on_usage=lambda _used: None, **fields)

    return make


def test_the_others_are_sent_when_the_first_answer_begins(asking: MakeRequest) -> None:
    async def story() -> list[list[str]]:
        provider = Provider()
        gate = PrefixGate(provider, MODELS)
        waiting = [asyncio.ensure_future(gate.ask(asking(name))) for name in ("a", "b", "c")]
        await settled()
        seen = [list(provider.sent)]
        provider.let_begin("a")
        await settled()
        seen.append(list(provider.sent))
        for name in ("b", "c"):
            provider.let_begin(name)
        provider.end.set()
        await asyncio.gather(*waiting)
        return seen

    assert asyncio.run(story()) == [["a"], ["a", "b", "c"]]


@pytest.mark.parametrize(
    "other",
    [
        {"shared": LONG + "y"},
        {"tier": "large"},
        {"system": (Text("You judge."),)},
        {"cached": False},
    ],
    ids=["another prefix", "another model", "another system prompt", "nothing is cached"],
)
def test_what_shares_no_prefix_waits_for_nothing(asking: MakeRequest, other: dict[str, object]) -> None:
    async def story() -> list[str]:
        provider = Provider()
        gate = PrefixGate(provider, MODELS)
        waiting = [asyncio.ensure_future(gate.ask(each)) for each in (asking("a"), asking("b", **other))]
        await settled()
        for each in waiting:
            each.cancel()
        return provider.sent

    assert asyncio.run(story()) == ["a", "b"]


def test_a_prefix_that_is_too_short_for_a_cache_is_waited_for_by_no_request(asking: MakeRequest) -> None:
    async def story() -> list[str]:
        provider = Provider()
        gate = PrefixGate(provider, MODELS)
        waiting = [asyncio.ensure_future(gate.ask(asking(name, "short"))) for name in ("a", "b")]
        await settled()
        for each in waiting:
            each.cancel()
        return provider.sent

    assert asyncio.run(story()) == ["a", "b"]


def test_where_the_first_one_fails_is_stopped_or_takes_too_long_the_others_go_on(asking: MakeRequest) -> None:
    async def story(end: str) -> list[str]:
        provider = Provider()
        gate = PrefixGate(provider, MODELS, wait_s=0.05 if end == "late" else 600)
        first = asyncio.ensure_future(gate.ask(asking("broken")))
        await settled()
        second = asyncio.ensure_future(gate.ask(asking("b")))
        await settled()
        if end == "fails":
            provider.let_begin("broken")
        elif end == "stopped":
            first.cancel()
        provider.let_begin("b")
        provider.end.set()
        await asyncio.wait_for(second, 60)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        return provider.sent

    for end in ("fails", "stopped", "late"):
        assert asyncio.run(story(end)) == ["broken", "b"]


def test_the_next_turn_of_a_conversation_and_later_readers_wait_for_nothing(asking: MakeRequest) -> None:
    async def story() -> list[str]:
        provider = Provider()
        gate = PrefixGate(provider, MODELS)
        provider.end.set()
        for name in ("a", "next", "b"):
            provider.let_begin(name)
        first = asking("a")
        await gate.ask(first)
        await gate.ask(replace(asking("next"), turns=(*first.turns, Turn("user", (Text("go on"),)))))
        await gate.ask(asking("b"))
        return provider.sent

    assert asyncio.run(asyncio.wait_for(story(), 60)) == ["a", "next", "b"]


def test_what_is_used_is_reported_to_who_asked(asking: MakeRequest) -> None:
    async def story() -> list[Usage]:
        provider, used = Provider(), list[Usage]()
        provider.end.set()
        provider.let_begin("a")
        await PrefixGate(provider, MODELS).ask(replace(asking("a"), on_usage=used.append))
        return used

    assert asyncio.run(story()) == [Usage(calls=1)]
