from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.domain.contracts import Conflict, FileCoverage, Finding, Gap, HumanItem, Review, Withheld, WorkerUsage
from reviewbot.domain.contracts import Usage as Used
from reviewbot.report.markdown.comment import MAX_CHARS, render_markdown

if TYPE_CHECKING:
    from collections.abc import Callable

BACKING = ("contract", "symptom", "judgement", "disputed")
LIMIT = 65_536
"""Characters of a comment that GitHub takes."""


def test_a_full_review_as_a_comment(full_review: Review, golden: Callable[[str, str], None]) -> None:
    golden("review.md", render_markdown(full_review))


def test_a_clean_review_as_a_comment(make_review: Callable[..., Review], golden: Callable[[str, str], None]) -> None:
    golden("clean.md", render_markdown(make_review()))


def test_a_review_of_nothing_still_says_what_it_looked_at(make_review: Callable[..., Review]) -> None:
    text = render_markdown(make_review(verdict="nothing_to_review", headline="Nothing to review", coverage=()))

    assert text.startswith("## reviewbot: Nothing to review\n\n**Readers:** Nothing was read.\n")
    assert "<details>" not in text


def test_what_was_not_looked_at_is_visible_outside_the_folded_parts(full_review: Review) -> None:
    text = render_markdown(full_review)
    open_part = text[: text.index("<details>")]

    for words in ("poetry.lock", "logo.png", "zizmor", "no answer within 30 s", "this engine has no check for it"):
        assert words in open_part


def test_a_suggestion_is_never_a_suggestion_block(full_review: Review) -> None:
    assert "```suggestion" not in render_markdown(full_review)


