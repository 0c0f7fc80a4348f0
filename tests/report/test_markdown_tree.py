"""The comment, read by a parser: no text of a review may change its shape, and no run of text may act on GitHub."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import (
    Conflict,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Proof,
    Review,
    SkippedWorkers,
    Theme,
    Withheld,
    WorkerUsage,
)
from reviewbot.domain.contracts import Usage as Used
from reviewbot.hosts.github.links import GithubLinks
from reviewbot.memory.fingerprints import all_of
from reviewbot.report.findings.links import SourceLinks
from reviewbot.report.findings.view import explanation_of, title_of
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.text import block, one_line
from tests.make import one_fast

if TYPE_CHECKING:
    from collections.abc import Mapping

Make = Callable[[str], Review]
LARGE = (FileCoverage(path="p.py", state="reviewed", analyzers=("a",), added=500),)
LINKS = GithubLinks("https://github.com/acme/shop", "https://github.com/acme/shop/pull/7", "a" * 40, "b" * 40)

# What GitHub makes out of text after the Markdown is rendered.
ACTING = {
    "mention": re.compile(r"@[\w/-]"),
    "issue_ref": re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    "commit": re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])"),
    "link": re.compile(r"://|www\.", re.IGNORECASE),
    "math": re.compile(r"\$"),
    "emoji": re.compile(r":[a-z0-9_+-]+:"),
}
COMMAND_LINE = re.compile(r"^(?:/|@|!|bors\b|\[\^)", re.MULTILINE)
FINDING_FIELDS = (
    "message", "evidence", "trigger", "suggestion", "path", "rule", "category", "source", "contract", "symptom",
    "judgement", "disputed", "symbol", "title", "proof",
)  # fmt: skip
PLACES = ("findings", "withheld", "conflict", "human")
OTHER_FIELDS = (
    "headline", "summary", "engine", "note", "conflict reason", "human reason", "human path", "gap message", "gap tool",
    "gap path", "coverage path", "coverage reason", "coverage reader", "unlooked reason", "unlooked worker", "worker",
    "withheld message", "paid worker", "about", "theme", "theme file",
)  # fmt: skip
PIECES = [
    *(
        "```",
        "~~~",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "<!--",
        "-->",
        "<details>",
        "</details>",
        "</summary>",
        "<a>",
        "![a](b)",
    ),
    *("[a]: b", "| a |", "|---|", "# h", "---", "> q", "- [ ] t", "1. l", "[^1]", "[^1]: x", "*a*", "__b__", "\\", "`"),
    *(
        "``",
        "@a",
        "#1",
        "$$",
        "/x",
        "&#64;a",
        "http://a.b",
        "www.a.b",
        "a@b.c",
        ":x:",
        "deadbeef",
        "\x1b",
        "\u202e",
        "x",
    ),
]
SIGNS = "`~*_[]()<>#|\\!@/:$&-+=.1 \t\n\rabGH"
TEXTS = st.text(st.characters() | st.sampled_from(SIGNS), max_size=60) | st.lists(
    st.sampled_from(PIECES), max_size=12
).map("".join)


def with_field(finding: Finding, field: str, text: str) -> Finding:
    changes: dict[str, Any] = {field: text}
    if field == "source":
        changes = {"sources": (f"model:{text}", "ruff")}
    elif field == "proof":
        changes = {field: (Proof(path="a.py", line=1, end_line=2, quote=text, why=text),)}
    return finding.model_copy(update=changes)


def at_place(make_review: Callable[..., Review], finding: Finding, place: str) -> Review:
    parts: dict[str, dict[str, object]] = {
        "findings": {"findings": (finding,)},
        "withheld": {"withheld": (Withheld(finding=finding, reason="over_cap", message="m"),)},
        "conflict": {"conflicts": (Conflict(findings=(finding, finding), reason="r"),)},
        "human": {"human": (HumanItem(path="p", line=1, reason="r", finding=finding),)},
    }
    return make_review(**parts[place])


def elsewhere(make_review: Callable[..., Review], finding: Finding, field: str, text: str) -> Review:
    parts: Mapping[str, Callable[[], dict[str, object]]] = {
        "headline": lambda: {"headline": text},
        "summary": lambda: {"summary": text},
        "engine": lambda: {"engine": text},
        "about": lambda: {"about": (text, "second")},
        "theme": lambda: {"coverage": LARGE, "themes": (Theme(title=text[:8_000], files=("p.py",)),)},
        "theme file": lambda: {"coverage": LARGE, "themes": (Theme(title="t", files=(text[:8_000], "p.py")),)},
        "note": lambda: {"notes": (text, "second")},
        "conflict reason": lambda: {"conflicts": (Conflict(findings=(finding, finding), reason=text),)},
        "human reason": lambda: {"human": (HumanItem(path="p", reason=text),)},
        "human path": lambda: {"human": (HumanItem(path=text, line=1, reason="r"), HumanItem(path=text, reason="r"))},
        "gap message": lambda: {"gaps": (Gap(path="p", worker="w", reason="crashed", message=text),)},
        "gap tool": lambda: {"gaps": (Gap(path="p", worker=text, reason="crashed", message="m", tool=text),)},
        "gap path": lambda: {"gaps": (Gap(path=text, worker="w", reason="crashed", message="m"),)},
        "coverage path": lambda: {
            "coverage": (FileCoverage(path=text, state="partial", reason="r", analyzers=("a",)),)
        },
        "coverage reason": lambda: {"coverage": (FileCoverage(path="p", state="partial", reason=text),)},
        "coverage reader": lambda: {"coverage": (FileCoverage(path="p", state="partial", analyzers=(text, "a")),)},
        "unlooked reason": lambda: {"unlooked": (SkippedWorkers(path="p", workers=("w",), reason=text),)},
        "unlooked worker": lambda: {"unlooked": (SkippedWorkers(path=text, workers=(text, "w"), reason="r"),)},
        "withheld message": lambda: {"withheld": (Withheld(finding=finding, reason="minor", message=text),)},
        "paid worker": lambda: {
            "workers": (
                WorkerUsage(worker=text, tasks=1, findings=0, duration_ms=1, usage=Used(calls=1, cost_usd=2.0)),
            ),
        },
        "worker": lambda: {
            "workers": (WorkerUsage(worker=text, tasks=1, findings=0, duration_ms=1, usage=Used()),),
        },
    }
    return make_review(**parts[field]())


def harmless(field: str, text: str, finding: Finding) -> str:
    """A text of the same form: empty or not, one line or a block, with an explanation behind its title or without."""
    if field == "title":
        return "x" if one_line(text) else ""
    if field == "message":
        return "Xxxxxxxxxxxxx. X" if explanation_of(finding) else "x" if title_of(finding) else ""
    if field == "evidence":
        shown = block(dedent(text))
        return "x\nx" if "\n" in shown or len(shown) > 100 else "x" if shown else ""
    if field == "suggestion" and "\n" in block(text):
        return "x\nx"
    if field == "path":
        return ("x" if len(quote(text, errors="replace")) <= 500 else "x" * 600) + (".nothing" if "." in text else "")
    return "x" if one_line(text) else ""


@pytest.fixture
def check(tree: Callable[[str], tuple[list[str], list[str]]]) -> Callable[[Make, str, str], None]:
    def compare(make: Make, field: str, text: str, links: SourceLinks | None) -> None:
        review = make(text)
        finding = next(all_of(review), None)
        quiet = harmless(field, text, finding) if finding else "x" if one_line(text) else ""
        markdown = render_markdown(review, links=links)
        shape, texts = tree(markdown)
        expected, _ = tree(render_markdown(make(quiet), links=links))
        assert [re.sub(r"^fence code .*", "fence", node) for node in shape] == [
            re.sub(r"^fence code .*", "fence", node) for node in expected
        ]
        acting = [(kind, found) for found in texts for kind, pattern in ACTING.items() if pattern.search(found)]
        assert acting == []
        assert COMMAND_LINE.findall(markdown) == []
        assert not any(
            node.startswith(("fence code suggestion", "fence code m")) for node in shape if "markdown" not in node
        )

    def run(make: Make, field: str, text: str) -> None:
        compare(make, field, text, None)
        compare(make, field, text, LINKS)

    return run


@pytest.mark.parametrize("place", one_fast(PLACES))
@pytest.mark.parametrize("field", FINDING_FIELDS)
def test_no_hostile_text_of_a_finding_leaves_its_place(
    field: str,
    place: str,
    check: Callable[[Make, str, str], None],
    hostile_markdown: dict[str, str],
    make_finding: Callable[..., Finding],
    make_review: Callable[..., Review],
) -> None:
    for text in hostile_markdown.values():
        check(lambda given: at_place(make_review, with_field(make_finding(), field, given), place), field, text)


@pytest.mark.parametrize("field", OTHER_FIELDS)
def test_no_hostile_text_elsewhere_in_a_review_leaves_its_place(
    field: str,
    check: Callable[[Make, str, str], None],
    hostile_markdown: dict[str, str],
    make_finding: Callable[..., Finding],
    make_review: Callable[..., Review],
) -> None:
    for text in hostile_markdown.values():
        check(lambda given: elsewhere(make_review, make_finding(), field, given), field, text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(field=st.sampled_from(FINDING_FIELDS), place=st.sampled_from(PLACES), text=TEXTS)
def test_no_text_of_a_finding_leaves_its_place(
    field: str,
    place: str,
    text: str,
    check: Callable[[Make, str, str], None],
    make_finding: Callable[..., Finding],
    make_review: Callable[..., Review],
) -> None:
    check(lambda given: at_place(make_review, with_field(make_finding(), field, given), place), field, text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(field=st.sampled_from(OTHER_FIELDS), text=TEXTS)
def test_no_text_elsewhere_in_a_review_leaves_its_place(
    field: str,
    text: str,
    check: Callable[[Make, str, str], None],
    make_finding: Callable[..., Finding],
    make_review: Callable[..., Review],
) -> None:
    check(lambda given: elsewhere(make_review, make_finding(), field, given), field, text)


def test_mentions_are_shown_in_code_spans(
    hostile_markdown: dict[str, str], make_finding: Callable[..., Finding], make_review: Callable[..., Review]
) -> None:
    text = render_markdown(make_review(findings=(make_finding(message=hostile_markdown["M06_mentions"]),)))

    assert "cc `@octocat` `@github/security` `@everyone<U+200B>`" in text


def test_an_oversized_message_fits_into_a_comment(
    hostile_markdown: dict[str, str], make_finding: Callable[..., Finding], make_review: Callable[..., Review]
) -> None:
    text = render_markdown(make_review(findings=(make_finding(message=hostile_markdown["M13_oversize"]),) * 60))

    assert len(text) <= 65_536
    assert text.count("AAA ...") == 60
