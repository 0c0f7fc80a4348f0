"""The scan of Python text that may begin and end anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.python.lines import StatementStart, logical_ends, odd_coding, scan


def test_statements_are_found_with_their_indentation_and_first_word() -> None:
    found = scan(["@d", "def f(x,", "    y):", "    # why", "", "    return x + \\", "  y", "z = '''", "def", "'''"])

    assert found.statements == [
        StatementStart(0, "@"),
        StatementStart(0, "def"),
        StatementStart(4, "return"),
        StatementStart(0, "z"),
    ]


@pytest.mark.parametrize(
    ("lines", "unmatched", "left_open", "quote"),
    [
        (["f(", "[1,"], "", "([", ""),
        (["1]", ")", "x"], "])", "", ""),
        (["f(']', \"(\")  # ("], "", "", ""),
        (["x = '''a", "b"], "", "", "'''"),
        (['x = """a\\""" b'], "", "", '"""'),
        (["x = 'it\\'s ('"], "", "", ""),
        (["x = 'open (", "y"], "", "", ""),
        (["{", ")"], ")", "", ""),
    ],
)
def test_what_is_open_at_both_ends_is_known(lines: list[str], unmatched: str, left_open: str, quote: str) -> None:
    found = scan(lines)

    assert (found.unmatched, found.open, found.quote) == ([*unmatched], [*left_open], quote)


def test_a_scan_can_begin_inside_a_text() -> None:
    found = scan(["It's (", '    """', "    x = 1"], '"""')

    assert (found.quote, found.open) == ("", [])
    assert found.statements == [StatementStart(0, ""), StatementStart(4, "x")]


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("if x:", True),
        ("if x:  # why", True),
        ("x = {1:", False),
        ("def f(): pass", False),
        ("x: int", False),
        ("'a:'", False),
    ],
)
def test_the_head_of_a_block_is_known(line: str, *, header: bool) -> None:
    assert scan([line]).header is header


def test_try_blocks_without_a_handler_are_known_deepest_first() -> None:
    assert scan(["try:", "    a", "except E:", "    try:", "        b"]).open_tries == [4]
    assert scan(["try:", "    try:", "        b"]).open_tries == [4, 0]
    assert scan(["try:", "    a", "finally:", "    b"]).open_tries == []


def test_awaiting_counts_up_to_the_first_definition() -> None:
    assert scan(["x = await f()"]).awaits
    assert scan(["async with x:", "    pass"]).awaits
    assert not scan(["def f():", "    await x"]).awaits


def test_the_kind_of_indentation_is_known() -> None:
    assert (scan(["\tx"]).pad, scan(["  x"]).pad) == ("\t", " ")


def test_the_last_statement_tells_what_must_follow_it() -> None:
    assert scan(["@d"]).decorated
    assert scan(["if (a"]).compound
    assert not scan([]).compound
    assert not scan([]).decorated


def test_a_logical_line_ends_where_its_brackets_and_texts_do() -> None:
    lines = ["x = f(", "  1,", ")", "y = '''", "'''", "z = \\", "  1", "w = (", "v"]

    assert logical_ends(lines) == [2, 2, 2, 4, 4, 6, 6, 8, 8]


@given(st.lists(st.text(alphabet="ab \t\r\\\"'#()[]{}:@", max_size=20), max_size=8))
def test_no_text_breaks_the_scan(lines: list[str]) -> None:
    for quote in ("", '"""', "'''"):
        scan(lines, quote)
    ends = logical_ends(lines)

    assert len(ends) == len(lines)
    assert ends == sorted(ends)
    assert all(end >= index for index, end in enumerate(ends))


@pytest.mark.parametrize(
    ("top", "odd"),
    [
        (["# -*- coding: utf-7 -*-", ""], "utf-7"),
        (["#!/usr/bin/python", "# vim: set fileencoding=shift_jis :"], "shift_jis"),
        (["# coding=rot13"], "rot13"),
        (["# -*- coding: UTF-8 -*-"], None),
        (["\ufeff# coding: latin-1"], None),
        (["# coding: cp1252"], None),
        (["x = 'coding: utf-7'"], None),
        ([], None),
    ],
)
def test_an_encoding_that_may_give_ascii_another_meaning_is_named(top: list[str], odd: str | None) -> None:
    assert odd_coding(top) == odd
