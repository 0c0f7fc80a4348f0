"""The tests that SECURITY.md names as showing what it says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = sorted(set(re.findall(r"`(tests/[a-z_/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text("utf-8"))))


def test_the_page_names_tests() -> None:
    assert len(NAMED) > 20


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_the_page_names_is_a_test(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    functions = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}

    assert (name or "test_").startswith("test_")
    assert name in functions if name else any(each.startswith("test_") for each in functions)
