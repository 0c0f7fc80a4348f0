from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.imported.results import MAX_BYTES, MAX_RESULTS, MAX_RUNS, Result
from reviewbot.domain.errors import InputError
from tests.analyzers.imported.logs import read_log

Log = dict[str, Any]
Make = Callable[..., Log]
MakeLog = Callable[..., bytes]

RESULT_KEYS = ["ruleId", "rule", "ruleIndex", "level", "kind", "message", "locations"]
RESULT_KEYS += ["suppressions", "taxa", "properties", "baselineState"]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture
def read(log_of: MakeLog, run_of: Make) -> Callable[..., Result]:
    """The one result of a log with that result and those rules."""

    def of(result: Log, rules: list[Log] | None = None, **fields: Any) -> Result:
        ((found,),) = (run.results for run in read_log("x.sarif", log_of(run_of(result, rules=rules) | fields)))
        return found

    return of


@pytest.fixture
def omitted(log_of: MakeLog, run_of: Make) -> Callable[..., dict[str, int]]:
    """Why the results of a log are not told."""

    def of(*results: Log) -> dict[str, int]:
        (run,) = read_log("x.sarif", log_of(run_of(*results)))
        assert run.results == ()
        return {str(reason): number for reason, number in run.omitted.items()}

    return of


def test_a_result_with_everything(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of("R1", level="error", kind="fail", properties={"tags": ["Extra"]})
    result["locations"][0]["physicalLocation"]["region"] |= {"endLine": 5}
    rule = {"id": "R1", "properties": {"tags": ["security", "external/cwe/cwe-089"], "security-severity": "8.1"}}

    assert read(result, [rule]) == Result(
        rule="R1",
        level="error",
        message="It is wrong.",
        uri="src/app.py",
        line=3,
        end_line=5,
        tags=frozenset({"extra", "security", "external/cwe/cwe-089"}),
        cwe=89,
        score=8.1,
    )


@pytest.mark.parametrize(
    ("fields", "rule", "level"),
    [
        ({"level": "note"}, {"defaultConfiguration": {"level": "error"}}, "note"),
        ({}, {"defaultConfiguration": {"level": "error"}}, "error"),
        ({"level": "loud"}, {"defaultConfiguration": {"level": ["error"]}}, "warning"),
        ({}, {"defaultConfiguration": "error"}, "warning"),
        ({"kind": "review"}, {"defaultConfiguration": {"level": "error"}}, "none"),
        ({"kind": "open", "level": "error"}, {}, "none"),
    ],
)
def test_the_level_is_the_results_or_its_rules_or_the_formats(
    read: Callable[..., Result], result_of: Make, fields: Log, rule: Log, level: str
) -> None:
    assert read(result_of("R1", **fields), [{"id": "R1"} | rule]).level == level


@pytest.mark.parametrize(
    "fields",
    [
        {"ruleId": "R2"},
        {"ruleId": None, "ruleIndex": 1},
        {"ruleId": None, "rule": {"index": 1}},
        {"ruleId": None, "rule": {"id": "R2"}},
    ],
)
def test_a_rule_is_found_by_its_id_or_its_index(read: Callable[..., Result], result_of: Make, fields: Log) -> None:
    rules: list[Log] = [{"id": "R1"}, {"id": "R2", "defaultConfiguration": {"level": "note"}}]

    found = read(result_of(**fields), rules)

    assert (found.rule, found.level) == ("R2", "note")


def test_a_rule_of_an_extension_is_found(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of("", rule={"index": 0, "toolComponent": {"index": 0}})
    tool = {
        "driver": {"name": "codeql"},
        "extensions": [{"rules": [{"id": "py/x", "shortDescription": {"text": "X"}}]}],
    }

    assert read(result, tool=tool).rule == "py/x"
    assert read(result | {"rule": {"index": 0, "toolComponent": {"index": 7}}}, tool=tool).rule == ""


def test_an_id_may_go_on_behind_its_rules(read: Callable[..., Result], result_of: Make) -> None:
    found = read(result_of("CA1000/1"), [{"id": "CA1000", "defaultConfiguration": {"level": "note"}}])

    assert (found.rule, found.level) == ("CA1000/1", "note")


@pytest.mark.parametrize("index", [-1, 9, True, "0", 1.5, 10**30])
def test_an_index_of_no_rule_is_no_rule(read: Callable[..., Result], result_of: Make, index: object) -> None:
    assert read(result_of("", ruleIndex=index), [{}]).rule == ""


@pytest.mark.parametrize(
    "rule",
    [
        {"properties": {"tags": ["CWE-79: Cross-site Scripting"]}},
        {"properties": {"tags": ["external/cwe/cwe-079", "external/cwe/cwe-116"]}},
        {"properties": {"cwe": ["CWE-79"]}},
        {"properties": {"cwe": "cwe_79"}},
        {"relationships": [{"target": {"id": "79", "toolComponent": {"name": "CWE"}}}]},
        {"relationships": [{"target": {"id": "CWE-79", "toolComponent": {"name": "cwe"}}}]},
    ],
)
def test_a_weakness_is_read_wherever_programs_name_it(read: Callable[..., Result], result_of: Make, rule: Log) -> None:
    assert read(result_of("R1"), [{"id": "R1"} | rule]).cwe == 79


def test_a_taxon_of_the_result_is_a_weakness(read: Callable[..., Result], result_of: Make) -> None:
    other = {"id": "1", "toolComponent": {"name": "OWASP"}}

    assert read(result_of(taxa=[other, {"id": "22", "toolComponent": {"name": "CWE"}}])).cwe == 22
    assert read(result_of(taxa=[other])).cwe is None


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ("9.8", 9.8),
        (7, 7.0),
        ("", 0.0),
        ("high", 0.0),
        ("nan", 0.0),
        ("inf", 0.0),
        (-1, 0.0),
        (11, 0.0),
        (10**400, 0.0),
    ],
)
def test_a_score_is_a_number_of_its_scale(
    read: Callable[..., Result], result_of: Make, given: object, score: float
) -> None:
    assert read(result_of("R1"), [{"id": "R1", "properties": {"security-severity": given}}]).score == score


