"""Hunks of Python made to parse on their own."""

# ruff: noqa: E501 - a hunk is easier to compare with its neighbours on one line

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.analyzers.python.hunk_repair import Fragment, repair
from reviewbot.analyzers.python.reader import parse

SHAPES = {
    "whole statements": "x = 1\nif x:\n    y = 2",
    "inside a block": "        x = 1\n        return x",
    "falls back one level": "        x = 1\n    return x",
    "falls back level by level": "            x = 1\n        y = 2\n    return y\n\ndef after():\n    pass",
    "rises after it fell": "        x = 1\n    return x\n\n    def other(self):\n        return 2",
    "a stray else": "        x = 1\n    else:\n        x = 2\n    return x",
    "begins with else": "    else:\n        x = 2",
    "begins with elif": "    elif x:\n        y = 2\n    else:\n        y = 3",
    "a stray except": "        x = 1\n    except ValueError:\n        raise\n    return x",
    "begins with except": "except ValueError:\n    raise",
    "begins with finally": "    finally:\n        close()",
    "except, else and finally": "        f()\n    except OSError:\n        g()\n    else:\n        h()\n    finally:\n        i()",
    "a stray case": "            x = 1\n        case [a, b]:\n            x = 2\n        case _:\n            x = 3",
    "a case at the edge": "        x = 1\n    case 2:\n        x = 2",
    "ends with a head": "def f(x):\n    if x:",
    "ends with a head and a comment": "def f(x):\n    # what it does",
    "ends with try": "def f():\n    try:\n        g()",
    "ends with an empty try": "def f():\n    try:",
    "nested tries": "try:\n    a()\n    try:\n        b()",
    "ends with a decorator": "x = 1\n\n@cached",
    "ends in a call": "x = f(\n    1,",
    "ends in a keyword argument": "x = f(\n    a=",
    "ends in a signature": "def f(\n    self,\n    name: str,",
    "ends in a condition": "if (\n    a\n    and",
    "ends in a dict": "x = {\n    'a': 1,\n    'b':",
    "ends in a comprehension": "x = [\n    y for y",
    "ends with a backslash": "x = 1 + \\",
    "ends in a docstring": 'def f():\n    """Begin.\n\n    More of it.',
    "begins in a call": "    a,\n    b,\n)\nx = 1",
    "begins in a signature": "    name: str,\n) -> None:\n    return None",
    "begins in a signature of a method": "        name: str,\n    ) -> None:\n        return None\n\n    def g(self): ...",
    "begins in brackets in brackets": "        1,\n    ],\n)\nx = 2",
    "begins in a condition": "    and b\n):\n    x = 1",
    "begins in an import": "    loads as read,\n)\nx = 1",
    "begins in a docstring": '    Some words of it.\n    """\n    x = 1\n    return x',
    "begins in a docstring with a quote": "    It's here.\n    \"\"\"\n    return 'x'",
    "begins in a text in single quotes": "    some words\n'''\nx = 1",
    "inside a dict": "    'a': 1,\n    'b': 2,",
    "inside a call": "    name=1,\n    other=2,",
    "inside a signature": "    name: str = 'x',\n    other: int = 2,",
    "inside a dict in a dict": "        'a': 1,\n    },\n    'b': {\n        'c': 1,",
    "await in a block": "        x = await f()\n        return x",
    "tabs": "\t\tx = 1\n\treturn x",
    "CRLF": "        x = 1\r\n    return x\r",
    "a form feed": "\x0cx = 1",
    "newer quotes at the edge": '        x = f"{y["a"]}"\n    return x',
    "a newer name for a type": "    type X = int\n    y: X = 1\nz = 2",
    "a newer template in a call": '    t"{x}",\n)\ny = 1',
    "strings with brackets and marks": '    x = \'([{#\'  # )]}\n    y = f("\\"(")\n  # odd\nz = 1',
}


def kept(fragment: Fragment) -> list[int]:
    return [origin for origin in fragment.origin if origin is not None]


