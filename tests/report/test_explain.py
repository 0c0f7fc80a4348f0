"""Why a finding is shown or withheld, or why there is none at a line, from what a trace holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Candidate,
    Conflict,
    Dropped,
    Finding,
    Gap,
    HumanItem,
    Metadata,
    Proof,
    Reading,
    Review,
    SkippedWorkers,
    Span,
    Suppression,
    Withheld,
    WorkerResult,
)
from reviewbot.domain.errors import InputError
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.explain import ExplainedRun, Explanation, explain, place_named
from reviewbot.report.terminal.explanation import render_explanation

PATH, TASK = "app/db.py", "security:app/db.py#1"
MakeFinding = Callable[..., Finding]
MakeReview = Callable[..., Review]
Recorded = Callable[..., ExplainedRun]


@pytest.fixture(name="recorded")
def _recorded(a_change: Callable[..., Any], a_file: Callable[..., Any], a_hunk: Callable[..., Any]) -> Recorded:
    """A run over lines 40 to 49 of one file."""
    hunk = a_hunk("\n".join(["+a"] * 10), start=40)

    def recorded(review: Review, *results: WorkerResult, events: tuple[dict[str, Any], ...] = ()) -> ExplainedRun:
        change = a_change(a_file(PATH, hunk, old_path="app/old.py"), a_file("logo.png", hunks=()))
        return ExplainedRun(review, of_review(review), change, {"security": 80}, results, events)

    return recorded


def a_result(task_id: str = TASK, **fields: Any) -> WorkerResult:
    return WorkerResult(task_id=task_id, **fields)


def only(accounts: list[Explanation]) -> Explanation:
    [account] = accounts
    return account


def text_of(accounts: list[Explanation]) -> str:
    return "\n".join(row for account in accounts for row in (account.heading, *account.rows))


def test_a_shown_finding_says_its_threshold_its_origin_and_how_to_dismiss_it(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    proof = Proof(path="lib/x.py", side="old", line=7, end_line=8, quote="x", why="It runs.")
    finding = make_finding(proof=(proof, proof.model_copy(update={"side": "new", "why": ""})), also=(40,))
    run = recorded(make_review(findings=(finding,)), a_result(findings=(finding,)))

    account = only(explain(run, PATH, 42))

    assert account.heading.startswith("app/db.py:41-42 shown: SQL is built from user input")
    assert "Shown because 92% sure is at least 80, the threshold of security." in account.rows
    assert "Weight: critical; security, injection, S608, CWE-89; 92% sure, by ruff, taint." in account.rows
    assert "Proof at lib/x.py:7 before the change: It runs." in account.rows
    assert "Proof at lib/x.py:7." in account.rows
    assert "It stands on lines 41 to 42, and 40 with it." in account.rows
    assert f"Found in {TASK}." in account.rows
    name = run.names[finding]
    assert account.rows[-1] == f"Fingerprint {name}; `reviewbot dismiss {name[:8]} REASON` decides against it."
    assert explain(run, PATH, 40) == [account]
    assert explain(run, "app/old.py", 41) == [account]


def test_a_withheld_finding_says_why_and_what_reader_judge_and_calibration_made_of_it(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    finding = make_finding(confidence=40, claimed=90, line=41, end_line=41)
    withheld = Withheld(finding=finding, reason="below_threshold", message="confidence 40 is below 80")
    place = {"path": PATH, "line": 41}
    events = (
        {"event": "judged", **place, "message": finding.message, "model": "m-1", "claimed": 90, "confidence": 45,
         "reason": "It has no callers."},
        {"event": "judged", **place, "message": "another claim", "model": "m-1", "claimed": 9, "confidence": 9},
        {"event": "calibrated", **place, "role": "judge", "stated": {"confidence": 45}, "fitted": {"confidence": 40}},
        {"event": "calibrated", **place, "role": "reader", "stated": None, "fitted": {"confidence": 90}},
        {"event": "calibrated", "path": PATH, "line": 9, "role": "judge", "stated": {}, "fitted": {}},
    )  # fmt: skip

    account = only(explain(recorded(make_review(withheld=(withheld,)), events=events), PATH, 41))

    assert " withheld, below the confidence threshold: " in account.heading
    assert account.rows[0] == "Why: Confidence 40 is below 80."
    assert "The model that found it said 90% sure." in account.rows
    assert "The judge m-1 took it from 90 to 45: It has no callers." in account.rows
    assert "The judge stated confidence 45; as measured that is confidence 40." in account.rows
    assert "The reader stated unknown; as measured that is confidence 90." in account.rows
    assert "another claim" not in text_of([account])


def test_what_a_person_decides_contradicts_or_was_silenced_is_said_with_its_reason(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    doubtful = make_finding(confidence=60)
    sides = (make_finding(message="It grows without a bound."), make_finding(message="It is cleared each time."))
    review = make_review(
        human=(
            HumanItem(path=PATH, line=41, reason="critical if true, and 60 of 100 certain", finding=doubtful),
            HumanItem(path=PATH, line=41, reason="A file was replaced by a symlink."),
        ),
        conflicts=(Conflict(findings=sides, reason="one says that it grows"),),
        suppressed=(
            Suppression(action="ignored", path=PATH, line=41, rule="S602", by="comment at line 40", reason="fixed text",
                        message="A shell runs it.", severity="warning"),
            Suppression(action="refused", path=PATH, line=41, rule="S608", by="comment at line 41", message="new"),
        ),
    )  # fmt: skip

    said = text_of(explain(recorded(review), PATH, 41))

    assert "left to a person: SQL is built" in said
    assert "Why: Critical if true, and 60 of 100 certain." in said
    assert "app/db.py:41 left to a person\nA file was replaced by a symlink." in said
    assert said.count("shown as a contradiction") == 2
    assert "Why: Both sides are shown: one says that it grows." in said
    assert "app/db.py:41 silenced: A shell runs it.\nS602 ignored by comment at line 40 (fixed text)." in said
    assert "app/db.py:41 refused: new" in said


def test_a_finding_that_became_part_of_another_one_names_it(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    whole = make_finding()
    part = make_finding(line=45, end_line=45, message="The same at its source.", sources=("taint",))

    account = only(explain(recorded(make_review(findings=(whole,)), a_result(findings=(whole, part))), PATH, 45))

    assert account.heading == "app/db.py:45 merged: The same at its source"
    assert account.rows[0].startswith("It is reported as a part of app/db.py:41-42, SQL is built from user input")
    assert account.rows[0].endswith("which is shown.")
    assert TASK in text_of(explain(recorded(make_review(findings=(whole,)), a_result(findings=(part,))), PATH, 41))


def test_a_finding_that_is_in_the_review_under_no_name_says_what_speaks_for_it(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    claim = make_finding(message="Said twice.", sources=("model:m-1",), line=45, end_line=45)
    joined = {"event": "joined", "to_path": "b.py", "to_line": 7, "message": "Said twice."}
    results = (a_result(findings=(claim,)), a_result("logic:app/db.py#1", findings=(claim,)))

    lost = only(explain(recorded(make_review(), *results), PATH, 45))
    spoken_for = only(explain(recorded(make_review(), *results, events=(joined,)), PATH, 45))

    assert lost.heading == "app/db.py:45 not in the review: Said twice"
    assert lost.rows[-1] == "Its worker was 92% sure of it."
    assert spoken_for.rows[-1] == "The finding at b.py:7 rests on the same proof and speaks for it."


def test_a_dropped_candidate_says_why(
    recorded: Recorded, a_candidate: Callable[..., Candidate], make_review: MakeReview
) -> None:
    dropped = Dropped(candidate=a_candidate(path=PATH, line=44), reason="its quote is not in the change")
    nowhere = Dropped(candidate=a_candidate(path=PATH), reason="it quotes no line")
    run = recorded(make_review(), a_result(dropped=(dropped, nowhere)))

    account = only(explain(run, PATH, 44))

    assert account.heading == "app/db.py:44 dropped: this is never right"
    assert account.rows == ("Why: its quote is not in the change.", f"Said by ruff, 90% sure, in {TASK}.")
    assert "Dropped without a line: this is never right (it quotes no line)." in only(explain(run, PATH, 45)).rows


def test_an_empty_line_says_who_read_it_who_did_not_and_what_is_near(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    span = Span(old_start=1, old_count=0, new_start=40, new_count=10)
    reading = Reading(path=PATH, spans=(span,), models=("model:m-1",), analyzers=("ruff",))
    elsewhere = Reading(path=PATH, spans=(span.model_copy(update={"new_start": 1}),), scans=("secrets",))
    review = make_review(
        findings=(make_finding(),),
        gaps=(
            Gap(path=PATH, worker="logic", reason="timeout", message="no answer within 30 s"),
            Gap(path=PATH, worker="style", reason="crashed", message="exit code 2", tool="ruff-style"),
            Gap(path="logo.png", worker="style", reason="crashed", message="elsewhere"),
        ),
        unlooked=(SkippedWorkers(path=PATH, workers=("performance",), reason="this engine has no check for it"),),
    )
    metadata = Metadata(readings=(reading, elsewhere))

    account = only(explain(recorded(review, a_result(metadata=metadata)), PATH, 48))

    assert account.heading == "Nothing was found at app/db.py:48"
    assert account.rows == (
        "The file was reviewed.",
        "The line was read for security by m-1, ruff, which said nothing of it.",
        "Not looked at by logic: took too long: no answer within 30 s.",
        "Not looked at by style, ruff-style: crashed: exit code 2.",
        "Not looked at for performance: this engine has no check for it.",
        "Near it: app/db.py:41-42, shown: SQL is built from user input: `name` goes into the query unescaped.",
    )
    assert "No task read this line to the end." in only(explain(recorded(review), PATH, 48)).rows


def test_a_line_outside_of_the_hunks_is_named_as_such(recorded: Recorded, make_review: MakeReview) -> None:
    run = recorded(make_review())

    assert only(explain(run, PATH, 70)).rows[0] == (
        "Line 70 is outside of what the change shows of this file: lines 40 to 49. Nothing is reported there."
    )
    assert "this file: lines none." in only(explain(run, "logo.png", 1)).rows[0]


def test_a_file_outside_of_the_change_is_refused_with_the_files_that_it_has(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    about_title = make_finding(path="(title)", line=1, end_line=1)

    with pytest.raises(InputError, match=r"the change has no file b\.py; it has app/db\.py, logo\.png"):
        explain(recorded(make_review()), "b.py", 1)

    assert explain(recorded(make_review(findings=(about_title,))), "(title)", 1)
    assert explain(recorded(make_review(findings=(about_title,))), "(title)", 9) == []


def test_a_finding_is_named_by_the_first_digits_of_its_fingerprint(
    recorded: Recorded, make_finding: MakeFinding, make_review: MakeReview
) -> None:
    run = recorded(make_review(findings=(make_finding(), make_finding(line=48, end_line=48, rule="S1"))))

    for finding, name in run.names.items():
        assert place_named(run, name[:8]) == (PATH, finding.line)
    with pytest.raises(InputError, match="no finding of this review begins with ffffffffffff"):
        place_named(run, "f" * 12)
    with pytest.raises(InputError, match="several findings of this review begin with"):
        place_named(run, "")


def test_the_page_wraps_cuts_and_shows_what_it_does_not_obey() -> None:
    accounts = [Explanation("a\x1b[31m.py:1 shown", ("word " * 40,))] * 60

    page = render_explanation(accounts, width=60, colour=False)

    assert "\x1b" not in page
    assert page.endswith("... and 10 more; the trace has all of them.\n")
    assert max(map(len, page.splitlines())) <= 60
