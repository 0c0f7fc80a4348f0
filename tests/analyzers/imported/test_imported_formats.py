"""Results in other formats than SARIF, read by their content."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.imported.matchers import MAX_BREAKS
from reviewbot.analyzers.imported.reading import read_results
from reviewbot.analyzers.imported.results import MAX_RESULTS, MAX_RUNS, ProgramRun, Result
from reviewbot.domain.errors import InputError
from tests.analyzers.imported.logs import read_log

ESLINT = {
    "owner": "eslint-stylish",
    "pattern": [
        {"regexp": r"^([^\s].*)$", "file": 1},
        {
            "regexp": r"^\s+(\d+):(\d+)\s+(error|warning|info)\s+(.*)\s\s+(.*)$",
            "line": 1,
            "column": 2,
            "severity": 3,
            "message": 4,
            "code": 5,
            "loop": True,
        },
    ],
}
GCC = {
    "owner": "gcc",
    "severity": "warning",
    "pattern": [
        {
            "regexp": r"^(.*):(\d+):\d+:\s+(?:fatal\s+)?(warning|error):\s+(.*)$",
            "file": 1,
            "line": 2,
            "severity": 3,
            "message": 4,
        }
    ],
}
STYLISH = """
src/a.js
  1:10  error    'x' is defined but never used  no-unused-vars
  4:2   warning  Unexpected alert               no-alert

src/b.js
  7:1   error    Missing semicolon              semi
