"""The trees of a slice: of the whole file where it is at hand and parses, of the hunks where not."""

from __future__ import annotations

import ast
import asyncio
from typing import TYPE_CHECKING
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.python.reader import ParsedPython, PythonReader, parse
from reviewbot.context.python_text import MAX_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]

NEWER = {
    "a field of several rows": 'x = f"{\ny\n}"',
    "quotes of both kinds in a field": 'x = f"{y["it\'s"]}"',
    "brackets among the parameters of types": "def f[T: (int, str)](x: T) -> T: ...",
}
"""Syntax of Python 3.12, which the oldest Python that we run on does not know and which cannot be said in its own."""


def read(change: FileChange, snapshot: Snapshot) -> ParsedPython:
    return asyncio.run(PythonReader().read(changed_file([change], snapshot)))


def names(answer: ParsedPython) -> list[list[str]]:
    """The functions of each piece."""
    return [[node.name for node in ast.walk(p.tree) if isinstance(node, ast.FunctionDef)] for p in answer.pieces]


def test_the_whole_file_is_read_where_it_is_at_hand(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"

    answer = read(file_of("    return 2", start=6), snapshot_of(head))

    (piece,) = answer.pieces
    assert piece.source.whole
    assert names(answer) == [["f", "g"]]
    assert (answer.hunks, answer.unread, answer.fault) == (0, 0, "")


def test_without_the_file_each_hunk_is_read(file_of: FileOf, bare: Snapshot) -> None:
    answer = read(file_of("def f():\n    return 1", "+        x = 1\n+    def g(self):"), bare)

    assert names(answer) == [["f"], ["g"]]
    assert [piece.source.whole for piece in answer.pieces] == [False, False]
    assert (answer.hunks, answer.unread, answer.fault) == (2, 0, "")


def test_the_rows_of_a_tree_are_rows_of_its_source(file_of: FileOf, bare: Snapshot) -> None:
    (piece,) = read(file_of(" a = 1\n-b = 2\n+def f():\n+    pass", start=40), bare).pieces

    (function,) = (node for node in piece.tree.body if isinstance(node, ast.FunctionDef))

    assert piece.source.lines(function.lineno, function.end_lineno or 0) == [41, 42]


def test_a_file_of_another_commit_is_not_trusted(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    answer = read(file_of("x = 1"), snapshot_of("y = 2\n"))

    assert (answer.hunks, answer.fault) == (1, "")


@pytest.mark.parametrize("text", NEWER.values(), ids=NEWER)
def test_newer_syntax_is_a_fault_with_the_place_and_the_version(
    file_of: FileOf, snapshot_of: SnapshotOf, text: str
) -> None:
    try:
        ast.parse(text)
    except SyntaxError:
        pass
    else:
        pytest.skip("this Python knows it")

    answer = read(file_of(text), snapshot_of(f"{text}\n"))

    assert answer.fault.startswith("it does not parse with Python 3.")
    assert ", at line " in answer.fault
    assert (answer.hunks, answer.unread) == (1, 1)


@pytest.mark.parametrize("text", NEWER.values(), ids=NEWER)
def test_beside_newer_syntax_the_other_hunks_are_still_read(
    file_of: FileOf, snapshot_of: SnapshotOf, text: str
) -> None:
    try:
        ast.parse(text)
    except SyntaxError:
        head = "def f():\n    pass\n" + "\n" * 998 + f"{text}\n"
        answer = read(file_of("def f():\n    pass", text), snapshot_of(head))
        assert names(answer)[0] == ["f"]
        assert (answer.hunks, answer.unread) == (2, 1)


def test_a_fault_quotes_nothing_of_the_code() -> None:
    tree, fault = parse("x = 1\ny = (secret\n")

    assert tree is None
    assert fault.endswith("at line 2")
    assert "secret" not in fault


@pytest.mark.parametrize(
    ("text", "why"),
    [("x = '\0'", ""), ("(" * 5_000, ""), ("x = " + "-" * 100_000 + "1", "")],
    ids=["an empty character", "deep brackets", "a deep tree"],
)
def test_a_text_that_python_gives_up_on_is_a_fault(text: str, why: str) -> None:
    tree, fault = parse(text)

    assert tree is None
    assert why in fault
    assert fault


def test_what_python_would_warn_of_is_no_news_about_us() -> None:
    tree, fault = parse("x = '\\d'\nif x is 'a':\n    pass\n")  # warnings are errors here

    assert (tree is not None, fault) == (True, "")


@given(st.text(alphabet="abc=()[]{}:'\"\\\n\t \r\f#0.,\0@"))
def test_any_text_is_a_tree_or_a_fault(text: str) -> None:
    tree, fault = parse(text)

    assert (tree is None) == bool(fault)


def test_the_tree_of_a_huge_file_is_not_built(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "x = 1\n" + "# a long line that says nothing, and stands here again and again\n" * 20_000

    answer = read(file_of("x = 1"), snapshot_of(head))

    assert (answer.hunks, answer.unread, answer.fault) == (1, 0, "it is too large to be parsed as a whole")
    assert not answer.pieces[0].source.whole


@pytest.mark.slow
@pytest.mark.parametrize(("last", "whole"), [("a;b", True), ("a;b;", False)])
def test_a_file_is_parsed_as_a_whole_up_to_a_number_of_tokens(
    file_of: FileOf, snapshot_of: SnapshotOf, last: str, *, whole: bool
) -> None:
    head = "a;" * (MAX_TOKENS // 2 - 3) + f"\nx = 1\n{last}\n"
    change = file_of("x = 1", start=2)

    answer = read(change, snapshot_of(head + " " * MAX_TOKENS))

    assert [piece.source.whole for piece in answer.pieces] == [whole]


@pytest.mark.slow
def test_all_hunks_together_are_parsed_up_to_the_size_of_a_file(file_of: FileOf, bare: Snapshot) -> None:
    large = "a;" * (MAX_TOKENS // 2 - 5)

    answer = read(file_of(large, "x = 1", large, "y = 2"), bare)

    assert [piece.source.numbers[-2] for piece in answer.pieces] == [1, 1001, 3001]
    assert (answer.hunks, answer.unread) == (4, 1)


def test_of_very_many_hunks_the_first_are_parsed(file_of: FileOf, bare: Snapshot) -> None:
    answer = read(file_of(*(f"x = {number}" for number in range(1_002))), bare)

    assert (len(answer.pieces), answer.hunks, answer.unread) == (1_000, 1_002, 2)


@pytest.mark.parametrize(("length", "whole"), [(1_000_000, True), (1_000_001, False)])
def test_a_file_of_just_a_million_characters_is_parsed_as_a_whole(
    file_of: FileOf, snapshot_of: SnapshotOf, length: int, *, whole: bool
) -> None:
    head = "x = 1\n#".ljust(length, "é")

    answer = read(file_of("x = 1"), snapshot_of(head))

    assert len(head) == length
    assert [piece.source.whole for piece in answer.pieces] == [whole]


def test_of_a_hunk_that_is_too_long_nothing_is_parsed(file_of: FileOf, bare: Snapshot) -> None:
    answer = read(file_of("\n".join(["x = '" + "a" * 9_993 + "'"] * 101), "y = 2"), bare)

    assert [len(piece.tree.body) > 0 for piece in answer.pieces] == [True]
    assert (answer.hunks, answer.unread) == (2, 1)


def test_prose_is_unread(file_of: FileOf, bare: Snapshot) -> None:
    prose = "\n".join(f"no python here, line {number} of it" for number in range(20))

    answer = read(file_of(prose, "x = 1"), bare)

    assert (len(answer.pieces), answer.hunks, answer.unread) == (1, 2, 1)


def test_a_file_that_adds_nothing_has_no_pieces(file_of: FileOf, bare: Snapshot) -> None:
    assert read(file_of("-x = 1\n y = 2"), bare) == ParsedPython((), 0, 0)


def test_a_file_is_parsed_once_for_all_who_ask(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    reader, file = PythonReader(), changed_file([file_of("x = 1")], snapshot_of("x = 1\n"))

    async def ask() -> list[ParsedPython]:
        together = await asyncio.gather(*(reader.read(file) for _ in range(3)))
        return [*together, await reader.read(file)]

    first, *others = asyncio.run(ask())

    assert all(answer is first for answer in others)


def test_the_trees_of_a_file_are_gone_with_it(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    reader, file = PythonReader(), changed_file([file_of("x = 1")], snapshot_of("x = 1\n"))

    parsed = asyncio.run(reader.read(file))
    tree = ref(parsed.pieces[0].tree)
    del parsed, file

    assert tree() is None


def test_the_same_change_of_another_file_is_read_anew(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    reader, change = PythonReader(), file_of("x = 1")
    heads = ("x = 1\n", "x = 1\ny = 2\n", None)

    async def ask() -> list[ParsedPython]:
        return [await reader.read(changed_file([change], snapshot_of(head))) for head in heads]

    one, other, alone = asyncio.run(ask())

    assert len(one.pieces[0].tree.body) == 1
    assert len(other.pieces[0].tree.body) == 2
    assert alone.hunks == 1
