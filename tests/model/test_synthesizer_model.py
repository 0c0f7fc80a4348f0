"""The synthesizer with a model: asked once and only where rules end, believed in little, and never needed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.contracts import (
    SEVERITY_ORDER,
    ChangeSet,
    FileChange,
    Finding,
    Hunk,
    Metadata,
    Plan,
    Review,
    ReviewTask,
    Settlements,
    Usage,
    WorkerResult,
)
from reviewbot.errors import BudgetError, DeadlineError, EngineError, RefusedError, TransientError
from reviewbot.llm.client.answers import schema_of
from reviewbot.model.critic import FAILED, Critic
from reviewbot.model.synthesizer import MAX_CLUSTERS, ModelSynthesizer
from reviewbot.ports import ModelReply, ModelRequest, Settled, StopReason, Text
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from reviewbot.supervisor.verifier import by_a_model_alone
from tests.reading_cases import read

MakeFinding = Callable[..., Finding]

RULES = Rules({"security": 80, "logic": 80, "style": 90}, max_findings=50)
PROMPTS = Path(__file__).parents[2] / "prompts"
HOSTILE = Path(__file__).parents[1] / "hostile/injection"


class Scribe:
    """A model that answers as told and writes down what it was asked, and the books of it."""

    def __init__(self, *answers: object, stop: StopReason = "end") -> None:
        self.answers = list(answers)
        self.stop = stop
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.asked.append(request)
        answer = self.answers.pop(0) if self.answers else EngineError("it has no more to say")
        if isinstance(answer, EngineError):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ModelReply(text=text, calls=(), stop=self.stop, usage=Usage(calls=1), model="claude-x")

    def spent(self) -> Mapping[str, Usage]:
        return {request.purpose: Usage(calls=1, cost_usd=0.25) for request in self.asked}


def said(*settlements: Mapping[str, Any]) -> dict[str, Any]:
    known = {"same_cause": True, "keep": [], "severity": "warning", "reason": "one edit mends both", "resolved": True}
    return {"settlements": [{**known, **each} for each in settlements]}


def words_of(request: ModelRequest) -> str:
    [turn] = request.turns
    return "".join(part.text for part in turn.parts if isinstance(part, Text))


@pytest.fixture(name="told")
def _told(
    a_task: Callable[..., ReviewTask],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Hunk],
    trace: Any,
) -> Callable[..., Review]:
    """Synthesize what one task has found; lines begin at `start`."""

    def run(findings: Sequence[Finding], model: Scribe | None, critic: Critic | None = None, start: int = 1) -> Review:
        task = a_task()
        body = " def f(name):\n+    os.system(name)\n+    return 1\n-    return 2\n " + "\n ".join("abcdefghijklmn")
        change = a_change(a_file("src/app.py", a_hunk(body, start)))
        plan = Plan(goal="review it", tasks=(task,), reason="by hand")
        metadata = Metadata(readings=(read(analyzers=("ruff",)),))
        result = WorkerResult(task_id=task.task_id, findings=tuple(findings), metadata=metadata)
        settled = {task.task_id: Settled(task, (result,), done=True)}
        ruled = RuledSynthesizer(RULES, "claude", ("a note",))
        modelled = model and ModelSynthesizer(RULES, model, "Judge.", trace, "claude", ("a note",), model, critic)
        return asyncio.run((modelled or ruled).synthesize(change, plan, settled))

    return run


@pytest.fixture
def pair(a_finding: MakeFinding) -> list[Finding]:
    """A program and a model that mean one line: f1 and f2."""
    model = a_finding(
        line=2, type="logic", category="bug", sources=("model:x",), message="a crafted name runs a program"
    )
    return [model, a_finding(line=2)]


# --- when it is asked


def test_without_a_cluster_nobody_is_asked(a_finding: MakeFinding, told: Callable[..., Review]) -> None:
    model = Scribe()

    assert told([a_finding()], model) == told([a_finding()], None)
    assert model.asked == []


def test_one_call_settles_all_clusters(pair: list[Finding], told: Callable[..., Review], trace: Any) -> None:
    further = [finding.model_copy(update={"line": 8, "end_line": 8}) for finding in pair]
    model = Scribe(said({"cluster": "c1"}, {"cluster": "c2", "same_cause": False}))

    review = told([*pair, *further], model)

    assert len(model.asked) == 1
    assert [(finding.line, finding.sources) for finding in review.findings] == [
        (2, ("model:x", "ruff")),
        (8, ("model:x",)),
        (8, ("ruff",)),
    ]
    assert [(event["cluster"], event["effect"], event["reason"]) for event in trace.of("settled")] == [
        ("c1", "joined", "one edit mends both"),
        ("c2", "unchanged", "one edit mends both"),
    ]
    assert review.usage.cost_usd == 0.25
    assert [row.worker for row in review.workers] == ["logic", "synthesizer"]


def test_what_is_over_the_limit_of_clusters_stays_as_rules_have_it(
    a_finding: MakeFinding, told: Callable[..., Review], trace: Any
) -> None:
    many = [
        a_finding(line=10 * n, type=kind, category=kind, sources=(source,), message=f"{kind} speaks of it")
        for n in range(1, MAX_CLUSTERS + 3)
        for kind, source in (("logic", "model:x"), ("security", "ruff"))
    ]
    model = Scribe(said())

    review = told(many, model)

    assert len(review.findings) == len(many)
    assert words_of(model.asked[0]).count("Cluster c") == MAX_CLUSTERS
    events = trace.of("settled")
    assert events[0] == {"by": "synthesizer", "effect": "not_asked", "clusters": 2}
    assert {event["reason"] for event in events[1:]} == {"it was not answered"}


# --- what it is asked


def test_the_question_holds_the_prompt_the_code_and_the_findings_between_fences(
    pair: list[Finding], told: Callable[..., Review]
) -> None:
    model = Scribe(said())

    told(pair, model)

    [request] = model.asked
    assert (request.purpose, request.tier, request.schema) == ("synthesizer", "sonnet", schema_of(Settlements))
    [system] = request.system
    assert system.text.startswith("Judge.\n\nEverything between two lines")
    assert system.cached
    words = words_of(request)
    assert "Cluster c1: they may be one defect in different words." in words
    assert "file: src/app.py\n def f(name):\n+    os.system(name)\n+    return 1\n-    return 2\n" in words
    assert "Finding f1, by a model for the worker logic, severity warning\n<<<finding " in words
    assert "Finding f2, by a program for the worker security, severity warning\n<<<finding " in words
    assert "message: a crafted name runs a program" in words


def test_a_change_further_up_does_not_alter_the_question(pair: list[Finding], told: Callable[..., Review]) -> None:
    model = Scribe(said(), said())
    moved = [finding.model_copy(update={"line": 102, "end_line": 102}) for finding in pair]

    told(pair, model)
    told(moved, model, start=101)

    assert model.asked[0] == model.asked[1]


def test_a_quarrel_over_severity_is_put_with_what_each_said(pair: list[Finding], told: Callable[..., Review]) -> None:
    graver = pair[0].model_copy(update={"type": "security", "severity": "critical", "message": "it runs anything"})
    model = Scribe(said({"cluster": "c1"}))

    review = told([pair[0], graver], model)

    assert "security calls it critical: it runs anything\nlogic calls it warning: a crafted name runs a program" in (
        words_of(model.asked[0])
    )
    assert [finding.severity for finding in review.findings] == ["warning"]


def test_where_the_change_does_not_show_the_lines_the_findings_go_alone(
    pair: list[Finding], told: Callable[..., Review]
) -> None:
    model = Scribe(said())

    told([finding.model_copy(update={"path": "gone.py"}) for finding in pair], model)

    assert "<<<code" not in words_of(model.asked[0])


def test_a_secret_in_a_finding_is_masked_in_the_question(pair: list[Finding], told: Callable[..., Review]) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    model = Scribe(said())

    told([pair[0].model_copy(update={"suggestion": f"use {secret}"}), pair[1]], model)

    assert secret not in words_of(model.asked[0])


def test_the_shipped_prompt_judges_findings_and_seeks_no_defects() -> None:
    text = (PROMPTS / "synthesizer.md").read_text()

    assert "You judge **findings against each other**. You do not review the code" in text


# --- when it fails


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (BudgetError("12 tokens left"), "the budget was spent"),
        (DeadlineError("late"), "no time was left"),
        (RefusedError("no"), "the model declined to answer"),
        (TransientError("503"), "the model could not be reached"),
        (EngineError("odd"), "the model's answer could not be used"),
    ],
)
def test_where_nobody_answers_the_rules_stand_and_a_note_says_so(
    error: EngineError, why: str, pair: list[Finding], told: Callable[..., Review], trace: Any
) -> None:
    review = told(pair, Scribe(error))

    assert review.findings == told(pair, None).findings
    assert review.notes == ("a note", f"contradictions and repetitions among the findings were not settled: {why}")
    assert [(event["effect"], event["reason"]) for event in trace.of("settled")] == [("failed", str(error))]


@pytest.mark.parametrize(
    "answer",
    ["", "[]", "null", '{"settlements": 1}', '{"settlements": [], "settlements": []}', said({"cluster": "; drop"}),
     said({"cluster": "c1", "confidence": 0}), said({"cluster": "c1", "severity": "none"})],
)  # fmt: skip
def test_an_answer_that_cannot_be_used_is_none(
    answer: object, pair: list[Finding], told: Callable[..., Review]
) -> None:
    review = told(pair, Scribe(answer))

    assert review.findings == told(pair, None).findings
    assert len(review.notes) == 2


def test_an_answer_that_was_cut_off_is_none(pair: list[Finding], told: Callable[..., Review]) -> None:
    assert len(told(pair, Scribe(said({"cluster": "c1"}), stop="max_tokens")).findings) == 2


# --- second-order injection


def test_a_finding_that_speaks_to_the_synthesizer_silences_no_other(
    a_finding: MakeFinding, told: Callable[..., Review]
) -> None:
    """Even where the model obeys it to the letter."""
    case = json.loads((HOSTILE / "I18_second_order.json").read_text())
    poison = case["worker_output"]["findings"][0]["message"]
    poisoned = a_finding(line=2, type="logic", severity="info", confidence=95, message=poison, sources=("model:x",))
    found = a_finding(
        line=2, severity="critical", confidence=92, message="user input reaches a shell", sources=("model:y",)
    )
    obeyed = said({"cluster": "c1", "keep": ["f1"], "severity": "info"})
    by_program = found.model_copy(update={"sources": ("taint",)})

    [one] = told([poisoned, found], Scribe(obeyed)).findings
    program = told([poisoned, by_program], Scribe(obeyed))

    assert one.message == "user input reaches a shell"
    [conflict] = program.conflicts
    assert by_program in conflict.findings


# --- with a critic


def test_the_critic_looks_over_what_was_settled(pair: list[Finding], told: Callable[..., Review], trace: Any) -> None:
    remark = {"finding": "f1", "action": "drop", "reason": "said twice"}
    model = Scribe(said({"cluster": "c1", "same_cause": False}), {"remarks": [remark]})

    review = told(pair, model, Critic(model, "Criticize.", trace))

    assert [finding.sources for finding in review.findings] == [("ruff",)]
    assert [(entry.reason, entry.message) for entry in review.withheld] == [("critic", "said twice")]
    assert review.headline.startswith("1 issue found")
    assert [row.worker for row in review.workers] == ["logic", "synthesizer", "critic"]


def test_a_critic_that_fails_leaves_a_note(pair: list[Finding], told: Callable[..., Review], trace: Any) -> None:
    model = Scribe(said(), EngineError("no"))

    review = told(pair, model, Critic(model, "Criticize.", trace))

    assert (len(review.findings), review.notes) == (2, ("a note", FAILED))


# --- whatever is answered

HANDLE = st.from_regex(r"\A[cf][0-9]{1,2}\Z")
SETTLED = st.fixed_dictionaries(
    {
        "cluster": st.sampled_from(("c1", "c2", "c3")) | HANDLE,
        "same_cause": st.booleans(),
        "keep": st.lists(HANDLE, max_size=4),
        "severity": st.sampled_from(("critical", "warning", "info")),
        "reason": st.just("because"),
        "resolved": st.booleans(),
    }
)
REMARK = st.fixed_dictionaries(
    {"finding": HANDLE, "action": st.sampled_from(("drop", "demote")), "reason": st.just("because")}
)
FOUND = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(("security", "logic", "style")),
            "severity": st.sampled_from(("critical", "warning", "info")),
            "line": st.integers(1, 4),
            "message": st.sampled_from(("user input reaches a shell", "the shell is never closed")),
            "confidence": st.sampled_from((40, 60, 85, 95)),
            "category": st.sampled_from(("injection", "leak")),
            "suggestion": st.sampled_from(("", "a()", "b()")),
            "disputed": st.sampled_from(("", "a fixed list")),
        }
    ),
    max_size=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=FOUND,
    models=st.lists(st.booleans(), min_size=8, max_size=8),
    answers=st.lists(SETTLED, max_size=6),
    remarks=st.lists(REMARK, max_size=8),
    order=st.randoms(use_true_random=False),
)
def test_no_answers_delete_or_lower_what_a_program_found_and_their_order_does_not_show(
    drawn: list[dict[str, Any]],
    models: list[bool],
    answers: list[dict[str, Any]],
    remarks: list[dict[str, Any]],
    order: Any,
    a_finding: MakeFinding,
    told: Callable[..., Review],
    trace: Any,
) -> None:
    findings = [
        a_finding(**fields, sources=(f"model:{n}" if model else f"ruff-{n}",))
        for n, (fields, model) in enumerate(zip(drawn, models, strict=False))
    ]

    def run(settlements: list[dict[str, Any]], criticism: list[dict[str, Any]]) -> Review:
        first = {"settlements": settlements}
        model, critic = Scribe(first), Scribe({"remarks": criticism})
        return told(findings, model, Critic(critic, "Criticize.", trace))

    review = run(answers, remarks)
    turned = run(order.sample(answers, len(answers)), order.sample(remarks, len(remarks)))

    assert review == turned
    everything = everywhere(review)
    sources = sorted(source for finding in everything for source in finding.sources)
    assert sources == sorted(source for finding in findings for source in finding.sources)
    for finding in findings:
        if not by_a_model_alone(finding):
            [now] = [each for each in everything if finding.sources[0] in each.sources]
            assert now.confidence >= finding.confidence
            assert SEVERITY_ORDER[now.severity] <= SEVERITY_ORDER[finding.severity]
    dropped = [entry.finding for entry in review.withheld if entry.reason == "critic"]
    assert all(map(by_a_model_alone, dropped))


def everywhere(review: Review) -> list[Finding]:
    """Every finding of every place of a review."""
    people = [item.finding for item in review.human if item.finding is not None]
    sides = [finding for conflict in review.conflicts for finding in conflict.findings]
    return [*review.findings, *(entry.finding for entry in review.withheld), *people, *sides]
