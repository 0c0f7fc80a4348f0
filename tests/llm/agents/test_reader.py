"""Readers: tasks that share a conversation, what each of them gets of it, and what happens where it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import Candidate, ChangeSet, Plan, ReviewTask, WorkerCard, WorkerResult
from reviewbot.domain.errors import BudgetError, CutOffError, DeadlineError, EngineError, RefusedError, TooLongError
from reviewbot.domain.ports import Answer, Escalated, Text, ToolAnswer, WorkOrder
from reviewbot.llm.agents.conversation import LoopError
from reviewbot.llm.agents.reader import REPAIR, ReaderEngine
from reviewbot.llm.prompts.reader_context import ReaderContextBuilder
from reviewbot.llm.prompts.reader_prompt import ReaderContext
from reviewbot.llm.tools import RepositoryTools
from reviewbot.sources.memory import DiffSnapshot
from tests.make import MakeReply

Engine = Callable[..., ReaderEngine]
BAD = "the answer is no JSON"


@pytest.fixture
def change(a_change: Callable[..., ChangeSet], a_file: Any, a_hunk: Any) -> ChangeSet:
    return a_change(a_file("src/app.py", a_hunk(" y = 0\n+x = 1\n-z = 2")), title="One more")


@pytest.fixture
def an_engine(change: ChangeSet, fake_model: Any, fake_programs: Any, trace: Any, clock: Any) -> Engine:
    """The engine around a fake model; its repository is the change alone."""

    def build(*replies: Any, programs: Any = None, **fields: Any) -> ReaderEngine:
        tools = RepositoryTools(DiffSnapshot(change))
        known: dict[str, Any] = {
            "tools": tools,
            "context_of": ReaderContextBuilder(tools.view, change.files),
            "prompt": "Read it.",
            "push_prompt": "Read what was pushed.",
        }
        return ReaderEngine(
            model=fake_model(*replies), programs=programs or fake_programs(), trace=trace, clock=clock, **known | fields
        )

    return build


@pytest.fixture
def an_order(
    a_card: Callable[..., WorkerCard], a_task: Callable[..., ReviewTask], a_payload: Any, change: ChangeSet
) -> Callable[..., WorkOrder]:
    """The order for a worker's task on the change."""

    def make(worker: str = "logic", **fields: Any) -> WorkOrder:
        card = a_card(worker)
        payload = a_payload(" y = 0\n+x = 1\n-z = 2")
        task = a_task(f"{worker}:src/app.py#1", worker=worker, type=worker, payload=payload, **fields)
        return WorkOrder(task, card, f"Look for {worker}.", {}, DiffSnapshot(change), change.title, change.description)

    return make


def begun(engine: ReaderEngine, orders: Sequence[WorkOrder]) -> Sequence[WorkOrder]:
    """Make the orders' tasks one reader's."""
    bundle = [
        WorkOrder(
            each.task.model_copy(update={"reader": "reader-1"}), each.card, each.prompt, each.tools, each.snapshot
        )
        for each in orders
    ]
    by_id = {each.task.task_id: each for each in bundle}
    engine.begin(
        Plan(goal="g", tasks=tuple(each.task for each in bundle), reason="r"), lambda task: by_id[task.task_id]
    )
    return bundle


def work(engine: ReaderEngine, *orders: WorkOrder) -> list[Any]:
    """What comes of the orders, done at once: answers, or the errors that they raise."""

    async def run() -> list[Any]:
        try:
            return await asyncio.gather(*(engine.work(order) for order in orders), return_exceptions=True)
        finally:
            await engine.close()

    return asyncio.run(run())


def again(order: WorkOrder, **fields: Any) -> WorkOrder:
    """The order for another attempt at its task."""
    task = order.task.model_copy(update=fields)
    return WorkOrder(task, order.card, order.prompt, order.tools, order.snapshot)


def test_a_claim_becomes_a_candidate_with_its_proof_cause_and_worth(
    an_engine: Engine, an_order: Any, said: MakeReply, claim: Any
) -> None:
    proof = {"path": "src/app.py", "side": "old", "quote": "z = 2", "why": "it was two"}
    engine = an_engine(said(claim(proof=[proof], cwe=682)))

    [answer] = work(engine, an_order())

    [found] = answer.candidates
    assert (found.path, found.quote, found.cause, found.worth, found.confidence) == (
        "src/app.py",
        "x = 1",
        "race",
        70,
        75,
    )
    assert [(each.side, each.line, each.why) for each in found.proof] == [("old", 2, "it was two")]
    assert (found.source, answer.origin) == ("opus-x", "model")
    assert answer.metadata.usage.calls == 1


