"""Models that look things up, find five defects and rule on them, with what a provider would count of each request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from reviewbot.llm.agents.conversation import DUE, MAX_LATE_TURNS
from tests.messages_api import Scripted, a_claim, a_reading, answered, asks_judge, called, rulings_on, said

Json = dict[str, Any]

CHARS_PER_TOKEN = 4
MIN_CACHED = 1_024
"""Tokens of a prefix below which a provider caches nothing."""
MIN_LEFT = 300
"""Tokens that a greedy reader leaves for its second answer."""
MISQUOTED = 20
MAX_FINDINGS = 1_000
"""Of one answer, by its schema."""
LOOKBACK = 20
"""Blocks before a breakpoint that are looked for in the cache:
https://platform.claude.com/docs/en/build-with-claude/prompt-caching."""

_ADDED = re.compile(r"^ *(\d+) \+(.*\S.*)$", re.MULTILINE)


@dataclass
class PromptCache:
    """What is kept of requests up to their breakpoints, by model."""

    kept: set[tuple[str, str]] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)

    def usage(self, body: Json) -> dict[str, int]:
        """The input of a request, as a provider reports it."""
        model, blocks = body["model"], list(_blocks(body))
        sizes, texts, marks, text = [0], [""], [], ""
        for number, (written, marked) in enumerate(blocks, 1):
            text += written
            texts.append(text)
            sizes.append(len(text) // CHARS_PER_TOKEN)
            marks += [number] if marked else []
        with self.lock:
            looked = [n for mark in marks for n in range(mark, max(0, mark - LOOKBACK), -1)]
            cached = max((sizes[n] for n in looked if (model, texts[n]) in self.kept), default=0)
            written_to = max((sizes[mark] for mark in marks), default=0)
            if written_to < MIN_CACHED:
                written_to = cached = 0
            self.kept |= {(model, texts[mark]) for mark in marks if sizes[mark] >= MIN_CACHED}
        return {
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": max(0, written_to - cached),
            "input_tokens": sizes[-1] - max(written_to, cached),
        }


def _blocks(body: Json) -> Iterator[tuple[str, bool]]:
    """The parts of a request in the order in which they are matched, and whether the cache reaches to their end."""
    yield json.dumps([body.get("tools"), body.get("output_config")]), False
    for block in [*body.get("system", ()), *(each for message in body["messages"] for each in message["content"])]:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        yield json.dumps(bare), "cache_control" in block


@dataclass
class UsualTeam:
    """Readers that take some turns with four look-ups each and find five defects, and a judge that looks once."""

    turns: int = 2
    thought: int = 300
    """Tokens that a model writes in a turn beside its answer."""
    cache: PromptCache = field(default_factory=PromptCache)

    def __call__(self, body: Json) -> Scripted:
        """The answer to a request, with its usage."""
        found = self._said(body)
        output = len(json.dumps(found.content)) // CHARS_PER_TOKEN + self.thought
        return replace(found, usage={**self.cache.usage(body), "output_tokens": output})

    def _said(self, body: Json) -> Scripted:
        wanted = body["output_config"]["format"]["schema"]["properties"]
        shown = "\n".join(block["text"] for block in body["messages"][0]["content"])
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        if asks_judge(body):
            return self._rule(shown, turns, may_look=bool(body.get("tools")))
        if "findings" not in wanted:
            return answered({"reason": "as routed", "strategy": "merge", "tasks": [], "workers": []})
        files = re.findall(r"^### (\S+)", shown.rpartition("<<<change")[2], re.MULTILINE)
        if body.get("tools") and turns < self.turns:
            return called(*self._calls(files, turns))
        return answered(self._found(shown, files))

    @staticmethod
    def _calls(files: Sequence[str], turns: int) -> Iterator[tuple[str, Json]]:
        first = 1 + 60 * turns
        for path in files[turns : turns + 2] or files[:2]:
            yield "read", {"path": path, "first": first, "last": first + 59}
        yield "search", {"pattern": f"value_{turns}", "literal": True}
        yield "list", {"path": files[0].rpartition("/")[0]} if "/" in files[0] else {}

    @staticmethod
    def _found(shown: str, files: Sequence[str]) -> Json:
        tasks = re.findall(r"^## Task `(\w+)`", shown, re.MULTILINE)
        claims = []
        for path in files:
            section = shown.rpartition("<<<change")[2].partition(f"### {path} ")[2].partition("\n### ")[0]
            claims += [(path, int(line), text) for line, text in _ADDED.findall(section)[:40]]
        step = max(1, len(claims) // 5)
        words = "The value is used before it was checked, so that an empty list of orders ends in an error here. "
        return {
            **a_reading(*(
                a_claim(path, text, words * 3, id=f"f{n}", task=tasks[0], line=line, impact=words, suggestion=words)
                for n, (path, line, text) in enumerate(claims[::step][:5])
            )),
            "summary": words,
            "tasks": [{"task": task, "escalation": None} for task in tasks],
        }  # fmt: skip

    @staticmethod
    def _rule(shown: str, turns: int, *, may_look: bool) -> Scripted:
        path = re.findall(r"as reported, at (\S+):\d+", shown)[0]
        if may_look and not turns:
            return called(("read", {"path": path, "first": 1, "last": 80}))
        words = "A caller may have checked it before, and no caller of those that are shown does. " * 3
        return answered(rulings_on(shown, argument_against=words, reason=words))


@dataclass
class GreedyTeam:
    """Readers and a judge that use every turn, all room and every token that they may; the cache never has anything.

    A reader finds as many critical defects as its limit of tokens has room for, and misquotes some, so that it is asked
    once more. The judge is not sure of them, and is asked once more as well.
    """

    chars_per_token: float = 3.0
    """A third more tokens than `--estimate` counts."""
    findings: list[int] = field(default_factory=list)
    """How many each answer of a reader had."""
    judged: set[str] = field(default_factory=set)
    """The handles of the claims that were ruled on."""

    def __call__(self, body: Json) -> Scripted:
        """The answer to a request, with its usage."""
        of_judge = asks_judge(body)
        shown = "\n".join(block["text"] for block in body["messages"][0]["content"])
        left, late = int(body["max_tokens"]), sum(_is_late(message) for message in body["messages"])
        if body.get("tools") and late < MAX_LATE_TURNS:
            found, output = self._calling(body, 2 if of_judge else 7), 100
        elif of_judge:
            found, output = self._rule(shown), left
        elif "These could not be found" in json.dumps(body["messages"][-1]):
            found, output = answered(a_reading()), left
        else:
            found, output = self._found(shown, left - MIN_LEFT), left - MIN_LEFT
        read = self._tokens("".join(text for text, _ in _blocks(body)))
        usage = {"input_tokens": 0, "cache_creation_input_tokens": read, "output_tokens": output}
        return replace(found, usage=usage)

    def _tokens(self, text: str) -> int:
        return int(len(text) / self.chars_per_token)

    @staticmethod
    def _calling(body: Json, reads: int) -> Scripted:
        """Nearly all that may be looked up, at once; then calls that bring little, for each reads all of it again."""
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        if not turns:
            return called(*(("read", {"path": f"module{number}.py"}) for number in range(1, 1 + reads)))
        return called(("search", {"pattern": f"absent{turns}", "literal": True}))

    def _found(self, shown: str, tokens: int) -> Scripted:
        path = re.findall(r"^### (\S+)", shown.rpartition("<<<change")[2], re.MULTILINE)[0]
        least = {"title": "", "impact": "", "category": "", "proof": [], "severity": "critical"}
        claims, written = list[Json](), self._tokens(json.dumps(a_reading()))
        for line, text in _ADDED.findall(shown.rpartition("<<<change")[2]):
            quote = text if len(claims) >= MISQUOTED else "not there"
            claims.append(a_claim(path, quote, "x", id=f"f{len(claims)}", line=int(line), **least))
            written += self._tokens(_dense(claims[-1]))
            if written > tokens or len(claims) > MAX_FINDINGS:
                break
        self.findings.append(len(claims) - 1)
        return said(_dense(a_reading(*claims[:-1])))

    def _rule(self, shown: str) -> Scripted:
        self.judged |= set(re.findall(r"Claim (c\d+):", shown))
        return answered(rulings_on(shown, confidence=60, severity="critical"))


def _dense(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _is_late(message: Json) -> bool:
    """Whether calls were refused because the answer is due."""
    return any(block.get("content") == DUE for block in message["content"])


def cut_off(body: Json) -> Scripted:
    """An answer that ends amid its findings, at its limit of tokens."""
    text = json.dumps(a_reading(*(a_claim("module0.py", f"line {n}", "x", id=f"f{n}") for n in range(1_000))))
    left = int(body["max_tokens"])
    return said(text[: left * CHARS_PER_TOKEN], stop="max_tokens", usage={"output_tokens": left})
