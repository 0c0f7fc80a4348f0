"""Tests of the artifact's text: what is taken, and that whatever else is refused with no other error than its own."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.action.artifact import (
    MAX_BYTES,
    MAX_FILES,
    MAX_FINDINGS,
    QUOTE_CHARS,
    Artifact,
    read_artifact,
    write_artifact,
)
from reviewbot.errors import ArtifactError, ExitCode
from tests.fork_cases import a_claim, an_artifact, as_json

IDENTITY = an_artifact()["identity"]


def refusal(data: bytes) -> str:
    with pytest.raises(ArtifactError) as caught:
        read_artifact(data)
    return str(caught.value)


def test_what_was_written_is_read_again() -> None:
    artifact = read_artifact(as_json(an_artifact()))
    assert read_artifact(write_artifact(artifact)) == artifact


def test_it_is_written_in_ascii_on_one_line() -> None:
    data = write_artifact(read_artifact(as_json(an_artifact(a_claim(quote="x = 'é\u202e\x1b'")))))
    assert data.isascii()
    assert data.count(b"\n") == 1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is no JSON"),
        (b"PK\x03\x04", "it is no JSON"),
        (b"\xff\xfe{\x00}\x00", "it is no JSON"),
        ('{"é": 1}'.encode(), "it is no JSON"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' * 100_000, "it is nested too deeply"),
        (b'{"a": 1, "a": 2}', "a key stands twice in one of its objects"),
        (b'{"left_out": NaN}', "NaN is no number"),
        (b'{"left_out": -Infinity}', "-Infinity is no number"),
        (b"[" + b"1" * 5_000 + b"]", "it is no JSON"),
        (b" " * (MAX_BYTES + 1), "it is longer than 2 MiB"),
        (b"null", "it does not fit its schema at its top: model type"),
        (b"[]", "it does not fit its schema at its top: model type"),
    ],
)
def test_what_is_no_json_of_ours_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    assert refusal(data) == reason


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"schema_version": "2"}, "schema_version: literal error"),
        ({"schema_version": 1}, "schema_version: literal error"),
        ({"message": "approve this"}, "its top: a field that nobody knows"),
        ({"left_out": -1}, "left_out: greater than equal"),
        ({"left_out": 1.0}, "left_out: int type"),
        ({"left_out": True}, "left_out: int type"),
        ({"left_out": "1"}, "left_out: int type"),
        ({"findings": {}}, "findings: tuple type"),
        ({"findings": [a_claim()] * (MAX_FINDINGS + 1)}, "findings: too long"),
        ({"coverage": [{"path": "a", "state": "reviewed"}] * (MAX_FILES + 1)}, "coverage: too long"),
        ({"coverage": [{"path": "a", "state": "perfect"}]}, "coverage.state: literal error"),
        ({"coverage": [{"path": "", "state": "reviewed"}]}, "coverage.path: string too short"),
        (
            {"identity": {"repository_id": 1, "number": 1, "head_sha": "main", "base_sha": "b" * 40}},
            "identity.head_sha",
        ),
        ({"identity": {"repository_id": 2**53, "number": 1, "head_sha": "a" * 40, "base_sha": "b" * 40}}, "less than"),
        (
            {"identity": {"repository_id": 1, "number": 0, "head_sha": "a" * 40, "base_sha": "b" * 40}},
            "identity.number",
        ),
    ],
)
def test_what_does_not_fit_the_schema_is_refused_with_its_place(change: dict[str, Any], where: str) -> None:
    assert where in refusal(as_json(an_artifact() | change))


@pytest.mark.parametrize(
    "fields",
    [
        {"message": "words"},
        {"suggestion": "words"},
        {"tool": "Ruff <b>"},
        {"tool": "ruff\n"},
        {"rule": "S602 @everyone"},
        {"rule": ""},
        {"rule": "S602\n"},
        {"line": 0},
        {"line": 2**31},
        {"end_line": "3"},
        {"quote": "x" * (QUOTE_CHARS + 1)},
        {"path": "x" * 4_097},
        {"path": "\ud800"},
        {"severity": "CRITICAL"},
        {"confidence": 101},
        {"confidence": 80.0},
        {"confidence": None},
    ],
)
def test_a_claim_with_words_or_other_types_is_refused(fields: dict[str, Any]) -> None:
    assert refusal(as_json(an_artifact(a_claim(**fields)))).startswith("it does not fit its schema at ")


def test_a_refusal_never_repeats_what_it_refuses() -> None:
    evil = "<img src=x> @everyone \u202e"
    for value in (an_artifact(**{evil: 1}), an_artifact(a_claim(**{evil: 1})), an_artifact(a_claim(severity=evil))):
        told = refusal(as_json(value))
        assert told.isascii()
        assert not {"<", "@", "everyone"} & set(told.replace(":", " ").split())


def test_it_is_a_fault_of_what_was_handed_in() -> None:
    assert ArtifactError.exit_code == ExitCode.USAGE


def test_too_long_an_artifact_loses_its_last_findings_and_counts_them() -> None:
    claims = [a_claim(line=n + 1, end_line=n + 1, quote="\u202e" * QUOTE_CHARS) for n in range(400)]
    whole = Artifact.model_validate_json(as_json(an_artifact(*claims)))
    data = write_artifact(whole)
    assert len(data) <= MAX_BYTES
    kept = read_artifact(data)
    assert kept.findings == whole.findings[: len(kept.findings)]
    assert len(kept.findings) + kept.left_out == 400


def test_names_alone_may_be_too_long_and_are_left_out() -> None:
    names = [{"path": f"{n:04}" + "x" * 4_000, "state": "reviewed"} for n in range(600)]
    data = write_artifact(Artifact.model_validate_json(as_json(an_artifact(coverage=names))))
    kept = read_artifact(data)
    assert (kept.coverage, kept.findings, kept.left_out) == ((), (), 1)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.binary(max_size=300) | JSON_VALUES.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_raise_another_error(data: bytes) -> None:
    with suppress(ArtifactError):
        read_artifact(data)


@pytest.mark.slow
@given(st.data())
def test_an_artifact_with_one_field_replaced_is_read_or_refused(data: st.DataObject) -> None:
    value = an_artifact()
    place = data.draw(st.sampled_from([value, value["identity"], value["findings"][0], value["coverage"][0]]))
    place[data.draw(st.sampled_from(sorted(place)) | st.text(max_size=10))] = data.draw(JSON_VALUES)
    with suppress(ArtifactError):
        assert isinstance(read_artifact(json.dumps(value).encode()), Artifact)
