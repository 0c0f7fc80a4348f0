"""Hostile text in every field, through the publisher: what was posted is read by a parser, and nothing in it acts."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import HumanItem, Proof, Review
from reviewbot.domain.ports import Clock
from reviewbot.publish.body import marker_of
from reviewbot.publish.check_run import check_of
from reviewbot.publish.inline import suggestion_block
from reviewbot.publish.intents import MemoryIntents
from reviewbot.publish.options import PublishContext, PublishRequest
from reviewbot.publish.post import publish
from tests.conftest import RecordingClock
from tests.make import MakeFinding
from tests.publishing import OPTIONS, SIGNER, RecordingHost, a_review, an_order, read_tree, shown

FOLDER = Path(__file__).parents[1] / "hostile" / "markdown"
CASES = {path.stem: json.loads(path.read_text("utf-8"))["text"] for path in sorted(FOLDER.glob("*.json"))}
# What GitHub acts on after rendering, beside what the corpus has: words that close issues, references, slash commands.
CASES |= {
    "closing keyword": "Fixes #1, closes acme/shop#2 and resolves GH-3",
    "mention in mail": "mail octocat@github.com or @org/team",
    "our marker": SIGNER.finding(4242, 7, "0" * 32) + "\n<!-- reviewbot:review v=1 -->",
    "end of a comment": "-->\n<!-- reviewbot:review v=1 repository=4242 -->",
    "suggestion in a fence": "````\n```suggestion\nrm -rf /\n```\n````",
    "task list": "- [x] reviewed\n- [ ] approve",
    "definition": "[x]: http://127.0.0.1:9/p\n[x]",
}
FIELDS = ("message", "trigger", "symptom", "suggestion", "rule", "category", "source", "path", "evidence", "contract",
          "proof", "disputed", "symbol")  # fmt: skip
OTHERS = ("headline", "summary", "engine", "note", "human reason", "coverage reason", "coverage path")
FAST = frozenset({"message", "suggestion", "source", "path", "evidence", "headline", "note"})
"""One for each way in which texts are shown."""

ACTING = {
    "mention": re.compile(r"@[\w/-]"),
    "issue": re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    "commit": re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])"),
    "link": re.compile(r"://|www\.", re.IGNORECASE),
    "math": re.compile(r"\$"),
}
COMMAND_LINE = re.compile(r"^(?:/|@|!|bors\b|\[\^)", re.MULTILINE)
OURS = r"https://(?:cwe\.mitre\.org/data/definitions|docs\.astral\.sh/ruff/rules|github\.example/acme/shop)/"
FORBIDDEN = re.compile(
    rf"^(?:image|link_open (?!{OURS})|html_inline (?!</?sub>$)|blockquote_open|hr\b|fence suggestion)"
)
PIECES = ["```", "```suggestion", "\n", "<!-- reviewbot:review ", " -->", "@a", "#1", "](x)", "`", "/x", "a "]
TEXTS = st.text(max_size=40) | st.lists(st.sampled_from(PIECES)).map("".join)


def with_text(make: MakeFinding, field: str, text: str) -> Review:
    """A review with one finding, and a text in one field of it or beside it."""
    finding = make(line=3, suggestion="Use a list.")
    if field in FIELDS:
        changes: dict[str, Any] = {field: text}
        if field == "source":
            changes = {"sources": (f"model:{text}", "ruff")}
        elif field == "proof":
            changes = {field: (Proof(path=text, line=1, end_line=2, quote=text, why=text),)}
        return a_review(finding.model_copy(update=changes))
    review = a_review(finding)
    given: dict[str, dict[str, Any]] = {
        "headline": {"headline": text},
        "summary": {"summary": text},
        "engine": {"engine": text},
        "note": {"notes": (text,)},
        "human reason": {"human": (HumanItem(path="p", reason=text),)},
        "coverage reason": {"coverage": (review.coverage[0].model_copy(update={"state": "partial", "reason": text}),)},
        "coverage path": {"coverage": (review.coverage[0].model_copy(update={"path": text}),)},
    }
    return review.model_copy(update=given[field])


def posted(order: PublishRequest, clock: Clock) -> list[str]:
    """All that a host is given to show: the review, its comments, the check."""
    host = RecordingHost()
    asyncio.run(publish(order, OPTIONS, PublishContext(host, MemoryIntents(), clock, "this run")))
    check = check_of(order.delivered.review, order.change, gate_closed=False)
    (draft,) = host.drafts
    # The text of the check is the report once more, which the body has already.
    return [draft.body, *(each.body for each in draft.comments), check.summary]


def assert_harmless(markdown: str) -> None:
    shape, texts = read_tree(markdown)
    ours = [node for node in shape if node.startswith("html_block")]
    assert [node for node in shape if FORBIDDEN.match(node)] == []
    assert all(
        re.match(r"html_block  ?(?:<!-- reviewbot:|</details>|<details><summary>[A-Za-z :()0-9]+</summary>)", node)
        for node in ours
    ), ours
    assert sum("<!--" in node for node in ours) <= 1
    acting = [(kind, text) for text in texts for kind, pattern in ACTING.items() if pattern.search(text)]
    assert acting == []
    assert COMMAND_LINE.findall(markdown) == []


def assert_ours(order: PublishRequest, body: str) -> None:
    """The marker of a body is the one that we put there."""
    marker = SIGNER.read_review(body, 4242, 7)
    assert marker == marker_of(order)


def tried(field: str) -> Any:
    """A field to try; those whose way into Markdown is another one's run in the gate alone."""
    return field if field in FAST else pytest.param(field, marks=pytest.mark.slow)


@pytest.mark.parametrize("field", [tried(each) for each in (*FIELDS, *OTHERS)])
def test_no_hostile_text_acts_where_it_was_posted(field: str, a_finding: MakeFinding, clock: RecordingClock) -> None:
    for text in CASES.values():
        review = with_text(a_finding, field, text)
        order = an_order(review, shown(path=review.findings[0].path))
        body, *others = posted(order, clock)

        assert_ours(order, body)
        for markdown in (body, *others):
            assert_harmless(markdown)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(field=st.sampled_from([*FIELDS, *OTHERS]), text=TEXTS)
def test_nobodys_text_brings_a_marker_into_what_we_post(
    field: str, text: str, a_finding: MakeFinding, clock: RecordingClock
) -> None:
    review = with_text(a_finding, field, text)
    order = an_order(review, shown(path=review.findings[0].path))
    body, *others = posted(order, clock)

    assert_ours(order, body)
    for markdown in others:
        assert_harmless(markdown)


@given(TEXTS)
def test_a_replacement_stays_in_its_block(text: str) -> None:
    block = suggestion_block(text)
    shape = read_tree(f"Warning\n\n{block}\n\n<!-- reviewbot:finding -->").shape

    assert block is None or shape[2:] == ["fence suggestion", "html_block  <!-- reviewbot:finding -->"]
