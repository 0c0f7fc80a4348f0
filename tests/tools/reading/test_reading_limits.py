"""How much of a repository one call shows: the last thing that fits is shown, and what is left out is said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.ports import Commit, Occurrence, ToolAnswer, WorkOrder
from reviewbot.tools.catalog import own_tools
from reviewbot.tools.reading.arguments import MAX_NAME, MAX_PATH, MAX_QUOTE
from reviewbot.tools.reading.tool import MAX_CHARS

TOOLS = own_tools()
PATH = "src/app.py"
Ask = Callable[..., str]


class Sides:
    """Files in memory, with a side of their own each; remembers what was asked of the history."""

    def __init__(self, head: Mapping[str, str], base: Mapping[str, str], commits: int = 0) -> None:
        self._head = head
        self._base = base
        self._commits = commits
        self.asked: list[tuple[str, int, int]] = []

    def head(self, path: str) -> str | None:
        return self._head.get(path)

    def base(self, path: str) -> str | None:
        return self._base.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...]:
        whole = re.compile(rf"\b{re.escape(word)}\b")
        found = (
            Occurrence(path, number, line)
            for path, text in self._head.items()
            for number, line in enumerate(text.split("\n"), 1)
            if whole.search(line)
        )
        return tuple(found)[:limit]

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        self.asked.append((path, first, last))
        return tuple(Commit("f" * 40, f"2026-01-{at + 1:02}", f"change {at}") for at in range(self._commits))[:limit]


@pytest.fixture
def answer(an_order: Any, a_task: Any, a_payload: Any) -> Callable[..., ToolAnswer]:
    """What a tool answers of files; the base side is the same where there is no other."""

    def of(tool: str, files: Mapping[str, str] | Sides, old_path: str | None = None, **given: str) -> ToolAnswer:
        payload = a_payload("+x = 1", path=PATH).model_copy(update={"old_path": old_path})
        order: WorkOrder = an_order(a_task("logic:src/app.py#1", payload=payload))
        snapshot = files if isinstance(files, Sides) else Sides(files, files)
        arguments = {"path": PATH, **given}
        return asyncio.run(TOOLS[tool].call(replace(order, snapshot=snapshot), arguments))

    return of


@pytest.fixture
def ask(answer: Callable[..., ToolAnswer]) -> Ask:
    """The text of an answer that did not fail."""

    def of(*arguments: Any, **given: Any) -> str:
        found = answer(*arguments, **given)
        assert not found.failed, found.text
        return found.text

    return of


def rows(count: int, start: int = 0) -> str:
    return "\n".join(f"row_{number}" for number in range(start, start + count))


# --- definitions and callers


@pytest.mark.parametrize(("files", "cut"), [(4, False), (5, True)])
def test_four_definitions_are_shown_and_more_are_cut(ask: Ask, files: int, *, cut: bool) -> None:
    text = ask("logic-definition", {PATH: "", **{f"m{n}.py": "def f():\n    pass" for n in range(files)}}, name="f")

    assert text == "\n\n".join([f"m{n}.py:\ndef f():\n    pass" for n in range(4)] + ["... cut"] * cut)


def test_what_defines_a_name_inside_of_something_else_is_shown_with_the_lines_around_it(ask: Ask) -> None:
    text = ask("logic-definition", {PATH: "def make():\n    limit = 3\n    return limit"}, name="limit")

    assert text == f"{PATH}:\ndef make():\n    limit = 3\n    return limit"


def test_a_definition_is_cut_only_at_the_end_where_only_that_is_left_out(ask: Ask) -> None:
    text = ask("logic-definition", {PATH: "def f():\n" + "    x = 1\n" * 90 + "y = 2"}, name="f")

    assert text.startswith(f"{PATH}:\ndef f():\n    x = 1\n")
    assert text.endswith("    x = 1\n... cut")


@pytest.mark.parametrize(("calls", "cut"), [(15, False), (16, True)])
def test_fifteen_calls_are_shown_and_more_are_cut(ask: Ask, calls: int, *, cut: bool) -> None:
    text = ask("logic-callers", {PATH: "", **{f"m{n:02}.py": "f(1)" for n in range(calls)}}, name="f")

    assert text == "\n\n".join([f"m{n:02}.py:\nf(1)" for n in range(15)] + ["... cut"] * cut)


def test_lines_that_name_it_alike_in_one_file_are_told_once(ask: Ask) -> None:
    text = ask("logic-callers", {PATH: "x = f\ny = 1\nx = f"}, name="f")

    assert text == f"other lines that name it:\n{PATH}: x = f"


# --- parts of files


@pytest.mark.parametrize(
    ("row", "first", "last"), [(0, 0, 139), (60, 0, 199), (61, 1, 200), (300, 240, 399), (301, 241, 399)]
)
def test_sixty_rows_above_and_139_below_are_shown(ask: Ask, row: int, first: int, last: int) -> None:
    text = ask("logic-file", {PATH: rows(400)}, side="head", around=f"row_{row}")

    above, below = ["... cut"] * (first > 0), ["... cut"] * (last < 399)
    assert text.split("\n") == [*above, *rows(last - first + 1, first).split("\n"), *below]


def test_of_a_long_row_the_start_is_shown_and_of_a_windows_row_no_return(ask: Ask) -> None:
    text = ask("logic-file", {PATH: f"  a = 1 \r\n{'x' * 301}\n{'y' * 300}"}, side="head", around="a = 1")

    assert text == f"  a = 1 \n{'x' * 300}\n{'y' * 300}"


def test_a_row_that_is_the_quote_goes_before_one_that_holds_it(ask: Ask) -> None:
    files = {PATH: "\n".join(["x = 12", *["pass"] * 70, "  x = 1", *["pass"] * 3])}

    assert ask("logic-file", files, side="head", around=" x = 1 ").startswith("... cut")
    assert ask("logic-file", files, side="head", around="x = 12").startswith("x = 12\n")
    assert ask("logic-file", files, side="head", around="= 12").startswith("x = 12\n")


# --- history


@pytest.mark.parametrize(
    ("row", "first", "last"), [("row_0", 1, 4), ("row_3", 1, 7), ("row_5", 3, 9), ("row_9", 7, 10)]
)
def test_the_history_of_three_rows_around_is_asked_for_on_the_old_side(
    ask: Ask, row: str, first: int, last: int
) -> None:
    sides = Sides({PATH: "other"}, {"src/old.py": rows(10)}, commits=2)

    text = ask("logic-history", sides, old_path="src/old.py", around=row)

    assert sides.asked == [("src/old.py", first, last)]
    assert text == "2026-01-01 change 0\n2026-01-02 change 1"


@pytest.mark.parametrize(("commits", "cut"), [(5, False), (6, True)])
def test_five_commits_are_told_and_more_are_cut(ask: Ask, commits: int, *, cut: bool) -> None:
    text = ask("logic-history", Sides({}, {PATH: "x"}, commits=commits), around="x")

    assert text.split("\n")[5:] == ["... cut"] * cut


# --- values and siblings


@pytest.mark.parametrize(("count", "cut"), [(30, False), (31, True)])
def test_thirty_lines_that_bind_a_name_are_told_in_their_order(ask: Ask, count: int, *, cut: bool) -> None:
    body = "\n".join(f"    x = {number}" for number in range(count))

    text = ask("trace-value", {PATH: f"def f():\n{body}"}, around="x = 3", name="x")

    told = text.split("\n\n")[0].split("\n")
    assert told == ["lines that give x a value:", *(f"  x = {n}" for n in range(30)), *["  ... cut"] * cut]


def test_what_another_function_binds_is_not_told_but_what_the_file_binds_is(ask: Ask) -> None:
    code = "x = 1\ndef f(a):\n    x = a\n    return x\ndef g():\n    x = 3\nx = 4"

    text = ask("trace-value", {PATH: code}, around="x = a", name="x.y")

    assert text.startswith("lines that give x a value:\n  x = 1\n  x = a\n  x = 4\n\n")


def test_a_value_of_a_long_line_is_cut(ask: Ask) -> None:
    text = ask("trace-value", {PATH: "x = '" + "a" * 400 + "'"}, around="x = ", name="x")

    assert max(map(len, text.split("\n"))) == 302


@pytest.mark.parametrize(("count", "cut"), [(30, False), (31, True)])
def test_thirty_lines_of_siblings_are_told(ask: Ask, count: int, *, cut: bool) -> None:
    files = {PATH: "x = 0", **{f"src/m{n:02}.py": f"x = {n}  # {'a' * 400}" for n in range(count)}, "m.py": "x"}

    lines = ask("style-siblings", files, name="x").split("\n")

    assert lines[30:] == ["... cut"] * cut
    assert lines[0] == f"src/m00.py: {files['src/m00.py'][:300]}"


# --- arguments and the whole answer


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("logic-definition", {"name": "n" * (MAX_NAME + 1)}, "of at most 200 characters"),
        ("logic-definition", {"name": "1n"}, "must be a name of the code"),
        ("logic-file", {"side": "head", "around": "q" * (MAX_QUOTE + 1)}, "of at most 500 characters"),
        ("logic-file", {"side": "head", "around": "a\nb"}, "must be one line of the file"),
        ("logic-file", {"side": "HEAD", "around": "a"}, "must be base or head"),
        ("style-conventions", {"path": "p" * (MAX_PATH + 1)}, "must have at most 1000 characters"),
        ("style-conventions", {"path": "src/./app.py"}, "must be a path inside the repository"),
        ("style-conventions", {"path": "src//app.py"}, "must be a path inside the repository"),
        ("style-conventions", {"path": "src/../app.py"}, "must be a path inside the repository"),
    ],
)
def test_an_argument_that_nobody_means_is_refused(
    answer: Callable[..., ToolAnswer], tool: str, given: dict[str, str], said: str
) -> None:
    found = answer(tool, {PATH: "x"}, **given)

    assert found.failed
    assert said in found.text


def test_the_longest_arguments_that_are_taken_are_read(answer: Callable[..., ToolAnswer]) -> None:
    long = "d/" * ((MAX_PATH - 4) // 2) + "a.py"
    files = {long: "q" * MAX_QUOTE, PATH: "n" * MAX_NAME + " = 1"}

    assert len(long) == MAX_PATH
    assert answer("logic-file", files, path=long, side="head", around="q" * MAX_QUOTE).text == "q" * 300
    assert not answer("logic-definition", files, name="n" * MAX_NAME).failed


@pytest.mark.parametrize("extra", [0, 1, 5_000])
def test_an_answer_is_never_longer_than_it_may_be_and_says_how_much_is_left_out(ask: Ask, extra: int) -> None:
    lines = ["x" * 299] * 40
    lines[0] = "y" * (MAX_CHARS - 39 * 300)
    lines += ["z" * 300] * (extra // 300)
    lines[-1] += "w" * (extra == 1)

    text = ask("logic-file", {PATH: "\n".join(lines)}, side="base", around="yyy")

    whole = "\n".join(line[:300] for line in lines)
    left_out = re.search(r"\n\.\.\. the rest is left out: (\d+) characters", text)
    assert len(text) <= MAX_CHARS
    assert (left_out is None) is (len(whole) <= MAX_CHARS)
    if left_out is not None:
        assert text.startswith(whole[: len(whole) - int(left_out[1])] + "\n... the rest")
