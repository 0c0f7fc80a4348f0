from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot import __version__
from reviewbot.coverage.verdict import STATE_WORDS, issues_of
from reviewbot.domain.contracts import (
    Conflict,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Proof,
    Review,
    Theme,
    Withheld,
    WorkerUsage,
)
from reviewbot.domain.contracts import Usage as Used
from reviewbot.hosts.github.links import GithubLinks
from reviewbot.report.findings.agent import open_findings
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

    assert text.startswith("## reviewbot: Nothing to review\n\n0 of 0 files reviewed, +0 -0 lines.\n")
    assert "Coverage" not in text


def test_what_failed_and_what_was_silenced_is_visible_outside_the_folded_parts(full_review: Review) -> None:
    text = render_markdown(full_review)
    open_part = text[: text.index("<details>")]

    for words in (
        "4 of 7 files reviewed",
        "zizmor",
        "no answer within 30 s",
        "silences nothing",
        "shell runs the command",
    ):
        assert words in open_part


def test_every_file_is_in_the_folded_coverage_with_its_state_and_reason_and_no_tool(full_review: Review) -> None:
    text = render_markdown(full_review).partition("<summary>Coverage")[2].partition("</details>")[0]

    assert all(f"`{entry.path}`" in text for entry in full_review.coverage)
    assert "`ruff`" not in text


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


