"""The pattern tools on files and hunks: what they report, what they leave out, and what they could not read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tree_sitter import Parser

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.patterns.languages import syntax_of
from reviewbot.analyzers.patterns.matching import _MATCH_LIMIT, Text, find
from reviewbot.analyzers.patterns.tool import PATTERN_TOOLS, _pieces
from reviewbot.analyzers.patterns.trees import MAX_CHARS, MAX_DEPTH, new_tree, old_tree, parse
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile
from reviewbot.review.calibration import Calibration
from tests.analyzers.patterns.pattern_runs import UNCLOSED, added, places, run
from tests.make import one_fast
from tests.work import count_calls


def changed(path: str, base: str, head: str, body: str) -> ChangedFile:
    """A file with one hunk that starts at its first line."""
    rows = body.split("\n")
    counts = sum(row[0] != "+" for row in rows), sum(row[0] != "-" for row in rows)
    hunk = Hunk(old_start=1, old_count=counts[0], new_start=1, new_count=counts[1], body=body)
    return ChangedFile(path, path, language_of(path), (hunk,), head=head, base=base)


def test_a_pattern_is_reported_on_its_line_with_what_to_do() -> None:
    report = run(added("app.go", UNCLOSED))

    (found,) = report.candidates
    assert (found.rule, found.line, found.category) == ("go-defer-in-loop", 6, "resource-leak")
    assert (found.quote, found.source) == ("defer f.Close()", "patterns-logic")
    assert found.suggestion.startswith("Put the body of the loop")
    assert (report.gap, report.run.parsed) == (None, True)


@pytest.mark.parametrize("name", PATTERN_TOOLS)
def test_each_tool_reports_the_rules_of_its_worker_alone(name: str) -> None:
    text = (
        'app.get("/", async (req, res) => {\n'
        "  for (const id of ids) {\n"
        "    rows.push(await User.findOne({ id }))\n"
        "  }\n"
        "  if (price === NaN) return\n"
        "  db.query(`SELECT * FROM a WHERE b = '${req.query.b}'`)\n"
        "})\n"
    )

    report = run(added("app.ts", text), name)

    assert (
        places(report)
        == {
            "patterns-security": [("js-sql-request", 6)],
            "patterns-performance": [("js-query-in-loop", 3)],
            "patterns-logic": [("js-nan-compared", 5)],
        }[name]
    )


def test_lines_that_the_change_leaves_alone_draw_nothing() -> None:
    head = UNCLOSED + "\nfunc more() {\n}\n"
    body = "\n".join(f" {line}" for line in UNCLOSED.split("\n")[:8]) + "\n+\n+func more() {\n+}"

    assert places(run(changed("app.go", UNCLOSED, head, body))) == []


def test_what_the_old_side_has_as_well_is_left_out_and_counted() -> None:
    rows = UNCLOSED.removesuffix("\n").split("\n")
    body = "\n".join([*(f"-{row}" for row in rows), *(f"+{row}" for row in ["// all", *rows])])
    report = run(changed("app.go", UNCLOSED, "// all\n" + UNCLOSED, body))

    assert (places(report), report.run.preexisting) == ([], 1)


def test_a_hunk_on_its_own_is_searched_as_a_fragment() -> None:
    fragment = "\tfor i := 0; i <= len(list); i++ {\n\t\tprint(list[i])\n\t}\n"

    report = run(added("app.go", fragment, head=False, first=40))

    assert places(report) == [("go-index-past-end", 40)]


def test_a_rule_that_needs_the_whole_function_is_silent_on_a_hunk() -> None:
    fragment = "s.mu.Lock()\nreturn s.items\n"

    assert places(run(added("app.go", fragment, head=False))) == []
    assert places(run(added("app.go", f"package a\n\nfunc f() int {{\n{fragment}}}\n"))) == [("go-lock-kept", 4)]


@pytest.mark.parametrize("path", ["src/app_test.go", "tests/app.go"])
def test_rules_for_the_product_are_silent_in_tests(path: str) -> None:
    assert places(run(added(path, UNCLOSED))) == []


TESTED = """fn open() -> Client {
    Client::builder().danger_accept_invalid_certs(true).build()
}

