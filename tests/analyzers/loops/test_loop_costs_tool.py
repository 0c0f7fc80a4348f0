"""The check as a tool: on slices, on hunks alone, on hostile and on arbitrary code."""

from __future__ import annotations

import ast
import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.loops import loop_costs
from reviewbot.analyzers.loops.name_chains import chain_of, modules, words
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.python.views import Budget, OutOfSteps, View
from reviewbot.context.python_text import dotted_name
from reviewbot.review.calibration import Calibration
from tests.work import count_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

RULES = packaged_rules("loop_costs", Calibration()).of_tool("loop-costs")
WORDS = [
    "rows",
    "row",
    "self.x",
    "seen",
    "cursor",
    "requests.get",
    "1",
    "[]",
    "'a'",
    "max(rows)",
    "rows.pop(0)",
    "x.y()",
]


def tool() -> PythonTool:
    return PythonTool("loop-costs", loop_costs, RULES, PythonReader())


def test_a_hunk_alone_is_enough_where_it_shows_the_loop(file_of: Callable[..., FileChange], bare: Snapshot) -> None:
    hunk = " for order in orders:\n-    pass\n+    user = User.objects.get(pk=order.user_id)\n     use(user)"

    report = asyncio.run(tool().run(changed_file([file_of(hunk, start=40)], bare), bare))

    (one,) = report.candidates
    assert (one.rule, one.line, one.category, one.cwe, one.source) == (
        "query-per-item",
        41,
        "query-in-loop",
        1050,
        "loop-costs",
    )
    assert one.message == "`User.objects.get` asks the database for each `order`"
    assert "Flow: line 40: for each `order` -> line 41: once each time." in one.trigger


def test_tests_are_left_alone(file_of: Callable[..., FileChange], bare: Snapshot) -> None:
    text = "for name in names:\n    User.objects.get(name=name)"

    assert asyncio.run(tool().run(changed_file([file_of(text, path="tests/test_app.py")], bare), bare)).candidates == ()


def test_blocking_calls_share_category_and_cwe_with_the_same_defect_of_ruff() -> None:
    ruff = packaged_rules("ruff_rules").rules["ASYNC251"]

    for name in ("blocking-request", "blocking-driver", "blocking-helper"):
        assert (RULES[name].category, RULES[name].cwe) == (ruff.category, ruff.cwe)


def test_every_uncertain_sibling_stands_below_the_threshold() -> None:
    for name, rule in RULES.items():
        assert rule.confidence < 80 or not name.endswith(("-in-loop", "-maybe", "-growing"))
        assert not rule.tests


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "for a in b:\n" + "".join(f"{' ' * n}for x{n} in y:\n" for n in range(1, 90)) + " " * 90 + "z",
        "[" * 60 + "x" + " for x in y]" * 60,
        "x = " + "a." * 500 + "b\n",
        "x = " + "a" + "()" * 60 + "\n",
        "\n".join(f"a{n} = a{n + 1}" for n in range(500)) + "\nfor r in a0:\n    r in a0\n",
        "for r in rows:\n" + "    seen.append(r)\n    r in seen\n" * 2_000,
    ],
)
def test_hostile_code_is_read_in_bounded_work(text: str) -> None:
    view = View("a.py", ast.parse(text), text, whole=True, added=frozenset(range(1, 10_000)))

    def read() -> None:
        with contextlib.suppress(OutOfSteps, RecursionError):  # both are gaps of the tool
            list(loop_costs(view, Budget(500_000)))

    assert count_calls(read).total() < 100 * len(text) + 1_000


def test_a_check_without_steps_stops() -> None:
    text = "for x in y:\n    f(x)\n"
    with pytest.raises(OutOfSteps):
        list(loop_costs(View("a.py", ast.parse(text), text, whole=True, added=frozenset({1, 2})), Budget(1)))


def test_a_text_without_a_loop_or_a_coroutine_costs_no_step() -> None:
    text = "x = f(y)\n"
    assert not list(loop_costs(View("a.py", ast.parse(text), text, whole=True, added=frozenset({1})), Budget(0)))


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.integers(0, 6)), min_size=1, max_size=12))
def test_any_code_gives_rules_of_the_table_on_rows_that_there_are(parts: list[tuple[str, str, int]]) -> None:
    lines = ["async def work(rows, row):"]
    for depth, (one, other, form) in enumerate(parts):
        lines.append(" " * (depth + 1) + _HEADS[form].format(one=one, other=other))
    lines.append(" " * (len(parts) + 1) + f"y = {parts[0][0]}")
    text = "\n".join(lines)

    found = list(
        loop_costs(View("a.py", ast.parse(text), text, whole=True, added=frozenset(range(1, len(lines) + 1))), Budget())
    )

    assert {one.rule for one in found} <= set(RULES)
    assert all(1 <= one.row <= one.end_row <= len(lines) for one in found)


_HEADS = (
    "for row in {one}:",
    "while {one} in {other}:",
    "if {one} not in {other}:",
    "async for (a, b) in {one}:",
    "with {one} as seen:",
    "for row in [{one} for row in {other} if row in seen]:",
    "if (seen := await_({one})) is {other}:",
)


def test_names_and_chains() -> None:
    def parsed(text: str) -> ast.expr:
        return ast.parse(text, mode="eval").body

    chain = chain_of(parsed("Order.objects.filter(x)[0].lines.first()"))
    assert (chain.root, chain.names, chain.last, chain.owner) == (
        "Order",
        ("objects", "filter", "lines", "first"),
        "first",
        "lines",
    )
    assert chain.called == {"filter", "first"}
    assert chain_of(parsed("'a'.join(x)")).text == "join"
    assert len(chain_of(parsed("a" * 99)).text) == 61
    assert [dotted_name(parsed(text)) for text in ("a.b.c", "a().b", "1")] == ["a.b.c", "", ""]
    assert words("userPages_old") >= {"user", "page", "old"}


def test_neighbours_in_a_package_stand_for_no_library() -> None:
    def bound(text: str) -> list[tuple[str, str]]:
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        return modules(node)

    assert bound("import a.b, c as d") == [("a", "a"), ("d", "c")]
    assert bound("from . import a") == []
    assert bound("from .b import a") == []