@pytest.mark.parametrize("hunk", SHAPES.values(), ids=SHAPES.keys())
def test_a_hunk_is_made_to_parse_without_losing_a_line(hunk: str) -> None:
    lines = hunk.split("\n")

    fragment = repair(lines)

    assert fragment.parses
    assert parse(fragment.text)[0] is not None
    assert kept(fragment) == list(range(len(lines)))


@pytest.mark.parametrize("hunk", SHAPES.values(), ids=SHAPES.keys())
def test_every_line_of_a_fragment_is_one_of_the_hunk_or_one_of_ours(hunk: str) -> None:
    lines = hunk.split("\n")

    fragment = repair(lines)

    texts = fragment.text.split("\n")
    assert texts.pop() == ""
    assert len(texts) == len(fragment.origin)
    assert all(lines[origin] == text for text, origin in zip(texts, fragment.origin, strict=True) if origin is not None)


def test_lines_at_the_edge_are_left_out_where_nothing_else_helps() -> None:
    lines = ["and so on, it says", "x = 1", "y = 2", "while the rest is = = lost"]

    fragment = repair(lines)

    assert fragment.parses
    assert kept(fragment) == [1, 2]


def test_what_is_no_python_does_not_parse_and_keeps_all_lines() -> None:
    lines = [f"no python, number {number} of many" for number in range(20)]

    fragment = repair(lines)

    assert not fragment.parses
    assert kept(fragment) == list(range(20))


def test_newer_syntax_is_completed_for_a_parser_that_knows_it() -> None:
    lines = ["        f()", "    except ValueError, KeyError:", "        g()", "    return 1"]

    fragment = repair(lines)

    assert kept(fragment) == [0, 1, 2, 3]
    assert "    try:\n        f()\n    except ValueError, KeyError:\n" in fragment.text


def test_code_in_an_async_function_is_put_into_one() -> None:
    assert "async def _():" in repair(["    await f()", "    time.sleep(1)"]).text
    assert "async def _():" not in repair(["    f()", "async def g():", "    await h()"]).text


def test_well_known_names_are_imported_in_front_on_one_line() -> None:
    fragment = repair(["x = 1"])

    assert fragment.origin == (None, 0)
    assert fragment.text.startswith("import os, ")
    assert fragment.text.endswith("\nx = 1\n")


@pytest.mark.parametrize(
    "source",
    [
        "x = (",
        "\0",
        "(" * 400,
        "-" * 20_000 + "1",
        "a" + ".a" * 20_000,
        "x = '\\d'",
        "é\ud800",
        "if 1:\n\tx\n        y",
    ],
    ids=["open", "NUL", "deep", "signs", "dots", "escape", "surrogate", "tabs and spaces"],
)
def test_no_text_is_too_odd_to_be_parsed(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert (parse(source)[0] is not None) == (source == "x = '\\d'")


def test_a_hopeless_long_hunk_is_given_up_early() -> None:
    lines = ["x = = 1", *("y = 2" for _ in range(30_000)), "z = = 3"]

    assert not repair(lines).parses


PIECES = st.sampled_from([
    "x = 1", "    y = f(", "        )", "    return [", "]", "}", "{", "else:", "    except E:", "finally:", "try:", '"""', "'''",
    "# a", "\\", "'", "    case 1:", "match x:", "async def f(self):", "await g()", "@d", "", "\t", "\r", "\x00", "lambda: (",
])  # fmt: skip


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(PIECES | st.text(max_size=12).filter(lambda text: "\n" not in text), min_size=1, max_size=12))
def test_no_hunk_breaks_the_repair_and_no_line_is_moved(lines: list[str]) -> None:
    fragment = repair(lines)

    texts = fragment.text.split("\n")[:-1]
    indexes = kept(fragment)
    assert indexes == sorted(set(indexes))
    assert all(lines[origin] == text for text, origin in zip(texts, fragment.origin, strict=True) if origin is not None)
