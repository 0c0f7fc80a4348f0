"""The registry of report formats."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reviewbot.domain.contracts import Review
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.formats import FORMATS, ReportInput


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_renders_a_full_review_and_ends_with_one_line_end(name: str, full_review: Review) -> None:
    text = FORMATS[name].render(ReportInput(full_review, of_review(full_review)))

    assert text.endswith("\n")
    assert not text.endswith("\n\n")


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