def test_tasks_of_one_reader_share_one_conversation_and_each_gets_its_own_claims(
    an_engine: Engine, an_order: Any, said: MakeReply, claim: Any, text_of: Any
) -> None:
    engine = an_engine(said(claim(id="f1", task="security"), claim(id="f2", task="logic", line=2)))
    orders = begun(engine, [an_order("logic"), an_order("security")])

    logic, security = work(engine, *orders)

    assert [len(engine.model.requests), len(logic.candidates), len(security.candidates)] == [1, 1, 1]  # type: ignore[attr-defined]
    text = text_of(engine.model.requests[0])  # type: ignore[attr-defined]
    assert text.index("## Task `logic`") < text.index("Look for logic.") < text.index("## Task `security`")
    assert [logic.metadata.usage.calls, security.metadata.usage.calls] == [1, 0], "its cost is booked once"
    assert [logic.metadata.summary, security.metadata.summary] == ["It adds a number."] * 2


def test_everything_that_all_readers_share_comes_first_and_is_marked_for_the_cache(
    an_engine: Engine, an_order: Any, said: MakeReply
) -> None:
    engine = an_engine(said(), said())

    work(engine, an_order("logic"), an_order("security"))

    firsts = [request.turns[0].parts[0] for request in engine.model.requests]  # type: ignore[attr-defined]
    assert firsts[0] == firsts[1]
    assert isinstance(firsts[0], Text)
    assert firsts[0].cached
    assert "    2 +x = 1\n      -z = 2" in firsts[0].text
    assert len({(r.system, str(r.tools), str(r.schema)) for r in engine.model.requests}) == 1  # type: ignore[attr-defined]


def test_a_reader_that_is_shown_the_whole_repository_gets_no_tools(
    an_engine: Engine, an_order: Any, said: MakeReply, text_of: Any
) -> None:
    everything = ReaderContext("", "", "+x = 1", repository="### a.py", is_whole=True)
    engine = an_engine(said(), context_of=lambda _orders: everything)

    work(engine, an_order("logic"))

    [request] = engine.model.requests  # type: ignore[attr-defined]
    assert request.tools == ()
    assert "You have no tools: answer from what is shown." in text_of(request)


def test_a_conversation_that_fails_is_tried_again_by_all_of_its_tasks_together(
    an_engine: Engine, an_order: Any, a_reply: MakeReply, said: MakeReply, text_of: Any
) -> None:
    engine = an_engine(a_reply("no JSON"), said())
    orders = begun(engine, [an_order("logic"), an_order("security")])

    async def run() -> list[Any]:
        first = await asyncio.gather(*(engine.work(order) for order in orders), return_exceptions=True)
        retried = [again(order, failures=1, previous_error=str(first[0])) for order in orders]
        second = await asyncio.gather(*(engine.work(order) for order in retried))
        await engine.close()
        return [*first, *second]

    failed, also_failed, logic, security = asyncio.run(run())

    assert (type(failed), type(also_failed)) == (EngineError, EngineError)
    assert isinstance(logic, Answer)
    assert isinstance(security, Answer)
    assert len(engine.model.requests) == 2  # type: ignore[attr-defined]
    assert "could not be used" in text_of(engine.model.requests[1])  # type: ignore[attr-defined]
    used = [each.metadata.usage.calls for each in (logic, security)]
    assert used == [2, 0], "what the failed attempt cost is in the result of the next one, once"


def test_what_a_conversation_has_used_when_the_time_is_up_is_in_the_result(
    an_engine: Engine, an_order: Any, calling: MakeReply
) -> None:
    order = an_order()
    short = order.task.constraints.model_copy(update={"timeout_ms": 1_000})

    [late] = work(an_engine(calling(("read", {"path": "src/app.py"})), None), again(order, constraints=short))

    assert isinstance(late, Escalated)
    assert late.partial is not None
    assert late.partial.metadata.usage.calls == 1


def test_a_task_that_escalates_is_tried_again_alone(
    an_engine: Engine, an_order: Any, said: MakeReply, text_of: Any
) -> None:
    unsure = {"reason": "ambiguous_input", "message": "two readings", "better_worker": None}
    engine = an_engine(said(tasks=[("security", unsure), ("logic", None)]), said())
    orders = begun(engine, [an_order("logic"), an_order("security")])

    async def run() -> tuple[Any, Any, Any]:
        logic, security = await asyncio.gather(*(engine.work(order) for order in orders))
        retried = await engine.work(again(orders[1], failures=1, previous_error="two readings"))
        await engine.close()
        return logic, security, retried

    logic, security, retried = asyncio.run(run())

    assert isinstance(logic, Answer)
    assert isinstance(security, Escalated)
    assert (security.reason, security.message) == ("ambiguous_input", "two readings")
    assert isinstance(retried, Answer)
    assert "## Task `logic`" not in text_of(engine.model.requests[1])  # type: ignore[attr-defined]


