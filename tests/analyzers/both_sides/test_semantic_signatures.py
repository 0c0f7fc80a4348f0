from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.both_sides.sides import Unit, units
from reviewbot.analyzers.both_sides.stale_callers import count_returned, find_swapped, misfit, parameters
from reviewbot.context.python_text import Function


def a_unit(text: str, name: str = "f") -> Unit:
    return units(ast.parse(text))[name]


def a_call(text: str) -> ast.Call:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return call


def why(signature: str, call: str) -> str | None:
    wanted = parameters(a_unit(f"def f({signature}): ..."))
    assert wanted is not None
    return misfit(a_call(call), wanted)


@pytest.mark.parametrize(
    ("signature", "call", "reason"),
    [
        ("a", "f()", "`a` is missing"),
        ("a, b=1", "f(1, 2, 3)", "it takes 2 arguments by position and gets 3"),
        ("a", "f(1, 2)", "it takes 1 argument by position and gets 2"),
        ("a", "f(1, b=2)", "it has no parameter `b` to be given by name"),
        ("a", "f(1, a=2)", "`a` is given twice"),
        ("a, /", "f(a=1)", "it has no parameter `a` to be given by name"),
        ("*, key", "f()", "`key` is missing"),
        ("a, *rest, key=1, **more", "f(1, 2, 3, key=4, other=5)", ""),
        ("a", "f(*x)", None),
        ("a", "f(**x)", None),
    ],
)
def test_why_a_call_cannot_work(signature: str, call: str, reason: str | None) -> None:
    assert why(signature, call) == reason


_NAMES = st.sampled_from("abcde")


@st.composite
def signatures(draw: st.DrawFn) -> str:
    names = draw(st.lists(_NAMES, unique=True, max_size=5))
    marks = sorted(draw(st.lists(st.integers(0, len(names)), min_size=2, max_size=2)))
    first_default = draw(st.integers(0, len(names)))
    parts = []
    for at, name in enumerate(names):
        by_name = at >= marks[1]
        has_default = draw(st.booleans()) if by_name else at >= first_default
        parts.append(f"{name}=0" if has_default else name)
    alone, rest = parts[: marks[1]], parts[marks[1] :]
    if marks[0]:
        alone.insert(marks[0], "/")
    star = draw(st.sampled_from(["*args", "*"])) if rest else draw(st.sampled_from(["*args", ""]))
    more = draw(st.sampled_from(["**kwargs", ""]))
    return ", ".join(part for part in (*alone, star, *rest, more) if part)


@given(signatures(), st.integers(0, 6), st.lists(_NAMES, unique=True, max_size=4))
def test_a_call_fits_exactly_where_python_takes_it(signature: str, positions: int, names: list[str]) -> None:
    arguments = [*("0" for _ in range(positions)), *(f"{name}=0" for name in names)]
    space: dict[str, Any] = {}
    exec(compile(f"def f({signature}): ...", "f", "exec"), space)
    try:
        space["f"](*range(positions), **dict.fromkeys(names))
        fits = True
    except TypeError:
        fits = False

    assert (why(signature, f"f({', '.join(arguments)})") == "") is fits


@pytest.mark.parametrize(
    ("text", "name", "positional"),
    [
        ("class A:\n    def f(self, a): ...", "A.f", ("a",)),
        ("class A:\n    @staticmethod\n    def f(a): ...", "A.f", ("a",)),
        ("class A:\n    @classmethod\n    def f(cls, a): ...", "A.f", ("a",)),
        ("class A:\n    @functools.lru_cache(1)\n    def f(self, /, a): ...", "A.f", ("a",)),
        ("def g():\n    def f(a): ...", "g.f", ("a",)),
    ],
)
def test_the_object_of_a_method_is_no_argument(text: str, name: str, positional: tuple[str, ...]) -> None:
    found = parameters(a_unit(text, name))

    assert found is not None
    assert found.positional == positional


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@app.command()\ndef f(a): ...", "f"),
        ("class A:\n    @property\n    def f(self): ...", "A.f"),
        ("class A:\n    def f(): ...", "A.f"),
        ("@x[0]\ndef f(a): ...", "f"),
    ],
)
def test_what_a_decorator_may_have_changed_is_not_known(text: str, name: str) -> None:
    assert parameters(a_unit(text, name)) is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("f(x, y)", "`x` was `a` and is now taken as `b`"),
        ("f(b, a)", None),
        ("f(self.b, y)", "`y` was `b` and is now taken as `a`"),
        ("f(a=1, b=2)", None),
        ("f(*x)", None),
        ("f()", None),
    ],
)
def test_swapped_parameters_are_told_by_position(call: str, said: str | None) -> None:
    old, new = (parameters(a_unit(f"def f({names}): ...")) for names in ("a, b", "b, a"))
    assert old is not None
    assert new is not None

    found = find_swapped(a_call(call), old, new)

    assert (found and found[1]) == said


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return 1, 2", 2),
        ("if x:\n        return 1, 2\n    return a, b", 2),
        ("if x:\n        return 1, 2, 3\n    return a, b", None),
        ("return a", None),
        ("return *a, b", None),
        ("return", None),
        ("pass", None),
        ("yield 1\n    return 1, 2", None),
        ("def g():\n        return 1, 2, 3\n    return 1, 2", 2),
    ],
)
def test_how_many_values_come_back(body: str, count: int | None) -> None:
    node = a_unit(f"def f():\n    {body}").node

    assert isinstance(node, Function)
    assert count_returned(node) == count
