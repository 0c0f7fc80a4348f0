"""How a later head is read: on what ground, which lines again, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet, FileReadBefore
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger
from reviewbot.memory.incremental import (
    QUIET_ROUNDS,
    convergence_note,
    entry_of,
    files_read_before,
    lines_again,
    scope_of,
)
from tests.memory.pushes import Pushes, Said, change_of, sha
from tests.report.conftest import a_review

BASE, POLICY = "b" * 40, "0" * 32
LONG = {"a.py": "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(40))}


def entry(number: int, **fields: Any) -> HeadEntry:
    known = {"head": sha(number), "outcome": "reviewed", "at": "", "policy": POLICY, "base": BASE}
    return HeadEntry.model_validate({**known, **fields})


@pytest.mark.parametrize(
    ("last", "asked", "why"),
    [
        ({}, True, "it was asked for"),
        ({"policy": "1" * 32}, False, "settings, workers or program are not those of the review of 0000000000"),
        ({"outcome": "partial"}, False, "the review of 0000000000 was not complete"),
        ({"outcome": "not_reviewed"}, False, "the review of 0000000000 was not complete"),
        ({"base": ""}, False, "what the review of 0000000000 has read is not remembered"),
        ({"base": "c" * 40}, False, f"the base moved: the change starts at {BASE[:10]} now"),
    ],
)
def test_a_full_review_has_a_reason(last: dict[str, str], asked: bool, why: str) -> None:  # noqa: FBT001 - a case
    ledger = Ledger(heads=(entry(1, **last),))

    assert scope_of(ledger, sha(2), POLICY, BASE, asked=asked) == (None, why)


def test_a_first_head_needs_no_reason_and_a_later_one_rests_on_the_last() -> None:
    assert scope_of(Ledger(), sha(1), POLICY, BASE, asked=False) == (None, "")
    ledger = Ledger(heads=(entry(1), entry(2), entry(3)))

    assert scope_of(ledger, sha(3), POLICY, BASE, asked=False).entry == entry(2), "the same head again"
    assert scope_of(ledger, sha(4), POLICY, BASE, asked=False).entry == entry(3)


def test_each_file_names_the_head_at_which_it_was_read_last() -> None:
    first, second = entry(1, lacking=("d.py",)), entry(2, since=sha(1), files=("b.py",), lacking=("d.py",))
    ledger = Ledger(heads=(first, second))
    change = change_of({}, {"a.py": "x\n", "b.py": "x\n", "c.py": "x\n", "d.py": "x\n"})
    push = change_of({"c.py": "y\n"}, {"c.py": "x\n"})

    found = files_read_before(ledger, second, change, push, lambda _path: "x\n")

    assert {each.path: (each.head, bool(each.again)) for each in found} == {
        "a.py": (sha(1), False),
        "b.py": (sha(2), False),
        "c.py": (sha(1), True),
    }
    assert [(each.path, each.pushed) for each in found if each.pushed] == [("c.py", push.files[0].hunks)]


@pytest.mark.parametrize("status", ["added", "renamed", "copied", "deleted"])
def test_a_file_that_a_push_did_not_only_edit_is_read_whole(status: str) -> None:
    change = change_of({}, {"a.py": "x\n"})
    file = change.files[0].model_copy(update={"status": status})
    push = change.model_copy(update={"files": (file,)})

    assert files_read_before(Ledger(heads=(entry(1),)), entry(1), change, push, lambda _path: "x\n") == ()


def test_of_a_new_file_the_definition_around_a_pushed_line_is_read_again() -> None:
    [file] = change_of({}, LONG).files

    assert lines_again(file, [42], LONG["a.py"]) == ((41, 42),)


def test_of_a_short_hunk_the_definition_is_read_again_and_a_line_beside_it_counts() -> None:
    head = LONG["a.py"].replace("return 20", "return 21")
    [file] = change_of(LONG, {"a.py": head}).files
    [hunk] = file.hunks

    assert lines_again(file, [82], head) == ((81, 82),)
    assert lines_again(file, [hunk.new_start], head) == ((hunk.new_start, 82),)
    assert lines_again(file, [hunk.new_start - 9], head) == ()


def test_what_is_too_long_for_the_ledger_is_no_ground_for_the_next_review() -> None:
    paths = [f"folder/{number}.py" for number in range(301)]
    change = change_of({}, dict.fromkeys(paths, "x\n"))
    coverage = tuple({"path": path, "state": "partial"} for path in paths)
    review = a_review().model_copy(update={"coverage": ()})
    few = entry_of(entry(1, base=""), review, change, BASE)
    many = entry_of(
        entry(1, base=""), type(review).model_validate({**dict(review), "coverage": coverage}), change, BASE
    )

    assert (few.base, many.base) == (BASE, "")


def test_rounds_that_bring_nothing_new_have_converged() -> None:
    pushes = Pushes({})
    head = {"a.py": "one = 1\ntwo = 2\n"}
    pushes.push(head, Said("a.py", "one = 1"))
    said = []
    for number in range(QUIET_ROUNDS):
        pushes.push({"a.py": head["a.py"] + f"more = {number}\n"}, Said("a.py", "one = 1"))
        said.append(convergence_note(pushes.ledger))

    *early, last = said
    assert early == [""] * (QUIET_ROUNDS - 1)
    assert last == "Converged: the last 3 heads brought nothing new. 1 finding of earlier heads still open"

    pushes.push({"a.py": "one = 1\nthree = 3\n"}, Said("a.py", "three = 3", {"cause": "race"}))
    assert convergence_note(pushes.ledger) == ""


def test_commits_that_were_reviewed_one_by_one_have_not_converged() -> None:
    quiet = [entry(number, base=sha(number - 1)) for number in range(2, 2 + QUIET_ROUNDS)]
    of_one = [each.model_copy(update={"base": sha(1)}) for each in quiet]

    assert convergence_note(Ledger(heads=tuple(quiet))) == ""
    assert convergence_note(Ledger(heads=tuple(of_one))) != ""


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"severity": "critical", "judgement": "it is", "confidence": 90}, None),
        ({"severity": "critical", "judgement": "", "confidence": 90}, "late"),
        ({"severity": "critical", "judgement": "it may be", "confidence": 79}, "late"),
        ({"severity": "critical", "judgement": "", "confidence": 90, "sources": ("ruff",)}, None),
        ({"severity": "warning", "judgement": "it is", "confidence": 99}, "late"),
    ],
)
def test_on_code_that_was_read_before_only_a_critical_finding_that_the_judge_is_sure_of_is_new(
    fields: dict[str, Any], reason: str | None
) -> None:
    pushes = Pushes({})
    head = {"a.py": "one = 1\ntwo = 2\n"}
    pushes.push(head)
    _, made = pushes.push(head, Said("a.py", "two = 2", fields))

    assert [each.reason for each in made.held.values()] == ([reason] if reason else [])


def test_a_file_read_before_is_written_with_its_lines() -> None:
    change = ChangeSet(files=(), parsed=())
    made = FileReadBefore(path="a.py", head=sha(1), again=((1, 2),))

    assert FileReadBefore.model_validate_json(made.model_dump_json()) == made
    assert change.read_before is None
