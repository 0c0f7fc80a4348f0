"""The critic: it may drop or demote what a model found, with a reason, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.contracts import ChangeSet, Critique, FileChange, Finding, Usage, Withheld
from reviewbot.errors import BudgetError
from reviewbot.llm.client.answers import schema_of
from reviewbot.model.critic import FAILED, MAX_FINDINGS, Critic, Criticized
from reviewbot.ports import ModelReply, ModelRequest, Text
from reviewbot.supervisor.weighing import Weighed

MakeFinding = Callable[..., Finding]
Look = Callable[..., Criticized]


class Scribe:
    """A model that has one answer and writes down what it was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ModelReply(text=json.dumps(self.answer), calls=(), stop="end", usage=Usage(calls=1), model="claude-x")


def remarks(*said: tuple[str, str, str]) -> dict[str, Any]:
    return {"remarks": [{"finding": finding, "action": action, "reason": reason} for finding, action, reason in said]}


@pytest.fixture
def by_model(a_finding: MakeFinding) -> MakeFinding:
    def make(**fields: Any) -> Finding:
        return a_finding(**{"sources": ("model:x",), **fields})

    return make


@pytest.fixture
def look(a_change: Callable[..., ChangeSet], a_file: Callable[..., FileChange], trace: Any) -> Look:
    """Have findings that are shown looked over."""

    def run(shown: list[Finding], model: Scribe) -> Criticized:
        weighed = Weighed(shown, [], [], [])
        return asyncio.run(Critic(model, "Criticize.", trace).criticized(a_change(a_file()), weighed))

    return run


def test_it_is_asked_once_about_everything_that_is_shown(
    by_model: MakeFinding, a_finding: MakeFinding, look: Look
) -> None:
    model = Scribe(remarks())

    look([by_model(message="a file stays open"), a_finding(line=40)], model)

    [request] = model.asked
    assert (request.purpose, request.tier, request.schema) == ("critic", "sonnet", schema_of(Critique))
    assert request.system[0].text.startswith("Criticize.\n\n")
    [part] = request.turns[0].parts
    assert isinstance(part, Text)
    assert "Finding f1, by a model, for the worker security, severity warning\n<<<finding" in part.text
    assert "Finding f2, by a program, not yours to judge, for the worker security" in part.text
    assert part.text.count("<<<code") == 1, "the change shows the first line alone"


def test_without_a_models_finding_nobody_is_asked(a_finding: MakeFinding, look: Look) -> None:
    model = Scribe(remarks(("f1", "drop", "no")))

    assert look([a_finding()], model).weighed.shown == [a_finding()]
    assert model.asked == []


def test_what_it_drops_is_withheld_with_its_reason(by_model: MakeFinding, look: Look, trace: Any) -> None:
    twice, other = by_model(line=1), by_model(line=9)

    weighed, notes = look([twice, other], Scribe(remarks(("f1", "drop", "the other says it"))))

    assert (weighed.shown, notes) == ([other], ())
    assert weighed.withheld == [Withheld(finding=twice, reason="critic", message="the other says it")]
    assert [(event["by"], event["finding"], event["effect"]) for event in trace.of("settled")] == [
        ("critic", "f1", "drop")
    ]


def test_what_it_demotes_goes_one_step_down_and_to_its_new_place(by_model: MakeFinding, look: Look) -> None:
    loud, other = by_model(severity="critical", judgement="Run by hand."), by_model(line=9, confidence=95)

    shown = look([loud, other], Scribe(remarks(("f1", "demote", "a log line is lost, no more")))).weighed.shown

    assert [(finding.line, finding.severity) for finding in shown] == [(9, "warning"), (1, "warning")]
    assert shown[1].judgement == "Run by hand. Demoted from critical: a log line is lost, no more"


def test_there_is_nothing_below_a_note(by_model: MakeFinding, look: Look) -> None:
    note = by_model(severity="info")

    assert look([note], Scribe(remarks(("f1", "demote", "small")))).weighed.shown == [note]


def test_what_a_program_found_is_not_its_to_judge(a_finding: MakeFinding, by_model: MakeFinding, look: Look) -> None:
    program, both = a_finding(), a_finding(line=5, sources=("model:x", "ruff"))
    said = remarks(("f1", "drop", "no"), ("f2", "demote", "no"))

    assert look([program, both, by_model(line=9)], Scribe(said)).weighed.shown == [program, both, by_model(line=9)]


def test_of_two_remarks_on_one_finding_the_milder_one_counts(by_model: MakeFinding, look: Look) -> None:
    said = [("f1", "drop", "a"), ("f1", "demote", "c"), ("f1", "demote", "b")]

    for order in (said, said[::-1]):
        [shown] = look([by_model()], Scribe(remarks(*order))).weighed.shown
        assert (shown.severity, shown.judgement) == ("info", "Demoted from warning: b")


@pytest.mark.parametrize("answer", [BudgetError("spent"), KeyError("bug"), "nothing", remarks(("x", "drop", ""))])
def test_where_it_fails_everything_stays_and_a_note_says_so(
    answer: object, by_model: MakeFinding, look: Look, trace: Any
) -> None:
    weighed, notes = look([by_model()], Scribe(answer))

    assert (weighed.shown, weighed.withheld, notes) == ([by_model()], [], (FAILED,))
    assert [event["effect"] for event in trace.of("settled")] == ["failed"]


def test_the_text_of_a_foreign_error_is_not_told(by_model: MakeFinding, look: Look, trace: Any) -> None:
    look([by_model()], Scribe(KeyError("/root/secret")))

    assert [event["reason"] for event in trace.of("settled")] == ["KeyError"]


def test_what_is_over_its_limit_stays(by_model: MakeFinding, look: Look) -> None:
    many = [by_model(line=line) for line in range(1, MAX_FINDINGS + 3)]

    weighed = look(many, Scribe(remarks(("f1", "drop", "no"), (f"f{MAX_FINDINGS + 1}", "drop", "no")))).weighed

    assert weighed.shown == many[1:]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(
        st.tuples(
            st.integers(1, 12).map("f{}".format), st.sampled_from(("drop", "demote")), st.sampled_from(("a", "b"))
        ),
        max_size=20,
    ),
    models=st.lists(st.booleans(), max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_no_remarks_touch_a_program_lose_a_finding_or_depend_on_their_order(
    said: list[tuple[str, str, str]], models: list[bool], order: Any, a_finding: MakeFinding, look: Look
) -> None:
    shown = [
        a_finding(line=n, severity="critical", sources=("model:x" if model else "ruff",))
        for n, model in enumerate(models, 1)
    ]

    weighed = look(shown, Scribe(remarks(*said))).weighed
    turned = look(shown, Scribe(remarks(*order.sample(said, len(said))))).weighed

    assert weighed == turned
    lines = [*(finding.line for finding in weighed.shown), *(entry.finding.line for entry in weighed.withheld)]
    assert sorted(lines) == [finding.line for finding in shown]
    assert [f for f in shown if f.sources == ("ruff",)] == [f for f in weighed.shown if f.sources == ("ruff",)]
