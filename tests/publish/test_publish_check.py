from __future__ import annotations

import pytest

from reviewbot.domain.contracts import Conflict, FileCoverage, Gap, HumanItem
from reviewbot.publish.check_run import MAX_TEXT_CHARS, check_of
from tests.make import MakeFinding
from tests.publishing import a_review, shown

READ = FileCoverage(path="src/app.py", state="reviewed", analyzers=("ruff",))
GAP = Gap(path="src/app.py", worker="logic", reason="timeout", message="no answer")


def test_the_colour_is_that_of_the_review_unless_a_newer_head_has_come() -> None:
    def colour(*, gate_closed: bool = False, superseded: bool = False) -> str:
        return check_of(a_review(), shown(), gate_closed=gate_closed, superseded=superseded).conclusion

    assert colour() == "success"
    assert colour(gate_closed=True) == "failure"
    assert colour(superseded=True) == colour(superseded=True, gate_closed=True) == "cancelled"


def test_the_check_says_what_was_read_by_whom_what_not_and_why_and_what_it_cost() -> None:
    review = a_review(
        verdict="incomplete",
        headline="Incomplete; 1 of 2 files reviewed (1 not reviewed)",
        incomplete=True,
        coverage=(READ, FileCoverage(path="big.py", state="not_reviewed", reason="10,000 lines are too many")),
        gaps=(GAP,),
    )
    draft = check_of(review, shown(), gate_closed=False)

    assert draft.conclusion == "neutral"
    for result in (
        "1 of 2 files reviewed (1 not reviewed)",
        "`big.py`",
        "10,000 lines are too many",
        "no answer",
        "No model was used",
    ):
        assert result in draft.summary
    assert draft.text.startswith("## reviewbot: ")


def test_the_title_names_the_gate_and_what_supersedes() -> None:
    closed = check_of(a_review(headline="h" * 500), shown(), gate_closed=True)
    superseded = check_of(a_review(), shown(), gate_closed=False, superseded=True)

    assert closed.title.startswith("Gate closed: hhh")
    assert len(closed.title) <= 200
    assert (superseded.title, superseded.conclusion) == ("Superseded by a newer head", "cancelled")


def test_each_finding_is_annotated_at_its_lines_and_level(a_finding: MakeFinding) -> None:
    findings = (
        a_finding(line=3, end_line=4, severity="critical", rule="S605", trigger="On a name.", disputed="It is safe."),
        a_finding(line=5, severity="warning"),
        a_finding(line=6, severity="info"),
        a_finding(line=99),
        a_finding(path='"\\377"'),
    )
    marks = check_of(a_review(*findings), shown(), gate_closed=True).annotations

    assert [(each.start_line, each.end_line, each.level) for each in marks] == [
        (3, 4, "failure"),
        (5, 5, "warning"),
        (6, 6, "notice"),
    ]
    assert (marks[0].path, marks[0].title) == ("src/app.py", "user input reaches a shell command")
    assert marks[0].message == "Impact: On a name.\nA model disputes it: It is safe.\nS605, 90% sure"


def test_what_is_uncertain_is_a_notice_that_says_why(a_finding: MakeFinding) -> None:
    critical = a_finding(line=3, severity="critical")
    review = a_review(
        human=(
            HumanItem(path="src/app.py", line=3, reason="a guess", finding=critical),
            HumanItem(path="x", reason="r"),
        ),
        conflicts=(Conflict(findings=(critical, a_finding(line=4)), reason="they disagree"),),
    )
    marks = check_of(review, shown(), gate_closed=False).annotations

    assert [each.level for each in marks] == ["notice"] * 3
    assert "needs a person: a guess" in marks[0].message
    assert "contradicted: they disagree" in marks[1].message


