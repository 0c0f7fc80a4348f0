"""A model that judges, findings for it to judge, and a verifier to put them before it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.contracts import Finding, Usage, WorkerResult
from reviewbot.errors import InputError
from reviewbot.model.told import Section
from reviewbot.model.verifier import ModelVerifier
from reviewbot.ports import Model, ModelReply, ModelRequest, Occurrence, Text, WorkOrder

CODE = """\
+def mean(values):
+    return sum(values) / len(values)
+def first(values):
+    if not values:
+        return None
+    return values[0]
+def drop(values, at):
+    values.pop(at)
+    return values
+def names(rows):
+    return [row.name for row in rows]"""
LINES = [line[1:] for line in CODE.split("\n")]
PROVEN = "`return sum(values) / len(values)`: values = [], so len(values) is 0 and it raises"
_CANDIDATE = re.compile(r"^Candidate (c\d+)\n<<<claim \w+\n(.*?)\n<<<end", re.DOTALL | re.MULTILINE)

_END: Any = "end"


class Judge:
    """A model that rules by what is claimed, or answers as told, one answer after the other; it keeps the questions.

    An answer that is told is a text, a text with the way in which it ended, or an error.
    """

    code = CODE
    proven = PROVEN

    def __init__(self, opinions: Any = None, *answers: str | tuple[str, Any] | Exception) -> None:
        self.opinions: dict[str, tuple[int, str]] = opinions or {}
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []
        self.running = self.most = 0

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        answer = self.answers.pop(0) if self.answers else self._rulings(request)
        if isinstance(answer, Exception):
            raise answer
        text, stop = answer if isinstance(answer, tuple) else (answer, _END)
        return ModelReply(text=text, calls=(), stop=stop, usage=Usage(), model="judge")

    def _rulings(self, request: ModelRequest) -> str:
        return self.rulings(*((handle, *self._opinion(claim)) for handle, claim in self.claims(request).items()))

    def _opinion(self, claim: str) -> tuple[int, str]:
        return next((opinion for words, opinion in self.opinions.items() if words in claim), (90, PROVEN))

    @staticmethod
    def said(request: ModelRequest) -> str:
        """All that a request says to the model beside its prompt."""
        return "\n".join(part.text for turn in request.turns for part in turn.parts if isinstance(part, Text))

    @classmethod
    def claims(cls, request: ModelRequest) -> dict[str, str]:
        """The claim of each handle."""
        return dict(_CANDIDATE.findall(cls.said(request)))

    @staticmethod
    def rulings(*each: tuple[str, int] | tuple[str, int, str]) -> str:
        """An answer that rules on these handles."""
        made = [
            {
                "candidate": handle,
                "argument_against": "a caller may check",
                "evidence": rest[0] if rest else PROVEN,
                "confidence": confidence,
                "severity": "warning",
            }
            for handle, confidence, *rest in each
        ]
        return json.dumps({"rulings": made})


@pytest.fixture(scope="session", name="a_judge")
def _a_judge() -> type[Judge]:
    return Judge


class Searched:
    """A snapshot that can be searched and holds these words."""

    def __init__(self, *words: str, broken: bool = False) -> None:
        self.words = words
        self.broken = broken

    def head(self, path: str) -> str | None:
        return None

    def base(self, path: str) -> str | None:
        return None

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...]:
        if self.broken:
            raise InputError("git took longer than 30 s")
        return (Occurrence("src/other.py", 1, word),) if word in self.words else ()

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Any, ...]:
        return ()


@pytest.fixture(scope="session", name="searched")
def _searched() -> type[Searched]:
    return Searched


@pytest.fixture(name="order", scope="session")
def _order(a_task: Any, a_payload: Any, an_order: Any) -> WorkOrder:
    order: WorkOrder = an_order(a_task(payload=a_payload(CODE)))
    return order


@pytest.fixture(name="claim", scope="session")
def _claim(a_finding: Callable[..., Finding]) -> Callable[..., Finding]:
    """A finding of a model about one line, which it holds to be 65 of 100 certain."""

    def make(line: int = 2, **fields: Any) -> Finding:
        known = {
            "line": line,
            "evidence": LINES[line - 1].strip(),
            "message": f"claim about line {line}",
            "sources": ("model:finder",),
            "confidence": 65,
            "claimed": 65,
        }
        return a_finding(**{**known, **fields})

    return make


def no_evidence(order: WorkOrder, finding: Finding) -> Sequence[Section]:
    return ()


@pytest.fixture(name="ruled")
def _ruled(order: WorkOrder, trace: Any) -> Callable[..., WorkerResult]:
    """Verify findings with a model."""

    def run(model: Model, *findings: Finding, evidence: Any = no_evidence, batch: int = 4, **fields: Any) -> Any:
        verifier = ModelVerifier(model, "Refute it.", trace, evidence, batch)
        given_order = replace(order, **fields)
        result = WorkerResult(task_id=given_order.task.task_id, findings=findings)
        return asyncio.run(verifier.verify(given_order, result))

    return run