done
"""
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)

Found = tuple[str, str, int, str, str]


def rows(runs: list[ProgramRun]) -> list[Found]:
    return [(run.tool, each.uri, each.line, each.rule, each.level) for run in runs for each in run.results]


def diagnostic(**fields: Any) -> dict[str, Any]:
    place = {"path": "src/a.go", "range": {"start": {"line": 3, "column": 5}, "end": {"line": 4}}}
    return {"message": "It is wrong.", "location": place, "code": {"value": "SA1000"}} | fields


def with_matchers(log: str, *matchers: Any) -> list[ProgramRun]:
    given = [("matchers.json", json.dumps({"problemMatcher": list(matchers)}).encode()), ("lint.log", log.encode())]
    return [run for _, run in read_results(given)]


def checkstyle(*errors: str, name: str = "src/a.kt", before: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>{before}<checkstyle><file name="{name}">{"".join(errors)}</file></checkstyle>'.encode()
    )


def test_rdjson_with_everything_is_read() -> None:
    log = {"source": {"name": "staticcheck"}, "severity": "ERROR", "diagnostics": [diagnostic()]}

    (run,) = read_log("x.json", json.dumps(log).encode())

    assert run.tool == "staticcheck"
    assert run.results == (Result("SA1000", "error", "It is wrong.", "src/a.go", 3, 4),)


def test_rdjsonl_is_read_line_by_line_and_by_source() -> None:
    first = diagnostic(source={"name": "two"}, severity="INFO")
    lines = "\n".join(map(json.dumps, (first, diagnostic(source={"name": "one"}), first)))

    runs = read_log("x.jsonl", lines.encode())

    assert rows(runs) == [
        ("one", "src/a.go", 3, "SA1000", "warning"),
        ("two", "src/a.go", 3, "SA1000", "note"),
        ("two", "src/a.go", 3, "SA1000", "note"),
    ]
    assert rows(read_log("x.jsonl", json.dumps(first).encode())) == [("two", "src/a.go", 3, "SA1000", "note")]


def test_rdjson_without_diagnostics_is_a_run_that_found_nothing() -> None:
    (run,) = read_log("x.json", b'{"source": {"name": "vet"}, "diagnostics": []}')

    assert (run.tool, run.results, run.failed) == ("vet", (), False)


@given(value=anything, key=st.sampled_from(["location", "code", "severity", "source", "message"]))
def test_a_diagnostic_of_any_shape_is_read_or_counted(value: object, key: str) -> None:
    (run,) = read_log("x", json.dumps({"diagnostics": [diagnostic(**{key: value})]}).encode())

    assert len(run.results) + sum(run.omitted.values()) == 1


def test_checkstyle_is_read_by_program() -> None:
    data = checkstyle(
        '<error line="3" column="1" severity="error" message="Quote &lt;this&gt;" source="ShellCheck.SC2086"/>',
        '<error line="5" message="Too long" source="com.puppycrawl.tools.checkstyle.checks.LineLengthCheck"/>',
        '<error line="6" severity="info" message="m" source="errcheck"/>',
        '<error severity="error" message="no line" source="errcheck"/>',
    )

    runs = read_log("x.xml", data)

    assert rows(runs) == [
        ("ShellCheck", "src/a.kt", 3, "SC2086", "error"),
        ("checkstyle", "src/a.kt", 5, "LineLengthCheck", "warning"),
        ("checkstyle", "src/a.kt", 6, "errcheck", "note"),
    ]
    assert runs[0].results[0].message == "Quote <this>"
    assert runs[1].omitted == {"without a line": 1}


@pytest.mark.parametrize("line", ["-1", "0", "\u0661", "9" * 5_000, "1e3", ""])
def test_a_line_of_checkstyle_that_is_no_number_is_counted(line: str) -> None:
    (run,) = read_log("x.xml", checkstyle(f'<error line="{line}" message="m" source="s"/>'))

    assert (run.results, run.omitted) == ((), {"without a line": 1})


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE c SYSTEM "http://127.0.0.1:1/c.dtd">',
    ],
)
def test_xml_with_a_document_type_is_refused(before: str) -> None:
    with pytest.raises(InputError, match=r"'x\.xml' has a document type declaration"):
        read_log("x.xml", checkstyle(before=before))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<html></html>", "is XML of another format"),
        (b"<checkstyle>", "is no XML that can be read"),
        (b"<" * 100_000, "is no XML that can be read"),
        (b"<a>" * 100_000, "is no XML that can be read"),
        (b'[{"a": 1}]', "is JSON of another format"),
        (b"{\n}\n{\n}", "is no JSON"),
    ],
)
def test_what_has_no_known_format_is_refused_by_name(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=f"'x' {words}"):
        read_log("x", data)


def test_checkstyle_keeps_no_more_results_than_are_read_and_counts_the_rest() -> None:
    many = '<error line="1" message="m" source="s"/>' * (MAX_RESULTS + 2)

    (run,) = read_log("x.xml", checkstyle(many))

    assert (len(run.results), run.omitted) == (MAX_RESULTS, {"too many": 2})


@pytest.mark.parametrize("number", [MAX_RUNS, MAX_RUNS + 1])
def test_results_of_very_many_programs_are_refused(number: int) -> None:
    programs = [f"program{at}" for at in range(number)]
    lines = "\n".join(json.dumps(diagnostic(source={"name": name})) for name in programs)
    errors = (f'<error line="1" message="m" source="{name}.x"/>' for name in programs)

    for data in (lines.encode(), checkstyle(*errors)):
        if number <= MAX_RUNS:
            assert len(read_log("x", data)) == number
        else:
            with pytest.raises(InputError, match="'x' has more than 100 runs"):
                read_log("x", data)


@pytest.mark.parametrize("line_break", ["\n", "\x1e", "\u2028"])
def test_a_log_of_very_many_lines_is_refused(line_break: str) -> None:
    log = "::error file=a.js,line=3::x\n" + line_break * MAX_BREAKS

    with pytest.raises(InputError, match=r"'ci\.log' has more than 2,000,000 lines"):
        read_log("ci.log", log.encode())


def test_a_problem_matcher_of_several_lines_reads_its_log() -> None:
    assert rows(with_matchers(STYLISH, ESLINT)) == [
        ("eslint-stylish", "src/a.js", 1, "no-unused-vars", "error"),
        ("eslint-stylish", "src/a.js", 4, "no-alert", "warning"),
        ("eslint-stylish", "src/b.js", 7, "semi", "error"),
    ]


def test_a_log_with_colours_and_times_is_read_as_the_runner_reads_it() -> None:
    log = "2026-01-02T03:04:05.1234567Z \x1b[31mlib/a.c:7:3: error: no such thing\x1b[0m\nlib/a.c:9:3: warning: hm\n"

    runs = with_matchers(log, GCC)

    assert rows(runs) == [("gcc", "lib/a.c", 7, "", "error"), ("gcc", "lib/a.c", 9, "", "warning")]
    assert runs[0].results[0].message == "no such thing"


def test_workflow_commands_of_a_log_are_read_without_a_matcher() -> None:
    log = "noise\n::error file=a%2Cb.js,line=3,title=no-undef::x is not%0Adefined\n##[warning]no place\n::group::x\n"

    (run,) = read_log("ci.log", log.encode())

    assert run.results == (Result("no-undef", "error", "x is not\ndefined", "a,b.js", 3, 3),)


def test_a_log_in_which_a_matcher_finds_nothing_is_a_clean_one() -> None:
    assert with_matchers("all good\n", GCC) == []


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        ({"owner": "x", "pattern": []}, "'x' has no pattern"),
        ({"owner": "x", "pattern": [{"regexp": "(?=a)b"}]}, "is wrong, or looks ahead or back"),
        ({"owner": "x", "pattern": [{"regexp": "("}]}, "is wrong, or looks ahead or back"),
        ({"owner": "x", "pattern": [{"regexp": "(a)", "file": 2}]}, "names a group that its regexp does not have"),
    ],
)
def test_a_matcher_that_cannot_be_carried_out_is_refused_by_name(matcher: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        with_matchers("x", matcher)


def test_an_expression_that_backtracks_for_ever_elsewhere_takes_no_time_here() -> None:
    slow = {"owner": "x", "pattern": [{"regexp": r"^(a+)+$", "file": 1}]}

    # With an expression that backtracks this would not end within the life of the machine.
    assert with_matchers(("a" * 3_000 + "!\n") * 200, slow) == []


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    message = ""
    try:
        read_log("x", data)
    except InputError as error:
        message = str(error)

    assert "\n" not in message
