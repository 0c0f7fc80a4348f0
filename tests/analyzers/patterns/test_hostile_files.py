"""Files that are made to hide a defect: it is reported, or the file is said not to be read, in bounded time."""

from __future__ import annotations

import pytest
from tree_sitter import QueryCursor

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.patterns.languages import syntax_of
from reviewbot.analyzers.patterns.tool import _pieces
from reviewbot.analyzers.patterns.trees import parse
from tests.analyzers.patterns.pattern_runs import UNCLOSED, added, places, run
from tests.work import count_calls

LINE = 6
"""Of the `defer` in `UNCLOSED`."""

AROUND = {
    "a mark of the byte order": ("\ufeff", 0),
    "NUL bytes in a comment": ("// \x00\x00\x00\n", 1),
    "NUL bytes between statements": ("\x00\n", 1),
    "bytes of another encoding": ("// caf\ufffd \ufffd\ufffd\n", 1),
    "half a surrogate pair": ("// \ud800\n", 1),
    "marks that turn the direction": ("// \u202e\u2066 }\n", 1),
    "lines of old Macs": ("// a\r// b\r\n", 1),
    "a line of 300,000 characters": ("// " + "x" * 300_000 + "\n", 1),
    "a name of 100,000 characters": (f"// {'é' * 100_000}\n", 1),
}


@pytest.mark.parametrize("name", sorted(AROUND))
def test_what_stands_around_a_defect_does_not_hide_it_in_silence(name: str) -> None:
    before, rows = AROUND[name]

    report = run(added("app.go", before + UNCLOSED))

    found = ("go-defer-in-loop", LINE + rows) in places(report)
    assert found or not report.run.parsed or report.gap is not None


def test_code_behind_a_control_character_is_said_not_to_be_read() -> None:
    report = run(added("App.kt", "a \x00\nfun f(names: List<String>) = g(names)\n"))

    assert not report.run.parsed


TOO_LONG = {
    "one line of 10 MB": UNCLOSED + "// " + "x" * 10_000_000 + "\n",
    "a string of 10 MB": UNCLOSED + 'var text = "' + "x" * 10_000_000 + '"\n',
    "100,000 functions": UNCLOSED + "".join(f"func f{n}() {{}}\n" for n in range(100_000)),
}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", sorted(TOO_LONG))
def test_a_file_of_many_megabytes_is_said_not_to_be_read(name: str, *, whole: bool) -> None:
    file = added("app.go", TOO_LONG[name], head=whole)
    calls = count_calls(lambda: _pieces(file))
    report = run(file)

    assert (report.candidates, report.run.parsed) == ((), False)
    assert (calls["parse"], calls["find"]) == (0, 0)


def test_a_file_with_as_many_functions_as_are_read_is_searched_or_a_gap_says_that_it_took_too_long() -> None:
    report = run(added("app.go", UNCLOSED + "".join(f"func f{n}() {{}}\n" for n in range(20_000))))

    assert ("go-defer-in-loop", LINE) in places(report) or report.gap is not None


LYING = {
    "app.rs": "<?php\nfunction f($id) {\n    trim($id);\n}\n",
    "app.go": "const a = price === NaN\n",
    "App.java": UNCLOSED,
    "app.rb": "\x7fELF\x02\x01\x01\x00\x00\x00\x00 \ufffd\ufffd\x00\x01(((\n",
    "App.cs": "%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\nstream \ufffd\x00\nendstream\n",
    "App.kt": "PK\x03\x04\x14\x00\ufffd\ufffd\ufffd\x00)))}}}\n",
    "app.ts": "#!/bin/sh\nif [ -z $1 ]; then rm -rf $2/*; fi\n",
}


@pytest.mark.parametrize("path", sorted(LYING))
def test_a_file_whose_ending_names_another_language_is_said_not_to_be_read(path: str) -> None:
    report = run(added(path, LYING[path]))

    assert not report.run.parsed


BRANCHES = {"go": "if a {", "javascript": "if (a) {", "php": "<?php if ($a) {"}


@pytest.mark.parametrize("language", sorted(BRANCHES))
def test_two_branches_of_many_statements_are_compared_once_and_not_for_each_statement(language: str) -> None:
    body = "f();\n" * 300
    code = f"{BRANCHES[language]}\n{body}}} else {{\n{body}}}\n"
    code = f"package p\nfunc g() {{\n{code}}}\n" if language == "go" else code
    syntax = syntax_of(f"patterns_{language}")
    [rule] = [each for code, each in packaged_rules(f"patterns_{language}").rules.items() if "same-branches" in code]
    tree = parse(code.encode(), syntax.grammar(language, whole=True), lambda: None)

    matches = QueryCursor(syntax.query(language, rule.query)).matches(tree.root_node, lambda *_: True)

    assert len(matches) == 1
