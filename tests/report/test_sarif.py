"""The log as GitHub and other readers take it. Judges that are not ours: the schema of OASIS, and sarif-pydantic."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sarif_pydantic import Sarif  # type: ignore[import-untyped]  # it has no types

from reviewbot import __version__
from reviewbot.diff.parser.file_names import label
from reviewbot.domain.contracts import Conflict, Gap, HumanItem, Review, SkippedWorkers, Withheld
from reviewbot.memory.fingerprints import SCHEME, CodePlace, of_review
from reviewbot.report.sarif import log
from reviewbot.report.sarif.log import MAX_RESULTS
from tests.make import MakeFinding, MakeReview
from tests.sarif_log import render_sarif

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-schema-2.1.0.json"

words = st.text(max_size=40)
slugs = st.from_regex(r"[A-Za-z0-9_.:/@-]{1,20}", fullmatch=True)


@pytest.fixture(scope="session")
def validator() -> Any:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def run_of(text: str) -> dict[str, Any]:
    """The one run of a log that sarif-pydantic understands as well."""
    assert Sarif.model_validate_json(text).version == "2.1.0"
    (run,) = json.loads(text)["runs"]
    return dict(run)


def results_of(review: Review) -> list[dict[str, Any]]:
    return list(run_of(render_sarif(review))["results"])


def rules_of(review: Review) -> list[dict[str, Any]]:
    return list(run_of(render_sarif(review))["tool"]["driver"]["rules"])


def test_the_whole_review_as_sarif(full_review: Review, golden: Callable[[str, str], None], validator: Any) -> None:
    text = render_sarif(full_review)

    golden("review.sarif", text.replace(f'"semanticVersion": "{__version__}"', '"semanticVersion": "VERSION"'))
    validator.validate(json.loads(text))


def test_the_same_review_gives_the_same_bytes(full_review: Review) -> None:
    again = Review.model_validate_json(full_review.model_dump_json())

    assert render_sarif(again) == render_sarif(full_review)


def test_an_empty_review_is_a_run_without_results(make_review: MakeReview, validator: Any) -> None:
    text = render_sarif(make_review())

    run = run_of(text)
    validator.validate(json.loads(text))
    assert run["results"] == []
    assert run["tool"]["driver"] == {"name": "reviewbot", "semanticVersion": __version__, "rules": []}
    assert run["invocations"][0]["executionSuccessful"] is True


def test_the_oracle_reads_the_same_findings(full_review: Review) -> None:
    (run,) = Sarif.model_validate_json(render_sarif(full_review)).runs
    certain = [result for result in run.results if result.kind == "fail"]

    read = {
        (
            result.rule_id,
            result.level.value,
            result.locations[0].physical_location.artifact_location.uri,
            result.locations[0].physical_location.region.start_line,
            result.locations[0].physical_location.region.end_line,
        )
        for result in certain
    }

    levels = {"critical": "error", "warning": "warning", "info": "note"}
    assert read == {
        (f"{found.type}/{found.rule}", levels[found.severity], found.path, found.line, found.end_line)
        for found in full_review.findings
    }


def test_a_result_points_at_its_rule(full_review: Review) -> None:
    run = run_of(render_sarif(full_review))

    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ids == sorted(set(ids))


def test_a_result_says_where_with_what_code_and_how_sure(make_review: MakeReview, make_finding: MakeFinding) -> None:
    review = make_review(findings=(make_finding(),))

    (result,) = results_of(review)

    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "app/db.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"]["snippet"]["text"] == make_finding().evidence
    assert result["properties"]["confidence"] == 92
    assert result["properties"]["sources"] == ["ruff", "taint"]
    assert result["partialFingerprints"] == {SCHEME: of_review(review)[make_finding()]}


def test_other_lines_that_belong_to_a_finding_are_related(make_review: MakeReview, make_finding: MakeFinding) -> None:
    (plain, flow) = results_of(make_review(findings=(make_finding(), make_finding(also=(3, 9), message="Flow."))))

    assert "relatedLocations" not in plain
    places = [each["physicalLocation"] for each in flow["relatedLocations"]]
    assert [place["region"] for place in places] == [{"startLine": 3}, {"startLine": 9}]
    assert places[0]["artifactLocation"] == flow["locations"][0]["physicalLocation"]["artifactLocation"]


def test_a_finding_without_a_rule_is_named_by_its_category(make_review: MakeReview, make_finding: MakeFinding) -> None:
    (rule,) = rules_of(make_review(findings=(make_finding(rule="", category="n-plus-one", type="performance"),)))

    assert rule["id"] == "performance/n-plus-one"
    assert rule["shortDescription"]["text"] == "N plus one"
    assert "security-severity" not in rule["properties"]


def test_a_rule_carries_what_github_sorts_by(make_review: MakeReview, make_finding: MakeFinding) -> None:
    findings = (make_finding(), make_finding(line=1, end_line=1, severity="warning", confidence=81, cwe=564))

    (rule,) = rules_of(make_review(findings=findings))

    assert rule["defaultConfiguration"] == {"level": "error"}
    assert rule["properties"] == {
        "tags": ["security", "injection", "external/cwe/cwe-89", "external/cwe/cwe-564"],
        "precision": "high",
        "security-severity": "9.5",
    }
    assert rule["help"]["text"].startswith("Injection (S608). Found by the security review; see CWE-89, CWE-564.")


@pytest.mark.parametrize(
    ("confidence", "precision"), [(99, "very-high"), (90, "very-high"), (80, "high"), (60, "medium"), (0, "low")]
)
def test_precision_follows_confidence(
    make_review: MakeReview, make_finding: MakeFinding, confidence: int, precision: str
) -> None:
    (rule,) = rules_of(make_review(findings=(make_finding(confidence=confidence),)))

    assert rule["properties"]["precision"] == precision


def test_a_rule_has_no_more_tags_than_github_stores(make_review: MakeReview, make_finding: MakeFinding) -> None:
    (rule,) = rules_of(make_review(findings=tuple(make_finding(cwe=cwe) for cwe in range(1, 40))))

    assert len(rule["properties"]["tags"]) == 10
    assert rule["properties"]["tags"][:2] == ["security", "injection"]


def test_what_is_not_settled_is_there_and_looks_like_no_confirmed_defect(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    sides = (make_finding(message="Yes."), make_finding(message="No.", severity="info"))
    review = make_review(
        findings=(make_finding(line=1, end_line=1),),
        conflicts=(Conflict(findings=sides, reason="They differ."),),
        human=(
            HumanItem(path="app/db.py", line=41, reason="Nobody is sure.", finding=make_finding(confidence=70)),
            HumanItem(path="link", reason="It is a link."),
            HumanItem(path="link", line=7, reason="It is long."),
        ),
    )

    results = results_of(review)

    assert [result["kind"] for result in results] == ["fail"] + 5 * ["review"]
    assert {result["level"] for result in results[1:]} == {"none"}
    assert [result["message"]["text"].split(". ")[0] for result in results[1:]] == [
        "Contradicted: They differ",
        "Contradicted: They differ",
        "Needs a person: Nobody is sure",
        "Needs a person: It is a link.",
        "Needs a person: It is long.",
    ]
    unsure = next(rule for rule in rules_of(review) if rule["id"] == "unconfirmed/security/S608")
    assert unsure["properties"]["precision"] == "low"
    assert unsure["defaultConfiguration"] == {"level": "note"}
    assert "security-severity" not in unsure["properties"]
    names = [result["partialFingerprints"][SCHEME] for result in results]
    assert len(set(names)) == len(names)
    assert "region" not in results[4]["locations"][0]["physicalLocation"]
    assert results[5]["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_everything_that_was_not_looked_at_is_a_notification(make_review: MakeReview, validator: Any) -> None:
    review = make_review(
        incomplete=True,
        headline="Incomplete",
        gaps=(
            Gap(path="a b.py", worker="security", reason="timeout", message="no answer", tool="zizmor"),
            Gap(path="c.py", worker="logic", reason="breaker", message=""),
        ),
        unlooked=(SkippedWorkers(path="d.py", workers=("logic", "style"), reason="no check"),),
        notes=("A setting was ignored.",),
    )

    text = render_sarif(review)

    validator.validate(json.loads(text))
    (invocation,) = run_of(text)["invocations"]
    notices = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is False
    assert [(each["descriptor"]["id"], each["level"], each["message"]["text"]) for each in notices] == [
        ("verdict", "error", "Incomplete"),
        ("gap/timeout", "error", "Not looked at (security, zizmor): no answer"),
        ("gap/breaker", "error", "Not looked at (logic): breaker"),
        ("unlooked", "note", "Not looked at for logic, style: no check"),
    ]
    place = notices[1]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "a%20b.py", "uriBaseId": "%SRCROOT%"}
    assert invocation["toolConfigurationNotifications"][0]["message"]["text"] == "A setting was ignored."


def test_withheld_findings_are_counted_and_make_no_alert(make_review: MakeReview, make_finding: MakeFinding) -> None:
    review = make_review(withheld=(Withheld(finding=make_finding(), reason="below_threshold", message="x"),))

    run = run_of(render_sarif(review))

    assert run["results"] == []
    notice = run["invocations"][0]["toolExecutionNotifications"][1]
    assert notice["message"]["text"] == "1 finding withheld: 1 below the confidence threshold"


@pytest.mark.slow
def test_github_takes_the_most_severe_and_the_rest_is_counted(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    note = make_finding(severity="info", evidence="x", suggestion="", trigger="")
    notes = tuple(note.model_copy(update={"line": line, "end_line": line}) for line in range(1, MAX_RESULTS + 2))
    human = (HumanItem(path="link", reason="It is a link."), HumanItem(path="a", reason="b", finding=note))
    # Not as text: to write 25,000 results takes seconds.
    review = make_review(findings=(*notes, make_finding()), human=human)
    run: Any = log._run(review, of_review(review))

    results = run["results"]
    last = run["invocations"][0]["toolExecutionNotifications"][-1]

    assert len(results) == MAX_RESULTS
    assert results[0]["level"] == "error"
    assert last["message"]["text"] == "4 results left out: at most 25,000 are taken by those who read this"


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        (b"src/a b.py", "src/a%20b.py"),
        (b"c:/x.py", "c%3A/x.py"),
        (b"/etc/passwd", "%2Fetc/passwd"),
        ("\u00fc#?%.py".encode(), "%C3%BC%23%3F%25.py"),
        (b"latin\xff.py", "latin%FF.py"),
        (b"two\nlines.py", "two%0Alines.py"),
    ],
)
def test_a_path_is_a_relative_reference_that_reads_back(
    make_review: MakeReview, make_finding: MakeFinding, name: bytes, uri: str
) -> None:
    (result,) = results_of(make_review(findings=(make_finding(path=label(name)),)))

    found = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert found == uri
    assert unquote_to_bytes(found) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [this](https://example.org)", "see [this] (https://example.org)"),
        ("see [this](1)", "see [this] (1)"),
        ("format '{0} {x}' is wrong", "format '{{0}} {x}' is wrong"),
        ("two\nlines \x1b[31m", "two lines \\x1b[31m"),
        ("hidden\u202e", "hidden<U+202E>"),
    ],
)
def test_nothing_in_a_message_is_a_link_or_a_placeholder(
    make_review: MakeReview, make_finding: MakeFinding, text: str, shown: str
) -> None:
    (result,) = results_of(make_review(findings=(make_finding(message=text, trigger=""),)))

    assert result["message"]["text"] == shown


def test_the_code_around_a_finding_helps_its_fingerprint(make_review: MakeReview, make_finding: MakeFinding) -> None:
    review = make_review(findings=(make_finding(),))

    plain, named = (
        json.loads(text)["runs"][0]["results"][0]["partialFingerprints"]
        for text in (
            render_sarif(review),
            render_sarif(review, lambda _finding: CodePlace("return find()", 1)),
        )
    )

    assert plain != named


@given(message=words, evidence=words, path=words, rule=slugs, category=slugs, suggestion=words)
def test_any_text_gives_a_valid_log(
    make_review: MakeReview, make_finding: MakeFinding, validator: Any, **texts: str
) -> None:
    finding = make_finding(**texts)
    human = (HumanItem(path=texts["path"], reason=texts["message"]),)
    gaps = (Gap(path=texts["path"], worker="logic", reason="crashed", message=texts["message"]),)

    text = render_sarif(make_review(findings=(finding,), human=human, gaps=gaps, notes=(texts["message"],)))

    validator.validate(json.loads(text))
    assert set(text) - {"\n"} <= {chr(code) for code in range(0x20, 0x7F)}
    for message in re.findall(r'"text": (".*")', text):
        assert "](" not in json.loads(message)


def test_what_backs_a_finding_is_told_with_it_and_a_doubt_in_its_message(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    backing = {"contract": "It\x1b promises.", "symptom": "It hangs.", "judgement": "Two callers do."}
    finding = make_finding(**backing, disputed="[No](x) {0}", trigger="")

    (result,) = results_of(make_review(findings=(finding,)))

    assert {name: result["properties"][name] for name in backing} == {**backing, "contract": "It\\x1b promises."}
    assert result["message"]["text"].endswith("A model disputes it: [No] (x) {{0}}")
    assert not backing.keys() & results_of(make_review(findings=(make_finding(),)))[0]["properties"].keys()
