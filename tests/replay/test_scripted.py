"""The scripted engine: answers as its script says, keeps no state, and refuses a script that does not fit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import WorkerCard, WorkerResult
from reviewbot.domain.errors import BudgetError, ConfigError, DeadlineError, EngineError, RefusedError, TransientError
from reviewbot.domain.ports import Answer, Escalated, WorkOrder
from reviewbot.replay.scripted import Reply, Script, ScriptedEngine
from tests.make import MakeOrder, MakeTask


def engine_of(*entries: dict[str, Any]) -> ScriptedEngine:
    return ScriptedEngine.from_json(json.dumps({"answers": entries}))


def answer_of(engine: ScriptedEngine, order: WorkOrder) -> Answer:
    answer = asyncio.run(engine.work(order))
    assert isinstance(answer, Answer)
    return answer


FOUND = {"severity": "warning", "quote": "x = 1", "message": "never right", "confidence": 90, "category": "bug"}


def test_what_the_script_does_not_name_is_looked_at_and_clean(an_order: MakeOrder) -> None:
    answer = answer_of(engine_of(), an_order())

    assert (answer.candidates, answer.gaps) == ((), ())
    assert answer.metadata.readers == ("scripted",)
    assert answer.metadata.model_used == "small"


def test_it_has_an_answer_for_every_worker_and_language(a_card: Callable[..., WorkerCard]) -> None:
    engine = engine_of()

    assert engine.covers(a_card(), "cobol")
    assert engine.name == "scripted"


def test_a_finding_is_about_the_file_of_the_task_unless_the_script_says_otherwise(an_order: MakeOrder) -> None:
    engine = engine_of({"replies": [{"findings": [FOUND, {**FOUND, "path": "b.py", "source": "model:x"}]}]})

    found = answer_of(engine, an_order()).candidates

    assert [(each.path, each.source) for each in found] == [("src/app.py", "script"), ("b.py", "model:x")]


@pytest.mark.parametrize(
    ("worker", "path", "answered"),
    [
        ("logic", "src/*.py", True),
        ("*", "*", True),
        ("log*", "src/app.py", True),
        ("style", "*", False),
        ("logic", "*.ts", False),
        ("LOGIC", "*", False),
    ],
)
def test_an_entry_answers_the_tasks_that_it_matches(
    worker: str, path: str, *, answered: bool, an_order: MakeOrder
) -> None:
    engine = engine_of({"worker": worker, "path": path, "replies": [{"findings": [FOUND]}]})

    assert bool(answer_of(engine, an_order()).candidates) is answered


@pytest.mark.parametrize(("task", "answered"), [("*~2", False), ("logic:*#1", True), ("logic:src/app.py#1", True)])
def test_an_entry_may_be_for_some_tasks_alone(task: str, *, answered: bool, an_order: MakeOrder) -> None:
    engine = engine_of({"task": task, "replies": [{"findings": [FOUND]}]})

    assert bool(answer_of(engine, an_order()).candidates) is answered


def test_beside_what_a_model_found_stands_what_programs_found(an_order: MakeOrder) -> None:
    reply = {"findings": [FOUND], "origin": "model", "programs": [{**FOUND, "source": "ruff"}]}

    answer = answer_of(engine_of({"replies": [reply]}), an_order())

    assert (answer.origin, [each.source for each in answer.candidates]) == ("model", ["script"])
    assert [each.source for each in answer.programs] == ["ruff"]


def test_an_escalation_may_bring_what_programs_found_alone(an_order: MakeOrder) -> None:
    reply = {"escalate": {"reason": "timeout", "message": "too long"}, "programs": [{**FOUND, "source": "ruff"}]}

    answer = asyncio.run(engine_of({"replies": [reply]}).work(an_order()))

    assert isinstance(answer, Escalated)
    assert answer.partial is not None
    assert (answer.partial.candidates, len(answer.partial.programs)) == ((), 1)


def test_programs_without_an_answer_do_not_fit() -> None:
    with pytest.raises(ConfigError, match="programs stand beside findings or escalate"):
        engine_of({"replies": [{"fail": "crash", "programs": [FOUND]}]})


def test_the_first_entry_that_matches_answers(an_order: MakeOrder) -> None:
    engine = engine_of(
        {"worker": "style", "replies": [{"fail": "crash"}]},
        {"worker": "logic", "replies": [{"findings": [FOUND]}]},
        {"replies": [{"fail": "crash"}]},
    )

    assert len(answer_of(engine, an_order()).candidates) == 1


@pytest.mark.parametrize(("failures", "message"), [(0, "one"), (1, "two"), (2, "two")])
def test_the_nth_reply_serves_the_nth_attempt_and_the_last_one_all_further_ones(
    failures: int, message: str, an_order: MakeOrder, a_task: MakeTask
) -> None:
    replies = [{"findings": [{**FOUND, "message": text}]} for text in ("one", "two")]
    engine = engine_of({"replies": replies})

    [candidate] = answer_of(engine, an_order(a_task(failures=failures))).candidates

    assert candidate.message == message


def test_the_same_order_gets_the_same_answer_however_often(an_order: MakeOrder) -> None:
    engine = engine_of({"replies": [{"findings": [FOUND]}, {"fail": "crash"}]})

    assert answer_of(engine, an_order()) == answer_of(engine, an_order())


@pytest.mark.parametrize(
    ("fail", "error"),
    [
        ("transient", TransientError),
        ("bad_answer", EngineError),
        ("crash", RuntimeError),
        ("refused", RefusedError),
        ("budget", BudgetError),
        ("deadline", DeadlineError),
    ],
)
def test_it_fails_as_told(fail: str, error: type[Exception], an_order: MakeOrder) -> None:
    with pytest.raises(error, match="on purpose") as raised:
        asyncio.run(engine_of({"replies": [{"fail": fail, "message": "on purpose"}]}).work(an_order()))

    assert type(raised.value) is error


def test_it_escalates_as_told(an_order: MakeOrder) -> None:
    said = {"reason": "out_of_scope", "message": "not mine", "better_worker": "security"}

    answer = asyncio.run(engine_of({"replies": [{"escalate": said}]}).work(an_order()))

    assert answer == Escalated("out_of_scope", "not mine", "security")


def test_it_hangs_until_it_is_cut_off(an_order: MakeOrder) -> None:
    async def cut_off() -> None:
        async with asyncio.timeout(0.01):
            await engine_of({"replies": [{"hang": True}]}).work(an_order())

    with pytest.raises(TimeoutError):
        asyncio.run(cut_off())


def test_it_counts_what_an_answer_cost(an_order: MakeOrder, a_task: MakeTask) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20, "cost_usd": 0.5}
    engine = engine_of({"replies": [{"findings": [], "usage": usage}]})

    metadata = answer_of(engine, an_order(a_task(tier="large"))).metadata

    assert metadata.usage.model_dump(include=set(usage)) == usage
    assert metadata.model_used == "large"


def test_it_answers_only_with_the_results_that_it_requires(an_order: MakeOrder) -> None:
    engine = engine_of({"replies": [{"findings": [FOUND], "requires": ["style:a.py#1"]}]})
    given = an_order(dependencies={"style:a.py#1": WorkerResult(task_id="style:a.py#1")})

    assert len(answer_of(engine, given).candidates) == 1
    with pytest.raises(EngineError, match="requires the result of style:a"):
        asyncio.run(engine.work(an_order()))


def test_a_scripted_finding_that_does_not_fit_is_a_bad_answer(an_order: MakeOrder) -> None:
    engine = engine_of({"replies": [{"findings": [{**FOUND, "confidence": 101}]}]})

    with pytest.raises(EngineError, match="a scripted finding does not fit: Input should be less than"):
        asyncio.run(engine.work(an_order()))


@pytest.mark.parametrize(
    "reply",
    [{}, {"findings": [], "hang": True}, {"fail": "crash", "hang": True}, {"findings": [], "fail": "transient"}],
)
def test_a_reply_does_exactly_one_thing(reply: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="exactly one of findings or escalate, fail, hang"):
        engine_of({"replies": [reply]})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"answers": [{"replies": []}]}', "answers.0.replies: "),
        ('{"answers": [{"replies": [{"fail": "burn"}]}]}', "answers.0.replies.0.fail: "),
        ('{"answers": [{"file": "a.py", "replies": [{"hang": true}]}]}', "answers.0.file: "),
        ('{"answers": [{"replies": [{"hang": "yes"}]}]}', "answers.0.replies.0.hang: "),
        ("{}", "answers: "),
        ("[]", "the top: "),
        ("not JSON", "the top: "),
    ],
)
def test_a_script_that_does_not_fit_names_the_first_place(text: str, where: str) -> None:
    with pytest.raises(ConfigError) as raised:
        ScriptedEngine.from_json(text)

    assert str(raised.value).startswith(f"the script does not fit at {where}")
    assert "\n" not in str(raised.value)


def test_a_script_may_be_bytes() -> None:
    assert ScriptedEngine.from_json(b'{"answers": []}').name == "scripted"
    with pytest.raises(ConfigError):
        ScriptedEngine.from_json(b"\xff\xfe")


def test_a_script_may_be_built_by_hand(an_order: MakeOrder) -> None:
    engine = ScriptedEngine(Script(answers=()))

    assert answer_of(engine, an_order()).candidates == ()
    assert Reply(hang=True).hang
