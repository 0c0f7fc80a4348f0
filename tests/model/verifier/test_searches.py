"""A word is searched for once for all candidates of a task."""

from __future__ import annotations

from typing import Any

from reviewbot.model.searches import SearchedOnce
from reviewbot.ports import Commit, Occurrence

LINES = tuple(Occurrence("a.py", line, "word") for line in range(1, 6))


class Tree:
    """A snapshot that writes down its searches."""

    def __init__(self, found: tuple[Occurrence, ...] | None = LINES) -> None:
        self.found = found
        self.asked: list[tuple[str, int]] = []

    def head(self, path: str) -> str | None:
        return f"head of {path}"

    def base(self, path: str) -> str | None:
        return f"base of {path}"

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        self.asked.append((word, limit))
        return None if self.found is None else self.found[:limit]

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return (Commit("abc", "2026-01-01", f"{path} {first}-{last} of {limit}"),)


def test_the_second_question_for_a_word_is_answered_from_the_first() -> None:
    tree = Tree()
    once = SearchedOnce(tree)

    assert [once.search("word", limit) for limit in (3, 3, 1)] == [LINES[:3], LINES[:3], LINES[:1]]
    assert tree.asked == [("word", 3)]


def test_more_lines_than_before_are_searched_for_again() -> None:
    tree = Tree()
    once = SearchedOnce(tree)

    assert [once.search("word", limit) for limit in (1, 4)] == [LINES[:1], LINES[:4]]
    assert tree.asked == [("word", 1), ("word", 4)]


def test_that_nothing_can_be_searched_is_kept_too() -> None:
    tree = Tree(None)
    once = SearchedOnce(tree)

    assert [once.search("word", 2), once.search("word", 2)] == [None, None]
    assert len(tree.asked) == 1


def test_everything_else_is_the_snapshots(no_snapshot: Any) -> None:
    once = SearchedOnce(Tree())

    assert (once.head("a"), once.base("a")) == ("head of a", "base of a")
    assert once.history("a", 1, 2, 3) == Tree().history("a", 1, 2, 3)
    assert SearchedOnce(no_snapshot).head("a") is None
