"""Newer syntax said in that of Python 3.11: it parses there, on the same rows, and says the same."""

from __future__ import annotations

import ast
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.analyzers.python.newer_syntax import older

SAID = {
    'x = f"{y["a"]}"': "x = f\"{y['a']}\"",
    "x = f'{y['a']}'": "x = f'{y[\"a\"]}'",
    'x = f"{y["a"]} {z["b"]!r:>{w["c"]}}"': "x = f\"{y['a']} {z['b']!r:>{w['c']}}\"",
    'x = f"{f"{y}"}"': "x = f\"{f'{y}'}\"",
    'x = F"{(lambda z: z["a"])(y)}"': "x = F\"{(lambda z: z['a'])(y)}\"",
    'x = f"{{it\'s {y["}"]}}}"': "x = f\"{{it's {y['}']}}}\"",
    'x = f"{{1}}" f"{y["b"]}"': "x = f\"{{1}}\" f\"{y['b']}\"",
    'x = f"""{y["a"]} {"""b"""}"""': 'x = f"""{y["a"]} {\'\'\'b\'\'\'}"""',
    "x = f\"{'\\n'.join(y)}\"": "x = f\"{'_n'.join(y)}\"",
    'x = f"{ {"a": {"b"}}["a"] }"': "x = f\"{ {'a': {'b'}}['a'] }\"",
    'x = t"{y}"': 'x = "{y}"',
    'x = rt"{y["a"]}"': "x = r\"{y['a']}\"",
    "type X = int": "X = int",
    "    type X[T] = list[T]": "    X = list[T]",
    "def f[T](x: T) -> T: ...": "def f(x: T) -> T: ...",
    "async def f[T: list[int], *U](x): ...": "async def f(x): ...",
    "class A[T](B): ...": "class A(B): ...",
    "class A[T]: ...": "class A: ...",
    "try: f()\nexcept A, b.C: ...": "try: f()\nexcept (A, b.C): ...",
    "# it's\nx = f\"{y[\"a\"]}\"": "# it's\nx = f\"{y['a']}\"",
    "x = \"# '\"\ny = f\"{z[\"a\"]}\"": "x = \"# '\"\ny = f\"{z['a']}\"",
    "it's prose\nx = f\"{y[\"a\"]}\"": "it's prose\nx = f\"{y['a']}\"",
    "x = 'a\\\\'\ny = f\"{z[\"a\"]}\"": "x = 'a\\\\'\ny = f\"{z['a']}\"",
}  # fmt: skip
SAME = [
    "x = f\"{y['a']}\"",
    'x = \'f"{y["a"]}"\'',
    "type(x)",
    "type = 3",
    "type == x",
    "x[T](y)",
    "def f(x: list[int]): ...",
    "except (A, B): ...",
    "x = f'{y:\n'",
    "x = f'{y",
    "x = '",
    "# only a comment, isn't it",
    'x = buf"{y["a"]}"',
    'x = b"{y["a"]}"',
    "x = f'}'",
    "",
]
UNSAID = {
    "quotes of both kinds": 'x = f"{y["it\'s"]}"',
    "three of the same": 'x = f"{f"{f"{y}"}"}"',
    "a field of several rows": 'x = f"{\ny\n}"',
    "an escaped quote": "x = f\"{y['\\'']}\"",
    "a bracket in the parameters": "def f[T: (int, str)](x): ...",
}


@pytest.mark.parametrize(("newer", "said"), SAID.items(), ids=SAID)
def test_newer_syntax_is_said_in_older(newer: str, said: str) -> None:
    assert older(newer) == said
    assert older(said) == said


@pytest.mark.parametrize("text", SAME)
def test_what_is_old_or_no_python_stays_as_it_is(text: str) -> None:
    assert older(text) == text


@pytest.mark.parametrize("text", UNSAID.values(), ids=UNSAID)
def test_what_cannot_be_said_does_not_parse_where_it_did_not(text: str) -> None:
    if sys.version_info < (3, 12):
        with pytest.raises(SyntaxError):
            ast.parse(older(text))


@pytest.mark.parametrize("text", [text for text in SAID if "prose" not in text])
def test_what_is_said_parses_here(text: str) -> None:
    ast.parse(older(text.strip()))


def test_the_names_and_calls_of_a_text_are_still_there() -> None:
    tree = ast.parse(older('run(f"select {ask("q")["a"]} {b:>{c}}")'))

    assert {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == {"run", "ask", "b", "c"}


def test_a_template_is_no_text_that_its_values_have_gone_into() -> None:
    tree = ast.parse(older('run(t"select {name}")'))

    assert {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} == {"run"}


MARKS = ("'", '"', "'''", '"""', "f'", 'f"', "t'", 'rf"', "{", "}", "{{", "[", "]", ":", "!r", "\\", "\n", "#", "=")
PIECES = st.sampled_from([*MARKS, "x", "type ", "def f["])


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300)
def test_any_text_keeps_its_rows(text: str) -> None:
    assert older(text).count("\n") == text.count("\n")


@given(st.lists(PIECES, max_size=30).map("".join))
@settings(max_examples=300)
def test_what_parses_here_still_does(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return
        ast.parse(older(text))


@pytest.mark.parametrize(
    "text", ["f'{" * 30_000, "'" * 90_000, "{" * 90_000, "f'{x:" * 20_000, "type " * 20_000, "def f[" * 20_000]
)
def test_no_text_takes_long(text: str) -> None:
    assert older(text).count("\n") == 0
