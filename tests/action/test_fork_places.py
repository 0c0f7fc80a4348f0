"""Claims at places that are nearly those of the change, and rules that are nearly ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.action.artifact import (
    MAX_BYTES,
    MAX_FILES,
    QUOTE_CHARS,
    Artifact,
    Identity,
    read_artifact,
    write_artifact,
)
from reviewbot.action.artifact_adoption import adopted, refused
from reviewbot.action.artifact_check import (
    MAX_SPAN,
    NO_FILE,
    NO_LINE,
    NO_QUOTE,
    NO_RULE,
    TOO_GRAVE,
    TOO_SURE,
    Checked,
    checked,
    quote_of,
)
from reviewbot.action.artifact_make import artifact_of
from reviewbot.action.artifact_rules import SOURCE, milder, standing_of, who_tells
from reviewbot.contracts import FileCoverage, Finding, Withheld
from reviewbot.errors import ArtifactError
from reviewbot.tools.foreign.tools import CONFIDENCE
from tests.fork_cases import a_change, a_claim, an_artifact, as_json
from tests.publishing import a_review

Make = Callable[..., Finding]

TWO_FILES = b"""\
--- a/a.py
+++ b/a.py
@@ -1,1 +1,3 @@
 import os
+x = 1
+y = 2
@@ -9,1 +11,2 @@
+z = 3
 pass
--- a/b.py
+++ b/b.py
@@ -1,1 +1,3 @@
 import os
