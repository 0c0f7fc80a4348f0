"""The contracts: frozen, strict, nothing unknown, and the rules that hold between fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from reviewbot.domain import contracts
from reviewbot.domain.contracts import (
    SEVERITY_ORDER,
    Candidate,
    CardBudget,
    ChangeSet,
    Conflict,
    Contract,
    Escalation,
    Failure,
    Hunk,
    Outcome,
    ParsedFile,
    Plan,
    Usage,
    WorkerResult,
)
from tests.make import MakeCandidate, MakeCard, MakeFile, MakeFinding, MakeTask

OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
MODELS = [
    model
    for model in vars(contracts).values()
    if isinstance(model, type) and issubclass(model, Contract) and model is not Contract
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_contract_is_a_strict_frozen_value(model: type[Contract]) -> None:
    config = model.model_config

    assert (config["frozen"], config["strict"], config["extra"]) == (True, True, "forbid")
    assert config["allow_inf_nan"] is False


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_contract_has_a_schema_that_refuses_what_it_does_not_know(model: type[Contract]) -> None:
    assert model.model_json_schema()["additionalProperties"] is False


def test_a_value_cannot_be_changed(a_finding: MakeFinding) -> None:
    finding = a_finding()

    with pytest.raises(ValidationError, match="frozen"):
        finding.confidence = 99


def test_a_field_that_nobody_knows_is_refused(a_finding: MakeFinding) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        a_finding(verdict="APPROVE")


@pytest.mark.parametrize("confidence", [-1, 101, 1_000_000_000, 95.0, 0.95, "95", "95%", True, None, float("nan")])
def test_a_confidence_is_a_whole_number_from_0_to_100_and_nothing_is_bent_into_one(
    confidence: object, a_candidate: MakeCandidate
) -> None:
    with pytest.raises(ValidationError):
        a_candidate(confidence=confidence)


@pytest.mark.parametrize("confidence", [0, 100])
def test_the_ends_of_the_scale_are_on_it(confidence: int, a_candidate: MakeCandidate) -> None:
    assert a_candidate(confidence=confidence).confidence == confidence


@pytest.mark.parametrize("text", ["NaN", "1e999", "95.0", '"95"', "true"])
def test_json_that_is_no_confidence_is_refused_too(text: str, a_candidate: MakeCandidate) -> None:
    valid = a_candidate(confidence=50).model_dump_json()

    with pytest.raises(ValidationError):
        Candidate.model_validate_json(valid.replace('"confidence":50', f'"confidence":{text}'))


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -0.01])
def test_money_is_finite_and_never_negative(cost: float) -> None:
    with pytest.raises(ValidationError):
        Usage(cost_usd=cost)


@pytest.mark.parametrize(
    "fields",
    [{"line": 0}, {"severity": "blocker"}, {"message": ""}, {"message": "x" * 2_001}, {"quote": "x" * 4_001}],
)
def test_a_candidate_is_bounded(fields: dict[str, Any], a_candidate: MakeCandidate) -> None:
    with pytest.raises(ValidationError):
        a_candidate(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"applies_to": ()},
        {"tiers": ()},
        {"tiers": ("gpt",)},
        {"prompt": "../secret.md"},
        {"prompt": "logic.txt"},
        {"description": "short"},
        {"threshold": 101},
        {"task_type": "Logic"},
        {"tools": ("rm -rf",)},
        {"depends_on": ("Logic!",)},
    ],
)
def test_a_card_that_says_something_odd_is_refused(fields: dict[str, Any], a_card: MakeCard) -> None:
    with pytest.raises(ValidationError):
        a_card(**fields)


@pytest.mark.parametrize("name", ["Logic", "1logic", "-logic", "lo gic", "logic\n", "", "x" * 41, "../logic"])
def test_a_worker_has_a_plain_name(name: str, a_card: MakeCard) -> None:
    with pytest.raises(ValidationError):
        a_card(name, task_type="logic", prompt="logic.md")


@pytest.mark.parametrize(
    "fields", [{"max_tokens": 255}, {"timeout_ms": 99}, {"timeout_ms": 900_001}, {"max_turns": 0}, {"max_turns": 11}]
)
def test_a_budget_has_bounds(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CardBudget(**fields)


# --- rules between fields


def test_each_file_of_a_change_has_its_parse_state_in_order(a_file: MakeFile) -> None:
    files = (a_file("a.py"), a_file("b.py"))
    parsed = tuple(ParsedFile(path=path, state="read") for path in ("a.py", "b.py"))

    assert ChangeSet(files=files, parsed=parsed).files == files
    for wrong in (parsed[:1], parsed[::-1], (*parsed, parsed[0])):
        with pytest.raises(ValidationError, match="exactly once"):
            ChangeSet(files=files, parsed=wrong)


def test_a_change_may_have_two_sections_of_one_path(a_file: MakeFile) -> None:
    entry = ParsedFile(path="a.py", state="read")

    assert len(ChangeSet(files=(a_file("a.py"),) * 2, parsed=(entry,) * 2).files) == 2


def test_two_tasks_cannot_share_an_id(a_task: MakeTask) -> None:
    with pytest.raises(ValidationError, match="two tasks are called"):
        Plan(goal="g", reason="r", tasks=(a_task("logic:a.py#1"),) * 2)


@pytest.mark.parametrize("depends_on", ["style:a.py#1", "logic:a.py#1", "judge:a.py#1"])
def test_a_task_depends_on_earlier_tasks_alone(depends_on: str, a_task: MakeTask) -> None:
    tasks = (a_task("logic:a.py#1", depends_on=(depends_on,)), a_task("style:a.py#1"))

    with pytest.raises(ValidationError, match="which no earlier task is called"):
        Plan(goal="g", reason="r", tasks=tasks)


def test_a_conflict_has_two_sides(a_finding: MakeFinding) -> None:
    with pytest.raises(ValidationError):
        Conflict(findings=(a_finding(),), reason="alone")


def test_critical_comes_first() -> None:
    assert sorted(SEVERITY_ORDER, key=lambda name: SEVERITY_ORDER[name]) == ["critical", "warning", "info"]


# --- through JSON and back


@pytest.mark.parametrize("text", ["{}", '{"kind": "song"}', '{"kind": "result"}', "[]", "null", "NaN", ""])
def test_json_that_is_no_outcome_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        OUTCOME.validate_json(text)


TEXTS = st.text(max_size=30)
OUTCOMES = st.one_of(
    st.builds(WorkerResult, task_id=TEXTS),
    st.builds(
        Escalation,
        task_id=TEXTS,
        reason=st.sampled_from(("timeout", "out_of_scope")),
        message=TEXTS,
        partial_result=st.none() | st.builds(WorkerResult, task_id=TEXTS),
    ),
    st.builds(Failure, task_id=TEXTS, reason=st.sampled_from(("crashed", "bad_answer")), message=TEXTS),
)


@given(outcome=OUTCOMES)
def test_an_outcome_survives_json(outcome: WorkerResult | Escalation | Failure) -> None:
    assert OUTCOME.validate_json(outcome.model_dump_json()) == outcome


@given(body=st.text(), heading=st.text())
def test_a_hunk_survives_json_whatever_its_text_holds(body: str, heading: str) -> None:
    hunk = Hunk(old_start=0, old_count=0, new_start=1, new_count=1, heading=heading, body=body)

    assert Hunk.model_validate_json(hunk.model_dump_json()) == hunk