def test_the_summary_begins_with_the_verdict_and_says_each_thing_once() -> None:
    review = a_review(headline="No *issues* found", summary="It adds a shop.", notes=("a <b>note</b>",))
    blocks = check_of(review, shown(), gate_closed=False).summary.split("\n\n")

    assert blocks[0] == r"**Verdict:** No \*issues\* found"
    assert blocks[1] == "**Summary:** It adds a shop."
    assert blocks[2].startswith("**Cost:** ")
    assert blocks[3:6] == [
        "<details><summary>Coverage of 1 file</summary>",
        "- **reviewed** (1: `src/app.py`)",
        "</details>",
    ]
    assert "\n- a &lt;b&gt;note&lt;/b&gt;\n" in blocks[-2]


def test_what_nobody_said_has_no_heading_in_the_summary() -> None:
    assert "Summary" not in check_of(a_review(summary=" "), shown(), gate_closed=False).summary


def test_a_gate_that_is_open_is_not_in_the_title() -> None:
    assert check_of(a_review(headline="2 issues found"), shown(), gate_closed=False).title == "2 issues found"


@pytest.mark.parametrize(("notes", "files", "result"), [(100, 0, 52), (1_000, 0, 12), (1_000, 300, 3)])
def test_a_summary_tells_as_much_as_the_host_takes(notes: int, files: int, result: int) -> None:
    """Sixty notes of so many characters; with them sixty files, whose names and reasons are as long."""
    said = tuple(f"{number} {'<' * notes}" for number in range(60))
    names = [f"{number}{'<' * files}" for number in range(60 if files else 0)]
    unread = tuple(FileCoverage(path=name, state="partial", reason=name * 3) for name in names)
    summary = check_of(a_review(notes=said, coverage=unread), shown(), gate_closed=False).summary

    assert len(summary) <= MAX_TEXT_CHARS
    assert summary.partition("How this review was made")[2].count("\n- ") == result
    assert summary.endswith("\n")


def test_the_gravest_marks_come_first(a_finding: MakeFinding) -> None:
    findings = [a_finding(line=n, severity=each) for n, each in enumerate(("info", "critical", "warning"), 1)]
    marks = check_of(a_review(*findings), shown(), gate_closed=True).annotations

    assert [each.start_line for each in marks] == [2, 3, 1]


def test_a_name_that_the_host_cannot_take_has_no_mark(a_finding: MakeFinding) -> None:
    odd = '"\\377"'
    review = a_review(a_finding(path=odd))

    assert check_of(review, shown(path=odd), gate_closed=True).annotations == ()


def test_a_mark_says_all_that_was_said_of_its_finding_one_line_each(a_finding: MakeFinding) -> None:
    finding = a_finding(
        line=3, message="a\nb", trigger="t", symptom="s", contract="c", disputed=" ", rule="r" * 300, category="k"
    )
    (mark,) = check_of(a_review(finding), shown(), gate_closed=False).annotations

    assert mark.message == f"Impact: t\nSeen as: s\nViolates: c\n{'r' * 76} ..., 90% sure"
    assert mark.title == "a b"


@pytest.mark.slow
def test_long_texts_stay_within_what_the_host_takes(a_finding: MakeFinding) -> None:
    long = "<" * 100_000
    finding = a_finding(line=3, message=long, trigger=long, symptom=long, contract=long, rule=long, type="a" * 40)
    names = [f"{number}" + "p" * 300 for number in range(500)]
    files = tuple(FileCoverage(path=name, state="partial", reason=f"{name} {long}") for name in names)
    review = a_review(finding, coverage=files, summary=long, notes=(long,) * 100)
    draft = check_of(review, shown(), gate_closed=False)

    assert len(draft.summary) <= MAX_TEXT_CHARS
    assert len(draft.text) <= MAX_TEXT_CHARS
    assert len(draft.annotations[0].title) <= 255
    assert len(draft.annotations[0].message) < 64_000


def test_a_finding_without_a_word_is_called_by_its_rule(a_finding: MakeFinding) -> None:
    (mark,) = check_of(a_review(a_finding(line=3, message=" ")), shown(), gate_closed=False).annotations

    assert (mark.title, mark.message) == ("injection", "injection, 90% sure")
