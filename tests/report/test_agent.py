"""Findings for a coding agent: JSON lines, and prompts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import FileCoverage, Finding, Proof, Review
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.findings.agent import INTRODUCTION, acceptance_of, prompt_of, prompt_of_all, render
from reviewbot.report.formats import ReportInput


def records(review: Review) -> list[dict[str, Any]]:
    return [json.loads(line) for line in render(ReportInput(review, of_review(review))).splitlines()]


def test_the_first_line_is_the_verdict_and_each_further_one_a_finding(full_review: Review) -> None:
    verdict, *findings = records(full_review)
    slow = "app/views/orders_and_invoices_and_more/list_view.py"

    assert verdict == {
        "kind": "review",
        "verdict": "issues",
        "engine": full_review.engine,
        "coverage": "4 of 7 files reviewed (1 reviewed in part, 1 only scanned, 1 not reviewed)",
        "incomplete": False,
        "not_reviewed": [
            {"path": slow, "state": "partial", "reason": "one line is too long"},
            {"path": "poetry.lock", "state": "scanned", "reason": "a lock file"},
            {"path": "logo.png", "state": "not_reviewed", "reason": "binary"},
        ],
        "for_a_person": [
            {"path": "workers/own.toml", "line": None, "reason": "The change edits the bot's own configuration."},
            {"path": "app/db.py", "line": 3, "reason": "A file was replaced by a symlink."},
        ],
    }
    assert [each["status"] for each in findings] == [*["certain"] * 3, *["contradicted"] * 2, "for a person"]
    assert {each["kind"] for each in findings} == {"finding"}
    assert len({each["fingerprint"] for each in findings}) == len(findings)


def test_a_review_without_a_finding_still_says_what_it_read(make_review: Callable[..., Review]) -> None:
    [verdict] = records(make_review())

    assert (verdict["verdict"], verdict["coverage"]) == ("clean", "1 of 1 file reviewed")
    assert (verdict["engine"], verdict["not_reviewed"], verdict["for_a_person"]) == ("analyzers", [], [])


def test_the_first_line_lists_fifty_files_of_a_huge_change_and_counts_all(make_review: Callable[..., Review]) -> None:
    files = tuple(FileCoverage(path=f"{number}.bin", state="not_reviewed", need="nothing") for number in range(2_000))

    [verdict] = records(make_review(coverage=files))

    assert len(verdict["not_reviewed"]) == 50
    assert "of 2,000 files" in verdict["coverage"]


def test_a_prompt_names_place_defect_code_proof_fix_and_acceptance(make_finding: Callable[..., Finding]) -> None:
    proof = Proof(path="lib/x.py", side="old", line=7, end_line=8, quote="def x():\n    run()", why="It runs.")
    finding = make_finding(proof=(proof,), cause="injection", replacement="a = 1")

    assert prompt_of(finding).split("\n") == [
        INTRODUCTION,
        "At app/db.py:41-42: SQL is built from user input: `name` goes into the query unescaped",
        "Impact: Any caller that passes a name from a request, for instance `/users?name=...`.",
        "Code now:",
        "    query = f\"select * from users where name = '{name}'\"",
        "    cursor.execute(query)",
        "Proof at lib/x.py:7 before the change: It runs.",
        "    def x():",
        "        run()",
        "Fix: Pass the value as a parameter: `cursor.execute(sql, (name,))`.",
        "Code that mends it:",
        "    a = 1",
        f"Done when {acceptance_of(finding)}.",
    ]


def test_a_finding_of_a_model_is_accepted_with_a_test_and_one_of_a_program_when_it_is_gone(
    make_finding: Callable[..., Finding],
) -> None:
    again = (
        "`reviewbot review` on the whole change, with the fix in it, no longer reports S608 for this code in "
        "app/db.py, at whatever line, and all tests pass"
    )

    assert acceptance_of(make_finding()) == again
    assert acceptance_of(make_finding(cause="race")) == (
        f"a test that shows the impact fails before the fix and passes after it; {again}"
    )


def test_one_prompt_for_all_has_a_line_for_each_below_its_file(make_finding: Callable[..., Finding]) -> None:
    proof = Proof(path="lib/x.py", line=7, end_line=8, quote="x")
    findings = [make_finding(message="One."), make_finding(path="b.py", message="Two.", proof=(proof,), suggestion=" ")]

    assert prompt_of_all([*findings, findings[0]]).split("\n") == [
        INTRODUCTION,
        "In app/db.py:",
        "- 41-42: One",
        "- 41-42: One",
        "In b.py:",
        "- 41-42: Two; proof at lib/x.py:7",
        "Done when `reviewbot review` reports none and all tests pass.",
    ]


@pytest.mark.parametrize("field", ["message", "title", "trigger", "evidence", "path", "suggestion", "judgement"])
def test_no_hostile_text_stands_at_the_start_of_a_line_of_a_prompt(
    field: str, hostile_markdown: dict[str, str], make_finding: Callable[..., Finding]
) -> None:
    starts = ("Fix", "At ", "Impact: ", "Why: ", "Verified: ", "Code now:", "    ", "Code that mends it:", "Done when ")

    for text in (*hostile_markdown.values(), "/merge\n@bot go\n\u2028bors r+"):
        prompt = prompt_of(make_finding(**{field: text}))
        assert [line for line in prompt.split("\n") if not line.startswith(starts)] == []
        assert "\u2028" not in prompt
