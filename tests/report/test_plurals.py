"""Numbers in messages have a noun that fits them: "1 file", never "1 files"."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "reviewbot"
FOR_MODELS = {"llm/tools", "llm/prompts"}
"""What these write is read by models alone."""
PLURAL = re.compile(r" (?:(?:more|new|other|further|changed) )?[a-z]{2,}[^sui]s\b")


def plurals_behind_a_length(source: str) -> list[str]:
    """Parts of formatted texts in which a length stands before a plural, whatever it is."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, text in zip(node.values, node.values[1:], strict=False):
            is_length = isinstance(number, ast.FormattedValue) and ast.unparse(number.value).startswith("len(")
            if is_length and isinstance(text, ast.Constant) and PLURAL.match(str(text.value)):
                found.append(ast.unparse(node))
    return found


def test_the_check_sees_a_plural_behind_a_length_and_nothing_else() -> None:
    assert plurals_behind_a_length('f"{len(a)} files"') == ["f'{len(a)} files'"]
    assert plurals_behind_a_length('f"{len(a):,} more files here"') == ["f'{len(a):,} more files here'"]
    assert plurals_behind_a_length('f"{a} files"; f"{len(a)} is less"; f"{len(a)} of them"; f"{len(a)}"') == []


@pytest.mark.slow
def test_no_message_counts_with_a_fixed_plural() -> None:
    paths = [
        path for path in sorted(PACKAGE.rglob("*.py")) if path.parent.relative_to(PACKAGE).as_posix() not in FOR_MODELS
    ]

    wrong = [f"{path.name}: {text}" for path in paths for text in plurals_behind_a_length(path.read_text("utf-8"))]

    assert len(paths) > 300
    assert wrong == []
