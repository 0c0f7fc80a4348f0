"""The comment on a change without a finding: at most 600 characters, with each file counted and none passed over."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot import __version__
from reviewbot.coverage.states import READ
from reviewbot.coverage.verdict import STATE_WORDS, is_sufficient
from reviewbot.domain.contracts import FileCoverage, Gap, HumanItem, Need, SkippedWorkers, Suppression, Withheld
from reviewbot.domain.contracts import Usage as Used
from reviewbot.report.markdown.brief import BRIEF_CHARS, is_brief, render_brief
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.text import md_code, short_label
from tests.report.conftest import Tree, a_finding, a_review

if TYPE_CHECKING:
    from reviewbot.domain.contracts import Review

MARKER_CHARS = 330
"""More than the marker of a first head takes; a test of it is in tests/publish."""
HOSTILE_NAMES = (
    "a`b.py",
    "</details>",
    "@acme/all",
    "x\ny.py",
    "[a](http://b)",
    "<!-- reviewbot:review ",
    "\u202egp.exe",
)
NAMES = st.one_of(st.sampled_from(HOSTILE_NAMES), st.text(min_size=1, max_size=400))
READ_FILE = FileCoverage(path="a.py", state="reviewed", analyzers=("ruff",), added=20, removed=3)
PROSE = FileCoverage(path="b.md", state="scanned", need="scan", reason="prose", scans=("secrets",), added=1)
YAML = FileCoverage(
    path="c.yml", state="scanned", reason="nothing in this run understands its lines", scans=("secrets",)
)


@st.composite
def entries(draw: st.DrawFn) -> FileCoverage:
    state = draw(st.sampled_from(tuple(STATE_WORDS)))
    need = draw(st.sampled_from(get_args(Need)))
    lines = st.integers(0, 3_000)
    return FileCoverage(
        path=draw(NAMES), state=state, need=need, reason=draw(NAMES), added=draw(lines), removed=draw(lines)
    )


def check_counts(review: Review, text: str) -> None:
    """Every file of a review is counted once, and each that lacks something is named or counted as one more."""
    number = dict.fromkeys(STATE_WORDS.values(), 0)
    found = re.search(r"^([\d,]+) of ([\d,]+) files? reviewed(?: \(([^)]*)\))?", text, re.MULTILINE)
    assert found is not None
    reviewed, files, others = found.groups()
    for part in others.split(", ") if others else ():
        count, _, words = part.partition(" ")
        number[words] = int(count.replace(",", ""))
    assert int(reviewed.replace(",", "")) + sum(number.values()) == int(files.replace(",", "")) == len(review.coverage)
    lacking = [entry for entry in review.coverage if not is_sufficient(entry)]
    enough = [entry for entry in review.coverage if is_sufficient(entry) and entry.state not in (*READ, "removed")]
    assert [f"**Not fully reviewed ({len(lacking):,})" in text, "No review is needed" in text] == [
        bool(lacking),
        bool(enough),
    ]
    assert not enough or re.search(rf"No review is needed for {len(enough):,} files?\.", text)
    more = re.search(r" and ([\d,]+) more\.", text)
    if lacking and f"({len(lacking):,}):**" in text:
        left = int(more[1].replace(",", "")) if more else 0
        assert all(md_code(short_label(entry.path)) in text for entry in lacking[: len(lacking) - left])


@given(coverage=st.lists(entries(), min_size=1, max_size=30), copies=st.sampled_from((1, 1, 1, 170)))
def test_a_comment_without_a_finding_has_600_characters_and_counts_every_file(
    coverage: list[FileCoverage], copies: int
) -> None:
    review = a_review(verdict="limited", coverage=tuple(coverage * copies))
    text = render_brief(review)

    assert len(text) <= BRIEF_CHARS
    check_counts(review, text)

    # Beside the marker of a first head, which has no file of an earlier one; thousands in all five states take more.
    first = review.model_copy(update={"coverage": tuple(each for each in review.coverage if each.state != "earlier")})
    text = render_brief(first, BRIEF_CHARS - MARKER_CHARS)
    assert len(text) <= BRIEF_CHARS - MARKER_CHARS + 30 * (copies > 1)
    check_counts(first, text)


def test_no_file_of_five_thousand_with_long_names_is_passed_over() -> None:
    coverage = tuple(YAML.model_copy(update={"path": f"{number}/{'x' * 300}.yml"}) for number in range(4_000))
    text = render_brief(a_review(verdict="not_reviewed", coverage=(*coverage, *[READ_FILE] * 1_000)))

    assert len(text) <= BRIEF_CHARS
    assert "1,000 of 5,000 files reviewed (4,000 only scanned), +20,000 -3,000 lines." in text
    assert " and 3,999 more." in text


def test_a_clean_change_is_three_lines(make_review: Callable[..., Review]) -> None:
    review = make_review(
        about=("It adds a retry.",), coverage=(READ_FILE,), usage=Used(calls=3, output_tokens=700, cost_usd=0.12)
    )
    assert render_brief(review) == (
        "## reviewbot: No issues found\n\n"
        "**What it does:** It adds a retry.\n\n"
        f"1 of 1 file reviewed, +20 -3 lines. <sub>model use ` $0.12 `, 1.2 s, reviewbot {__version__}</sub>\n"
    )


def test_files_that_need_more_are_named_with_the_reason_and_others_are_counted() -> None:
    review = a_review(verdict="limited", coverage=(READ_FILE, PROSE, YAML))
    assert render_brief(review) == (
        "## reviewbot: No issues found in what was read\n\n"
        "1 of 3 files reviewed (2 only scanned), +21 -3 lines. "
        f"<sub>no model was asked, 1.2 s, reviewbot {__version__}; each file: check run, `--format markdown`</sub>\n\n"
        "**Not fully reviewed (1):** `c.yml` (only scanned: nothing in this run understands its lines). "
        "No review is needed for 1 file.\n"
    )


def test_what_is_held_back_silenced_or_noted_is_counted_where_its_words_have_no_room() -> None:
    silenced = Suppression(path="a.py", line=1, rule="S1", category="c", severity="info", action="off", by="settings")
    review = a_review(
        withheld=(Withheld(finding=a_finding(severity="info"), reason="below_threshold", message="60 is below 80"),),
        suppressed=(silenced, silenced),
        notes=("The price of a model is not known", "@acme look"),
        unlooked=(SkippedWorkers(path="app/db.py", workers=("logic",), reason="budget"),),
    )
    full, short = render_brief(review), render_brief(review, 0)

    assert "Withheld: 1 below the confidence threshold. Suppressed by settings or comments: 2. " in full
    assert "Left out: not looked at for logic. Notes: The price of a model is not known; `@acme` look." in full
    assert "Withheld: 1. Suppressed by settings or comments: 2. Left out: 1 part. Notes: 2." in short


@given(name=NAMES, reason=NAMES, note=NAMES)
def test_no_text_of_others_changes_the_shape_of_the_comment(
    tree: Callable[[str], Tree], name: str, reason: str, note: str
) -> None:
    def shape(name: str, reason: str, note: str) -> list[str]:
        lacking = YAML.model_copy(update={"path": name, "reason": reason})
        read = tree(render_brief(a_review(verdict="limited", coverage=(lacking,), notes=(note,)), 4_000))
        return [each for each in read.shape if "code" not in each]

    assert shape(name, reason, note) == shape("a.py", "it is", "a note")


@pytest.mark.parametrize(
    "said",
    [
        {"findings": (a_finding(severity="info"),)},
        {"human": (HumanItem(path="a.py", reason="critical"),)},
        {"gaps": (Gap(path="a.py", worker="logic", reason="timeout", message=""),)},
        {"incomplete": True},
        {"withheld": (Withheld(finding=a_finding(), reason="dismissed", message="dismissed by octocat"),)},
        {"verdict": "issues"},
    ],
    ids=lambda said: next(iter(said)),
)
def test_what_a_person_has_to_look_at_is_never_in_a_short_comment(said: dict[str, object]) -> None:
    assert is_brief(a_review())
    assert not is_brief(a_review(**said))


def test_the_whole_report_names_each_file_of_a_clean_change_in_a_fold() -> None:
    text = render_markdown(a_review(verdict="limited", coverage=(READ_FILE, PROSE, YAML)))

    assert "<summary>Coverage of 3 files</summary>" in text
    assert all(f"`{path}`" in text for path in ("a.py", "b.md", "c.yml"))
