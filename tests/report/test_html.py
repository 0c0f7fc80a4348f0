"""The HTML page: it holds everything, loads nothing, and no text of others becomes a part of its structure."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

import pytest

from reviewbot.domain.contracts import FileCoverage, Finding, HumanItem, Proof, Review, SkippedWorkers, Theme
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.formats import ReportInput
from reviewbot.report.html.elements import element, link, prose
from reviewbot.report.html.page import MAX_OPEN, STYLE, render

FIELDS = ("message", "title", "trigger", "evidence", "path", "rule", "category", "suggestion", "replacement",
          "judgement", "disputed", "contract", "symptom")  # fmt: skip
OURS = re.compile(r"https://(?:cwe\.mitre\.org/data/definitions|docs\.astral\.sh/ruff/rules)/[A-Za-z0-9.]+")


class Shape(HTMLParser):
    """The tags of a page in order, with their attributes' names; addresses and texts aside."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(f"{tag} {' '.join(name for name, _ in attrs)}".rstrip())
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "srcset", "action", "data")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(review: Review) -> str:
    return render(ReportInput(review, of_review(review)))


def shape_of(page: str) -> Shape:
    shape = Shape()
    shape.feed(page)
    assert shape.open == []
    return shape


def test_the_page_holds_every_part_of_the_review(full_review: Review) -> None:
    proof = Proof(path="lib/x.py", line=7, end_line=8, quote="proven()", why="It `runs`.")
    first, *others = full_review.findings
    more: dict[str, Any] = {
        "findings": (first.model_copy(update={"proof": (proof,)}), *others),
        "about": ("It adds `search`.",),
        "themes": (Theme(title="Search", files=("app/db.py",)),),
    }
    review = full_review.model_copy(update=more)

    page = page_of(review)

    for words in (
        '<h1 class="issues">4 issues found</h1>', "4 of 7 files reviewed", "It adds <code>search</code>.",
        "<td>Search</td>", "Critical (1)", "Warnings (1)", "Notes (1)", "Contradictions, all sides shown (1)",
        "Needs a person (3)", "<code>lib/x.py:7</code>", "proven()", "Not looked at", "Suppressed (4)", "Withheld (2)",
        "Coverage of 7 files", "logo.png", "was ignored", "92% sure", "<del>- ", "<ins>+ ", "Prompt for an agent",
        "and an unknown price", "this engine has no check for it",
    ):  # fmt: skip
        assert words in page, words
    assert all(f'id="finding-{of_review(review)[finding]}"' in page for finding in review.findings)
    assert page.count('class="finding"') == 6


def test_the_page_loads_nothing_and_runs_no_script(full_review: Review) -> None:
    page = page_of(full_review)
    shape = shape_of(page)

    assert all(OURS.fullmatch(address) for address in shape.addresses)
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {tag.split()[0] for tag in shape.tags}
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    digest = b64encode(sha256(STYLE.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'" in page
    assert f"<style>{STYLE}</style>" in page


@pytest.mark.parametrize("field", FIELDS)
def test_no_hostile_text_of_a_finding_changes_the_page(
    field: str,
    hostile_markdown: dict[str, str],
    make_finding: Callable[..., Finding],
    make_review: Callable[..., Review],
) -> None:
    texts = (
        *hostile_markdown.values(),
        '"><script>alert(1)</script>',
        "</details></main>`<b>`",
        "' onclick='x",
        "\x1b\u202e<",
    )
    known = set(shape_of(page_of(make_review(findings=(make_finding(replacement="a"),)))).tags)
    known |= {"del", "ins", "a href rel", "dl", "dt", "dd", "code", "pre"}

    for text in texts:
        review = make_review(findings=(make_finding(**{field: text}),))
        page = page_of(review)
        shape = shape_of(page)
        assert set(shape.tags) <= known
        assert all(OURS.fullmatch(address) for address in shape.addresses)
        assert not {"\x1b", "\u202e"} & set(page)


@pytest.mark.parametrize(
    "make",
    [
        lambda text: {"about": (text,), "themes": (Theme(title=text[:99], files=(text[:99],)),)},
        lambda text: {"notes": (text,), "engine": text},
        lambda text: {"human": (HumanItem(path=text, line=1, reason=text), HumanItem(path=text, reason=text))},
        lambda text: {"coverage": (FileCoverage(path=text, state="partial", reason=text),)},
        lambda text: {"unlooked": (SkippedWorkers(path=text, workers=(text,), reason=text),)},
    ],
)
def test_no_hostile_text_elsewhere_changes_the_page(
    make: Callable[[str], dict[str, Any]], hostile_markdown: dict[str, str], make_review: Callable[..., Review]
) -> None:
    quiet = {*shape_of(page_of(make_review(**make("x")))).tags, "code"}

    for text in (*hostile_markdown.values(), '"><script>alert(1)</script>'):
        assert set(shape_of(page_of(make_review(**make(text)))).tags) <= quiet


def test_of_very_many_findings_each_is_one_line_until_it_is_opened(
    make_finding: Callable[..., Finding], make_review: Callable[..., Review]
) -> None:
    def opened(count: int) -> int:
        page = page_of(make_review(findings=tuple(make_finding(line=n, end_line=n) for n in range(1, count + 1))))
        return page.count('class="finding" open')

    assert (opened(MAX_OPEN), opened(MAX_OPEN + 1)) == (MAX_OPEN, 0)


def test_a_note_is_closed_and_a_finding_without_a_name_has_no_anchor(
    make_finding: Callable[..., Finding], make_review: Callable[..., Review]
) -> None:
    page = render(ReportInput(make_review(findings=(make_finding(severity="info", cwe=None),)), {}))

    assert '<details class="finding"><summary>' in page
    assert "CWE" not in page


def test_texts_are_escaped_and_only_what_was_built_is_html() -> None:
    assert element("p", "<b>", element("b", "&"), None, class_='"') == '<p class="&quot;">&lt;b&gt;<b>&amp;</b></p>'
    assert prose("a `<i>` b ``c``") == "a <code>&lt;i&gt;</code> b ``c``"
    assert link("x<", "") == "x&lt;"
    assert element("p", "##[a] ::b") == "<p>#&#35;[a] :&#58;b</p>"
