"""What settings and comments did to findings, in every report."""

from __future__ import annotations

import json
from typing import Any

from reviewbot.domain.contracts import Review, Suppression
from reviewbot.report.json_report import render_json
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.view_model import suppression_groups
from reviewbot.review.combine.ignore_comments import ADDED
from tests.make import MakeReview
from tests.rendering import render_annotations, render_terminal
from tests.sarif_log import render_sarif


def entry(**fields: Any) -> Suppression:
    about: dict[str, Any] = {"action": "off", "path": "a.py", "line": 1, "rule": "S603", "type": "security"}
    about |= {
        "category": "command-injection",
        "severity": "warning",
        "by": ".reviewbot.toml",
        "message": "A program is run.",
    }
    return Suppression(**about | fields)


def test_each_kind_is_told_in_its_own_words_and_the_important_ones_first(full_review: Review) -> None:
    assert [(group.text, group.places, group.important) for group in suppression_groups(full_review)] == [
        (
            "S602 ignored by comment at line 3 (the command is fixed): critical: A shell runs the command.",
            (("app/shell.py", 4),),
            True,
        ),
        (
            f"comment at line 8: ignore[S608] (it is fine) silences nothing: {ADDED}",
            (("app/db.py", 8),),
            True,
        ),
        ("F401 off by .reviewbot.toml", (("app/cache.py", 1), ("app/util.py", 3)), False),
        ("B006 is warning in place of info by --rule", (("app/util.py", 4),), False),
    ]


def test_a_finding_without_a_rule_goes_by_its_category(make_review: MakeReview) -> None:
    (group,) = suppression_groups(make_review(suppressed=(entry(rule="", action="ignored", by="comment at line 1"),)))

    assert group.text == "command-injection ignored by comment at line 1"


def test_every_report_names_each_of_them(full_review: Review) -> None:
    terminal = " ".join(render_terminal(full_review, width=120, colour=False).split())
    notices = [
        each
        for each in json.loads(render_sarif(full_review))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        if each["descriptor"]["id"] == "suppression"
    ]

    assert "F401 off by .reviewbot.toml app/cache.py:1, app/util.py:3" in terminal
    assert "- F401 off by .reviewbot.toml (`app/cache.py:1`, `app/util.py:3`)" in render_markdown(full_review)
    assert "suppressed::F401 off by .reviewbot.toml (2 places)" in render_annotations(full_review)
    assert [each["level"] for each in notices] == ["warning", "warning", "note", "note"]
    assert len(notices[2]["locations"]) == 2
    assert [each["rule"] for each in json.loads(render_json(full_review))["suppressed"]] == [
        "F401", "F401", "B006", "S602", "S608",
    ]  # fmt: skip


def test_sarif_has_no_result_for_what_is_silenced(make_review: MakeReview) -> None:
    log = json.loads(render_sarif(make_review(suppressed=(entry(severity="critical"),))))

    assert log["runs"][0]["results"] == []


def test_long_lists_are_counted(make_review: MakeReview) -> None:
    many = make_review(suppressed=tuple(entry(line=n, rule=f"S{n}", path=f"{n}.py") for n in range(1, 61)))
    places = make_review(suppressed=tuple(entry(line=n) for n in range(1, 121)))

    assert "... and 10 more; --format json lists them." in render_terminal(many, width=100, colour=False)
    assert "... and 10 more suppressions." in render_markdown(many)
    assert "a.py:8 and 112 more" in render_terminal(places, width=100, colour=False)
    assert "`a.py:10` and 110 more)" in render_markdown(places)
    notices = json.loads(render_sarif(places))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert len(notices[-1]["locations"]) == 100


def test_the_words_of_a_comment_are_text_and_nothing_else(make_review: MakeReview) -> None:
    hostile = entry(action="ignored", by="comment at line 1", reason="<img src=x> @octocat ::error::x")

    assert "<img" not in render_markdown(make_review(suppressed=(hostile,)))
    assert "`@octocat`" in render_markdown(make_review(suppressed=(hostile,)))
