"""Texts made to be slow: brackets, quotes and lines that go on and on, for which squared work would take minutes."""

from __future__ import annotations

import ast
import asyncio
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.python.hunk_repair import repair
from reviewbot.analyzers.python.lines import Scan, StatementStart, logical_ends, scan
from reviewbot.analyzers.python.newer_syntax import older
from reviewbot.analyzers.ruff import run
from reviewbot.analyzers.ruff.run import RuffRunner, find_ruff

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

MANY = 50_000


def test_very_many_open_brackets_are_counted_in_time() -> None:
    assert logical_ends(["(" * MANY, ")" * (MANY - 1), "x)", "y"]) == [2, 2, 2, 3]
    assert len(scan(["[" * MANY]).open) == MANY


def test_very_many_brackets_that_nobody_opened_are_counted_in_time() -> None:
    found = scan([")" * MANY, "x = 1"])

    assert len(found.unmatched) == MANY
    assert found.statements == [StatementStart(0, ")"), StatementStart(0, "x")]


def test_very_many_lines_that_await_behind_a_definition_are_read_in_time() -> None:
    lines = ["x = 1"] * 10_000 + ["def f():"] + ["    await x"] * 10_000

    assert not scan(lines).awaits


@pytest.mark.parametrize(
    ("lines", "awaits"),
    [
        (["async def f():", "    await x"], False),
        (["@d", "class A:", "    x = await y"], False),
        (["x = 1", "await x", "def f(): ..."], True),
        (["def f(): ...", "  )", "await x"], True),  # what looked like a definition was the rest of a call
        (["def f(): ...", "  )", "def g():", "    await x"], False),
        (["if await x:", "    pass"], True),
        (["async for x in y:"], True),
        (["asynchronous = awaiting"], False),
    ],
)
def test_only_what_is_awaited_before_any_definition_counts(lines: list[str], *, awaits: bool) -> None:
    assert scan(lines).awaits is awaits


def test_each_scan_has_brackets_of_its_own() -> None:
    first, second = Scan(), Scan()
    first.open.append("(")

    assert second.open == []


@pytest.mark.parametrize(
    "text",
    ['f"{' * 20_000 + "1" + '}"' * 20_000, "f'{x:{" * 20_000 + "1" + "}}'" * 20_000],
    ids=["in fields", "in formats"],
)
def test_formatted_texts_that_are_too_deep_for_any_python_stay_as_they_are(text: str) -> None:
    assert older(text) == text


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer ones read more of it")
def test_as_many_texts_in_each_other_as_python_knows_quotes_are_still_read() -> None:
    deepest = "f'''{f\"\"\"{f'{f\"{x:{y}}\"}'}\"\"\"}'''"
    ast.parse(deepest)

    assert older(deepest) == deepest
    assert older(f'{deepest}; z = f"{{w["a"]}}"') == f"{deepest}; z = f\"{{w['a']}}\""


def test_a_hunk_of_very_long_lines_is_tried_a_few_times_only() -> None:
    lines = ["x = [" + "a+b, " * 3_900] * 45

    fragment = repair(lines)

    assert not fragment.parses
    assert [origin for origin in fragment.origin if origin is not None] == list(range(45))


def test_a_hunk_that_is_too_long_for_a_tree_is_kept_as_it_is() -> None:
    line = f"x = '{'a' * 9_992}'"

    assert len(line) == 10_000 - 2
    assert repair([line, "y"] * 99).parses
    assert not repair([line] * 101).parses
    assert repair([line] * 101).origin == (None, *range(101))


def test_a_long_hunk_is_read_to_its_last_character() -> None:
    assert repair(["x" * 1_000_000]).parses
    assert not repair(["x" * 1_000_001]).parses


def test_where_logical_lines_end_is_found_beside_the_loop(
    file_of: Callable[..., FileChange], bare: Snapshot, fake_ruff: Callable[[str], object]
) -> None:
    seen: list[str] = []

    class Watched(set[str]):
        """Rules that write down who asks for them."""

        def __contains__(self, code: object) -> bool:
            seen.append(threading.current_thread().name)
            return super().__contains__(code)

    runner = RuffRunner(["F401"], find_ruff())
    runner._known = Watched({"F401"})  # type: ignore[assignment]

    answer = asyncio.run(runner.read(changed_file([file_of("import json")], bare)))

    assert [report.code for report in answer.reports] == ["F401"]
    assert set(seen) == {"reviewbot-scan"}
    assert run.SYNTAX not in runner._known
