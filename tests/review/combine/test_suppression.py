"""Findings that settings and comments silence or change, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.config.rules import RuleLevels
from reviewbot.domain.contracts import Finding, Suppression, WorkerResult
from reviewbot.review.combine.ignore_comments import ADDED, IgnoreComment
from reviewbot.review.combine.suppression import MAX_REFUSED, Suppressor, distinct_suppressions

Make = Callable[..., Any]


def said(*comments: IgnoreComment, categories: dict[str, str] | None = None, **rules: object) -> Suppressor:
    entries: Any = RuleLevels().check({name.replace("_", "-"): level for name, level in rules.items()})
    named = tuple(entry._replace(origin=".reviewbot.toml") for entry in entries)
    return Suppressor.of(named, comments, categories or {}, {"security": 80})


def comment(line: int, *names: str, alone: bool = False, path: str = "src/app.py", fault: str = "") -> IgnoreComment:
    return IgnoreComment(path, line, names, "it is fixed", alone, fault)


@pytest.fixture
def applied(a_finding: Make, a_result: Make) -> Callable[..., tuple[tuple[Finding, ...], list[Suppression]]]:
    """What is left of one finding on line 5, and what is said of it."""

    def apply(suppressor: Suppressor, **fields: Any) -> tuple[tuple[Finding, ...], list[Suppression]]:
        about = {"line": 5, "end_line": 5, "rule": "S602", "category": "command-injection", "severity": "warning"}
        result: WorkerResult = suppressor.apply(a_result(findings=(a_finding(**{**about, **fields}),)))
        return result.findings, list(result.suppressed)

    return apply


def test_without_settings_and_comments_a_result_is_the_same_object(a_finding: Make, a_result: Make) -> None:
    result = a_result(findings=(a_finding(),))

    assert Suppressor().apply(result) is result


def test_a_rule_that_is_off_is_silenced_and_listed_with_its_source(applied: Make) -> None:
    left, (entry,) = applied(said(S602="off"))

    assert left == ()
    assert (entry.action, entry.by, entry.rule, entry.severity, entry.shown_as) == (
        "off", ".reviewbot.toml", "S602", "warning", None,
    )  # fmt: skip
    assert entry.is_silenced
    assert not entry.is_grave


def test_another_severity_is_shown_and_listed_with_the_one_before(applied: Make) -> None:
    (left,), (entry,) = applied(said(S602="info"))

    assert left.severity == "info"
    assert (entry.action, entry.severity, entry.shown_as, entry.is_silenced) == ("severity", "warning", "info", False)


@pytest.mark.parametrize("level", ["on", "warning"])
def test_a_level_that_changes_nothing_is_not_listed(applied: Make, level: str) -> None:
    left, entries = applied(said(S602=level))

    assert (len(left), entries) == (1, [])


def test_a_rule_in_one_of_its_forms_and_a_category_are_named_likewise(applied: Make) -> None:
    assert applied(said(S602="off"), rule="S602:named")[0] == ()
    assert applied(said(command_injection="off"))[0] == ()
    assert applied(said(command_injection="off"), rule="", category="command-injection")[0] == ()
    assert len(applied(said(command_injection="off", S602="on"))[0]) == 1
    assert len(applied(said(S60="off", injection="off"))[0]) == 1


def test_globs_say_in_which_files_a_setting_holds(applied: Make) -> None:
    rules = said(S602={"level": "off", "paths": ["tests/*"]})

    assert len(applied(rules)[0]) == 1
    assert applied(rules, path="tests/test_app.py")[0] == ()


@pytest.mark.parametrize(
    ("here", "where"),
    [
        ({"line": 5}, "on its line"),
        ({"line": 9}, "on its last line"),
        ({"line": 4, "alone": True}, "alone on the line above"),
    ],
)
def test_a_comment_at_the_finding_silences_it(applied: Make, here: dict[str, Any], where: str) -> None:
    left, (entry,) = applied(said(comment(here["line"], "S602", alone=here.get("alone", False))), end_line=9)

    assert left == (), where
    assert (entry.action, entry.by, entry.reason) == ("ignored", f"comment at line {here['line']}", "it is fixed")


@pytest.mark.parametrize(
    "other",
    [
        comment(4, "S602"),
        comment(3, "S602", alone=True),
        comment(6, "S602"),
        comment(5, "S603"),
        comment(5, "S602", path="src/other.py"),
        comment(5, "S602", fault=ADDED),
    ],
    ids=["behind code above", "two lines above", "below", "another rule", "another file", "refused"],
)
def test_a_comment_elsewhere_or_of_another_rule_silences_nothing(applied: Make, other: IgnoreComment) -> None:
    left, entries = applied(said(other))

    assert (len(left), entries) == (1, [])


def test_a_comment_that_names_a_rule_is_about_what_a_model_found_in_its_category(applied: Make) -> None:
    suppressor = said(comment(5, "S602"), categories={"S602": "command-injection"})

    assert applied(suppressor, rule="", sources=("model:x",))[0] == ()
    assert len(applied(suppressor, rule="", category="sql-injection")[0]) == 1
    assert len(applied(suppressor, rule="S605")[0]) == 1


def test_what_is_critical_or_a_secret_stays_listed_in_full(applied: Make) -> None:
    suppressor = said(comment(5, "S602"))

    assert applied(suppressor, severity="critical")[1][0].is_grave
    assert applied(suppressor, category="secret")[1][0].is_grave
    assert applied(suppressor, severity="critical")[1][0].message
    assert not applied(said(S602="info"), severity="critical")[1][0].is_grave


def beside_an_off_one(a_finding: Make, a_result: Make, **fields: Any) -> WorkerResult:
    """What becomes of an S608 at line 5, where `sql-parameter` found a statement there and is off."""
    about = {"line": 5, "end_line": 5, "category": "sql-injection", "cwe": 89, "severity": "critical"}
    off = a_finding(**about, rule="sql-parameter", confidence=76, sources=("taint",))
    other = {
        **about,
        "rule": "S608",
        "confidence": 65,
        "sources": ("ruff-security",),
        "message": "Built SQL.",
        **fields,
    }
    return said(sql_parameter="off").apply(a_result(findings=(a_finding(**other), off)))


def test_an_uncertain_finding_of_the_same_defect_as_an_off_one_is_silenced_with_it(
    a_finding: Make, a_result: Make
) -> None:
    result = beside_an_off_one(a_finding, a_result)

    assert result.findings == ()
    assert [(each.rule, each.action, each.by, each.reason) for each in result.suppressed] == [
        ("S608", "off", ".reviewbot.toml", "the same defect as sql-parameter"),
        ("sql-parameter", "off", ".reviewbot.toml", ""),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": 80},
        {"confidence": 79, "severity": "critical"},
        {"line": 6, "end_line": 6},
        {"cwe": 78, "category": "command-injection"},
        {"sources": ("model:x",)},
        {"path": "other.py"},
        {"type": "logic"},
    ],
    ids=["certain", "surer", "another line", "another defect", "a model's", "another file", "no threshold"],
)
def test_what_is_certain_or_another_defect_stays_beside_an_off_one(
    a_finding: Make, a_result: Make, fields: dict[str, Any]
) -> None:
    result = beside_an_off_one(a_finding, a_result, **fields)

    assert [each.rule for each in result.findings] == ["S608"]
    assert [each.rule for each in result.suppressed] == ["sql-parameter"]


def test_an_ignore_comment_silences_the_uncertain_finding_of_the_same_defect_with_its_own_reason(
    a_finding: Make, a_result: Make
) -> None:
    about = {"line": 5, "end_line": 5, "category": "sql-injection", "cwe": 89, "severity": "critical"}
    named = a_finding(**about, rule="sql-parameter", confidence=76, sources=("taint",))
    other = a_finding(**about, rule="S608", confidence=65, sources=("ruff-security",))

    result = said(comment(5, "sql-parameter")).apply(a_result(findings=(named, other)))

    assert result.findings == ()
    assert [each.reason for each in result.suppressed] == [
        "it is fixed", "it is fixed; the same defect as sql-parameter",
    ]  # fmt: skip


def test_a_refused_comment_is_listed_where_it_stands_up_to_a_limit() -> None:
    suppressor = said(*(comment(number + 1, "S602", "debug", fault=ADDED) for number in range(MAX_REFUSED + 5)))

    first = suppressor.refused[0]
    assert (first.action, first.line, first.rule, first.message) == ("refused", 1, "S602, debug", ADDED)
    assert not first.is_silenced
    assert len(suppressor.refused) == MAX_REFUSED


def test_what_two_workers_say_alike_is_listed_once_and_by_place(applied: Make) -> None:
    later = applied(said(S602="off"), line=7, end_line=7)[1][0]
    first = applied(said(S602="off"))[1][0]

    assert distinct_suppressions([later, first, later]) == (first, later)
