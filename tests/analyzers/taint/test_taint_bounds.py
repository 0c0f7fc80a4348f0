"""Code that is made to take long: the analysis ends, in order, or says that it gave up."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.analyzers.python.views import Budget, OutOfSteps, View
from reviewbot.analyzers.taint import check
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.values import CLEAN

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Follow

HEAD = "import os\nfrom flask import request\n"


def nested(levels: int, opener: str, inner: str) -> str:
    rows = ["    " * level + opener.format(level) for level in range(levels)]
    return "\n".join([*rows, "    " * levels + inner]) + "\n"


LONG = {
    "functions that call the next": (
        "".join(f"def f{n}(x):\n    return f{n + 1}(x + 'a')\n" for n in range(1_000))
        + "def f1000(x):\n    os.system('a' + x)\ndef view():\n    f0(request.data)\n"
    ),
    "functions that call each other": "".join(
        f"def f{n}(x):\n    os.system('a' + x)\n    return f{(n + 1) % 500}(x) + f{(n * 7) % 500}(x)\n"
        for n in range(500)
    ),
    "methods that call the next": "class A:\n"
    + "".join(f"    def f{n}(self, x):\n        self.f{n + 1}(x)\n" for n in range(800))
    + "    def f800(self, x):\n        os.system('a' + x)\n",
    "classes with a base each": "".join(
        f"class A{n}(A{n - 1}):\n    def g(self, x):\n        self.h(x)\n        os.system('a' + x)\n"
        for n in range(400)
    ),
    "classes that are each other's base": (
        "class A(B):\n    def g(self, x):\n        self.h('a' + x)\n        os.system('a' + x)\nclass B(A):\n    pass\n"
    ),
    "a chain of conditions": "def f(x):\n    if x == 0:\n        os.system('a' + x)\n"
    + "".join(f"    elif x == {n}:\n        y{n} = x\n" for n in range(300)),
    "many cases": "def f(x, y):\n    match x:\n"
    + "".join(f"        case '{n}':\n            os.system('a' + y)\n" for n in range(300)),
    "loops in loops": "def f(b):\n    "
    + nested(18, "for a{} in b:", "os.system(request.data)").replace("\n", "\n    "),
    "conditions in conditions": nested(80, "if a{}:", "os.system(request.data)"),
    "functions in functions in loops": nested(30, "for a{} in b:", "def f(x): os.system('a' + x)").replace(
        "for a15 in b:", "def g(x):"
    ),
    "one long list": "a = [" + "request.data," * 5_000 + "]\nos.system(a[3])\n",
    "one long dictionary": "a = {" + ",".join(f"{n}: request.data" for n in range(5_000)) + "}\nos.system(a[3])\n",
    "a list that grows": "a = []\n" + "a.append(request.data)\n" * 1_000 + "os.system(a[3])\n",
    "lists in lists": "os.system(" + "[" * 90 + "request.data" + "]" * 90 + ")\n",
    "calls of calls": "os.system(request.args['a']" + ".strip()" * 150 + ")\n",
    "a condition of many parts": "def f(x):\n    if "
    + " or ".join(f"x == 'a{n}'" for n in range(1_000))
    + ":\n        os.system(request.data)\n",
    "conditions inside each other": "def f(x):\n    if "
    + "not (x or " * 60
    + "x"
    + ")" * 60
    + ":\n        os.system('a' + x)\n",
    "a text of many parts": 'os.system(f"' + "{request.data}" * 1_000 + '")\n',
    "many names": "a0 = request.data\n"
    + "".join(f"a{n + 1} = a{n} + a{n // 2}\n" for n in range(2_000))
    + "os.system(a9)\n",
    "many checks": "def f():\n"
    + "".join(f"    a{n} = request.args['{n}']\n    if a{n} not in OK: return\n" for n in range(300))
    + "    os.system(a9)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("code", LONG.values(), ids=LONG)
def test_code_that_is_long_is_followed_to_its_end_within_the_budget(code: str, follow: Follow) -> None:
    follow(HEAD + code)


def test_a_sum_of_many_parts_is_no_deeper_than_one(follow: Follow) -> None:
    code = f"{HEAD}os.system({' + '.join(['request.data'] * 700)})\n"
    assert [one.rule for one in follow(code)] == ["command-external"]


def test_what_lies_too_deep_is_looked_through_for_names(follow: Follow) -> None:
    deep = "[" * 70 + "a" + "]" * 70
    found = follow(f"{HEAD}def view():\n    a = request.data\n    os.system({deep})\n")
    assert [one.rule for one in found] == ["command-external"]


def test_blocks_in_blocks_keep_each_item_of_a_name_once() -> None:
    """A page of a user interface, with blocks nested nine deep, took 24 GB before."""

    def nest(scope: ValueScope, depth: int) -> None:
        body = scope.fork()
        body.put("parts", "parts['a']", CLEAN)
        if depth:
            nest(body, depth - 1)
        scope.join([body.snapshot(scope) for _ in range(4)])

    outer = ValueScope(Budget(10_000))
    nest(outer, 9)

    assert {name: len(keys) for name, keys in outer.inner.items()} == {"parts": 1}


def test_without_steps_it_stops(follow: Follow) -> None:
    with pytest.raises(OutOfSteps):
        follow(f"{HEAD}os.system(request.data)\n", steps=10)


@pytest.mark.parametrize("steps", [60, 100, 150, 200])
def test_it_stops_wherever_the_steps_end(steps: int, follow: Follow) -> None:
    code = HEAD + "def view(x):\n    for y in x:\n        if y == 'a': os.system(y + request.data)\n" * 20
    with pytest.raises(OutOfSteps):
        follow(code, steps=steps)


def test_code_without_a_sink_costs_nothing(follow: Follow) -> None:
    assert follow("from x import y\ndef f(a):\n    return y(a)\n" * 200, steps=0) == []


def test_functions_without_a_sink_are_not_followed(follow: Follow) -> None:
    quiet = "".join(f"def f{n}(a):\n    b = a\n    c = b\n    return c\n" for n in range(200))
    follow(f"import os\n{quiet}def run(a):\n    os.system('x' + a)\n", steps=8_000)


def test_the_same_code_gives_the_same_findings(follow: Follow) -> None:
    code = (
        HEAD
        + "def run(b, a):\n    for x in {a, b}:\n        os.system('x' + x)\n        open('/srv/' + request.data + a)\n"
    )
    assert [found._replace(code=None) for found in follow(code)] == [
        found._replace(code=None) for found in follow(code)
    ]


NAMES = st.sampled_from(["a", "b", "request", "self.x", "d['k']"])
VALUES = st.recursive(
    st.one_of(NAMES, st.sampled_from(["'x'", "1", "request.args['a']", "[]", "{}", "None", "(lambda: a)"])),
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("[{}, {}][0]".format, inner, inner),
        st.builds("{{'k': {}}}.get({})".format, inner, inner),
        st.builds("run({})".format, inner),
        st.builds("({}).join({})".format, inner, inner),
        st.builds("[x for x in {} if {}]".format, inner, inner),
        st.builds("({} in {})".format, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("({}).format({})".format, inner, inner),
        st.builds("({}).pop({})".format, inner, inner),
        st.builds("({} % {})".format, inner, inner),
        st.builds("({} and {})".format, inner, inner),
    ),
    max_leaves=8,
)
LINES = st.one_of(
    st.builds("{} = {}".format, NAMES.filter(lambda name: name != "request"), VALUES),
    st.builds("{} += {}".format, NAMES, VALUES),
    st.builds("os.system({})".format, VALUES),
    st.builds("open({})".format, VALUES),
    st.builds("a.append({})".format, VALUES),
    st.builds("b.update({})".format, VALUES),
    st.builds("if {}: return {}".format, VALUES, VALUES),
    st.builds("while {}: break".format, VALUES),
    st.builds("for a in {}: continue".format, VALUES),
    st.builds("assert {}".format, VALUES),
    st.builds("return {}".format, VALUES),
    st.builds("del {}".format, NAMES),
)


@pytest.mark.slow
@given(st.lists(LINES, max_size=12))
@settings(max_examples=150, deadline=None)
def test_any_code_ends_and_points_into_itself(lines: list[str]) -> None:
    body = "".join(f"    {line}\n" for line in lines)
    text = f"import os\nfrom flask import request\ndef run(a, b=None, *c):\n    pass\n{body}\nrun(request.data)\n"
    rows = text.count("\n")
    view = View("src/app.py", ast.parse(text), text, whole=True, added=frozenset())
    for found in check(view, Budget()):
        assert 0 < found.row <= found.end_row <= rows
        assert all(0 < step.row <= rows for step in found.flow)
