"""One request with the whole change, through the same spine as a review."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from reviewbot.adapters.memory import DiffSnapshot, MemoryJournal
from reviewbot.contracts import ChangeSet, Review, Usage
from reviewbot.diff.parse import parse_diff
from reviewbot.model.baseline import CARD, NAME, BaselineEngine, BaselinePlanner, BaselineVerifier
from reviewbot.ports import Crew, ModelReply, ModelRequest, Text
from reviewbot.review import Setup, review
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules

DIFF = b"".join(
    b"diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,2 @@\n+first = %d\n+second = 2\n"
    % (name, name, name, n)
    for n, name in enumerate((b"src/a.py", b"src/b.ts"))
)
FOUND = {
    "file": "src/b.ts", "quote": "first = 1", "message": "wrong", "trigger": "always", "contract": "", "symptom": "",
    "severity": "warning", "category": "bug", "confidence": 85, "suggestion": "", "cwe": None,
}  # fmt: skip


class Once:
    """Answers with the same text, and keeps the requests."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        usage = Usage(calls=1, input_tokens=10, output_tokens=5)
        return ModelReply(json.dumps(self.answer), (), "end", usage, "strong-1")


def told(model: Once, clock: Any, trace: Any, diff: bytes = DIFF) -> Review:
    change: ChangeSet = parse_diff(diff).model_copy(update={"title": "Add two files", "description": "both small"})
    engine = BaselineEngine(model)
    setup = Setup(
        crew=Crew((CARD,), {NAME: "Review it."}, {NAME: "package"}),
        engine=engine,
        planner=BaselinePlanner.of(engine),
        verifier=BaselineVerifier(),
        synthesizer=RuledSynthesizer(Rules.of((CARD,), None, 25), NAME),
        tools={},
        snapshot=DiffSnapshot(change),
        journal=MemoryJournal(),
        clock=clock,
        trace=trace,
        run_id="baseline",
        concurrency=1,
        deadline_s=60.0,
    )
    return asyncio.run(review(change, setup))


def test_the_whole_change_is_one_request_and_its_findings_are_anchored(clock: Any, trace: Any) -> None:
    model = Once({"findings": [FOUND, {**FOUND, "quote": "not there"}], "hints": [], "escalation": None})

    answer = told(model, clock, trace)

    (request,) = model.asked
    shown = "".join(part.text for part in request.turns[0].parts if hasattr(part, "text"))
    assert all(word in shown for word in ("src/a.py", "src/b.ts", "+second = 2", "Add two files", "both small"))
    assert [(f.path, f.line, f.confidence, f.claimed) for f in answer.findings] == [("src/b.ts", 1, 85, 85)]
    assert answer.findings[0].sources == ("model:strong-1",)
    assert answer.usage.input_tokens == 10
    assert {entry.state for entry in answer.coverage} == {"reviewed"}


def test_the_name_of_a_file_stands_inside_its_fence(clock: Any, trace: Any) -> None:
    model = Once({"findings": [], "hints": [], "escalation": None})

    told(model, clock, trace)

    (part,) = model.asked[0].turns[0].parts
    assert isinstance(part, Text)
    lines = part.text.split("\n")
    fences = [line for line in lines if line.startswith("<<<") and not line.startswith("<<<end ")]
    assert [line.split(" ")[0] for line in fences] == ["<<<title", "<<<description", "<<<file", "<<<file"]
    assert not any("src/" in line for line in lines if line.startswith("<<<"))
    assert [lines[lines.index(fence) + 1] for fence in fences[2:]] == ["file: src/a.py", "file: src/b.ts"]


def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_a_gap(clock: Any, trace: Any) -> None:
    model = Once({"findings": "none"})

    answer = told(model, clock, trace)

    assert len(model.asked) == 3
    assert {gap.path for gap in answer.gaps} == {"src/a.py", "src/b.ts"}
    assert answer.incomplete


def test_a_change_without_anything_to_read_asks_nobody(clock: Any, trace: Any) -> None:
    model = Once({})

    told(
        model,
        clock,
        trace,
        b"diff --git a/x.png b/x.png\nnew file mode 100644\nBinary files /dev/null and b/x.png differ\n",
    )

    assert model.asked == []


def test_there_is_neither_a_second_round_nor_another_worker(clock: Any, trace: Any, a_task: Any) -> None:
    engine = BaselineEngine(Once({}))
    planner = BaselinePlanner.of(engine)
    change = parse_diff(DIFF)

    plan = asyncio.run(planner.plan(change))

    assert asyncio.run(planner.more(change, plan, {})) is None
    assert planner.retarget(plan.tasks[0], "logic") is None
