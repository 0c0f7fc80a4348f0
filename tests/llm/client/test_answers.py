"""What is believed of an answer: nothing that does not fit, and why it ended comes first."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Usage
from reviewbot.domain.contracts.answers import ProposedPlan, ReviewAnswer
from reviewbot.domain.errors import CutOffError, EngineError, RefusedError, TooLongError
from reviewbot.domain.ports import ModelReply, StopReason
from reviewbot.llm.client.answers import read_answer, schema_of

ANSWER_TYPES = (ReviewAnswer, ProposedPlan)
FOUND: dict[str, Any] = {
    "id": "f1", "task": "logic", "file": "a.py", "side": "new", "quote": "x = 1", "line": None, "title": "wrong",
    "message": "wrong", "impact": "always", "proof": [], "severity": "warning", "cause": "wrong-value",
    "category": "bug", "confidence": 70, "worth": 70, "suggestion": "", "replacement": None, "cwe": None,
}  # fmt: skip


def reply(text: str, stop: StopReason = "end") -> ModelReply:
    return ModelReply(text=text, calls=(), stop=stop, usage=Usage(), model="m")


def answer(**changed: Any) -> str:
    found = [{**FOUND, **changed}]
    return json.dumps({"summary": "", "themes": [], "findings": found, "hints": [], "tasks": []})


def fault_of(text: str) -> str:
    try:
        read_answer(reply(text), ReviewAnswer)
    except EngineError as error:
        return str(error)
    return ""


def refused(text: str, stop: StopReason = "end") -> str:
    with pytest.raises(EngineError) as caught:
        read_answer(reply(text, stop), ReviewAnswer)
    return str(caught.value)


def test_an_answer_that_fits_becomes_a_value() -> None:
    read = read_answer(reply(answer(cwe=89)), ReviewAnswer)

    assert (read.findings[0].file, read.findings[0].cwe, read.tasks) == ("a.py", 89, ())


def test_half_a_surrogate_pair_costs_that_character_and_not_the_answer() -> None:
    read = read_answer(reply(answer(message="\ud83d is \ud83d\ude00", suggestion="\udc00")), ReviewAnswer)

    assert (read.findings[0].message, read.findings[0].suggestion) == ("\ufffd is \U0001f600", "\ufffd")


@pytest.mark.parametrize("opening", ["```json", "```", "Sure!\n```json"])
def test_the_only_code_block_of_a_text_is_the_answer(opening: str) -> None:
    read = read_answer(reply(f"{opening}\n{answer()}\n```\nDone"), ReviewAnswer)

    assert len(read.findings) == 1


def test_a_code_block_inside_an_answer_is_a_part_of_it() -> None:
    read = read_answer(reply(answer(suggestion="```json\n{}\n```")), ReviewAnswer)

    assert read.findings[0].suggestion.startswith("```")


def test_a_refusal_is_an_error_of_its_own_whatever_the_text_says() -> None:
    with pytest.raises(RefusedError):
        read_answer(reply(answer(), "refusal"), ReviewAnswer)


@pytest.mark.parametrize("stop", ["max_tokens", "context", "other", "tools"])
def test_an_answer_that_ended_in_another_way_is_none_even_if_it_would_fit(stop: StopReason) -> None:
    assert refused(answer(), stop)


@pytest.mark.parametrize(
    ("stop", "kind"), [("max_tokens", CutOffError), ("context", TooLongError), ("other", EngineError)]
)
def test_what_a_smaller_question_may_help_is_told_apart(stop: StopReason, kind: type[EngineError]) -> None:
    with pytest.raises(EngineError) as caught:
        read_answer(reply("", stop), ReviewAnswer)
    assert type(caught.value) is kind


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("It is fine.", "no JSON"),
        ("Sure!\n```json\n" + answer() + "\n```\nAnd:\n```json\n" + answer() + "\n```", "no JSON"),
        ("```python\nx = 1\n```", "no JSON"),
        (answer()[:-9], "no JSON"),
        ("[" * 100_000, "no JSON"),
        (answer().replace("70", "NaN"), "NaN is no number"),
        (answer().replace("70", "1e999"), "too large"),
        (answer(confidence=101), "findings.0.confidence"),
        (answer(confidence=-1), "findings.0.confidence"),
        (answer(confidence="90"), "findings.0.confidence"),
        (answer(confidence=90.5), "findings.0.confidence"),
        (answer(confidence=True), "findings.0.confidence"),
        (answer(severity="high"), "findings.0.severity"),
        (answer(line="3"), "findings.0.line"),
        (answer(cause="bad luck"), "findings.0.cause"),
        (answer(message="m" * 8_001), "findings.0.message"),
        ('{"findings": [], "findings": [], "hints": [], "tasks": []}', "twice"),
        ('{"findings": []}', "summary"),
        ("[]", "the top"),
        ("null", "the top"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(text: str, where: str) -> None:
    assert where in refused(text)


def test_the_message_quotes_nothing_of_the_answer() -> None:
    assert "hunter2" not in refused(answer(severity="hunter2"))


@pytest.mark.parametrize("shape", ANSWER_TYPES)
def test_the_schema_that_is_sent_has_closed_objects_all_fields_required_and_no_bounds(shape: Any) -> None:
    schema = schema_of(shape)
    text = json.dumps(schema)

    jsonschema.Draft202012Validator.check_schema(schema)
    objects = [each for each in _walk(schema) if "properties" in each]
    assert all(each["additionalProperties"] is False for each in objects)
    assert all(sorted(each["required"]) == sorted(each["properties"]) for each in objects)
    assert not any(word in text for word in ("minimum", "maxLength", "pattern", "maxItems"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_at_all_gets_further_than_an_error(value: Any) -> None:
    assert len(fault_of(json.dumps(value))) < 400


def _walk(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for each in schema for found in _walk(each)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(found for each in schema.values() for found in _walk(each))]