def test_quotes_that_cannot_be_found_are_repaired_once_in_the_conversation(
    an_engine: Engine, an_order: Any, said: MakeReply, claim: Any, trace: Any
) -> None:
    engine = an_engine(
        said(claim(quote="x = 2"), claim(id="f2", quote="y = 0"), claim(id="f3", quote="not there")),
        said(claim(quote="x = 1")),
    )

    [answer] = work(engine, an_order())

    assert [found.quote for found in answer.candidates] == ["x = 1", "y = 0"]
    asked = engine.model.requests[1].turns[-1].parts[0].text  # type: ignore[attr-defined]
    assert asked.startswith(REPAIR.partition("{}")[0])
    assert "f1: the quote is not in `src/app.py`" in asked
    assert [event["claims"] for event in trace.of("repaired")] == [1]


def test_a_repair_that_takes_too_long_leaves_the_answer_as_it_was(
    an_engine: Engine, an_order: Any, said: MakeReply, claim: Any, trace: Any
) -> None:
    order = an_order()
    short = order.task.constraints.model_copy(update={"timeout_ms": 1_000})

    [answer] = work(an_engine(said(claim(quote="x = 2")), None), again(order, constraints=short))

    assert [found.quote for found in answer.candidates] == ["x = 2"]
    assert [event["message"] for event in trace.of("repair_failed")] == ["no time was left"]


def test_a_task_that_waited_for_another_sees_what_that_one_found(
    an_engine: Engine, an_order: Any, said: MakeReply, a_finding: Any, text_of: Any
) -> None:
    engine = an_engine(said())
    [order] = begun(engine, [an_order("style")])
    result = WorkerResult(task_id="logic", findings=(a_finding(message="the limit is lost"),))

    work(engine, replace(order, dependencies={"logic": result}))

    assert "the limit is lost" in text_of(engine.model.requests[0])  # type: ignore[attr-defined]


def test_a_repair_that_cannot_be_used_leaves_the_answer_as_it_was(
    an_engine: Engine, an_order: Any, said: MakeReply, claim: Any, a_reply: MakeReply, trace: Any
) -> None:
    engine = an_engine(said(claim(quote="x = 2")), a_reply(BAD))

    [answer] = work(engine, an_order())

    assert [found.quote for found in answer.candidates] == ["x = 2"]
    assert trace.of("repair_failed")


def test_what_analyzers_found_is_shown_with_handles_and_confirmed_or_disputed(
    an_engine: Engine,
    an_order: Any,
    said: MakeReply,
    a_candidate: Callable[..., Candidate],
    fake_programs: Any,
    text_of: Any,
) -> None:
    hits = [a_candidate(path="src/app.py", line=2, quote="x = 1", message=m, source="ruff") for m in ("one", "two")]
    programs = fake_programs({"src/app.py": hits})
    engine = an_engine(said(hints=[("h1", "confirmed"), ("h2", "refuted", "it is a constant")]), programs=programs)

    [answer] = work(engine, an_order())

    assert "h1 [ruff" in text_of(engine.model.requests[0])  # type: ignore[attr-defined]
    assert [each.message for each in answer.candidates] == ["one"]
    assert [each.disputed for each in answer.programs] == ["", "it is a constant"]


def test_analyzers_run_once_for_a_task_however_often_it_is_tried(
    an_engine: Engine, an_order: Any, said: MakeReply, a_reply: MakeReply, fake_programs: Any
) -> None:
    programs = fake_programs()
    engine = an_engine(a_reply("no JSON"), said(), programs=programs)
    order = an_order()

    work(engine, order, again(order, failures=1))

    assert len(programs.orders) == 1


def test_a_task_for_analyzers_alone_asks_no_model(an_engine: Engine, an_order: Any, said: MakeReply) -> None:
    engine = an_engine(said())

    [answer] = work(engine, an_order(programs_only=True))

    assert engine.model.requests == []  # type: ignore[attr-defined]
    assert answer.gaps == ()


def test_a_task_on_names_across_parts_asks_a_model_alone_and_reviews_no_file(
    an_engine: Engine, an_order: Any, said: MakeReply, a_candidate: Any, fake_programs: Any
) -> None:
    programs = fake_programs({"src/app.py": [a_candidate()]})
    engine = an_engine(said(), programs=programs)

    [answer] = work(engine, an_order(seam=("total",)))

    assert len(engine.model.requests) == 1  # type: ignore[attr-defined]
    assert (programs.orders, answer.programs, answer.metadata.readings) == ([], (), ())


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BudgetError("no room"), "budget"),
        (DeadlineError("no time"), "deadline"),
        (LoopError("goes on"), "bad_answer"),
    ],
    ids=["budget", "deadline", "loop"],
)
def test_what_would_fail_again_is_a_gap_beside_what_analyzers_found(
    error: Exception, reason: str, an_engine: Engine, an_order: Any, a_candidate: Any, fake_programs: Any
) -> None:
    programs = fake_programs({"src/app.py": [a_candidate()]})

    [answer] = work(an_engine(error, programs=programs), an_order())

    assert [(gap.path, gap.worker, gap.reason) for gap in answer.gaps] == [("src/app.py", "logic", reason)]
    assert len(answer.programs) == 1


