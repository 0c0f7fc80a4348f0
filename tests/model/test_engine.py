"""One task of a worker with a model: what it finds, what programs found beside it, and who stands behind what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.contracts import Candidate, Finding, Gap, Metadata, Usage, WorkerResult
from reviewbot.errors import EngineError
from reviewbot.ports import Answer, Escalated
from reviewbot.supervisor.merging import merge
from reviewbot.supervisor.verifier import capped
from reviewbot.worker import run_task

Make = Callable[..., Any]

ADDED = "+x = 1\n+y = eval(z)"


@pytest.fixture
def hit(a_candidate: Make) -> Candidate:
    """What a program found on the second line."""
    found: Candidate = a_candidate(
        quote="y = eval(z)",
        line=2,
        end_line=2,
        rule="S307",
        category="code-injection",
        cwe=95,
        confidence=70,
        message="eval of a variable",
    )
    return found


@pytest.fixture
def order(an_order: Make, a_task: Make, a_payload: Make) -> Any:
    return an_order(a_task("security:src/app.py#1", payload=a_payload(ADDED)))


def work(engine: Any, order: Any) -> Any:
    return asyncio.run(engine.work(order))


def result_of(engine: Any, order: Any) -> WorkerResult:
    outcome = asyncio.run(run_task(engine, order))
    assert isinstance(outcome, WorkerResult)
    return outcome


def test_a_model_can_read_every_language(an_engine: Make, fake_model: Make, a_card: Make) -> None:
    engine = an_engine(fake_model())

    assert engine.name == "claude"
    assert engine.covers(a_card(), "cobol")


def test_a_finding_has_everything_that_the_model_said(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    answer = work(an_engine(fake_model(said(reported(cwe=362)))), order)

    assert answer.origin == "model"
    assert answer.candidates == (
        Candidate(
            severity="warning",
            path="src/app.py",
            quote="x = 1",
            message="one is the wrong number here",
            confidence=75,
            source="opus-x",
            category="race",
            rule="",
            line=None,
            trigger="call it twice",
            contract="its docstring says two",
            symptom="half of the orders are lost",
            suggestion="x = 2",
            cwe=362,
        ),
    )


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [({"replacement": "x = 3"}, "x = 2"), ({"suggestion": "", "replacement": "x = 3"}, "x = 3")],
)
def test_what_replaces_the_lines_is_the_suggestion_where_there_is_no_other(
    words: dict[str, str], suggestion: str, an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    [finding] = result_of(an_engine(fake_model(said(reported(**words)))), order).findings

    assert (finding.suggestion, finding.replacement) == (suggestion, "x = 3")


def test_it_is_anchored_by_its_quote_and_marked_as_a_models(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    [finding] = result_of(an_engine(fake_model(said(reported()))), order).findings

    assert (finding.line, finding.type, finding.claimed) == (1, "security", 75)
    assert finding.sources == ("model:opus-x",)


@pytest.mark.parametrize("name", ["./src/app.py", "a/src/app.py", "b/src/app.py"])
def test_a_file_may_be_named_as_diffs_name_it(
    name: str, an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    [found] = result_of(an_engine(fake_model(said(reported(file=name)))), order).findings

    assert found.path == "src/app.py"


@pytest.mark.parametrize("name", ["SRC/APP.PY", "../src/app.py", "/etc/passwd", "c/src/app.py"])
def test_any_other_name_is_no_file_of_the_task(
    name: str, an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    result = result_of(an_engine(fake_model(said(reported(file=name)))), order)

    assert result.findings == ()
    assert "is not in this task" in result.dropped[0].reason


def test_a_file_that_is_called_like_a_side_of_a_diff_is_itself(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make, a_payload: Make
) -> None:
    task = a_task(payload=a_payload(path="a/x.py"), more=(a_payload(path="x.py"),))
    model = fake_model(said(reported(file="a/x.py"), reported(file="b/x.py")))
    findings = result_of(an_engine(model), an_order(task)).findings

    assert [found.path for found in findings] == ["a/x.py", "x.py"]


def test_what_programs_found_stands_beside_it(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, hit: Candidate
) -> None:
    answer = work(an_engine(fake_model(said()), fake_programs({"src/app.py": [hit]})), order)

    assert answer.candidates == ()
    assert answer.programs == (hit,)


def test_programs_see_one_slice_at_a_time_and_only_what_they_can_read(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, an_order: Make, a_task: Make, a_payload: Make
) -> None:
    more = (a_payload(path="b.py"), a_payload(path="c.go", language="go"))
    programs = fake_programs()
    work(an_engine(fake_model(said()), programs), an_order(a_task(payload=a_payload(path="a.py"), more=more)))

    assert [order.task.paths for order in programs.orders] == [("a.py",), ("b.py",)]


def test_what_was_handed_in_about_a_file_that_no_program_reads_is_passed_on(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, an_order: Make, a_task: Make, a_payload: Make,
    hit: Candidate,
) -> None:  # fmt: skip
    programs = fake_programs({"c.go": [hit]}, languages=())
    order = replace(an_order(a_task(payload=a_payload(path="c.go", language="go"))), tools={"sarif-security": object()})

    assert work(an_engine(fake_model(said()), programs), order).programs == (hit,)


def test_a_task_whose_model_the_plan_spares_asks_programs_alone(
    an_engine: Make, fake_model: Make, fake_programs: Make, an_order: Make, a_task: Make, hit: Candidate
) -> None:
    model = fake_model(None)
    task = a_task(programs_only=True)
    result = result_of(
        an_engine(model, fake_programs({"src/app.py": [hit.model_copy(update={"line": 1, "end_line": 1})]})),
        an_order(task),
    )

    assert model.requests == []
    assert [finding.sources for finding in result.findings] == [("ruff",)]
    assert (result.gaps, result.metadata.readers) == ((), ("ruff",))


def test_gaps_of_programs_are_passed_on(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any
) -> None:
    gap = Gap(path="src/app.py", worker="security", reason="missing_program", message="no ruff", tool="ruff")
    answer = work(an_engine(fake_model(said()), fake_programs(said=Answer(gaps=(gap,)))), order)

    assert answer.gaps == (gap,)


def test_programs_that_fail_are_a_gap_and_the_model_is_asked_all_the_same(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, reported: Make, order: Any
) -> None:
    answer = work(an_engine(fake_model(said(reported())), fake_programs(said=EngineError("no luck"))), order)

    assert [(gap.reason, gap.message) for gap in answer.gaps] == [("crashed", "no luck")]
    assert len(answer.candidates) == 1


@pytest.mark.parametrize("partial", [True, False])
def test_programs_that_escalate_leave_what_they_have(
    *, partial: bool, an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, hit: Candidate
) -> None:
    escalated = Escalated("timeout", "too slow", partial=Answer((hit,)) if partial else None)
    answer = work(an_engine(fake_model(said()), fake_programs(said=escalated)), order)

    assert answer.programs == ((hit,) if partial else ())
    assert [gap.message for gap in answer.gaps] == ["too slow"]


def test_a_refuted_hint_is_disputed_and_stays(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, hit: Candidate
) -> None:
    reply = said(hints=[("h1", "refuted", "z is a constant")])
    [finding] = result_of(an_engine(fake_model(reply), fake_programs({"src/app.py": [hit]})), order).findings

    assert (finding.line, finding.confidence, finding.disputed) == (2, 70, "z is a constant")
    assert finding.sources == ("ruff",)


def test_a_confirmed_hint_is_heard_as_a_program_and_a_model_that_agree(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, hit: Candidate
) -> None:
    engine = an_engine(fake_model(said(hints=[("h1", "confirmed")])), fake_programs({"src/app.py": [hit]}))
    result = result_of(engine, order)
    [finding], conflicts = merge(capped(each) for each in result.findings)

    assert conflicts == []
    assert finding.sources == ("model:opus-x", "ruff")
    assert finding.confidence == 80


def test_an_unsure_or_unknown_hint_changes_nothing(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, hit: Candidate
) -> None:
    reply = said(hints=[("h1", "unsure"), ("h7", "refuted", "no such"), ("x1", "confirmed")])
    answer = work(an_engine(fake_model(reply), fake_programs({"src/app.py": [hit]})), order)

    assert (answer.candidates, answer.programs) == ((), (hit,))


def test_an_escalation_hands_over_what_there_is(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, reported: Make, order: Any, hit: Candidate
) -> None:
    why = {"reason": "confidence_too_low", "message": "who calls this?", "better_worker": None}
    said_so = said(reported(), hints=[("h1", "refuted", "no")], escalation=why)
    escalated = work(an_engine(fake_model(said_so), fake_programs({"src/app.py": [hit]})), order)

    assert (escalated.reason, escalated.message, escalated.better_worker) == (
        "confidence_too_low", "who calls this?", None
    )  # fmt: skip
    assert [found.path for found in escalated.partial.candidates] == ["src/app.py"]
    assert [found.disputed for found in escalated.partial.programs] == ["no"]
    assert escalated.partial.metadata.readers == ("ruff",)


def test_the_metadata_sum_up_the_conversation(
    an_engine: Make, fake_model: Make, fake_tool: Make, said: Make, calling: Make, order: Any, a_card: Make
) -> None:
    look = fake_tool("look")
    model = fake_model(calling(("look", {})), said(model="opus-y"))
    metadata = work(an_engine(model, None, look), replace(order, card=a_card("security", tools=("look",)))).metadata

    assert metadata.usage == Usage(calls=2, input_tokens=20, output_tokens=40)
    assert metadata.model_used == "opus-y"
    assert metadata.readers == ("claude:opus-y", "ruff")
    assert [run.tool for run in metadata.tool_runs] == ["ruff"]


def test_a_stored_answer_costs_nothing(an_engine: Make, fake_model: Make, said: Make, order: Any) -> None:
    metadata = work(an_engine(fake_model(said(stored=True))), order).metadata

    assert metadata.usage == Usage()
    assert metadata.model_used == "opus-x"


def test_a_program_has_read_the_slices_that_it_covers_and_no_others(
    an_engine: Make, fake_model: Make, said: Make, an_order: Make, a_task: Make, a_payload: Make
) -> None:
    order = an_order(a_task(more=(a_payload(path="b.go", language="go"),)))

    readings = work(an_engine(fake_model(said())), order).metadata.readings

    assert [each.path for each in readings if each.analyzers] == ["src/app.py"]
    assert [each.path for each in readings if each.models] == ["src/app.py", "b.go"]


def test_the_duration_is_that_of_programs_and_model(
    an_engine: Make, fake_model: Make, fake_programs: Make, said: Make, order: Any, clock: Any
) -> None:
    class Slow(type(fake_programs())):  # type: ignore[misc] # the fake comes as a fixture
        async def work(self, order: Any) -> Answer:
            clock.now += 1.5
            return Answer(metadata=Metadata())

    assert work(an_engine(fake_model(said()), Slow()), order).metadata.duration_ms == 1500


@pytest.mark.parametrize(("given", "told"), [("a b\nc!", "a-b-c-"), ("", "model"), ("m" * 99, "m" * 80)])
def test_a_models_name_is_whatever_the_provider_says_made_harmless(
    given: str, told: str, an_engine: Make, fake_model: Make, said: Make, reported: Make, order: Any
) -> None:
    answer = work(an_engine(fake_model(said(reported(), model=given))), order)

    assert answer.candidates[0].source == told
    assert f"claude:{told}" in answer.metadata.readers


def test_two_slices_of_one_task_are_one_request_and_findings_find_their_file(
    an_engine: Make, fake_model: Make, said: Make, reported: Make, an_order: Make, a_task: Make, a_payload: Make
) -> None:
    task = a_task(payload=a_payload("+one = 1", path="a.py"), more=(a_payload("+two = 2", path="b.py"),))
    model = fake_model(said(reported(file="b.py", quote="two = 2"), reported(file="a.py", quote="one = 1")))
    findings: tuple[Finding, ...] = result_of(an_engine(model), an_order(task)).findings

    assert len(model.requests) == 1
    assert [(found.path, found.line) for found in findings] == [("b.py", 1), ("a.py", 1)]
