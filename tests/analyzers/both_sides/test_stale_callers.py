from __future__ import annotations

from typing import Any

import pytest

OLD = "def total(items, tax):\n    return sum(items) + tax\n"
NEW = "def total(items):\n    return sum(items)\n"


def test_the_message_names_the_places_and_the_reason(said: Any) -> None:
    others = {
        "src/b.py": "from app import total\n\n\nx = total([1], 2)\n",
        "src/c.py": "import app\n\ny = app.total([1], tax=2)\n",
        "tests/test_app.py": "from app import total\n\nassert total([1], 2) == 3\nassert total([2], 2) == 4\n",
    }

    found = said(OLD, NEW, others)["signature-changed"]

    assert found.message == (
        "`total` no longer takes what is handed to it at src/b.py:4 (it takes 1 argument by position and gets 2), "
        "src/c.py:3 (it has no parameter `tax` to be given by name), "
        "tests/test_app.py:3 (it takes 1 argument by position and gets 2) and 1 more."
    )
    assert (found.line, found.confidence, found.severity) == (1, 90, "critical")
    assert found.quote == "def total(items):"


@pytest.mark.parametrize(
    "caller",
    [
        "from app import total\nx = total([1])\n",
        "from app import total\nx = total(*args)\n",
        "from app import total\nmap(total, rows)\n",
        "from other import total\nx = total([1], 2)\n",
        "def total(a, b): ...\nx = total([1], 2)\n",
        "from app import total\n\ndef f(total):\n    return total([1], 2)\n",
        "from app import total\ntry:\n    x = total([1], 2)\nexcept TypeError:\n    x = total([1])\n",
        "x.total([1], 2)\n",
        "from app import total\nx = total([1], 2\n",
    ],
)
def test_callers_that_still_fit_or_are_no_callers_are_not_told(said: Any, caller: str) -> None:
    assert said(OLD, NEW, {"src/b.py": caller}) == {}


def test_a_call_that_did_not_fit_before_is_not_told(said: Any) -> None:
    assert said(OLD, NEW, {"src/b.py": "from app import total\nx = total(1, 2, 3)\n"}) == {}


def test_without_a_search_the_file_itself_is_looked_at(said: Any) -> None:
    other = {"src/b.py": "from app import total\nx = total([1], 2)\n"}
    own = "\n\nx = total([1], 2)\n"

    assert said(OLD, NEW, other, searchable=False) == {}
    assert said(OLD + own, NEW + own, other, searchable=False)["signature-changed"].message.endswith(
        "src/app.py:5 (it takes 1 argument by position and gets 2)."
    )


def test_a_function_with_an_unknown_decorator_is_not_judged(said: Any) -> None:
    others = {"src/b.py": "from app import total\nx = total([1], 2)\n"}

    assert said(f"@task\n{OLD}", f"@task\n{NEW}", others) == {}


def test_a_class_that_may_be_made_otherwise_is_not_judged(said: Any) -> None:
    others = {"src/b.py": "from app import A\nx = A(1)\n"}
    body = "class A{}:\n    def __init__(self, a{}):\n        self.a = a\n"

    assert "signature-changed" in said(body.format("", ""), body.format("", ", b"), others)
    assert said(body.format("(metaclass=M)", ""), body.format("(metaclass=M)", ", b"), others) == {}
    new = "    def __new__(cls, a): ...\n"
    assert said(body.format("", "") + new, body.format("", ", b") + new, others) == {}


def test_methods_that_python_calls_and_inner_functions_are_left_alone(said: Any) -> None:
    body = "class A:\n    def __len__(self{0}):\n        return 1\n\n    def go(self):\n        return self.__len__()\n"
    inner = "def f():\n    def g(a{0}):\n        return a\n\n    return g(1)\n"

    assert said(body.format(""), body.format(", b")) == {}
    assert said(inner.format(""), inner.format(", b")) == {}


def test_a_method_that_is_assigned_to_is_not_known(said: Any) -> None:
    body = "class A:\n    def m(self, a{}):\n        pass\n\n    def go(self):\n        self.m = 1\n        self.m(1)\n"

    assert said(body.format(""), body.format(", b")) == {}


@pytest.mark.parametrize(
    "others",
    [
        {"src/b.py": "def f(x):\n    x.book_entry(1)\n", "src/c.py": "class B:\n    def book_entry(self): ...\n"},
        {"src/b.py": "def f(x):\n    x.book_entry(1)\n    x.book_entry = g\n"},
        {"src/b.py": "x.book_entry\n" * 400 + "x.book_entry(1)\n"},
        {"src/b.py": "def f(x):\n    x.book_entry(1, 2)\n"},
    ],
)
def test_a_name_that_others_may_share_is_no_proof(said: Any, others: dict[str, str]) -> None:
    body = "class A:\n    def book_entry(self, a{}):\n        return a\n"

    assert said(body.format(""), body.format(", b"), others) == {}


def test_a_short_name_of_a_method_is_never_guessed(said: Any) -> None:
    body = "class A:\n    def run(self, a{}):\n        return a\n"

    assert said(body.format(""), body.format(", b"), {"src/b.py": "x.run(1)\n"}) == {}


