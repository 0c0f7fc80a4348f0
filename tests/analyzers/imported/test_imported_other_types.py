"""A log in which one value has another type than it should have: it is read as if that value were absent."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reviewbot.analyzers.imported.results import MAX_BYTES, MAX_LOG_RESULTS, MAX_RESULTS, MAX_RUNS, ProgramRun, Result
from reviewbot.domain.errors import InputError
from tests.analyzers.imported.logs import read_log

Log = dict[str, Any]
Make = Callable[..., Log]
MakeLog = Callable[..., bytes]
Path = tuple[str | int, ...]

OTHERS: tuple[object, ...] = (None, True, 7, -1, 1.5, "x", [], [7], {}, {"x": 7}, ["\ud800"], {"index": "0"})


def full() -> Log:
    """A log that uses whatever is read."""
    bag = {"tags": ["Security", "external/cwe/cwe-089"], "security-severity": "8.1", "cwe": ["CWE-89"]}
    target = {"target": {"id": "CWE-79", "toolComponent": {"name": "CWE"}}}
    rule = {
        "id": "R1",
        "defaultConfiguration": {"level": "error"},
        "messageStrings": {"m": {"text": "[{0}](1) is wrong"}},
        "shortDescription": {"text": "wrong"},
        "properties": bag,
        "relationships": [target],
    }
    place = {"artifactLocation": {"index": 0}, "region": {"startLine": 3, "endLine": 4}}
    result = {
        "ruleIndex": 0,
        "rule": {"id": "R2", "index": 0, "toolComponent": {"index": 0}},
        "kind": "fail",
        "baselineState": "new",
        "message": {"id": "m", "arguments": ["it"]},
        "locations": [{"physicalLocation": place}],
        "suppressions": [{"status": "underReview"}],
        "taxa": [{"id": "20", "toolComponent": {"name": "cwe"}}],
        "properties": {"tags": ["own"], "security-severity": 3},
    }
    run = {
        "tool": {"driver": {"name": " checker ", "rules": [rule]}, "extensions": [{"rules": [rule]}]},
        "artifacts": [{"location": {"uri": "app.py", "uriBaseId": "SRC"}}],
        "originalUriBaseIds": {"SRC": {"uri": "src", "uriBaseId": "ROOT"}, "ROOT": {"uri": ""}},
        "invocations": [{"executionSuccessful": True}],
        "results": [result],
    }
    return {"version": "2.1.0", "runs": [run]}


def places_of(value: object, above: Path = ()) -> Iterator[Path]:
    """Yield the way to each value of a log, but the log itself."""
    if above:
        yield above
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_of(inner, (*above, key))


def with_other(log: Log, way: Path, other: object) -> bytes:
    made: Any = copy.deepcopy(log)
    inside = made
    for key in way[:-1]:
        inside = inside[key]
    inside[way[-1]] = other
    return json.dumps(made).encode()


def assert_is_sound(run: ProgramRun) -> None:
    assert isinstance(run.tool, str)
    for found in run.results:
        texts = (found.rule, found.level, found.message, found.uri, *found.tags)
        assert all(isinstance(text, str) for text in texts)
        assert all(text.isascii() or text.encode() for text in texts)
        assert 1 <= found.line <= found.end_line
        assert found.cwe is None or found.cwe > 0
        assert 0 <= found.score <= 10


def test_the_full_log_is_read_as_it_says() -> None:
    (run,) = read_log("x", json.dumps(full()).encode())

    assert run == ProgramRun(
        "checker",
        (
            Result(
                rule="R2",
                level="error",
                message="it is wrong",
                uri="src/app.py",
                line=3,
                end_line=4,
                tags=frozenset({"own", "security", "external/cwe/cwe-089"}),
                cwe=89,
                score=3.0,
            ),
        ),
        Counter(),
    )


@pytest.mark.parametrize("way", list(places_of(full())), ids=lambda way: "/".join(map(str, way)))
def test_any_value_of_another_type_is_taken_as_absent(way: Path) -> None:
    for other in OTHERS:
        try:
            runs = read_log("x", with_other(full(), way, other))
        except InputError:
            assert way in {("runs",), ("version",)}
        else:
            for run in runs:
                assert_is_sound(run)


@pytest.mark.parametrize(
    ("bases", "uri"),
    [
        ({"B": {"uri": "src"}}, "src/app.py"),
        ({"B": {"uri": "src/"}}, "src/app.py"),
        ({"B": {"uri": ""}}, "app.py"),
        ({"B": {}}, "app.py"),
        ({"B": "src"}, "app.py"),
        ({"": {"uri": "src/"}}, "app.py"),
        ({"B": {"uri": "b", "uriBaseId": "C"}, "C": {"uri": "/c"}}, "/c/b/app.py"),
        ({"B": {"uri": "C:/b", "uriBaseId": "C"}, "C": {"uri": "c"}}, "C:/b/app.py"),
        ({"B": {"uri": "b", "uriBaseId": "B"}}, "b/" * 8 + "app.py"),
    ],
)
def test_a_name_is_joined_with_its_bases_until_it_is_absolute_or_too_deep(
    log_of: MakeLog, run_of: Make, result_of: Make, bases: Log, uri: str
) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": "app.py", "uriBaseId": "B"}

    (run,) = read_log("x", log_of(run_of(result, originalUriBaseIds=bases)))

    assert [found.uri for found in run.results] == [uri]


def message_of(log_of: MakeLog, run_of: Make, result_of: Make, **message: object) -> str:
    (run,) = read_log("x", log_of(run_of(result_of(message=message))))
    return run.results[0].message


def test_of_a_long_message_and_of_its_values_only_the_start_is_looked_at(
    log_of: MakeLog, run_of: Make, result_of: Make
) -> None:
    read = (log_of, run_of, result_of)

    assert message_of(*read, text="x" * 5_000) == "x" * 4_000
    assert message_of(*read, text="<{0}>", arguments=["y" * 500]) == f"<{'y' * 400}>"
    assert len(message_of(*read, text="{0}" * 1_333, arguments=["y" * 400])) == 4_000
    assert message_of(*read, text="{0} {1} {2}", arguments=["a", 7]) == "a  {2}"


def test_a_level_that_the_result_names_itself_goes_before_its_rules(
    log_of: MakeLog, run_of: Make, result_of: Make
) -> None:
    rule = {"id": "R1", "defaultConfiguration": {"level": "error"}}
    results = [result_of(level=level) for level in ("none", "note", "warning", "error", "loud")]

    (run,) = read_log("x", log_of(run_of(*results, rules=[rule])))

    assert [found.level for found in run.results] == ["none", "note", "warning", "error", "error"]


@pytest.mark.parametrize(
    ("score", "read"),
    [("0", 0.0), ("0.5", 0.5), (0.5, 0.5), (10, 10.0), ("10.0", 10.0), ("10.1", 0.0), ("-1", 0.0), ("nan", 0.0),
     ("high", 0.0), ("", 0.0), ("1e999", 0.0), (10**400, 0.0), (None, 0.0)],
)  # fmt: skip
def test_a_score_is_from_0_to_10(log_of: MakeLog, run_of: Make, result_of: Make, score: object, read: float) -> None:
    (run,) = read_log("x", log_of(run_of(result_of(properties={"security-severity": score}))))

    assert run.results[0].score == read


def test_of_very_many_tags_and_of_a_long_one_only_the_start_is_kept(
    log_of: MakeLog, run_of: Make, result_of: Make
) -> None:
    many = [f"t{number}" for number in range(99)] + ["x" * 300, "behind", "cwe-89"]
    relations: list[Log] = [{"target": {}}] * 100 + [{"target": {"id": "79", "toolComponent": {"name": "CWE"}}}]
    rule = {"id": "R1", "relationships": relations}

    (run,) = read_log("x", log_of(run_of(result_of(properties={"tags": many}), rules=[rule])))

    assert run.results[0].tags == frozenset({*many[:99], "x" * 200})
    assert run.results[0].cwe is None


def test_what_results_share_does_not_grow_with_their_number(log_of: MakeLog, run_of: Make, result_of: Make) -> None:
    long = "x" * 1_000_000
    based, ruled = result_of(), result_of()
    based["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": "app.py", "uriBaseId": "B"}
    del ruled["ruleId"]
    rule = {"id": long, "properties": {"tags": [f"t{number}" for number in range(100)]}}
    many = run_of(*[based] * 200, *[{**ruled, "ruleIndex": 0}] * 200, rules=[rule])

    (run,) = read_log("x", log_of(many | {"originalUriBaseIds": {"B": {"uri": long}}}))

    assert len(run.results) == 400
    assert sum(len(found.uri) + len(found.rule) for found in run.results) < 2_500_000
    assert len({id(found.tags) for found in run.results}) == 2


@pytest.mark.slow
def test_runs_share_the_room_for_results_of_a_log(log_of: MakeLog, run_of: Make, result_of: Make) -> None:
    runs = read_log("x", log_of(*[run_of(*[result_of()] * MAX_RESULTS)] * 3))

    assert sum(len(run.results) for run in runs) == MAX_LOG_RESULTS
    assert runs[-1].omitted == {"too many": MAX_RESULTS}


def test_a_log_that_just_fits_is_read() -> None:
    results: Log = {"runs": [{"results": [{}] * MAX_RESULTS}]}
    runs: Log = {"runs": [{}] * MAX_RUNS}

    (run,) = read_log("x", json.dumps(results).encode())
    assert run.omitted == {"without a line": MAX_RESULTS}
    assert "too many" not in run.omitted
    assert len(read_log("x", json.dumps(runs).encode())) == MAX_RUNS
    assert read_log("x", b'{"runs": []}'.ljust(MAX_BYTES)) == []


def test_of_a_long_version_only_the_start_is_told() -> None:
    with pytest.raises(InputError, match=r"is SARIF '3\.0{18}';"):
        read_log("x", json.dumps({"version": "3." + "0" * 100, "runs": []}).encode())


@pytest.mark.parametrize("line", [True, False, 0, -1, 2**31, 1.0, "3", None])
def test_what_is_no_number_of_a_line_is_no_place(log_of: MakeLog, run_of: Make, result_of: Make, line: object) -> None:
    result = result_of()
    result["locations"][0]["physicalLocation"]["region"] = {"startLine": line}

    (run,) = read_log("x", log_of(run_of(result)))

    assert (run.results, run.omitted) == ((), {"without a line": 1})
