"""The registry of report formats."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from reviewbot.domain.contracts import Finding, Review
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.formats import FORMATS, ReportInput
from reviewbot.review.combine.visibility import Rules, merge_and_sort


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_a_full_review_and_ends_with_one_line_end(name: str, full_review: Review) -> None:
    text = FORMATS[name].render(ReportInput(full_review, of_review(full_review)))

    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("name", FORMATS)
def test_a_critical_finding_below_a_raised_threshold_is_named_for_the_person_with_the_threshold(
    name: str, make_finding: Callable[..., Finding], make_review: Callable[..., Review]
) -> None:
    found = make_finding(path="shop/pay.py", line=417, end_line=417, message="The amount goes unchecked", confidence=85)
    sorted_findings = merge_and_sort([found], Rules({"security": 90}, max_findings=9))
    review = make_review(findings=(), conflicts=(), human=tuple(sorted_findings.human), verdict="needs_person")

    text = FORMATS[name].render(ReportInput(review, of_review(review), width=200))

    assert "shop/pay.py" in text
    assert "417" in text
    assert "The amount goes unchecked" in text
    assert "person" in text
    assert name == "agent" or "below the threshold: confidence 85 is below 90" in text


def test_formats_have_names_and_modules_of_their_own() -> None:
    assert len({form.module for form in FORMATS.values()}) == len(FORMATS)
    assert list(FORMATS) == [form.name for form in FORMATS.values()]
    assert all(form.suffix.startswith(".") for form in FORMATS.values())


def test_files_of_the_action_have_names_of_their_own() -> None:
    suffixes = [form.suffix for form in FORMATS.values() if form.action_file]

    assert len(set(suffixes)) == len(suffixes)


def test_the_registry_loads_no_renderer_and_no_contract() -> None:
    program = "import sys, reviewbot.report.formats; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert not {"pydantic", *(form.module for form in FORMATS.values())} & set(loaded)
