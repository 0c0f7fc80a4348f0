from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Finding, Plan, Review
from reviewbot.report.json_report import render_json
from reviewbot.strict_json import write_json

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_whole_review_as_json(full_review: Review, golden: Callable[[str, str], None]) -> None:
    golden("review.json", render_json(full_review))


def test_the_json_reads_back_as_the_same_review(full_review: Review) -> None:
    assert Review.model_validate_json(render_json(full_review)) == full_review


def test_the_json_reads_back_as_the_same_plan(full_plan: Plan) -> None:
    assert Plan.model_validate_json(render_json(full_plan)) == full_plan


def test_the_schema_version_comes_first(full_review: Review, full_plan: Plan) -> None:
    assert next(iter(json.loads(render_json(full_review)))) == "schema_version"
    assert next(iter(json.loads(render_json(full_plan)))) == "schema_version"


@given(text=st.text())
def test_the_json_is_printable_ascii_and_keeps_the_text(
    text: str, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    out = render_json(make_review(findings=(make_finding(message=text, path=text),)))

    assert set(out) - {"\n"} <= {chr(code) for code in range(0x20, 0x7F)}
    assert out.endswith("}\n")
    assert json.loads(out)["findings"][0]["message"] == text


def test_delete_characters_are_escaped_like_other_controls(make_review: Callable[..., Review]) -> None:
    assert '"summary": "a\\u007fb\\u001bc"' in render_json(make_review(summary="a\x7fb\x1bc"))


@given(text=st.text())
def test_the_json_is_laid_out_as_json_dumps_does(
    text: str, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    review = make_review(findings=(make_finding(message=text, path=text),), notes=(text,))

    assert render_json(review) == write_json(review.model_dump(mode="json"), indent=2) + "\n"