@pytest.mark.parametrize(
    ("message", "rule", "text"),
    [
        ({"text": "Plain."}, {}, "Plain."),
        ({"markdown": "*Marked.*"}, {}, "*Marked.*"),
        (
            {"id": "m", "arguments": ["a", "b"]},
            {"messageStrings": {"m": {"text": "{1} before {0}, {2}"}}},
            "b before a, {2}",
        ),
        ({}, {"shortDescription": {"text": "Short."}}, "Short."),
        ({}, {}, "R1"),
        ({"text": "From [here](1) to [there](22)."}, {}, "From here to there."),
        ({"text": "See [docs](https://example.org)."}, {}, "See [docs](https://example.org)."),
        ({"text": "\ud800 half"}, {}, "? half"),
    ],
)
def test_a_message_is_put_together(
    read: Callable[..., Result], result_of: Make, message: Log, rule: Log, text: str
) -> None:
    assert read(result_of("R1", message=message), [{"id": "R1"} | rule]).message == text


def test_a_message_without_an_end_is_cut(read: Callable[..., Result], result_of: Make) -> None:
    message = {"text": "{0}" * 10_000, "arguments": ["x" * 100_000]}

    assert len(read(result_of(message=message)).message) <= 4_000


def test_names_are_joined_with_their_bases(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": "app.py", "uriBaseId": "SRC"}
    bases = {"SRC": {"uri": "src", "uriBaseId": "ROOT"}, "ROOT": {"uri": "file:///home/me/shop/"}}

    assert read(result, originalUriBaseIds=bases).uri == "file:///home/me/shop/src/app.py"
    assert read(result).uri == "app.py"
    assert read(result, originalUriBaseIds={"SRC": {"description": {"text": "the root"}}}).uri == "app.py"
    assert len(read(result, originalUriBaseIds={"SRC": {"uri": "s", "uriBaseId": "SRC"}}).uri) < 50


def test_an_absolute_name_needs_no_base(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": "file:///x/app.py", "uriBaseId": "SRC"}

    assert read(result, originalUriBaseIds={"SRC": {"uri": "src/"}}).uri == "file:///x/app.py"


def test_a_name_may_stand_in_the_list_of_artifacts_alone(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["artifactLocation"] = {"index": 1}

    assert read(result, artifacts=[{}, {"location": {"uri": "lib/a.py"}}]).uri == "lib/a.py"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"suppressions": [{"kind": "inSource"}]}, "suppressed"),
        ({"suppressions": [{"kind": "external", "status": "accepted"}]}, "suppressed"),
        ({"kind": "pass"}, "no problem"),
        ({"kind": "notApplicable"}, "no problem"),
        ({"kind": "informational"}, "no problem"),
        ({"baselineState": "absent"}, "no problem"),
        ({"line": None}, "without a line"),
        ({"line": 0}, "without a line"),
        ({"line": -4}, "without a line"),
        ({"uri": ""}, "without a line"),
        ({"locations": []}, "without a line"),
        ({"locations": "src/app.py"}, "without a line"),
    ],
)
def test_what_is_not_told_is_counted_with_its_reason(
    omitted: Callable[..., dict[str, int]], result_of: Make, fields: Log, reason: str
) -> None:
    assert omitted(result_of(**fields), result_of(**fields)) == {reason: 2}


