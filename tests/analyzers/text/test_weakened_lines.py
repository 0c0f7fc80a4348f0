"""Lines that lost what protected them, and what shows that they did not."""

from __future__ import annotations

import asyncio
import difflib
import re

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.text.call_texts import find_calls
from reviewbot.analyzers.text.replaced_lines import MAX_LINE
from reviewbot.analyzers.text.weakened_lines import MAX_BLOCK, WeakenedLines
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import Candidate, Hunk
from reviewbot.domain.ports import ChangedFile
from tests.snapshots import InMemorySnapshot
from tests.work import count_calls

TOOL = WeakenedLines(packaged_rules("weakened_lines").rules)


def said(base: str, head: str, path: str = "src/page.js") -> tuple[Candidate, ...]:
    """What is said of a file that had one text and has another one."""
    body = [line for line in difflib.ndiff(base.splitlines(), head.splitlines()) if line[0] != "?"]
    hunk = Hunk(old_start=1, old_count=0, new_start=1, new_count=0, body="\n".join(f"{x[0]}{x[2:]}" for x in body))
    file = ChangedFile(path, path, language_of(path), (hunk,), head=head, base=base)
    report = asyncio.run(TOOL.run(file, InMemorySnapshot({path: head}, {path: base})))
    assert report.gap is None
    return report.candidates


PAGE = 'html = "<p>" + escapeHtml(user.name) + "</p>";'
BARE = 'html = "<p>" + user.name + "</p>";'


def test_an_escape_that_is_gone_is_told_at_the_line_that_holds_its_value() -> None:
    (found,) = said(f"a();\n{PAGE}\n", f"a();\n{BARE}\n")

    assert (found.rule, found.line) == ("escape-dropped", 2)
    assert "user.name" in found.message


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(f"user.name = escapeHtml(user.name);\n{BARE}\n", id="moved to another line"),
        pytest.param('html = "<p>" + encode(user.name) + "</p>";\n', id="replaced by another call"),
        pytest.param('html = "<p>" + "Ann" + "</p>";\n', id="the value went as well"),
    ],
)
def test_an_escape_that_moved_or_was_replaced_is_not_told(head: str) -> None:
    assert said(f"{PAGE}\n", head) == ()


def test_an_escape_that_the_new_sink_makes_needless_is_not_told() -> None:
    base = f"{PAGE}\nnode.innerHTML = html;\n"

    assert said(base, f"{BARE}\nnode.textContent = html;\n") == ()


def test_templates_escape_by_themselves() -> None:
    assert said("<p><%= h user.name %></p>\n", "<p><%= user.name %></p>\n", "app/views/show.html.erb") == ()


def test_many_escapes_of_one_file_went_somewhere_else() -> None:
    base = "\n".join(PAGE.replace("user", f"user{n}") for n in range(4))
    found = said(base, base.replace("escapeHtml", "").replace("(user", "user").replace("name)", "name"))

    assert {(each.rule, each.confidence < 80) for each in found} == {("escape-dropped-by-name", True)}


def test_nothing_is_said_of_tests() -> None:
    assert said(f"{PAGE}\n", f"{BARE}\n", "tests/page.test.js") == ()


def test_a_block_that_is_too_long_to_compare_is_left_alone() -> None:
    more = "\n".join(f"b{n}();" for n in range(MAX_BLOCK))

    assert said(f"{PAGE}\nx();", f"{BARE}\n{more}") == ()


def test_a_statement_that_still_has_its_placeholder_is_not_told() -> None:
    base, head = 'where("name = ?", name)', 'where("#{table}.name = ?", name)'

    assert said(base, head, "app/models/user.rb") == ()


def test_a_route_that_only_reads_may_become_get() -> None:
    assert said('post "search" => "items#search"', 'get "search" => "items#search"', "config/routes.rb") == ()


def test_calls_are_found_with_nested_brackets_and_quotes() -> None:
    (found,) = find_calls("x = a.escape(f(1, ')'), b[0]) + 1", re.compile("escape"))

    assert (found.dotted, found.arguments) == ("a.escape", ("f(1, ')')", "b[0]"))


@pytest.mark.parametrize("line", ["a." * 290, "escapeHtml(" * 50, "x" * 590, "escapeHtml(a" + "(" * 500])
def test_hostile_lines_are_compared_in_bounded_work(line: str) -> None:
    rows = [f"-{line}1"] * MAX_BLOCK + [f"+{line}2"] * MAX_BLOCK
    hunk = Hunk(old_start=1, old_count=0, new_start=1, new_count=0, body="\n".join(rows))
    file = ChangedFile("a.js", "a.js", "javascript", (hunk,))

    # The most is read where each of some fifty nested calls is read to the end of its line.
    assert count_calls(lambda: list(TOOL.find_candidates(file))).total() < 50 * 2 * MAX_BLOCK * MAX_LINE
