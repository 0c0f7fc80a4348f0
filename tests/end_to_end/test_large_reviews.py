"""Whole reviews of a change in several parts: what crosses them is read once more, and said truthfully."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.messages_api import Scripted, failed
from tests.model_reviews import Door, Team, new_file

Json = dict[str, Any]


def part(number: int, *lines: str) -> str:
    filling = [f"value_{number}_{k} = {k}" for k in range(100 - len(lines))]
    return new_file(f"shop{number}/part.py", *lines, "", *filling)


CHANGE = (
    part(1, "def reserve_seat(count):", "    return count or None")
    + part(2, "import os")
    + part(3, "from shop1.part import reserve_seat", "", "print(reserve_seat(3) + 1)")
    + part(4, "import sys")
)


@pytest.fixture(autouse=True)
def _parts_of_a_file_each(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWBOT_READER_LINES", "110")
    monkeypatch.setenv("REVIEWBOT_PLAN_ABOVE", "10000")


def seam_requests(door: Door) -> list[str]:
    return [text for asked in door.api.asked if "Names: `" in (text := json.dumps(asked.body["messages"]))]


def test_one_more_reader_sees_both_sides_of_a_name_that_crosses_parts(door: Door) -> None:
    review = door.review(CHANGE)

    [seam] = seam_requests(door)
    assert "Names: `reserve_seat`." in seam
    assert "def reserve_seat(count):" in seam
    assert "print(reserve_seat(3) + 1)" in seam
    assert "import os" not in seam
    assert "import sys" not in seam
    assert "names that cross them: reserve_seat." in review["notes"][-1]
    assert {entry["state"] for entry in review["coverage"]} == {"reviewed"}
    assert {row["worker"]: row["tasks"] for row in review["workers"]}["logic"] == 5


@pytest.mark.slow
def test_what_it_finds_stands_in_the_review_once_beside_what_the_parts_found(door: Door) -> None:
    quote = "print(reserve_seat(3) + 1)"
    claim = {
        "id": "s1", "task": "logic", "file": "shop3/part.py", "side": "new", "quote": quote, "line": 3,
        "title": "None is added to", "message": "reserve_seat(0) gives None, to which 1 cannot be added.",
        "impact": "reserve_seat(0)", "proof": [{"path": "shop1/part.py", "side": "new", "quote":
        "return count or None", "why": "0 gives None"}], "severity": "warning", "cause": "missing-case",
        "category": "wrong-value", "confidence": 90, "worth": 80, "suggestion": "", "replacement": None, "cwe": None,
    }  # fmt: skip
    door.api.otherwise = Team([claim])

    review = door.review(CHANGE)

    assert [(each["path"], each["line"]) for each in review["findings"]] == [("shop3/part.py", 3)]


@pytest.mark.slow
def test_a_seam_that_fails_is_a_gap_with_its_names_and_no_note(door: Door) -> None:
    team = Team()

    def but_for_seams(body: Json) -> Scripted:
        return failed(400, "invalid_request_error") if "Names: `" in json.dumps(body["messages"]) else team(body)

    door.api.otherwise = but_for_seams

    review = door.review(CHANGE)

    assert door.code == 4
    assert [(gap["path"], gap["worker"]) for gap in review["gaps"]] == [
        ("shop1/part.py", "logic"),
        ("shop3/part.py", "logic"),
    ]
    assert all(gap["message"].startswith("names across parts (reserve_seat): ") for gap in review["gaps"])
    assert not [note for note in review["notes"] if "names that cross" in note]
    states = {entry["path"]: entry["state"] for entry in review["coverage"]}
    assert states == {f"shop{n}/part.py": "partial" if n in (1, 3) else "reviewed" for n in range(1, 5)}


@pytest.mark.slow  # a provider that refuses again and again is left alone for 15 s
def test_what_the_reader_of_a_part_has_not_read_is_not_covered_by_a_seam(door: Door) -> None:
    team = Team()

    def but_for_the_first_part(body: Json) -> Scripted:
        shown = json.dumps(body["messages"])
        return failed(400, "invalid_request_error") if "value_1_50" in shown and "Names: `" not in shown else team(body)

    door.api.otherwise = but_for_the_first_part

    review = door.review(CHANGE)

    entry = next(each for each in review["coverage"] if each["path"] == "shop1/part.py")
    assert entry["state"] == "partial"
    assert entry["models"] == []
    assert len(seam_requests(door)) == 1