def test_the_third_failure_is_a_gap_and_no_error(an_engine: Engine, an_order: Any, a_reply: MakeReply) -> None:
    [answer] = work(an_engine(a_reply("no JSON")), an_order(failures=2))

    assert [gap.message.startswith("given up after 3 failures") for gap in answer.gaps] == [True]


@pytest.mark.parametrize(("tiers", "raises"), [(("large",), True), ((), False)])
def test_a_refusal_is_taken_to_a_stronger_model_where_there_is_one(
    tiers: tuple[str, ...], an_engine: Engine, an_order: Any, a_reply: MakeReply, *, raises: bool
) -> None:
    order = an_order()
    constraints = order.task.constraints.model_copy(update={"higher_tiers": tiers})

    [outcome] = work(an_engine(a_reply("", "refusal")), again(order, constraints=constraints))

    assert isinstance(outcome, RefusedError) is raises
    if not raises:
        assert [gap.reason for gap in outcome.gaps] == ["refused"]


@pytest.mark.parametrize(
    ("error", "fields"),
    [(TooLongError("too long"), {}), (CutOffError("cut off"), {"failures": 1, "previous_error": "cut off"})],
    ids=["too long", "cut off twice"],
)
def test_what_is_too_much_for_one_conversation_is_split(
    error: Exception, fields: dict[str, Any], an_engine: Engine, an_order: Any
) -> None:
    [outcome] = work(an_engine(error), an_order(**fields))

    assert isinstance(outcome, Escalated)
    assert outcome.reason == "timeout"


def test_a_bug_on_the_way_is_named_by_its_type_alone(an_engine: Engine, an_order: Any) -> None:
    def broken(*_given: object) -> Any:
        raise ValueError("/root/secret")

    [answer] = work(an_engine(context_of=broken), an_order(failures=2))

    assert [gap.message for gap in answer.gaps] == ["given up after 3 failures: ValueError in the reader"]


def test_a_task_that_runs_out_of_its_own_time_escalates_with_what_analyzers_found(
    an_engine: Engine, an_order: Any, a_candidate: Any, fake_programs: Any, a_card: Any
) -> None:
    order = an_order()
    short = order.task.constraints.model_copy(update={"timeout_ms": 20})
    engine = an_engine(None, programs=fake_programs({"src/app.py": [a_candidate()]}))

    [outcome] = work(engine, again(order, constraints=short))

    assert (outcome.reason, outcome.message) == ("timeout", "no answer within 0.02 s")
    assert len(outcome.partial.programs) == 1


def test_where_the_review_has_no_time_left_the_gap_says_so(an_engine: Engine, an_order: Any) -> None:
    [answer] = work(an_engine(None, review_left_s=lambda: 0.02), an_order())

    assert [gap.reason for gap in answer.gaps] == ["deadline"]


def test_tool_calls_are_traced_with_the_lines_that_they_showed(
    an_engine: Engine, an_order: Any, calling: MakeReply, said: MakeReply, trace: Any
) -> None:
    engine = an_engine(calling(("read", {"path": "src/app.py"}), ("no-such-tool", {})), said())

    work(engine, an_order())

    told = {event["tool"]: event["failed"] for event in trace.of("tool_call")}
    assert told == {"read": True, "no-such-tool": True}


def test_a_tool_that_breaks_costs_its_own_answer(
    an_engine: Engine, an_order: Any, calling: MakeReply, said: MakeReply
) -> None:
    class Broken(RepositoryTools):
        async def call(self, name: str, arguments: Any) -> Any:
            raise RuntimeError("/root/secret")

    engine = an_engine(calling(("read", {"path": "src/app.py"})), said(), tools=Broken(DiffSnapshot(ChangeSet())))

    [answer] = work(engine, an_order())

    [told] = [p.text for p in engine.model.requests[1].turns[-1].parts if isinstance(p, ToolAnswer)]  # type: ignore[attr-defined]
    assert "read could not be run (RuntimeError)" in told
    assert isinstance(answer, Answer)


def test_a_model_reads_every_language(an_engine: Engine, a_card: Any) -> None:
    assert an_engine().covers(a_card(), "cobol")
