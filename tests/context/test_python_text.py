"""Names in Python's syntax trees."""

from __future__ import annotations

import ast

import pytest

from reviewbot.context.python_text import dotted_name, imported_names


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import a.b, c as d", [("a", "a"), ("d", "c")]),
        ("from a.b import c as d, e", [("d", "a.b.c"), ("e", "a.b.e")]),
        ("from . import c", [("c", "..c")]),
        ("from .b import c", [("c", ".b.c")]),
    ],
)
def test_an_import_binds_names_for_what_stands_behind_them(code: str, expected: list[tuple[str, str]]) -> None:
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.Import | ast.ImportFrom)

    assert imported_names(node) == expected


@pytest.mark.parametrize(
    ("code", "expected"), [("a", "a"), ("a.b.c", "a.b.c"), ("a().b", ""), ("a[0].b", ""), ("1", "")]
)
def test_a_dotted_name_is_names_alone(code: str, expected: str) -> None:
    assert dotted_name(ast.parse(code, mode="eval").body) == expected


def test_nothing_has_no_name() -> None:
    assert dotted_name(None) == ""
