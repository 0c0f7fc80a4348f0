"""From findings and labels to the table that says how far each rule is trusted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import CaseLabels, Golden, LabelPlace
from reviewbot.evaluate.rule_counts import Counts, count, render_table
from reviewbot.review.calibration import RuleBand, RuleRow, read_calibration, wilson

BAD = CaseLabels((Golden("a.py", (LabelPlace("a.py", 10, 10),), None, counted=True),))
CLEAN = CaseLabels()
DISPUTED = CaseLabels((Golden("a.py", (LabelPlace("a.py", 10, 10),), None, counted=False),))
LABELS = {"g/bad": BAD, "g/clean": CLEAN, "g/disputed": DISPUTED}


def found(rule: str = "S608", tool: str = "ruff-security", line: int = 10, **fields: Any) -> dict[str, Any]:
    known = {"file": "a.py", "line": line, "end_line": line, "cwe": "CWE-89", "severity": "medium", "confidence": 60}
    return {"rule": rule, "sources": [tool], **known, **fields}


def row(case: str, *findings: dict[str, Any], **fields: Any) -> dict[str, Any]:
    versions = {"ruff-security": "0.17.6", "taint": "1"}
    return {"case": case, "stage": "workers", "tool_versions": versions, "findings": list(findings), **fields}


def counts(*rows: dict[str, Any]) -> dict[tuple[str, str], tuple[int, int]]:
    return {(entry.tool, entry.rule): (entry.true, entry.false) for entry in count(rows, LABELS).rows}


def test_each_report_counts_for_its_rule() -> None:
    bad = row("g/bad", found(), found(line=90), found("S105", line=11))
    clean = row("g/clean", found())

    assert counts(bad, clean) == {("ruff-security", "S608"): (1, 2), ("ruff-security", "S105"): (1, 0)}


def test_a_row_carries_the_version_and_the_bound_of_its_counts() -> None:
    many = [found(line=10, rule="S608", file="a.py"), *(found(line=line) for line in (8, 9, 11, 12, 50))]

    assert count([row("g/bad", *many)], LABELS).rows == [RuleRow("ruff-security", "S608", "0.17.6", 5, 1, wilson(5, 1))]


def test_reports_are_pooled_by_what_their_rules_claim() -> None:
    bad = row("g/bad", found(confidence=84), found("S105", line=11, confidence=89), found(line=90, confidence=40))
    clean = row("g/clean", found(confidence=80))

    assert count([bad, clean], LABELS).bands == [RuleBand(40, 0, 1), RuleBand(80, 2, 1)]


def test_what_a_tool_repeats_counts_once() -> None:
    assert counts(row("g/bad", found(), found())) == {("ruff-security", "S608"): (1, 0)}


def test_what_the_labels_say_nothing_about_does_not_count() -> None:
    assert counts(row("g/disputed", found())) == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"sources": ["model:m"]},
        {"sources": ["imported:other"]},
        {"sources": ["ruff-security", "taint"]},
        {"sources": []},
        {"rule": ""},
        {"line": None},
    ],
)
def test_only_single_findings_of_our_own_rules_count(fields: dict[str, Any]) -> None:
    assert counts(row("g/bad", found(**fields))) == {}


def test_two_tools_at_one_place_count_together_and_not_alone() -> None:
    both = row("g/bad", found("sql-external", "taint"), found(line=8, end_line=10), found(line=60))

    assert counts(both) == {("ruff-security+taint", "S608+sql-external"): (1, 0), ("ruff-security", "S608"): (0, 1)}


def test_together_their_versions_are_joined_as_their_names_are() -> None:
    both = count([row("g/bad", found("sql-external", "taint"), found())], LABELS).rows

    assert [(entry.tool, entry.version) for entry in both] == [("ruff-security+taint", "0.17.6+1")]


@pytest.mark.parametrize("fields", [{"cwe": "CWE-79"}, {"cwe": None}, {"line": 11, "end_line": 11}, {"file": "b.py"}])
def test_two_tools_with_another_cause_or_place_count_alone(fields: dict[str, Any]) -> None:
    two = counts(row("g/bad", found(), found("sql-external", "taint", **fields)))

    assert set(two) == {("ruff-security", "S608"), ("taint", "sql-external")}


def test_two_reports_without_a_kind_count_alone() -> None:
    assert len(counts(row("g/bad", found(cwe=None), found("sql-external", "taint", cwe=None)))) == 2


def test_one_tool_that_reports_twice_means_two_defects() -> None:
    twice = row("g/bad", found(), found("S609"), found("sql-external", "taint"))

    assert counts(twice) == {
        ("ruff-security+taint", "S608+sql-external"): (1, 0),
        ("ruff-security", "S609"): (1, 0),
    }


def test_who_speaks_for_a_joint_finding_decides_whether_it_is_true() -> None:
    wide = found("sql-external", "taint", line=1, end_line=8, severity="critical")
    narrow = found(line=1, end_line=2, confidence=99)

    assert counts(row("g/bad", wide, narrow)) == {("ruff-security+taint", "S608+sql-external"): (1, 0)}
    narrow["severity"] = "critical"
    assert counts(row("g/bad", wide, narrow)) == {("ruff-security+taint", "S608+sql-external"): (0, 1)}


def test_a_third_tool_is_joined_to_the_rule_that_speaks() -> None:
    three = row("g/bad", found("A1", "alpha", severity="low"), found("B1", "beta"), found("C1", "gamma"))

    assert counts(three) == {("alpha+beta+gamma", "B1+C1"): (1, 0)}


def test_only_results_of_single_workers_can_be_counted() -> None:
    with pytest.raises(InputError, match="the results of g/bad are not of --stage workers"):
        counts(row("g/bad", stage="synthesis"))


def test_a_case_counts_once() -> None:
    with pytest.raises(InputError, match="the results hold g/bad twice"):
        counts(row("g/bad"), row("g/bad"))


def test_a_case_without_labels_is_an_error() -> None:
    with pytest.raises(InputError, match="the results hold g/other, which is in none of the folders"):
        counts(row("g/other"))


def test_two_versions_of_one_tool_are_an_error() -> None:
    with pytest.raises(InputError, match="two versions of taint: 1 and 2"):
        counts(row("g/bad"), row("g/clean", tool_versions={"taint": "2"}))


@given(st.lists(st.tuples(st.sampled_from(["S1", "S2"]), st.sampled_from(["g/bad", "g/clean"]), st.integers(1, 30))))
def test_no_report_is_counted_twice_or_lost(reports: list[tuple[str, str, int]]) -> None:
    rows = [
        row(case, *(found(rule, line=line) for rule, of, line in reports if of == case))
        for case in ("g/bad", "g/clean")
    ]

    table = count(rows, LABELS).rows

    assert sum(entry.true + entry.false for entry in table) == len(set(reports))


def test_the_table_can_be_read_back() -> None:
    rows = [
        RuleRow("ruff-security", "S608", "0.17.6", 9, 1, wilson(9, 1)),
        RuleRow("ruff-security+taint", "S608+sql-external", "0.17.6+1", 2, 0, wilson(2, 0)),
    ]

    text = render_table(Counts(rows, [RuleBand(40, 0, 1), RuleBand(80, 2, 1)]), "2026-01-02")
    table = read_calibration(text)

    assert list(table.rows.values()) == rows
    assert table.bands == {40: RuleBand(40, 0, 1), 80: RuleBand(80, 2, 1)}
    assert table.date == "2026-01-02"
    assert max(len(line) for line in text.splitlines()) <= 160


def test_an_empty_table_can_be_read_back() -> None:
    assert read_calibration(render_table(Counts([], []), "2026-01-02")).rows == {}


def test_where_a_statement_is_built_and_where_it_runs_are_counted_together() -> None:
    flow = found("sql-external", "taint", line=12, also=[4, 10])

    assert counts(row("g/bad", found(), flow)) == {("ruff-security+taint", "S608+sql-external"): (1, 0)}
    assert counts(row("g/bad", found(line=9), flow)) == {
        ("ruff-security", "S608"): (1, 0),
        ("taint", "sql-external"): (1, 0),
    }


def test_findings_of_other_types_can_be_left_uncounted() -> None:
    rows = [row("g/bad", found(type="security"), found("F821", "ruff-logic", type="logic", cwe=None))]

    assert [entry.rule for entry in count(rows, LABELS, ["security"]).rows] == ["S608"]
    assert [entry.rule for entry in count(rows, LABELS).rows] == ["F821", "S608"]