def test_swapped_parameters_count_where_the_caller_stood_before(said: Any) -> None:
    old, new = "def f(a, b):\n    return a - b\n", "def f(b, a):\n    return a - b\n"

    assert "parameters-swapped" in said(old, new, {"src/b.py": "from app import f\nf(1, 2)\n"})
    assert said(old + "f(1, 2)\n", new + "f(2, 1)\n") == {}
    assert said(old + "f(\n    1,\n    2,\n)\n", new + "f(\n    2,\n    1,\n)\n") == {}
    assert said(old, new, {"src/b.py": "from app import f\nf(b, a)\nf(a=1, b=2)\n"}) == {}


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        ("f()\n", True),
        ("x = f().y\n", True),
        ("x = f()[0]\n", True),
        ("if f():\n    pass\n", True),
        ("for x in f():\n    pass\n", True),
        ("x = [y for y in f()]\n", True),
        ("x = 1 + f()\n", True),
        ("x = f'{f()}'\n", True),
        ("x = f()\n", False),
        ("run(f())\n", False),
        ("def g():\n    return f()\n", False),
        ("async def g():\n    await f()\n", False),
        ("if ready:\n    x = [f()]\n", False),
    ],
)
def test_a_coroutine_is_told_where_it_is_taken_for_its_result(said: Any, caller: str, told: bool) -> None:  # noqa: FBT001 - a case
    found = said(
        "def f():\n    return 1\n", "async def f():\n    return 1\n", {"src/b.py": f"from app import f\n{caller}"}
    )

    assert ("async-changed" in found) is told


@pytest.mark.parametrize(
    ("body", "told"), [("return 1", True), ("pass", True), ("return start()", False), ("return x", False)]
)
def test_awaiting_what_is_no_coroutine_is_told_where_it_surely_is_none(said: Any, body: str, told: bool) -> None:  # noqa: FBT001 - a case
    others = {"src/b.py": "from app import f\n\n\nasync def g():\n    await f()\n"}

    assert ("async-changed" in said(f"async def f():\n    {body}\n", f"def f():\n    {body}\n", others)) is told


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        ("a, b = f()\n", True),
        ("[a, b] = f()\n", True),
        ("a, *b = f()\n", False),
        ("a = f()\n", False),
        ("a, b, c = f()\n", False),
        ("f()\n", False),
    ],
)
def test_values_are_counted_where_they_are_taken_apart(said: Any, caller: str, told: bool) -> None:  # noqa: FBT001 - a case
    found = said(
        "def f():\n    return 1, 2\n", "def f():\n    return 1, 2, 3\n", {"src/b.py": f"from app import f\n{caller}"}
    )

    assert ("return-changed" in found) is told
    if told:
        assert found["return-changed"].line == 2
        assert "src/b.py:2 (takes 2)" in found["return-changed"].message


def test_awaited_values_are_counted_too(said: Any) -> None:
    others = {"src/b.py": "from app import f\n\n\nasync def g():\n    a, b = await f()\n"}

    found = said("async def f():\n    return 1, 2\n", "async def f():\n    return 1, 2, 3\n", others)

    assert "return-changed" in found


def test_a_return_that_is_missed_is_told_with_who_misses_it(said: Any) -> None:
    old, new = "def f(a):\n    a.go()\n    return a\n", "def f(a):\n    a.go(now=True)\n"

    assert "removed-return" in said(old, new, {"src/b.py": "from app import f\nx = f(1)\n"})
    assert list(said(old, new, {"src/b.py": "from app import f\nf(1)\n"})) == ["removed-return-by-name"]


@pytest.mark.parametrize(
    "new",
    [
        "def f(a):\n    yield a.go(1)\n",
        "def f(a):\n    a.go(1)\n    raise NotImplementedError\n",
        "def f(a):\n    '''Nothing.'''\n",
        "@task\ndef f(a):\n    a.go(1)\n",
        "def f(a):\n    if a:\n        return a\n",
        "def f(a) -> None:\n    a.go(1)\n",
    ],
)
def test_a_function_that_ends_in_another_way_is_not_told(said: Any, new: str) -> None:
    assert said("def f(a):\n    a.go()\n    return a\n", new) == {}


KEYS = "class Keys:\n    def issue(self, tenant, days=None):\n        return tenant, days\n"
SCOPED = KEYS.replace("days=None", "scopes=None, days=None")


def test_a_parameter_put_in_front_of_one_that_is_handed_by_position_is_reported(said: Any) -> None:
    others = {"src/b.py": "from app import Keys\n\ndef start(keys: Keys):\n    return keys.issue('a', 30)\n"}

    assert "src/b.py:4" in said(KEYS, SCOPED, others)["parameters-swapped"].message


@pytest.mark.parametrize(
    "user",
    [
        "from app import Keys\n\ndef start(keys: Keys):\n    return keys.issue('a', days=30)\n",
        "from app import Keys\n\ndef start(keys: Keys, scopes):\n    return keys.issue('a', scopes)\n",
        "from app import Keys\n\ndef start(keys: Keys):\n    keys = other()\n    return keys.issue('a', 30)\n",
        "def start(keys):\n    return keys.issue('a', 30)\n",
    ],
)
def test_a_call_that_names_its_arguments_or_may_mean_another_class_fits(said: Any, user: str) -> None:
    assert said(KEYS, SCOPED, {"src/b.py": user}) == {}
