"""Costs that grow with the square of the data: what is a long list, and what changes in a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

AROUND = """
import numpy as np
import pandas as pd
from collections import deque

FLAGS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]

def work(rows, given, typed: list[str], number: int):
    made = [row.id for row in given]
    copied = list(given)
    short = [1, 2]
    few = [x for x in (1, 2)]
    lines = text.readlines()
    wide = {{1: 2}}
    queue = [given]
    result = []
    table = pd.DataFrame()
    args = list(given)
    for row in rows:
        {}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ok = row in made", ["list-membership"]),
        ("ok = row.id not in copied", ["list-membership"]),
        ("ok = row in typed", ["list-membership-maybe"]),
        ("ok = row in short", []),
        ("ok = row in few", []),
        ("ok = row in args", []),
        ("ok = row in FLAGS", []),
        ("ok = row in wide", []),
        ("ok = row in given", []),
        ("ok = number in made", []),
        ("ok = 1 < row in made", []),
        ("ok = row == made", []),
        ("ok = row in set(given)", ["copy-searched"]),
        ("ok = row in list(copied)", ["copy-searched"]),
        ("ok = set(given)", []),
        ("ok = row in set(row.names)", []),
        ("made = row.parts\n        ok = row in made", []),
        ("i = made.index(row)", ["list-search-maybe"]),
        ("i = rows.index(row)", ["list-search"]),
        ("i = rows.index(number)", []),
        ("i = rows.index(row, 3)", []),
        ("i = row.name.index('x')", []),
        ("i = short.count(row)", []),
        ("x = queue.pop(0)\n        queue.append(row)", ["pop-front"]),
        ("x = given.pop(0)", ["pop-front-maybe"]),
        ("result.insert(0, row)\n        result.append(1)", ["pop-front-maybe"]),
        ("x = short.pop(0)", []),
        ("x = wide.pop(0)", []),
        ("x = queue.pop()", []),
        ("x = queue.pop(1)", []),
        ("x = queue.pop(number)", []),
        ("x = queue.insert(0)", []),
        ("if not row:\n            given.pop(0)", []),
        ("result = result + [row]", ["list-regrown"]),
        ("result = [*result, row]", ["list-regrown"]),
        ("result = [*given, row]", []),
        ("result = [row]", []),
        ("result = result + row", []),
        ("result = result - [row]", []),
        ("result = []\n        result = result + [row]", []),
        ("a = b = result + [row]", []),
        ("if row not in wide:\n            result = result + [row]", []),
        ("table = pd.concat([table, row])", ["array-regrown"]),
        ("table = table.append(row)", ["array-regrown"]),
        ("given = given.append(row, ignore_index=True)", ["array-regrown"]),
        ("given = given.append(row)", []),
        ("table = np.append(table, row)", ["array-regrown"]),
        ("table = np.append(row, 1)", []),
        ("table = pd.concat(row)", []),
        ("table = load(table)", []),
        ("said = ''\n        for part in row:\n            said += part", ["text-regrown"]),
        ("number += row", []),
        ("number -= row", []),
        ("self.said += row", []),
        ("best = max(given)", ["invariant-work-maybe"]),
        ("best = max(rows)", ["invariant-work"]),
        ("best = sum(made)", ["invariant-work"]),
        ("best = max(row)", []),
        ("best = max(given, key=len)", []),
        ("best = max(self.given)", []),
        ("best = max(1, 2)", []),
        ("given.append(row)\n        best = max(given)", []),
        ("given[0] = row\n        best = max(given)", []),
        ("fill(given)\n        best = max(given)", []),
        ("print(given)\n        best = max(given)", ["invariant-work-maybe"]),
    ],
)
def test_what_a_turn_costs(rules: Callable[..., list[str]], body: str, expected: list[str]) -> None:
    assert rules(AROUND.format(body)) == expected


def test_a_list_that_grows_in_the_loop_is_told_by_another_rule(rules: Callable[..., list[str]]) -> None:
    text = """
def work(rows):
    seen = []
    while rows:
        row = rows.pop()
        if row in seen:
            continue
        seen += [row]
"""
    assert rules(text) == ["list-membership-growing"]


def test_a_text_that_grows_is_told(rules: Callable[..., list[str]]) -> None:
    text = """
def work(rows):
    text = f"head"
    for row in rows:
        text += row
    for number in range(3):
        text += "x"
"""
    assert rules(text) == ["text-regrown"]


def test_a_window_that_is_held_to_a_length_is_uncertain(rules: Callable[..., list[str]]) -> None:
    text = """
def work(rows, most):
    window = []
    for row in rows:
        window.append(row)
    while len(window) > most:
        window.pop(0)
"""
    assert rules(text) == ["pop-front-maybe"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = sum(lists, [])", ["list-sum"]),
        ("x = sum([a, b], [])", []),
        ("x = sum(lists, [1])", []),
        ("x = sum(lists)", []),
        ("for i, row in table.iterrows(): pass", ["rows-of-frame"]),
        ("x = [row for _, row in table.iterrows()]", ["rows-of-frame"]),
        ("x = table.iterrows()", []),
        ("ok = row in made", []),
        ("x = x + [1]", []),
        ("x += 'a'", []),
        ("for x in rows:\n    x = 'a'\n    x += 'b'", []),
    ],
)
def test_what_costs_without_a_loop_and_what_does_not(
    rules: Callable[..., list[str]], text: str, expected: list[str]
) -> None:
    assert rules(text) == expected


def test_a_text_is_searched_and_not_a_list(rules: Callable[..., list[str]]) -> None:
    text = """
def work(word: str, rows):
    for letter in word:
        word.index(letter)
        max(word)
        letter in set(word)
"""
    assert rules(text) == []