+other = 1
+y = 2
"""
LONG = "x = " + "'a' + " * QUOTE_CHARS + "''"


def of(*claims: dict[str, Any], **fields: Any) -> Artifact:
    return read_artifact(as_json(an_artifact(*claims, **{"coverage": [], **fields})))


def at(path: str, line: int, end_line: int, quote: str, **fields: Any) -> dict[str, Any]:
    return a_claim(path=path, line=line, end_line=end_line, quote=quote, **fields)


def test_each_place_is_compared_with_its_own_code() -> None:
    """Places that share a file, a first line or a last line."""
    claims = [
        at("a.py", 2, 2, "x = 1"),
        at("b.py", 2, 2, "other = 1"),
        at("a.py", 2, 3, "x = 1\ny = 2", rule="S605"),
        at("a.py", 3, 3, "y = 2"),
    ]
    report = checked(of(*claims), a_change(TWO_FILES))

    assert report.refused == {}
    assert [each.evidence for each in report.findings] == [claim["quote"] for claim in claims]


@pytest.mark.parametrize(
    ("place", "quote"), [((3, 11), "y = 2\nz = 3"), ((2, 4), "x = 1\ny = 2"), ((11, 13), "z = 3\n    pass")]
)
def test_lines_that_the_change_does_not_show_are_no_place(place: tuple[int, int], quote: str) -> None:
    assert checked(of(at("a.py", *place, quote)), a_change(TWO_FILES)).refused == {NO_LINE: 1}


@pytest.mark.parametrize(("span", "fits"), [(MAX_SPAN, True), (MAX_SPAN + 1, False)])
def test_a_place_has_so_many_lines_at_most(span: int, *, fits: bool) -> None:
    rows = "".join(f"+{number}\n" for number in range(MAX_SPAN + 2))
    change = a_change(f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{MAX_SPAN + 2} @@\n{rows}".encode())
    quote = quote_of("\n".join(str(number) for number in range(span + 1)))

    assert len(checked(of(at("a.py", 1, 1 + span, quote)), change).findings) == fits


def test_a_long_quote_is_cut_on_both_sides_alike() -> None:
    change = a_change(f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,1 @@\n+{LONG}\n".encode())
    quote = quote_of(LONG)

    assert quote == LONG[:QUOTE_CHARS]
    (finding,) = checked(of(at("a.py", 1, 1, quote)), change).findings
    assert finding.evidence == LONG
    assert checked(of(at("a.py", 1, 1, quote[:-1])), change).refused == {NO_QUOTE: 1}


def test_only_files_that_were_read_in_full_count_as_seen() -> None:
    coverage = [{"path": "a.py", "state": "partial"}, {"path": "b.py", "state": "reviewed"}]

    assert checked(of(coverage=coverage), a_change(TWO_FILES)).seen == 1


def test_reasons_are_told_in_an_order_that_the_artifact_does_not_choose() -> None:
    claims = [a_claim(tool="eslint"), a_claim(path="b.py"), a_claim(confidence=100)]
    orders = [list(checked(of(*each), a_change()).refused) for each in (claims, claims[::-1])]

    assert orders == [sorted([NO_RULE, NO_FILE, TOO_SURE])] * 2


@pytest.mark.parametrize(("severity", "reason"), [("critical", TOO_GRAVE), ("warning", None), ("info", None)])
def test_what_is_milder_than_its_rule_stays_so(severity: str, reason: str | None) -> None:
    claim = a_claim(tool="debug-leftovers", rule="leftover-print", severity=severity)
    report = checked(of(claim), a_change())

    assert report.refused == ({reason: 1} if reason else {})
    assert [each.severity for each in report.findings] == ([] if reason else [severity])


@pytest.mark.parametrize(("one", "other"), [("critical", "info"), ("info", "warning"), ("warning", "critical")])
def test_of_two_severities_the_milder_one_counts(one: Any, other: Any) -> None:
    assert milder(one, other) == milder(other, one) == ("info" if "info" in {one, other} else "warning")


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        ("repository-rules", "E501 and more"),
        ("repository-rules", "xE501"),
        ("repository-rules", "e501"),
        ("repository-rules", "E501\n"),
        ("eslint", "E501"),
        ("ruff-security", "S602:named:named"),
        ("taint", "S602"),
    ],
)
def test_a_rule_that_is_nearly_one_is_none(tool: str, rule: str) -> None:
    assert standing_of(tool, rule) is None


def test_a_rule_of_the_repository_is_a_note_on_style_however_often_it_was_right() -> None:
    standing = standing_of("repository-rules", "E501")

    assert standing is not None
    assert (standing.worker, standing.severity, standing.category) == ("style", "info", "repository-rule")
    assert standing.trusted <= CONFIDENCE["style"]


def test_a_rule_that_is_rarely_right_is_trusted_no_further_than_that() -> None:
    standing = standing_of("ruff-security", "S602")

    assert standing is not None
    assert standing._replace(confidence=3).trusted == 3
    assert standing._replace(confidence=99).trusted == CONFIDENCE["security"]


def test_of_several_tools_the_same_one_tells_whoever_is_named_first() -> None:
    sources = ["secrets", "repository-rules", "merge-conflicts"]

    assert who_tells(sources, "E501") == who_tells(sources[::-1], "E501")


def test_what_is_there_already_stays_before_what_is_adopted(a_finding: Make) -> None:
    held = Withheld(finding=a_finding(line=9), reason="below_threshold", message="m")
    review = a_review(notes=("a note",), withheld=(held,))
    joined = adopted(review, Checked((a_finding(line=3, sources=(SOURCE,)),), {}, 1, 0))

    assert (joined.notes[0], joined.withheld[0], len(joined.withheld)) == ("a note", held, 2)
    assert refused(review, "it is late").notes[0] == "a note"


@pytest.mark.parametrize(
    ("ours", "alone"), [((1, 2), True), ((1, 3), False), ((5, 9), False), ((6, 9), True), ((4, 4), False)]
)
def test_a_finding_of_ours_confirms_one_whose_lines_it_meets(
    ours: tuple[int, int], a_finding: Make, *, alone: bool
) -> None:
    """Theirs is about lines 3 to 5."""
    theirs = a_finding(line=3, end_line=5, sources=(SOURCE,))
    review = a_review(a_finding(line=ours[0], end_line=ours[1]))

    assert bool(adopted(review, Checked((theirs,), {}, 1, 0)).withheld) == alone


def test_each_place_is_handed_over_once_and_no_more_files_than_are_read(a_finding: Make) -> None:
    found = [
        a_finding(path=path, line=line, rule=rule, sources=("ruff-security",))
        for path, line, rule in (("a.py", 3, "S602"), ("b.py", 3, "S602"), ("a.py", 4, "S602"), ("a.py", 3, "S605"))
    ]
    files = tuple(FileCoverage(path=f"{number}.py", state="reviewed") for number in range(MAX_FILES + 1))
    identity = Identity.model_validate(an_artifact()["identity"])
    artifact = artifact_of(identity, a_review(*found, found[0], coverage=files))

    assert [(each.path, each.line, each.rule) for each in artifact.findings] == [
        (each.path, each.line, each.rule) for each in found
    ]
    assert [each.path for each in artifact.coverage] == [each.path for each in files[:MAX_FILES]]


def test_an_artifact_of_just_the_longest_length_is_read() -> None:
    text = as_json(an_artifact())

    assert read_artifact(text + b" " * (MAX_BYTES - len(text))).findings
    with pytest.raises(ArtifactError, match="longer than 2 MiB"):
        read_artifact(text + b" " * (MAX_BYTES - len(text) + 1))


def test_what_does_not_fit_is_written_with_fewer_findings_and_at_last_without_files() -> None:
    claims = [at("p" * 3_000, 1, 1, "\u202e" * 1_900) for _ in range(500)]
    artifact = Artifact.model_validate(an_artifact(*claims, coverage=[]), strict=False)
    written = write_artifact(artifact)

    assert MAX_BYTES // 4 < len(written) <= MAX_BYTES
    again = read_artifact(written)
    assert 0 < len(again.findings) < 500
    assert again.left_out == 500 - len(again.findings)
