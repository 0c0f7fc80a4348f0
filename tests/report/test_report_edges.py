"""The edges of what goes to GitHub: the comment, the log of results, and the annotations."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from reviewbot.domain.contracts import (
    Conflict,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Review,
    Usage,
    Withheld,
    WorkerUsage,
)
from reviewbot.report.annotations import PER_LEVEL
from reviewbot.report.markdown.comment import render_markdown
from tests.make import MakeFinding, MakeReview
from tests.rendering import render_annotations
from tests.sarif_log import render_sarif

BARE = {"evidence": "", "trigger": "", "suggestion": ""}


def results_of(review: Review) -> list[dict[str, Any]]:
    return list(json.loads(render_sarif(review))["runs"][0]["results"])


def notices_of(review: Review) -> list[dict[str, Any]]:
    (invocation,) = json.loads(render_sarif(review))["runs"][0]["invocations"]
    return list(invocation["toolExecutionNotifications"])


def rows(text: str, start: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith(start)]


# --- the comment


@pytest.mark.parametrize(("count", "more"), [(50, []), (51, ["... and 1 more item."])])
def test_fifty_entries_of_a_list_are_shown_and_the_next_one_is_counted(
    count: int, more: list[str], make_review: MakeReview
) -> None:
    human = tuple(HumanItem(path=f"{n}.py", reason="look") for n in range(count))

    text = render_markdown(make_review(human=human))

    assert len(rows(text, "- **`")) == 50
    assert rows(text, "... and") == more


@pytest.mark.parametrize(("count", "tail"), [(10, ""), (11, " and 1 more"), (1_010, " and 1,000 more")])
def test_ten_names_stand_with_a_reason_and_the_others_are_counted(
    count: int, tail: str, make_review: MakeReview
) -> None:
    gaps = tuple(Gap(path=f"f{n}", worker="w", reason="crashed", message="m") for n in range(count))

    [row] = rows(render_markdown(make_review(gaps=gaps)), "- **w**")

    assert row == f"- **w**: crashed: m ({count:,}: {', '.join(f'`f{n}`' for n in range(10))}{tail})"


def test_ten_files_of_one_state_are_named_and_all_are_counted(make_review: MakeReview) -> None:
    files = tuple(FileCoverage(path=f"f{n}", state="reviewed", analyzers=("x",)) for n in range(1_201))

    text = render_markdown(make_review(coverage=files, verdict="issues"))

    assert "<details><summary>Coverage of 1,201 files</summary>" in text
    assert "- **reviewed** (1,201: `f0`," in text
    assert "`f9` and 1,191 more)" in text


@pytest.mark.parametrize(("sides", "more"), [(5, []), (6, ["... and 1 more side."]), (8, ["... and 3 more sides."])])
def test_five_sides_of_a_contradiction_are_shown(
    sides: int, more: list[str], make_review: MakeReview, make_finding: MakeFinding
) -> None:
    findings = tuple(make_finding(message=f"Side {n}.") for n in range(sides))

    text = render_markdown(make_review(conflicts=(Conflict(findings=findings, reason="They differ."),)))

    assert len(rows(text, "- **critical: Side")) == 5
    assert rows(text, "... and") == more


@pytest.mark.parametrize("change", [{"path": "b.py"}, {"line": 40}, {"evidence": "other()"}])
def test_code_of_a_contradiction_is_shown_once_for_one_place_and_again_for_another(
    change: dict[str, Any], make_review: MakeReview, make_finding: MakeFinding
) -> None:
    def fences(*sides: Finding) -> int:
        conflict = Conflict(findings=sides, reason="They differ.")
        text = render_markdown(make_review(conflicts=(conflict,)))
        return len(rows(text, "  ```python")) + len(rows(text, "  `other()`"))

    assert fences(make_finding(), make_finding(message="No.")) == 1
    assert fences(make_finding(), make_finding(**change)) == 2


def test_a_name_of_three_hundred_characters_is_whole(make_review: MakeReview) -> None:
    human = tuple(HumanItem(path="x" * 149 + middle + "y" * 149, reason="r") for middle in ("ab", "abc"))

    text = render_markdown(make_review(human=human))

    assert f"`{'x' * 149}ab{'y' * 149}`" in text
    assert f"`{'x' * 149}a...c{'y' * 149}`" in text


def test_ten_models_stand_behind_a_finding_and_no_program(make_review: MakeReview, make_finding: MakeFinding) -> None:
    finding = make_finding(sources=("ruff", *(f"model:m-{n}" for n in range(12))))

    text = render_markdown(make_review(findings=(finding,)))

    assert "92% sure, by `m-0`, " in text
    assert ", `m-9`</sub>\n" in text
    assert "`ruff`" not in text


def test_twelve_lines_of_code_are_whole(make_review: MakeReview, make_finding: MakeFinding) -> None:
    whole, cut = (render_markdown(make_review(findings=(make_finding(evidence="x\n" * count),))) for count in (12, 14))

    assert (whole.count("\n  x"), "more line" in whole) == (12, False)
    assert "  x\n  ... 2 more lines\n  ```" in cut


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"suggestion": "Do it.", "replacement": "x = 2"}, "  ```diff\n  -x = 1\n  +x = 2\n  ```\n\n  *Fix:* Do it.\n"),
        ({"suggestion": " \n", "replacement": "    x = 2"}, "  ```diff\n  -x = 1\n  +x = 2\n  ```\n"),
        ({"suggestion": "x =  2", "replacement": "x = 2"}, "  ```diff\n  -x = 1\n  +x = 2\n  ```\n"),
        ({"suggestion": "a\nb", "evidence": ""}, "  ```python\n  a\n  b\n  ```\n"),
        ({"suggestion": "", "replacement": ""}, "  *Fix:* Delete lines 41 to 42.\n"),
        ({"suggestion": "", "replacement": "\n", "end_line": 41}, "  *Fix:* Delete this line.\n"),
    ],
)
def test_what_mends_a_finding_is_words_and_a_difference(
    changes: dict[str, Any], shown: str, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    bare = {"evidence": "    x = 1", "trigger": ""}

    text = render_markdown(make_review(findings=(make_finding(**bare | changes),)))

    assert shown in text
    assert text.count("*Fix:*") == shown.count("*Fix:*")


def test_the_sum_of_a_long_bill_is_there_with_its_first_fifty_lines(make_review: MakeReview) -> None:
    paid = Usage(calls=1, cost_usd=0.5)
    workers = tuple(WorkerUsage(worker=f"w{n}", tasks=1, findings=0, duration_ms=1, usage=paid) for n in range(51))

    with_sum = rows(render_markdown(make_review(verdict="issues", workers=workers, usage=paid)), "| `")

    assert [row.split("`")[1] for row in with_sum[-2:]] == ["w49", "all"]


def test_a_comment_that_just_fits_is_whole_and_one_that_does_not_is_shortened_by_its_tables_first(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    review = make_review(findings=tuple(make_finding(message="m" * 900, line=n) for n in range(1, 31)))
    whole = render_markdown(review, max_chars=10**6)
    assert len(whole) > 30_000

    assert render_markdown(review, max_chars=len(whole) + 1) == whole
    shortened = render_markdown(review, max_chars=len(whole) - 1)
    assert "Left out to stay within GitHub's limit: the folded lists." in shortened
    assert shortened.count("cursor.execute(query)\n  ```") == 30


def test_where_no_code_is_shown_a_suggestion_in_code_has_no_title(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    finding = make_finding(evidence="e" * 350, suggestion="a\nb")

    text = render_markdown(make_review(findings=(finding,) * 60), max_chars=35_000)

    assert ("all code" in text, "```" in text) == (True, False)


def test_headings_count_all_of_a_severity_and_stand_only_where_something_is_shown(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    findings = tuple(make_finding(severity=severity) for severity in ("info", "critical", "info"))

    text = render_markdown(make_review(findings=findings))

    assert rows(text, "### ") == ["### Critical (1)"]
    assert "<details><summary>Notes (2)</summary>" in text
    assert "left out here" not in text


def test_a_finding_for_a_person_says_why_below_it_with_its_severity(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    item = HumanItem(path="z.py", line=7, reason="*Unsure*", finding=make_finding(severity="info", **BARE))

    text = render_markdown(make_review(human=(item,)))

    assert "- **info: SQL is built" in text
    assert "% sure</sub>\n\n  *Why a person:* \\*Unsure\\*\n" in text
    assert "z.py" not in text


# --- the log of results


@pytest.mark.parametrize(("count", "last"), [(20, "x"), (21, "... 1 more line")])
def test_a_snippet_has_twenty_lines_of_code(
    count: int, last: str, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    [result] = results_of(make_review(findings=(make_finding(evidence="\n".join(["x"] * count), suggestion="y\nz"),)))

    snippet = result["locations"][0]["physicalLocation"]["region"]["snippet"]["text"]
    assert snippet.split("\n")[-1] == last
    assert result["properties"]["suggestion"] == "y\nz"


def test_what_a_finding_does_not_say_has_no_place_in_the_log(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    blank = dict.fromkeys(
        ("evidence", "trigger", "suggestion", "contract", "symptom", "judgement", "disputed"), " \n\t"
    )

    [result] = results_of(make_review(findings=(make_finding(message="\n", **blank),)))

    assert result["message"]["text"] == "no message"
    assert set(result["properties"]) == {"confidence", "severity", "category", "sources"}
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 41, "endLine": 42}


def test_a_message_tells_the_doubt_then_the_defect_then_its_impact_then_who_disputes_it(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    finding = make_finding(message="It breaks.", trigger="On Sundays.", disputed="Never.")

    [result] = results_of(make_review(human=(HumanItem(path="x", reason="Unsure.", finding=finding),)))

    assert result["message"]["text"] == (
        "Needs a person: Unsure. It breaks. Impact: On Sundays. A model disputes it: Never."
    )
    assert result["properties"]["review"] == "Needs a person: Unsure."


def test_a_blank_text_leaves_no_space_in_a_message(make_review: MakeReview, make_finding: MakeFinding) -> None:
    [result] = results_of(make_review(findings=(make_finding(message=" ", trigger="On Sundays."),)))

    assert result["message"]["text"] == "Impact: On Sundays."


def test_no_text_of_a_message_is_longer_than_two_thousand_characters(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    whole, cut = results_of(
        make_review(findings=tuple(make_finding(message="m" * count, **BARE) for count in (2_000, 2_001)))
    )

    assert whole["message"]["text"] == "m" * 2_000
    assert re.fullmatch(r"m{1990,1996} \.\.\.", cut["message"]["text"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{0}{12}", "{{0}}{{12}}"),
        ("{ 0 } {-1} {} {a}", "{ 0 } {-1} {} {a}"),
        ("[a][b](c)](d)", "[a][b] (c)] (d)"),
    ],
)
def test_each_placeholder_and_each_link_of_a_message_is_taken_apart(
    text: str, shown: str, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    [result] = results_of(make_review(findings=(make_finding(message=text, **BARE),)))

    assert result["message"]["text"] == shown


def test_a_character_that_json_leaves_as_it_is_is_escaped_and_reads_back(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    text = render_sarif(make_review(findings=(make_finding(sources=("a\x7fb", "\u2028", "\U0001f600")),)))

    assert text.isascii()
    assert "\x7f" not in text
    assert json.loads(text)["runs"][0]["results"][0]["properties"]["sources"] == ["a\x7fb", "\u2028", "\U0001f600"]


def test_what_a_person_must_see_is_named_by_its_order_in_its_file_and_not_by_its_words(
    make_review: MakeReview,
) -> None:
    def names(*items: tuple[str, str]) -> list[str]:
        human = tuple(HumanItem(path=path, reason=reason) for path, reason in items)
        found = results_of(make_review(human=human))
        return [str(*result["partialFingerprints"].values()) for result in found]

    one, other, third = names(("a", "x"), ("a", "y"), ("b", "z"))

    assert len({one, other, third}) == 3
    assert names(("b", "new words"), ("a", "y"), ("a", "x")) == [third, one, other]


def test_severe_results_come_first_and_those_of_one_severity_keep_their_order(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    severities = ("info", "warning", "critical", "warning")
    findings = tuple(make_finding(severity=each, line=n, end_line=99) for n, each in enumerate(severities, 1))

    found = results_of(make_review(findings=findings))

    places = [result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in found]
    assert places == [3, 2, 4, 1]
    assert [result["level"] for result in found] == ["error", "warning", "warning", "note"]


def test_a_review_that_looked_at_all_has_one_notice_and_says_nothing_of_settings(make_review: MakeReview) -> None:
    [notice] = notices_of(make_review(headline="All is well"))

    assert (notice["level"], notice["message"]["text"]) == ("note", "All is well")
    assert "toolConfigurationNotifications" not in json.loads(render_sarif(make_review()))["runs"][0]["invocations"][0]


# --- the annotations


def test_that_a_review_is_incomplete_takes_one_of_the_ten_warnings(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    warnings = tuple(make_finding(severity="warning", line=n, end_line=n) for n in range(1, PER_LEVEL + 1))

    out = render_annotations(make_review(incomplete=True, findings=warnings)).splitlines()

    assert [sum(line.startswith(f"::{level} ") for line in out) for level in ("warning", "notice")] == [PER_LEVEL, 1]
    assert out[0].startswith("::warning title=reviewbot%3A incomplete::")
    assert out[-1] == "::notice title=reviewbot::1 further annotation left out: GitHub shows 10 of each level"


def test_errors_come_before_warnings_and_notices_and_persons_before_contradictions_and_notes(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    findings = tuple(make_finding(severity=each, message=each, **BARE) for each in ("info", "warning", "critical"))
    side = make_finding(message="side", **BARE)
    review = make_review(
        findings=findings,
        human=(HumanItem(path="p", reason="person"),),
        conflicts=(Conflict(findings=(side, side), reason="r"),),
    )

    titles = re.findall(r"title=reviewbot%3A ([a-z ]+)", render_annotations(review))

    assert titles == ["critical", "warning", "needs a person", "side", "side", "info"]


def test_texts_that_are_blank_take_no_line_of_an_annotation(make_review: MakeReview, make_finding: MakeFinding) -> None:
    blank = make_finding(message=" ", symptom="\n", contract="\t", disputed=" ", **BARE)

    [line] = render_annotations(make_review(findings=(blank,))).splitlines()

    assert line == "::error file=app/db.py,line=41,endLine=42,title=reviewbot%3A S608::S608, CWE-89, 92%25 sure"


def test_an_annotation_ends_with_why_a_person_must_look(make_review: MakeReview, make_finding: MakeFinding) -> None:
    finding = make_finding(message="m", trigger="t", symptom="s", contract="c", disputed="100%", suggestion="")

    [line] = render_annotations(make_review(human=(HumanItem(path="x", reason="r", finding=finding),))).splitlines()

    assert line.endswith("A model disputes it: 100%25%0AS608, CWE-89, 92%25 sure%0Aneeds a person: r")


def test_a_review_without_anything_to_say_has_no_annotation(make_review: MakeReview, make_finding: MakeFinding) -> None:
    withheld = Withheld(finding=make_finding(), reason="over_cap", message="m")

    assert render_annotations(make_review(withheld=(withheld,), notes=("n",))) == ""
