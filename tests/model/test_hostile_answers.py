"""The corpus of hostile model answers, each told to a whole task: what is kept, what is a gap, how often is asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.contracts import Plan
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.rows import code_of
from reviewbot.errors import TransientError
from reviewbot.ports import ModelReply, Settled, ToolCall
from reviewbot.supervisor.dispatcher import Dispatcher
from reviewbot.worker import run_task

Make = Callable[..., Any]

HOSTILE = Path(__file__).parents[1] / "hostile"
EXPECTED = {
    case["id"]: case["expect"]
    for case in json.loads((HOSTILE / "index.json").read_text("utf-8"))["cases"]
    if case["file"].startswith("model_outputs/")
}
CASES = {path.name[:3]: json.loads(path.read_text("utf-8")) for path in (HOSTILE / "model_outputs").glob("*.json")}

STOPS = {"end_turn": "end", "tool_use": "tools", "model_context_window_exceeded": "context"}
FAULT = {"O29"}
"""An error in place of an answer: the adapter's matter, which raises it."""
COUNTED = sorted(set(CASES) - FAULT - {"O24"})


def in_our_words(text: str) -> str:
    """An answer of the corpus with the fields that ours have. As text, so that what no parser would write stays."""
    text = re.sub(r'"line": ?2\b', '"quote": "n1"', text)
    text = re.sub(r'"line": ?(-?\d+)', r'"quote": "line \1"', text)
    text = re.sub(r'"severity": ?"high"', '"severity": "warning"', text)
    text = re.sub(r'"title": ?"', '"contract": "", "symptom": "", "cwe": null, "trigger": "', text)
    text = text.replace('"suggestion": null', '"suggestion": ""').replace('"suggestion":null', '"suggestion":""')
    return re.sub(r'(?m)^\{"findings"', '{"hints": [], "escalation": null, "findings"', text)


@pytest.fixture
def reply_of(a_reply: Make) -> Callable[[dict[str, Any]], ModelReply]:
    """A message of the corpus as our adapter would hand it on."""

    def read(message: dict[str, Any]) -> ModelReply:
        text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
        calls = [block for block in message["content"] if block["type"] == "tool_use"]
        wishes = tuple(ToolCall(block["id"], block["name"], block["input"]) for block in calls)
        stop = STOPS.get(message["stop_reason"], message["stop_reason"])
        reply: ModelReply = a_reply(in_our_words(text), stop, calls=wishes)
        return reply

    return read


@pytest.fixture
def settled(
    clock: Any, trace: Any, journal: Any, an_engine: Make, an_order: Make, a_card: Make, a_task: Make,
    fake_programs: Make, fake_tool: Make, a_candidate: Make,
) -> Callable[..., Settled]:  # fmt: skip
    """One task about the corpus' diff, brought to its end; a program has found something in it too."""

    def run(model: Any, worker: str = "security") -> Settled:
        [file] = parse_diff(CASES["O01"]["diff"].encode()).files
        code, starts = code_of(file.hunks)
        task = a_task(f"{worker}:a", higher_tiers=())
        payload = task.payload.model_copy(update={"code": code, "starts": starts, "file_path": file.path})
        task = task.model_copy(update={"payload": payload})
        hit = a_candidate(path=file.path, line=3, severity="critical", category="xss", rule="HIT")
        tools = [fake_tool("read_hunk", "def f(x): ..."), fake_tool("read_file", "refused", failed=True)]
        engine = an_engine(model, fake_programs({file.path: [hit]}), *tools)
        card = a_card(worker, tools=("read_hunk", "read_file"))
        dispatcher = Dispatcher(
            attempt=lambda each, _: run_task(engine, replace(an_order(each), card=card)),
            retarget=lambda each, other: None,
            journal=journal,
            run_id="run",
            trace=trace,
            clock=clock,
            concurrency=1,
            deadline_s=60,
        )
        plan = Plan(goal="g", tasks=(task,), reason="r")
        return asyncio.run(dispatcher.dispatch(plan))[task.task_id]

    return run


def findings_of(end: Settled) -> list[Any]:
    return [finding for result in end.results for finding in result.findings]


def by_models(end: Settled) -> list[Any]:
    return [finding for finding in findings_of(end) if finding.sources[0].startswith("model:")]


def gaps_of(end: Settled) -> list[Any]:
    return [*end.gaps, *(gap for result in end.results for gap in result.gaps)]


@pytest.mark.parametrize("name", COUNTED)
def test_as_much_is_kept_as_the_corpus_says_and_what_is_missing_is_a_gap(
    name: str, settled: Make, fake_model: Make, reply_of: Make
) -> None:
    response, expect = CASES[name]["response"], EXPECTED[name]
    messages = response if isinstance(response, list) else [response]
    model = fake_model(*(reply_of(message) for message in messages))
    end = settled(model)
    kept = by_models(end)

    assert len(kept) == expect.get("kept", len(kept))
    assert len(kept) <= expect.get("kept_max", len(kept))
    assert len(model.requests) <= expect.get("max_calls", 30)
    assert bool(gaps_of(end)) or not expect.get("gap")


@pytest.mark.parametrize("name", COUNTED)
def test_what_a_program_found_survives_each_of_them(name: str, settled: Make, fake_model: Make, reply_of: Make) -> None:
    response = CASES[name]["response"]
    messages = response if isinstance(response, list) else [response]
    rules = {finding.rule for finding in findings_of(settled(fake_model(*map(reply_of, messages))))}

    assert "HIT" in rules


def test_prose_is_never_taken_for_no_findings(settled: Make, fake_model: Make, reply_of: Make) -> None:
    model = fake_model(reply_of(CASES["O01"]["response"]))
    end = settled(model)

    assert [gap.reason for gap in gaps_of(end)] == ["bad_answer"]
    assert len(model.requests) == 3


def test_an_error_that_the_line_to_the_model_has_tried_in_vain_is_a_gap(settled: Make, fake_model: Make) -> None:
    model = fake_model(TransientError(CASES["O29"]["response"]["error"]["message"]))
    end = settled(model)

    assert [gap.message for gap in gaps_of(end)] == ["Overloaded"]
    assert len(model.requests) == 1


def test_a_refusal_is_not_asked_for_again_where_no_stronger_model_is_left(
    settled: Make, fake_model: Make, reply_of: Make
) -> None:
    model = fake_model(reply_of(CASES["O05"]["response"]))
    end = settled(model)

    assert [gap.reason for gap in gaps_of(end)] == ["refused"]
    assert len(model.requests) == 1


def test_a_style_finding_of_the_security_worker_is_never_told_as_security(
    settled: Make, fake_model: Make, reply_of: Make
) -> None:
    end = settled(fake_model(reply_of(CASES["O31"]["response"])))

    assert by_models(end) == []
    assert (end.human, end.answered) == ((), True), "it is dropped, and its own task is done"


def test_each_worker_answers_for_itself(settled: Make, fake_model: Make, reply_of: Make) -> None:
    replies = CASES["O24"]["response"]
    ends = {worker: settled(fake_model(reply_of(message)), worker) for worker, message in replies.items()}

    assert {worker: [f.type for f in by_models(end)] for worker, end in ends.items()} == {
        "security": ["security"],
        "style": ["style"],
    }


def test_calls_with_bad_arguments_are_all_refused(
    settled: Make, fake_model: Make, reply_of: Make, said: Make, trace: Any
) -> None:
    end = settled(fake_model(reply_of(CASES["O19"]["response"]), said()))

    assert [event["failed"] for event in trace.of("tool_call")] == [True, True, True]
    assert end.answered
