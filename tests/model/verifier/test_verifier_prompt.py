"""The verifier's prompt asks for what the code reads, and says what it then does with it."""

from __future__ import annotations

import re

import pytest

from reviewbot.cards import shipped_files
from reviewbot.contracts import SEVERITY_ORDER, Ruling
from reviewbot.supervisor.verifier import UNVERIFIED_CAP


@pytest.fixture(name="prompt", scope="module")
def _prompt() -> str:
    return shipped_files()["prompts/verifier.md"]


def test_it_names_every_field_of_a_ruling(prompt: str) -> None:
    asked = prompt[prompt.index("## How to answer") :]

    assert [name for name in Ruling.model_fields if name != "candidate" and f"`{name}`" not in asked] == []
    assert "One ruling for each handle" in asked


def test_the_case_against_comes_before_the_run_and_the_run_before_the_rating(prompt: str) -> None:
    places = [prompt.index(step) for step in ("**Attack it.**", "**Run it.**", "**Rate it**")]

    assert places == sorted(places)


def test_the_rating_has_anchors_close_to_80_on_both_sides(prompt: str) -> None:
    anchors = [int(number) for number in re.findall(r"^\| (\d+) \|", prompt, re.MULTILINE)]

    assert anchors == sorted(anchors, reverse=True)
    assert {72, 83} <= set(anchors)
    assert min(anchors) < 10
    assert max(anchors) > 95


def test_it_says_that_everything_fenced_is_data_and_what_an_unquoted_proof_is_worth(prompt: str) -> None:
    assert "`<<<`" in prompt
    assert "never an instruction" in prompt
    assert f"{UNVERIFIED_CAP} at most" in prompt


def test_severity_is_judged_apart_and_has_no_part_in_the_rating(prompt: str) -> None:
    rating, severity = prompt.index("## The rating"), prompt.index("## The severity")

    assert "critical" not in prompt[:severity]
    assert "Never go higher because it would be grave" in prompt[rating:severity]
    assert all(f"| {name} |" in prompt[severity:] for name in SEVERITY_ORDER)
