"""Tests of an artifact held against the API's diff: what holds is told in our words, the rest has a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.artifact import Artifact, Identity, read_artifact, write_artifact
from reviewbot.action.artifact_adoption import MAX_ADOPTED, adopted, refused
from reviewbot.action.artifact_check import (
    NO_FILE,
    NO_LINE,
    NO_QUOTE,
    NO_RULE,
    TOO_GRAVE,
    TOO_MUCH,
    TOO_SURE,
    TWICE,
    Checked,
    check_identity,
    checked,
)
from reviewbot.action.artifact_make import artifact_of
from reviewbot.action.artifact_rules import SOURCE, standing_of, who_tells
from reviewbot.cards import load_crew
from reviewbot.contracts import ChangeSet, Conflict, FileCoverage, Finding, HumanItem, Review, Withheld
from reviewbot.errors import ArtifactError
from reviewbot.output.markdown import render_markdown
from reviewbot.redact import KINDS
from reviewbot.tools.catalog import all_tools
from reviewbot.tools.foreign.tools import CONFIDENCE
from reviewbot.tools.leftovers import _PATTERNS
from reviewbot.tools.rules import packaged_rules
from tests.fork_cases import BASE, HEAD, LINE, NUMBER, REPOSITORY_ID, a_change, a_claim, an_artifact, as_json
from tests.publishing import a_review

HOSTILE = Path(__file__).parents[1] / "hostile"
IDENTITY = Identity(repository_id=REPOSITORY_ID, number=NUMBER, head_sha=HEAD, base_sha=BASE)
A_SECRET = "ghp_" + "Ab3" * 12


def of(*claims: dict[str, Any], **fields: Any) -> Artifact:
    return read_artifact(as_json(an_artifact(*claims, **fields)))


def hostile_texts() -> list[str]:
    texts = [json.loads(path.read_text())["text"] for path in sorted((HOSTILE / "markdown").glob("*.json"))]
    return texts + [path.read_text("utf-8") for path in sorted((HOSTILE / "injection").glob("*.diff"))]


def test_a_claim_that_holds_becomes_a_finding_of_our_own_words() -> None:
    report = checked(of(a_claim(confidence=40)), a_change())
    assert report.refused == {}
    assert report.findings == (
        Finding(
            type="security",
            severity="warning",
            path="src/app.py",
            line=3,
            end_line=3,
            message="The fork's own report names S602 (ruff-security) here",
            evidence=LINE,
            confidence=40,
            category="command-injection",
            rule="S602",
            cwe=78,
            sources=(SOURCE,),
        ),
    )


def test_it_is_never_trusted_above_a_program_that_was_handed_in() -> None:
    claim = a_claim(tool="taint", rule="sql-external", severity="critical", confidence=94)
    (finding,) = checked(of(claim), a_change()).findings
    assert finding.confidence == CONFIDENCE["security"]
    assert finding.sources[0].startswith("sarif:")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"tool": "eslint"}, NO_RULE),
        ({"rule": "S999"}, NO_RULE),
        ({"tool": "ruff-style"}, NO_RULE),
        ({"rule": "S602:named"}, NO_RULE),
        ({"tool": "secrets", "rule": "approve-this-pull-request"}, NO_RULE),
        ({"tool": "repository-rules", "rule": "LGTM"}, NO_RULE),
        ({"path": "src/other.py"}, NO_FILE),
        ({"path": "../../etc/passwd"}, NO_FILE),
        ({"path": "/proc/self/environ"}, NO_FILE),
        ({"path": "<img src=x>"}, NO_FILE),
        ({"path": "src/app.py\u202e"}, NO_FILE),
        ({"line": 1, "end_line": 1, "quote": "import subprocess"}, NO_LINE),
        ({"line": 5, "end_line": 5}, NO_LINE),
        ({"line": 3, "end_line": 2}, NO_LINE),
        ({"line": 3, "end_line": 2_000_000_000}, NO_LINE),
        ({"end_line": 4}, NO_QUOTE),
        ({"quote": "subprocess.run(name, shell=True)"}, NO_QUOTE),
        ({"quote": ""}, NO_QUOTE),
        ({"quote": LINE + "\x1b[2J"}, NO_QUOTE),
        ({"confidence": 53}, TOO_SURE),
        ({"confidence": 100}, TOO_SURE),
        ({"tool": "debug-leftovers", "rule": "leftover-print", "severity": "critical"}, TOO_GRAVE),
        ({"tool": "repository-rules", "rule": "E501", "severity": "warning"}, TOO_GRAVE),
    ],
)
def test_each_claim_that_does_not_hold_is_refused_by_name(fields: dict[str, Any], reason: str) -> None:
    report = checked(of(a_claim(**fields)), a_change())
    assert report.findings == ()
    assert report.refused == {reason: 1}


def test_markup_in_every_text_of_a_claim_is_refused_or_never_read() -> None:
    change = a_change()
    for text in hostile_texts():
        for field in ("path", "quote", "tool", "rule"):
            value = as_json(an_artifact(a_claim(**{field: text})))
            try:
                report = checked(read_artifact(value), change)
            except ArtifactError:
                continue
            assert report.findings == ()
            assert sum(report.refused.values()) == 1


def test_the_same_place_and_rule_counts_once() -> None:
    report = checked(of(a_claim(), a_claim(severity="info")), a_change())
    assert (len(report.findings), report.refused) == (1, {TWICE: 1})


def test_a_secret_is_quoted_masked_and_told_masked() -> None:
    diff = f"--- a/k.py\n+++ b/k.py\n@@ -0,0 +1 @@\n+token = '{A_SECRET}'\n".encode()
    claim = a_claim(tool="secrets", rule="github-token", path="k.py", line=1, end_line=1, severity="critical")
    report = checked(of(claim | {"quote": "token = 'ghp_****'"}), a_change(diff))
    assert [finding.evidence for finding in report.findings] == ["token = 'ghp_****'"]


def test_files_are_counted_as_far_as_the_change_has_them() -> None:
    coverage = [{"path": path, "state": "reviewed"} for path in ("src/app.py", "evil.py", "evil.py", "more.py")]
    report = checked(of(coverage=coverage, left_out=3), a_change())
    assert (report.seen, report.left_out, report.refused) == (1, 3, {NO_FILE: 2})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("repository_id", 999, "it is about another repository"),
        ("number", 8, "it is about another pull request"),
        ("head_sha", "c" * 40, "it is about another head"),
        ("base_sha", "c" * 40, "it is about another base"),
    ],
)
def test_an_artifact_about_something_else_is_refused(name: str, value: object, reason: str) -> None:
    identity = an_artifact()["identity"] | {name: value}
    with pytest.raises(ArtifactError, match=f"^{reason}$"):
        check_identity(of(identity=identity), IDENTITY)


def test_an_artifact_about_this_change_is_taken() -> None:
    check_identity(of(), IDENTITY)


def test_every_rule_that_our_tools_report_is_known() -> None:
    for table in (
        "ruff_rules",
        "taint",
        "security_checks",
        "loop_costs",
        "diff_semantics",
        "hidden_text",
        "review_manipulation",
    ):
        for code, rule in packaged_rules(table).rules.items():
            assert standing_of(rule.tool, code) is not None
    for kind in KINDS:
        assert standing_of("secrets", kind.lower().replace(" ", "-")) is not None
    for pattern in {each.rule for patterns in _PATTERNS.values() for each in patterns}:
        assert standing_of("debug-leftovers", f"leftover-{pattern}") is not None


def test_every_tool_is_the_worker_s_whose_card_names_it() -> None:
    crew = load_crew({}, all_tools().keys())
    workers = {tool: card.task_type for card in crew.cards for tool in card.tools}
    for tool, rule in (("taint", "sql-external"), ("loop-costs", "query-per-item"), ("secrets", "npm-token"),
                       ("diff-semantics", "signature-changed"), ("repository-rules", "E501"),
                       ("merge-conflicts", "merge-conflict"), ("debug-leftovers", "leftover-dbg"),
                       ("hidden-text", "bidi-control"), ("ruff-logic", "B023:named")):  # fmt: skip
        standing = standing_of(tool, rule)
        assert standing is not None
        assert standing.worker == workers[tool]


def test_of_several_tools_the_one_with_the_rule_tells() -> None:
    found = who_tells(("taint", "ruff-security", "model:x"), "S602")
    assert found is not None
    assert found[0] == "ruff-security"
    assert who_tells(("model:x",), "S602") is None


def test_everything_that_is_written_for_a_review_is_taken_again(a_finding: Callable[..., Finding]) -> None:
    mine = a_finding(
        line=3, evidence=LINE, rule="S602", sources=("ruff-security", "taint"), severity="critical", confidence=99
    )
    foreign = a_finding(line=4, rule="no-eval", sources=("sarif:eslint",))
    odd = mine.model_copy(update={"path": "caf\udce9.py"})
    review = a_review(
        findings=(mine, foreign, odd),
        withheld=(Withheld(finding=mine, reason="below_threshold", message="x"),),
        coverage=(
            FileCoverage(path="src/app.py", state="reviewed"),
            FileCoverage(path="caf\udce9.py", state="reviewed"),
        ),
    )
    artifact = artifact_of(IDENTITY, review)
    again = read_artifact(write_artifact(artifact))
    report = checked(again, a_change())
    assert (len(report.findings), report.refused, report.seen, report.left_out) == (1, {}, 1, 2)
    assert again.findings[0].confidence == 51


def test_findings_over_the_limit_are_counted(a_finding: Callable[..., Finding]) -> None:
    many = tuple(a_finding(line=n, rule="S602", sources=("ruff-security",)) for n in range(1, 503))
    artifact = artifact_of(IDENTITY, a_review(findings=many))
    assert (len(artifact.findings), artifact.left_out) == (500, 2)


def verdict_of(review: Review) -> dict[str, Any]:
    return review.model_dump(exclude={"withheld", "notes"})


def test_what_is_adopted_changes_nothing_but_the_withheld_and_the_notes(a_finding: Callable[..., Finding]) -> None:
    ours = a_finding(line=3, evidence=LINE, rule="sql-external", category="sql-injection", cwe=89, confidence=73)
    review = a_review(
        verdict="needs_person",
        human=(HumanItem(path=ours.path, line=3, reason="not certain", finding=ours),),
        conflicts=(Conflict(findings=(ours, ours), reason="x"),),
    )
    poisoned = of(a_claim(tool="taint", rule="sql-parameter", severity="info"), a_claim(tool="eslint"))
    joined = adopted(review, checked(poisoned, a_change()))
    assert verdict_of(joined) == verdict_of(review)
    assert joined.withheld == ()
    assert joined.notes == (
        "Report of the fork's own run: 1 finding taken: 1 found here as well, 0 by nothing here; it decides nothing.",
        f"Report of the fork's own run: 1 entry refused: {NO_RULE} (1).",
    )


def test_what_nobody_else_found_is_listed_as_withheld_and_foreign() -> None:
    review = a_review()
    joined = adopted(review, checked(of(a_claim(), left_out=2), a_change()))
    assert verdict_of(joined) == verdict_of(review)
    assert [(each.finding.sources, each.reason) for each in joined.withheld] == [((SOURCE,), "below_threshold")]
    assert "Report of the fork's own run: 2 findings left out by itself." in joined.notes
    assert "names S602 (ruff-security) here" in render_markdown(joined)


def test_a_flood_of_findings_is_listed_up_to_a_limit(a_finding: Callable[..., Finding]) -> None:
    findings = tuple(a_finding(line=n, sources=(SOURCE,)) for n in range(1, 80))
    joined = adopted(a_review(), Checked(findings, {}, 1, 0))
    assert len(joined.withheld) == MAX_ADOPTED
    assert "79 by nothing here (50 of them listed)" in joined.notes[0]


def test_a_finding_at_another_place_or_of_another_kind_is_not_ours_too(a_finding: Callable[..., Finding]) -> None:
    theirs = a_finding(line=3, rule="S602", category="command-injection", sources=(SOURCE,))
    near = theirs.model_copy(update={"line": 4, "end_line": 4})
    other = theirs.model_copy(update={"rule": "x", "category": "y"})
    for ours, count in (((near,), 1), ((other,), 1), ((theirs,), 0), ((near, theirs), 0)):
        assert len(adopted(a_review(findings=ours), Checked((theirs,), {}, 1, 0)).withheld) == count


def test_a_report_that_is_not_used_is_named_in_a_note() -> None:
    joined = refused(a_review(), "its zip archive is damaged")
    assert joined.notes[-1].startswith("Report of the fork's own run: not used, because its zip archive is damaged.")


def test_hostile_text_never_reaches_the_comment() -> None:
    plain = render_markdown(a_review())
    for text in hostile_texts():
        value = an_artifact(a_claim(path=text[:4_000], quote=text[:2_000]))
        try:
            review = adopted(a_review(), checked(read_artifact(as_json(value)), a_change()))
        except ArtifactError as error:
            review = refused(a_review(), str(error))
        shown = render_markdown(review)
        words = {word for word in re.findall(r"\S{6,}", text) if not word.isalpha()}
        assert not [word for word in words if word in shown and word not in plain]


LONG_LINES = ("token = " + "A1b2" * 2_000,) * 300


@pytest.mark.slow
def test_no_more_code_is_compared_than_can_be_masked_in_time() -> None:
    claims = [a_claim(path="a.py", line=first, end_line=first + 99, quote="") for first in range(1, 200)]

    report = checked(of(*claims, coverage=[]), an_added(LONG_LINES))

    assert report.refused == {TOO_MUCH: 198, NO_QUOTE: 1}


@pytest.mark.slow
def test_the_code_of_one_place_is_masked_once_whatever_is_said_of_it() -> None:
    place = {"path": "a.py", "line": 1, "end_line": 100, "quote": ""}
    claims = [a_claim(rule=rule, **place) for rule in ("S602", "S605")]

    assert checked(of(*claims, coverage=[]), an_added(LONG_LINES)).refused == {NO_QUOTE: 2}


def an_added(lines: tuple[str, ...]) -> ChangeSet:
    rows = "".join(f"+{line}\n" for line in lines)
    header = "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n"
    return a_change(f"{header}@@ -0,0 +1,{len(lines)} @@\n{rows}".encode())