@pytest.mark.parametrize(
    ("path", "info"),
    [
        ("a.py", "python"),
        ("a.PYI", "python"),
        ("a.rs", "rust"),
        ("a.java", "java"),
        ("a.suggestion", "text"),
        ("a", "text"),
    ],
)
def test_the_code_of_a_finding_is_coloured_by_the_name_of_its_file(
    path: str, info: str, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    assert f"  ```{info}\n" in render_markdown(make_review(findings=(make_finding(path=path),)))


def test_a_finding_without_details_is_two_lines(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(evidence=" \n", trigger="\n", suggestion="", rule="", cwe=None, message="Wrong.")

    assert (
        "- **`app/db.py:41`** Wrong.\n\n  `security`, `injection`; confidence 92 of 100, by `ruff`, `taint`\n"
    ) in render_markdown(make_review(findings=(finding,)))


def test_a_long_name_loses_its_middle(make_review: Callable[..., Review], make_finding: Callable[..., Finding]) -> None:
    text = render_markdown(make_review(findings=(make_finding(path=f"start/{'x' * 4_000}/end.py"),)))

    assert "`start/xxx" in text
    assert "/end.py:41`" in text
    assert len(text) < 3_000


def test_lists_say_how_much_they_leave_out(make_review: Callable[..., Review]) -> None:
    coverage = tuple(
        FileCoverage(path=f"{n}.lock", state="scanned", need="scan", reason="a lock file") for n in range(500)
    )
    gaps = tuple(Gap(path="a.py", worker="w", reason="crashed", message=f"{n}") for n in range(60))
    notes = tuple(f"note {n}" for n in range(51))

    text = render_markdown(make_review(coverage=coverage, gaps=gaps, notes=notes))

    assert "`9.lock` and 490 more)" in text
    assert "... and 11 more reasons." in text
    assert "... and 1 more note." in text
    assert "... and 300 more files." in text


def test_when_too_long_the_folded_lists_go_first_and_then_the_code(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    long = {"message": "m" * 500, "trigger": "t" * 500}
    withheld = tuple(Withheld(finding=make_finding(**long), reason="over_cap", message="") for _ in range(40))

    without_lists = render_markdown(make_review(findings=(make_finding(),) * 40, withheld=withheld), max_chars=30_000)
    without_code = render_markdown(make_review(findings=(make_finding(evidence="e" * 350),) * 60), max_chars=35_000)

    assert "cursor.execute(query)\n  ```" in without_lists
    assert "40 findings withheld: 40 over the cap on findings. They are not listed here" in without_lists
    assert "Left out to stay within GitHub's limit: the table of files." in without_lists
    assert "```" not in without_code
    assert without_code.count("**`app/db.py:41`**") == 60
    assert "Left out to stay within GitHub's limit: the table of files, all code." in without_code


def test_when_still_too_long_the_least_important_findings_go_and_are_counted(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    notes = tuple(make_finding(severity="info", path="note.py", message="n" * 900) for _ in range(300))
    critical = make_finding(path="worst.py", suggestion="a\nb")

    text = render_markdown(make_review(findings=(*notes, critical)))

    shown = text.count("**`note.py:41`**")
    assert "**`worst.py:41`**" in text
    assert f"**{300 - shown} findings of least weight left out here**" in text
    assert "### Notes (300)" in text
    assert "long texts and lists beyond their start" in text
    assert MAX_CHARS - 2_000 < len(text) <= MAX_CHARS


@pytest.mark.slow
@pytest.mark.parametrize("char", ["A", "@ ", "&", "`", "|", "\U000e0041", "漢", "` ", "\n", "$", "a\\"])
def test_no_review_is_too_long_for_github(
    char: str, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    long = char * 4_000
    fields: dict[str, Any] = dict.fromkeys(
        ("message", "evidence", "trigger", "suggestion", "path", "category", "rule", *BACKING), long
    )
    finding = make_finding(**fields, sources=(long,) * 50)
    review = make_review(
        headline=long,
        summary=long,
        engine=long,
        findings=(finding,) * 16,
        withheld=(Withheld(finding=finding, reason="over_cap", message=long),) * 16,
        conflicts=(Conflict(findings=(finding,) * 4, reason=long),) * 8,
        human=(HumanItem(path=long, line=1, reason=long, finding=finding), HumanItem(path=long, reason=long)) * 8,
        gaps=tuple(Gap(path=f"{n}{long}", worker=f"{n}{long}", reason="crashed", message=long) for n in range(16)),
        coverage=tuple(FileCoverage(path=f"{n}{long}", state="not_reviewed", analyzers=(long,) * 9) for n in range(80)),
        notes=(long,) * 16,
        workers=(WorkerUsage(worker=long, tasks=1, findings=1, duration_ms=1, usage=Used()),) * 16,
    )

    assert len(render_markdown(review)) <= MAX_CHARS < LIMIT


def test_the_cut_keeps_every_section_and_its_count(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(message="m" * 4_000, sources=("s" * 80,) * 10)
    review = make_review(
        findings=(finding,) * 200,
        conflicts=(Conflict(findings=(finding,) * 70, reason="r" * 4_000),) * 90,
        human=(HumanItem(path="p.py", line=3, reason="r" * 4_000, finding=finding),) * 95,
    )

    text = render_markdown(review)

    assert len(text) <= MAX_CHARS
    assert "### Contradictions, all sides shown" in text
    assert "### Needs a person" in text
    assert "more contradictions." in text
    assert "more items." in text
    assert "findings of least weight left out here" in text


def test_a_finding_says_what_it_violates_what_is_seen_and_why_it_is_believed(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(contract="It promises.", symptom="It hangs.", judgement="Two callers do.", disputed="No.")

    text = render_markdown(make_review(findings=(finding,)))

    assert (
        "  *What it violates:* It promises.\n\n  *What is seen:* It hangs.\n\n"
        "  *Why it is believed:* Two callers do.\n\n  *A model disputes it:* No.\n"
    ) in text


def test_what_backs_a_finding_goes_before_findings_go_and_a_doubt_stays(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(**dict.fromkeys(BACKING, "w" * 900))

    text = render_markdown(make_review(findings=(finding,) * 60))

    assert "What it violates" not in text
    assert text.count("A model disputes it") == text.count("**`app/db.py:41`**") == 60
    assert "all code, what findings violate and rest on" in text


def test_a_worker_of_unknown_price_is_never_shown_as_free(make_review: Callable[..., Review]) -> None:
    unpriced = Used(calls=2, input_tokens=10, unpriced_calls=2)
    rows = (WorkerUsage(worker="logic", tasks=1, findings=0, duration_ms=900, usage=unpriced),)

    text = render_markdown(make_review(workers=rows, usage=unpriced))

    assert "| `logic` | 1 | 0 | 2 | 10 | 0 | 0 | 0 | unknown | 900 ms |" in text
    assert "| `all` |  |  | 2 | 10 | 0 | 0 | 0 | unknown |  |" in text
    assert "Model use: unknown" in text
    assert "0.00" not in text