def test_a_finding_without_details_is_one_line(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(evidence=" \n", trigger="\n", suggestion="", rule="", cwe=None, message="Wrong.")

    assert ("- **Wrong** `app/db.py:41` <sub>`injection`, 92% sure</sub>\n\n<details>") in render_markdown(
        make_review(findings=(finding,))
    )


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

    assert "(500: `0.lock`" in text
    assert "`9.lock` and 490 more)" in text
    assert "... and 10 more reasons." in text
    assert "... and 1 more note." in text


def test_what_is_withheld_in_several_places_for_one_reason_is_one_line(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    findings = (
        make_finding(line=line, end_line=line, message=text) for line, text in [(1, "Lock"), (2, "Lock"), (3, "Eval")]
    )
    withheld = tuple(Withheld(finding=each, reason="below_threshold", message="confidence 75") for each in findings)

    text = render_markdown(make_review(withheld=withheld))

    assert "- `app/db.py:1`, `app/db.py:2` Lock (critical; confidence 75)\n- `app/db.py:3` Eval" in text


def test_when_too_long_the_folded_lists_go_first_and_then_the_code(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    long = (make_finding(message=f"{number} " + "m" * 500, trigger="t" * 500) for number in range(40))
    withheld = tuple(Withheld(finding=each, reason="over_cap", message="") for each in long)

    without_lists = render_markdown(make_review(findings=(make_finding(),) * 44, withheld=withheld), max_chars=30_000)
    without_code = render_markdown(make_review(findings=(make_finding(evidence="e" * 350),) * 60), max_chars=35_000)

    assert "cursor.execute(query)\n  ```" in without_lists
    assert "Withheld: 40 over the cap on findings. They are not listed here" in without_lists
    assert "Left out to stay within GitHub's limit: the folded lists." in without_lists
    assert "```" not in without_code
    assert without_code.count("** `app/db.py:41`") == 60
    assert "Left out to stay within GitHub's limit: the folded lists, all code." in without_code


def test_when_still_too_long_the_least_important_findings_go_and_are_counted(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    notes = tuple(make_finding(severity="warning", path="note.py", message="n" * 900) for _ in range(300))
    critical = make_finding(path="worst.py", suggestion="a\nb")

    text = render_markdown(make_review(findings=(*notes, critical)))

    shown = text.count("** `note.py:41`")
    assert "** `worst.py:41`" in text
    assert f"**{300 - shown} findings of least weight left out here**" in text
    assert "### Warnings (300)" in text
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
        "  *Seen as:* It hangs.\n\n  *Violates:* It promises.\n\n"
        "  *Verified:* Two callers do.\n\n  *A model disputes it:* No.\n"
    ) in text


def test_what_backs_a_finding_goes_before_findings_go_and_a_doubt_stays(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(**dict.fromkeys(BACKING, "w" * 900))

    text = render_markdown(make_review(findings=(finding,) * 60))

    assert "Violates" not in text
    assert text.count("A model disputes it") == text.count("** `app/db.py:41`") == 60
    assert "all code, what findings violate and rest on" in text


def test_where_short_texts_fit_no_finding_is_left_out(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    text = render_markdown(make_review(findings=(make_finding(trigger="t" * 999),) * 40), max_chars=30_000)

    assert text.count("*Impact:*") == 40
    assert "left out here" not in text
    assert "long texts and lists beyond their start" in text


def test_a_worker_of_unknown_price_is_never_shown_as_free(make_review: Callable[..., Review]) -> None:
    unpriced = Used(calls=2, input_tokens=10, unpriced_calls=2)
    rows = (WorkerUsage(worker="logic", tasks=1, findings=0, duration_ms=900, usage=unpriced),)

    text = render_markdown(make_review(verdict="issues", workers=rows, usage=unpriced))

    assert "| `logic` | 1 | 0 | 2 | 10 | 0 | 0 | 0 | unknown | 900 ms |" in text
    assert "| `all` |  |  | 2 | 10 | 0 | 0 | 0 | unknown |  |" in text
    assert "Model use: unknown" in text
    assert "0.00" not in text


ABOUT = {
    "verdict": "clean",
    "about": ("It adds a retry to the mails.", "It tests it."),
    "coverage": (
        FileCoverage(path="a.py", state="reviewed", models=("claude:m",), added=150, removed=60),
        FileCoverage(path="b.md", state="scanned", need="scan", reason="prose", scans=("secrets",), added=1),
    ),
    "usage": Used(calls=3, input_tokens=9_000, output_tokens=700, cost_usd=0.12),
    "themes": (Theme(title="Mails | more", files=("a.py", "b.md")),),
}
LINKS = GithubLinks("https://github.com/acme/shop", "https://github.com/acme/shop/pull/7", "a" * 40, "b" * 40)


def test_what_a_change_does_comes_first_and_from_200_lines_on_its_files_by_theme(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    large = make_review(**ABOUT | {"verdict": "issues", "findings": (make_finding(),)})
    small = large.model_copy(update={"coverage": large.coverage[1:]})

    assert render_markdown(large).startswith(
        "## reviewbot: 1 issue found\n\n"
        "**What it does:** It adds a retry to the mails. It tests it.\n\n"
        "| Theme | Files |\n| --- | --- |\n| Mails &#124; more | `a.py`, `b.md` |\n\n"
        "1 of 2 files reviewed (1 only scanned), +151 -60 lines.\n\n### Critical (1)\n"
    )
    assert "| Theme |" not in render_markdown(small)


def test_how_the_review_was_made_names_models_effort_calls_and_the_way_to_ask_again(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    text = render_markdown(make_review(**ABOUT | {"findings": (make_finding(),), "effort": "deep"}))
    made = text.partition("<summary>How this review was made</summary>")[2]

    for words in ("`claude:m` at effort deep", "` $0.12 `", "9,000", "/reviewbot review", "ignore[RULE]", __version__):
        assert words in made


def test_places_and_proofs_are_linked_where_the_host_shows_them(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    proofs = (
        Proof(path="lib/a b.py", line=3, end_line=5, quote="x", why="It calls `it`."),
        Proof(path="old.py", side="old", line=9, end_line=9, quote="y"),
    )
    review = make_review(findings=(make_finding(proof=proofs),))
    blob = "https://github.com/acme/shop/blob"

    text = render_markdown(review, links=LINKS)

    assert f"[`app/db.py:41`]({blob}/{'a' * 40}/app/db.py#L41-L42)" in text
    assert (
        f"*Proof:* [`lib/a b.py:3`]({blob}/{'a' * 40}/lib/a%20b.py#L3-L5) (It calls `it`.); "
        f"[`old.py:9`]({blob}/{'b' * 40}/old.py#L9) before the change\n"
    ) in text
    assert "*Proof:* `lib/a b.py:3` (It calls `it`.); `old.py:9` before the change\n" in render_markdown(review)


def test_a_finding_that_stands_at_its_line_is_one_linked_line(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    commented, next_one, other = make_finding(), make_finding(path="c.py"), make_finding(path="b.py")
    review = make_review(findings=(commented, next_one, other))
    text = render_markdown(review, links=LINKS, inline={commented: "", next_one: "at an earlier head"})
    name = sha256(b"app/db.py").hexdigest()

    assert (
        "- **SQL is built from user input: `name` goes into the query unescaped** "
        f"[`app/db.py:41`](https://github.com/acme/shop/pull/7/files#diff-{name}R41)\n- **"
    ) in text
    assert text.count(", commented at an earlier head\n") == 1
    assert text.count("*Impact:*") == 1
    assert "### Critical (3)" in text


def test_what_a_person_was_told_before_is_one_line_and_folded_in_full(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    known, new = make_finding(), make_finding(path="c.py")
    people = tuple(HumanItem(path=each.path, reason="Not certain.", finding=each) for each in (known, new))
    text = render_markdown(make_review(human=people), links=LINKS, inline={known: ""})

    body, fold = text.split("<details><summary>Reported before, in full (1)</summary>")
    assert "### Needs a person (2)" in body
    assert body.count("- **SQL is built from user input") == 1
    assert body.count("*Why a person:* Not certain.") == 1, "the new one stands in full"
    assert fold.partition("</details>")[0].count("*Why a person:* Not certain.") == 1


def test_a_rule_is_linked_else_its_weakness(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    findings = (make_finding(rule="S501:named"), make_finding(rule="own-rule"), make_finding(sources=("taint",)))

    text = render_markdown(make_review(findings=findings))

    assert "[S501](https://docs.astral.sh/ruff/rules/S501), CWE-89, 92% sure" in text
    assert "`own-rule`, [CWE-89](https://cwe.mitre.org/data/definitions/89.html), 92% sure" in text
    assert "`S608`, [CWE-89](" in text


def test_every_number_of_the_comment_can_be_counted_in_the_review(full_review: Review) -> None:
    text = render_markdown(full_review)
    numbers = dict(re.findall(r"^(?:### |<details><summary>)([A-Za-z, ]+?) \((\d+)\)", text, re.MULTILINE))
    severities = Counter(finding.severity for finding in full_review.findings)
    by_state = Counter(entry.state for entry in full_review.coverage)
    in_fold = Counter[str]()
    for words, number in re.findall(r"^- \*\*([a-z ]+)(?:, which is enough)?\*\*.*? \((\d+): ", text, re.MULTILINE):
        in_fold[words] += int(number)

    assert numbers == {
        "Critical": str(severities["critical"]),
        "Warnings": str(severities["warning"]),
        "Notes": str(severities["info"]),
        "Contradictions, all sides shown": str(len(full_review.conflicts)),
        "Needs a person": str(len(full_review.human)),
        "Suppressed by settings and comments": "2",
    }
    assert f"{issues_of(full_review)} issues found" in text
    assert f"{by_state['reviewed']} of {len(full_review.coverage)} files reviewed" in text
    assert {state: in_fold[STATE_WORDS[state]] for state in by_state} == dict(by_state)
    assert text.count("\n- 41-42: ") + text.count("\n- 118: ") + text.count("\n- 7: ") + text.count(
        "\n- 12: "
    ) + text.count("\n- 9: ") == len(list(open_findings(full_review)))
    withheld = text.partition("<summary>Withheld")[2].partition("</details>")[0]
    assert withheld.count("\n- ") == len(full_review.withheld)
