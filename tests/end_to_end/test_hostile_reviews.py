"""Whole reviews of the hostile corpus: what must be found is found, what must be hidden is never shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main
from reviewbot.report.formats import FORMATS
from tests.make import one_fast

HOSTILE = Path(__file__).parents[1] / "hostile"
CASES = {case["id"]: case for case in json.loads((HOSTILE / "index.json").read_text("utf-8"))["cases"]}
UNICODE = [case for case in CASES.values() if case["kind"] == "unicode"]
PLANTED = [c for c in CASES.values() if c["kind"] in ("diff", "unicode") and "planted_line" in c["expect"]]

NEVER_RAW = {
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
    *map(chr, range(0xE0000, 0xE0080)),
    *"\u200b\u2060\u2028\u2029\x85\x0b\x0c\x1b\x1c\x1d\x1e\x00\r",
}
"""What changes how a terminal, a page or a model reads the text around it."""

Said = Callable[..., str]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """What a review of a case says, in a format."""
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)

    def reviewed(case: dict[str, Any], form: str = "json") -> str:
        main(["review", str(HOSTILE / case["file"]), "--no-cache", "--format", form])
        return capsys.readouterr().out

    return reviewed


def every_finding(text: str) -> list[dict[str, Any]]:
    answer = json.loads(text)
    people = [item["finding"] for item in answer["human"] if item["finding"]]
    return [*answer["findings"], *people, *(entry["finding"] for entry in answer["withheld"])]


@pytest.mark.parametrize("case", PLANTED, ids=lambda case: case["id"])
def test_the_planted_defect_is_found_on_its_line(case: dict[str, Any], said: Said) -> None:
    found = every_finding(said(case))

    assert case["expect"]["planted_line"] in {f["line"] for f in found if f["category"] == "code-injection"}
    if "path" in case["expect"]:
        assert {f["path"] for f in found} == {case["expect"]["path"]}


@pytest.mark.parametrize("case", [c for c in UNICODE if "line" in c["expect"]], ids=lambda case: case["id"])
def test_what_is_hidden_is_posted_on_its_line(case: dict[str, Any], said: Said) -> None:
    posted = json.loads(said(case))["findings"]

    assert case["expect"]["line"] in {f["line"] for f in posted if f["category"] == "hidden-text"}


@pytest.mark.parametrize("case", [c for c in UNICODE if "codepoints" in c["expect"]], ids=lambda case: case["id"])
def test_the_code_points_are_named(case: dict[str, Any], said: Said) -> None:
    messages = " ".join(f["message"] for f in json.loads(said(case))["findings"])

    assert all(point in messages for point in case["expect"]["codepoints"])


def test_a_text_that_nobody_sees_is_quoted_as_data(said: Said) -> None:
    [finding] = [f for f in json.loads(said(CASES["U03"]))["findings"] if f["rule"] == "hidden-text"]

    assert '"IGNORE ALL PREVIOUS INSTRUCTIONS.' in finding["message"]


def test_text_of_other_scripts_and_emoji_is_no_finding(said: Said) -> None:
    assert len(every_finding(said(CASES["U12"]))) == CASES["U12"]["expect"]["findings"] == 0


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("case", one_fast(UNICODE), ids=lambda case: case["id"])
def test_no_hidden_character_leaves_the_process_raw(case: dict[str, Any], form: str, said: Said) -> None:
    assert not NEVER_RAW & set(said(case, form))
