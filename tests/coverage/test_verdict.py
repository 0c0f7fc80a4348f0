"""The verdict, its words, the one count, and the one table of colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import pytest

from reviewbot.coverage.verdict import (
    STATE_WORDS,
    VERDICT_WORDS,
    conclusion_of,
    count_of,
    decide,
    headline,
    is_lacking,
    is_sufficient,
    nothing_reviewed,
    verdict_words,
)
from reviewbot.domain.contracts import (
    Conflict,
    CoverageState,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Need,
    Verdict,
    Withheld,
)
from reviewbot.wording import with_count
from tests.make import MakeChange, MakeFile, MakeFinding
from tests.publishing import a_review

Entry = tuple[CoverageState, Need]

GAP = Gap(path="f0.py", worker="logic", reason="crashed", message="it broke")
READ: Entry = ("reviewed", "review")
LOCK: Entry = ("scanned", "scan")
YAML: Entry = ("scanned", "review")
GONE: Entry = ("removed", "nothing")
IMAGE: Entry = ("not_reviewed", "nothing")
HALF: Entry = ("partial", "review")
NONE: Entry = ("not_reviewed", "review")
BEFORE: Entry = ("earlier", "review")


def entries(*given: Entry) -> list[FileCoverage]:
    return [FileCoverage(path=f"f{n}.py", state=state, need=need) for n, (state, need) in enumerate(given)]


@pytest.mark.parametrize(
    ("sentence", "given", "gaps", "issues", "people", "verdict"),
    [
        ("no file at all", [], [], 0, 0, "nothing_to_review"),
        ("everything read, nothing found", [READ, READ], [], 0, 0, "clean"),
        ("a lock file was scanned", [READ, LOCK], [], 0, 0, "clean"),
        ("a file was deleted", [READ, GONE], [], 0, 0, "clean"),
        ("an image cannot be read", [READ, IMAGE], [], 0, 0, "clean"),
        ("one gap", [READ, READ], [GAP], 0, 0, "incomplete"),
        ("one file read in part", [READ, HALF], [], 0, 0, "limited"),
        ("one file only scanned", [READ, YAML], [], 0, 0, "limited"),
        ("one file not read", [READ, NONE], [], 0, 0, "limited"),
        ("one file read in part, with a gap", [READ, HALF], [GAP], 0, 0, "incomplete"),
        ("no file reviewed", [HALF, NONE], [GAP], 0, 0, "not_reviewed"),
        ("every file only scanned", [YAML, YAML], [], 0, 0, "not_reviewed"),
        ("a file only scanned among deleted ones", [GONE, YAML, LOCK], [], 0, 0, "not_reviewed"),
        ("only deleted files", [GONE, GONE], [], 0, 0, "nothing_to_review"),
        ("only files that need scans", [LOCK], [], 0, 0, "nothing_to_review"),
        ("a scan that failed", [LOCK], [GAP], 0, 0, "incomplete"),
        ("prose that a model read", [("reviewed", "scan")], [], 0, 0, "clean"),
        ("something for a person", [READ], [], 0, 1, "needs_person"),
        ("something for a person, and a gap", [HALF], [GAP], 0, 1, "needs_person"),
        ("an issue", [READ], [], 1, 0, "issues"),
        ("everything was read at an earlier head", [BEFORE, BEFORE], [], 0, 0, "clean"),
        ("a file was read now, the others at an earlier head", [READ, BEFORE], [], 0, 0, "clean"),
        ("what was pushed could not be read", [BEFORE, HALF], [GAP], 0, 0, "incomplete"),
        ("an issue beside everything else", [HALF], [GAP], 1, 1, "issues"),
    ],
)
def test_the_verdict_table(
    sentence: str,
    given: list[Entry],
    gaps: list[Gap],
    issues: int,
    people: int,
    verdict: Verdict,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    change = a_change(*(a_file(f"f{n}.py") for n in range(len(given))))

    assert decide(change, entries(*given), gaps, issues, people) == verdict, sentence


@pytest.mark.parametrize("state", get_args(CoverageState))
@pytest.mark.parametrize("need", get_args(Need))
def test_a_review_is_never_clean_while_a_file_lacks_what_it_needs(
    state: CoverageState, need: Need, a_change: MakeChange, a_file: MakeFile
) -> None:
    found = entries(READ, (state, need))

    verdict = decide(a_change(a_file("f0.py"), a_file("f1.py")), found, [], 0, 0)

    assert (verdict == "clean") == is_sufficient(found[1])


@pytest.mark.parametrize(
    ("entry", "enough"),
    [
        *((entry, True) for entry in (READ, LOCK, GONE, IMAGE, ("reviewed", "scan"))),
        *((entry, False) for entry in (YAML, HALF, NONE, ("partial", "scan"), ("not_reviewed", "scan"))),
    ],
)
def test_what_is_enough_for_a_file(entry: Entry, enough: bool) -> None:  # noqa: FBT001 - the expectation
    assert is_sufficient(entries(entry)[0]) is enough


def test_a_file_that_was_only_renamed_neither_proves_nor_demands_that_something_was_read(
    a_change: MakeChange, a_file: MakeFile
) -> None:
    renamed, other = a_file("f0.py", status="renamed", hunks=()), a_file("f1.py")

    assert not nothing_reviewed(a_change(renamed), entries(NONE))
    assert decide(a_change(renamed), entries(NONE), [], 0, 0) == "nothing_to_review"
    assert nothing_reviewed(a_change(renamed, other), entries(NONE, YAML))
    assert decide(a_change(renamed, other), entries(NONE, READ), [], 0, 0) == "limited"


def test_a_file_that_could_not_be_parsed_demands_it(a_change: MakeChange, a_file: MakeFile) -> None:
    change = a_change(a_file("f0.py", hunks=()), states={"f0.py": "malformed"})

    assert nothing_reviewed(change, entries(NONE))


def test_every_verdict_and_every_state_has_its_words() -> None:
    assert set(VERDICT_WORDS) == set(get_args(Verdict))
    assert set(STATE_WORDS) == set(get_args(CoverageState))


@pytest.mark.parametrize(
    ("verdict", "given", "issues", "people", "words"),
    [
        ("issues", [READ], 1, 0, "1 issue found; 1 of 1 file reviewed"),
        ("issues", [READ, YAML, YAML], 12, 0, "12 issues found; 1 of 3 files reviewed (2 only scanned)"),
        ("needs_person", [READ], 0, 2, "No certain issue, 2 things for a person; 1 of 1 file reviewed"),
        ("clean", [READ, GONE], 0, 0, "No issues found; 1 of 2 files reviewed (1 removed)"),
        (
            "limited",
            [NONE, YAML, READ],
            0,
            0,
            "No issues found in what was read; 1 of 3 files reviewed (1 only scanned, 1 not reviewed)",
        ),
        (
            "incomplete",
            [READ, HALF],
            0,
            0,
            "Incomplete: no issues found in what was read; 1 of 2 files reviewed (1 reviewed in part)",
        ),
        ("not_reviewed", [HALF], 0, 0, "No review: 0 of 1 file reviewed (1 reviewed in part)"),
        ("nothing_to_review", [], 0, 0, "Nothing to review: 0 of 0 files reviewed"),
        ("nothing_to_review", [GONE] * 2_000, 0, 0, "Nothing to review: 0 of 2,000 files reviewed (2,000 removed)"),
    ],
)
def test_the_headline_counts_the_files_in_each_state(
    verdict: Verdict, given: Sequence[Entry], issues: int, people: int, words: str
) -> None:
    assert headline(verdict, entries(*given), issues, people) == words


def test_a_headline_names_what_was_decided_against(a_finding: MakeFinding) -> None:
    closed = [
        Withheld(finding=a_finding(severity=severity), reason="dismissed", message="no")
        for severity in ("critical", "warning")
    ]
    late = Withheld(finding=a_finding(), reason="late", message="later")

    assert verdict_words("clean", 0, 0, [late]) == "No issues found"
    assert verdict_words("clean", 0, 0, closed) == "No open issues found, 2 dismissed (1 critical)"
    assert verdict_words("issues", 1, 0, closed[1:]) == "1 issue found, 1 dismissed"


def test_the_states_add_up_to_all_files() -> None:
    count = count_of(entries(READ, LOCK, YAML, GONE, IMAGE, HALF, NONE, BEFORE))

    assert count.model_dump() == {
        "files": 8, "reviewed": 1, "earlier": 1, "partial": 1, "scanned": 2, "removed": 1, "not_reviewed": 2,
    }  # fmt: skip


def test_a_number_stands_with_its_noun() -> None:
    assert [with_count(number, "file") for number in (0, 1, 2_000)] == ["0 files", "1 file", "2,000 files"]


# --- colours


def colour(*given: Entry, gate_reached: bool = False, findings: tuple[Finding, ...] = (), **fields: Any) -> str:
    review = a_review(*findings, coverage=tuple(entries(*given)), **fields)
    return conclusion_of(review, gate_reached=gate_reached)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([READ], "success"),
        ([READ, LOCK, GONE, IMAGE], "success"),
        ([READ, YAML], "neutral"),
        ([READ, HALF], "neutral"),
        ([READ, NONE], "neutral"),
        ([], "neutral"),
        ([GONE], "neutral"),
        ([LOCK], "neutral"),
        ([IMAGE], "neutral"),
        ([YAML], "neutral"),
    ],
)
def test_green_means_that_something_was_reviewed_and_every_file_got_what_it_needs(
    given: list[Entry], expected: str
) -> None:
    assert colour(*given) == expected
    assert colour(*given, gate_reached=True) == "failure"


@pytest.mark.parametrize(
    ("severity", "expected"), [("critical", "neutral"), ("warning", "neutral"), ("info", "success")]
)
def test_a_finding_of_warning_or_worse_is_never_green_and_a_note_is(
    severity: str, expected: str, a_finding: Callable[..., Finding]
) -> None:
    found = a_finding(severity=severity)

    assert colour(READ, findings=(found,)) == expected
    assert colour(READ, conflicts=(Conflict(findings=(found, found), reason="r"),)) == expected
    assert colour(READ, findings=(found,), gate_reached=True) == "failure"


def test_what_waits_for_a_person_or_failed_is_never_green() -> None:
    assert colour(READ, human=(HumanItem(path="a", reason="r"),)) == "neutral"
    assert colour(READ, gaps=(GAP,)) == "neutral"
    assert colour(READ, incomplete=True) == "neutral"


def test_a_review_lacks_something_where_a_file_does_or_something_failed() -> None:
    def lacking(*given: Entry, **fields: Any) -> bool:
        return is_lacking(a_review(coverage=tuple(entries(*given)), **fields))

    assert not lacking(READ, LOCK, GONE)
    assert not lacking(GONE)
    assert lacking(YAML)
    assert lacking(READ, gaps=(GAP,))
    assert lacking(READ, incomplete=True)