@pytest.mark.parametrize("given", [[], None, [{"status": "rejected"}], [{"status": "underReview"}, {}]])
def test_a_suppression_that_nobody_granted_suppresses_nothing(
    read: Callable[..., Result], result_of: Make, given: object
) -> None:
    assert read(result_of(suppressions=given)).line == 3


def test_an_end_before_the_start_is_no_end(read: Callable[..., Result], result_of: Make) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["region"] = {"startLine": 9, "endLine": 2}

    assert (read(result).line, read(result).end_line) == (9, 9)


def test_results_behind_the_last_that_is_read_are_counted(log_of: MakeLog, run_of: Make) -> None:
    (run,) = read_log("x", log_of(run_of(*[{}] * (MAX_RESULTS + 3))))

    assert run.omitted == {"too many": 3, "without a line": MAX_RESULTS}


@pytest.mark.parametrize("encode", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_a_byte_order_mark_and_the_encodings_of_other_shells_are_read(
    log_of: MakeLog, run_of: Make, result_of: Make, encode: str
) -> None:
    data = log_of(run_of(result_of())).decode().encode(encode)

    assert len(read_log("x.sarif", data)[0].results) == 1


def test_a_log_without_a_version_and_a_run_without_a_name_are_read(log_of: MakeLog, result_of: Make) -> None:
    data = json.dumps({"runs": [{"results": [result_of()]}]}).encode()

    (run,) = read_log("x.sarif", data)

    assert run.tool == "unnamed"
    assert len(run.results) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is a plain log without workflow commands; give results"),
        (b"not json", "is a plain log without workflow commands; give results"),
        (b"\xff\xfe\xfa", "is no JSON; give results"),
        (b"{not json", "is no JSON; give results"),
        (b"1" * 5_000, "is a plain log without workflow commands; give results"),
        (b"[]", "is JSON of another format; give results"),
        (b'{"runs": {}}', "is no SARIF, for it has no runs; give results"),
        (b'{"runs": [], "version": "1.0.0"}', "is SARIF '1.0.0'; give results"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a":' * 200_000, "is nested too deeply"),
        (b" " * (MAX_BYTES + 1), "is larger than 32 MiB"),
    ],
)
def test_what_is_no_log_is_refused_in_one_line_that_names_the_file(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read_log("out/x\n.sarif", data)

    assert str(caught.value).startswith("'out/x\\n.sarif' is ")
    assert "\n" not in str(caught.value)


def test_a_log_of_very_many_runs_is_refused() -> None:
    data = json.dumps({"runs": [{}] * (MAX_RUNS + 1)}).encode()

    with pytest.raises(InputError, match="'x' has more than 100 runs; give logs of fewer runs"):
        read_log("x", data)


@given(value=anything, key=st.sampled_from(RESULT_KEYS))
def test_a_result_of_any_shape_is_read_or_counted(
    log_of: MakeLog, run_of: Make, result_of: Make, value: object, key: str
) -> None:
    (run,) = read_log("x", log_of(run_of(result_of() | {key: value}, rules=[{"id": "R1"}])))

    assert len(run.results) + sum(run.omitted.values()) == 1


@given(value=anything, key=st.sampled_from(["tool", "results", "artifacts", "originalUriBaseIds"]))
def test_a_run_of_any_shape_is_read(log_of: MakeLog, run_of: Make, result_of: Make, value: object, key: str) -> None:
    assert len(read_log("x", log_of(run_of(result_of()) | {key: value}))) == 1


@given(
    value=anything, key=st.sampled_from(["id", "properties", "relationships", "messageStrings", "defaultConfiguration"])
)
def test_a_rule_of_any_shape_is_read(log_of: MakeLog, run_of: Make, result_of: Make, value: object, key: str) -> None:
    rules = [{"id": "R1"} | {key: value}, value]

    assert len(read_log("x", log_of(run_of(result_of(ruleIndex=0, message={"id": "m"}), rules=rules)))[0].results) == 1
