"""Trees: made of any text without a word, and walked without leaving out a node that says something."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest

from reviewbot.analyzers.python import views
from reviewbot.analyzers.python.views import below, parts
from reviewbot.context.python_text import tree_of

EVERYTHING = """
import os, sys as system
from a.b import c as d
global g
@decorated(1, *args, key=2, **rest)
class A(Base, metaclass=M):
    x: int = 1
    async def f(self, a, /, b=1, *c, d, e=2, **h) -> str:
        async with x as y, z:
            await f()
        async for i in j:
            yield i
        return (yield from k)
def f(*, a, b=1):
    nonlocal g
    try:
        del x[1:2:3], y.z
    except* (A, B) as error:
        raise C from error
    else:
        pass
    finally:
        assert x, "text"
match x:
    case {"a": 1, **rest} | [1, *others] | C(1, b=2) | None | (1 as one) if y:
        x = {**a, "b": 1, c: [d for d in e if d async for f in g]}
    case _:
        lambda a, *b: (a if b else c, not a, -b, a < b in c, a and b or c)
while x := f"{a!r:>{b}}" + b"c":
    x += y @ z ** 2
    break
else:
    for a, *b in {1, 2}:
        continue
"""
"""A text with every kind of node; what it means does not matter."""

SOURCES = sorted(Path(views.__file__).parent.rglob("*.py"))


def telling(node: ast.AST) -> list[ast.AST]:
    """What Python's own walk finds below a node, without the marks of names that are read or written."""
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]


def test_the_parts_of_every_kind_of_node_are_those_that_python_tells() -> None:
    tree = ast.parse(EVERYTHING)

    for node in ast.walk(tree):
        assert parts(node) == telling(node), type(node).__name__


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_parts_of_real_code_are_those_that_python_tells(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        assert parts(node) == telling(node)


def test_what_is_below_some_nodes_comes_in_the_order_of_the_text() -> None:
    first, second = ast.parse("a = b + c\nd(e)").body

    names = [node.id for node in below(first, second) if isinstance(node, ast.Name)]

    assert names == ["a", "b", "c", "d", "e"]


def test_a_node_is_below_itself() -> None:
    name = ast.Name("a", ast.Load())

    assert list(below(name)) == [name]


def test_a_deep_tree_is_walked_without_going_deep() -> None:
    tree = tree_of("x = " + "a" + ".a" * 2_000)

    assert tree is not None
    assert sum(isinstance(node, ast.Attribute) for node in below(tree)) == 2_000


@pytest.mark.parametrize("text", ["x = (", "\0", "(" * 400, "-" * 20_000 + "1", "é\ud800"])
def test_a_text_that_cannot_be_parsed_has_no_tree(text: str) -> None:
    assert tree_of(text) is None


def test_what_python_thinks_of_a_text_is_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        assert tree_of("x = '\\d'\nx is 1") is not None