#[cfg(test)]
// against a server of its own
#[allow(unused)]
mod tests {
    fn open() -> Client {
        Client::builder().danger_accept_invalid_certs(true).build()
    }
}

#[tokio::test]
async fn answers() {
    Client::builder().danger_accept_invalid_certs(true).build();
    for i in 0..=names.len() {
        show(names[i]);
    }
}
"""


def test_tests_inside_of_a_file_of_the_product_are_tests() -> None:
    assert places(run(added("src/app.rs", TESTED), "patterns-security")) == [("rs-tls-not-verified", 2)]
    assert places(run(added("src/app.rs", TESTED))) == [("rs-index-past-end", 17)]


def test_a_keyword_that_stands_farther_away_than_is_read_is_not_taken_to_hold() -> None:
    private = "class Store\n  private\n\n  def name = 'store'\n\n"
    known = "  def self.known\n    NAMES\n  end\nend\n"
    others = "".join(f"  def field_{number} = @field_{number}\n" for number in range(1_000))
    assert places(run(added("app/store.rb", private + known))) == [("rb-private-without-effect", 6)]
    assert places(run(added("app/store.rb", f"{private}  public\n\n{others}{known}"))) == []


def test_a_language_without_a_table_draws_nothing() -> None:
    report = run(added("app.py", "x = 1\n"))

    assert (report.candidates, report.gap) == ((), None)


def test_a_file_that_does_not_parse_is_no_reading_and_what_parses_is_reported() -> None:
    report = run(added("app.ts", "const a = price === NaN\n}}} )) class {{{ ???\n"))

    assert places(report) == [("js-nan-compared", 1)]
    assert not report.run.parsed
    assert report.gap is None


def test_an_error_on_a_line_that_the_change_leaves_alone_does_not_count() -> None:
    base = "const a = 1\n\n\n}}} )) ???\n"
    report = run(changed("app.ts", base, "const b = 1\n\n\n}}} )) ???\n", "-const a = 1\n+const b = 1\n \n "))

    assert report.run.parsed


def test_a_file_that_is_too_long_is_searched_by_its_hunks() -> None:
    long = "export const isMissing = (price) => price === NaN\n" + "// filler\n" * (MAX_CHARS // 10)
    file = ChangedFile(
        "app.ts",
        "app.ts",
        "typescript",
        (Hunk(old_start=1, old_count=0, new_start=1, new_count=1, body="+" + long.split("\n", 1)[0]),),
        head=long,
    )

    assert places(run(file)) == [("js-nan-compared", 1)]


def test_a_hunk_that_is_too_long_is_no_reading() -> None:
    report = run(added("app.ts", "f()\n" * (MAX_CHARS // 4 + 1), head=False))

    assert (report.candidates, report.run.parsed) == ((), False)


def test_a_head_of_another_commit_is_not_used() -> None:
    file = added("app.ts", "const a = price === NaN\n")
    other = ChangedFile(file.path, file.before, file.language, file.hunks, head="// moved\nconst a = 1\n")

    assert places(run(other)) == [("js-nan-compared", 1)]


OPENING = {"app.php": "<?php "}
"""What a file begins with, so that the rest is read as code."""

HOSTILE = {
    "brackets": "x = " + "(" * 100_000,
    "closed": "x = " + "[" * 50_000 + "]" * 50_000,
    "calls": "a(" * 50_000,
    "nested queries": "db.query(`select x from a where ${" * 5_000,
    "operators": "x = " + "1 + " * 60_000 + "1",
    "negations": "x = " + "!" * 100_000 + "1",
    "ternaries": "x = " + "a ? b : " * 30_000 + "c",
    "functions": "(() => {" * 20_000,
    "templates": "`${" * 50_000,
    "one long name": "a" * 300_000,
    "many loops": "for (const a of b) { if (x.indexOf(a)) { await c.findOne(a) } }\n" * 5_000,
    "members": "a" + ".a" * 100_000,
    "generics": "f<" * 50_000,
    "odd characters": "\x00\ufeff\u202e\ud7ff\U0010ffff" * 20_000,
}


@pytest.mark.slow  # each may take the five seconds of its bound
@pytest.mark.parametrize("name", sorted(HOSTILE))
@pytest.mark.parametrize("path", ["app.ts", "app.go", "app.rb", "App.java", "App.cs", "app.php", "App.kt", "app.rs"])
def test_hostile_text_is_searched_or_is_a_gap(name: str, path: str) -> None:
    report = run(added(path, OPENING.get(path, "") + HOSTILE[name]))

    assert report.gap is None or report.gap.reason == "timeout"
    assert report.gap is None or not report.run.parsed


@pytest.mark.parametrize("names", range(MAX_DEPTH - 4, MAX_DEPTH + 2))
def test_a_tree_is_read_to_the_very_depth_that_is_allowed(names: int) -> None:
    grammar = syntax_of("patterns_javascript").grammar("typescript")
    calls = b"f()\n" * 3_000
    source = calls + b"a" + b".a" * names + b"\n" + calls
    cursor = Parser(grammar).parse(source).walk()
    deepest = 0
    for at in range(cursor.node.descendant_count if cursor.node else 0):
        cursor.goto_descendant(at)
        deepest = max(deepest, cursor.depth)
    if deepest <= MAX_DEPTH:
        assert parse(source, grammar, lambda: None).root_node.end_byte == len(source)
    else:
        with pytest.raises(OutOfSteps):
            parse(source, grammar, lambda: None)


def test_each_side_of_a_file_is_parsed_once_for_all_tools_that_ask() -> None:
    file = replace(added("app.ts", "f()\n"), base="g()\n")
    tree, before = new_tree(file), old_tree(file)

    assert tree is not None
    assert before is not None
    assert new_tree(file) is tree
    assert old_tree(file) is before
    assert before.root_node.text == b"g()\n"


def test_code_that_is_nested_too_deeply_is_a_gap() -> None:
    report = run(added("app.ts", "a" + ".a" * (2 * MAX_DEPTH)))

    assert report.gap is not None
    assert report.gap.reason == "timeout"


@pytest.mark.parametrize(
    "path", one_fast(["app.ts", "app.go", "app.rb", "App.java", "App.cs", "app.php", "App.kt", "app.rs"])
)
def test_an_error_with_very_many_parts_is_a_gap_and_no_query_goes_over_it(path: str) -> None:
    file = added(path, OPENING.get(path, "") + "{" * (MAX_CHARS - 10))
    calls = count_calls(lambda: _pieces(file))
    report = run(file)

    assert report.gap is not None
    assert report.gap.reason == "timeout"
    assert (calls["parse"], calls["_Search.nodes"]) == (1, 0)


def test_code_that_takes_too_long_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.analyzers.patterns.matching.MAX_SECONDS", 0.0)

    report = run(added("app.go", UNCLOSED))

    assert report.gap is not None
    assert (report.gap.reason, report.gap.message) == (
        "timeout",
        "patterns gave up on code that takes too long to follow",
    )


@pytest.mark.parametrize(("names", "cut"), [(_MATCH_LIMIT // 2, False), (2 * _MATCH_LIMIT, True)])
def test_a_query_that_holds_too_many_matches_open_is_a_gap(names: int, *, cut: bool) -> None:
    code = f"package app\nfunc f() {{ g({', '.join('a' for _ in range(names))}) }}\n"
    rule = replace(
        packaged_rules("patterns_go", Calibration()).rules["go-defer-in-loop"],
        query="((argument_list (identifier) @hit (interpreted_string_literal)))",
        needs=(),
    )

    found = find(Text(code, [2], whole=True), "go", syntax_of("patterns_go"), [rule])

    assert (found.stopped, found.parsed) == (cut, not cut)


CALLBACK = """app.get("/", (req, res) => {
  const next = req.query.next
  login(user).then(() => {
    res.redirect(next)
  })
})
"""


def test_a_closure_sees_the_names_of_the_function_that_is_given_the_request() -> None:
    assert places(run(added("app.js", CALLBACK), "patterns-security")) == [("js-redirect-request", 4)]


def test_a_closure_does_not_see_the_names_of_another_request() -> None:
    other = 'app.get("/b", (req, res) => {\n  res.redirect(next)\n})\n'

    assert places(run(added("app.js", CALLBACK.replace("res.redirect", "log") + other), "patterns-security")) == []
