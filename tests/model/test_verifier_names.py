"""Names that a finding speaks of are looked for, and what is nowhere tells against it; what is only wished does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Finding, ReviewTask
from reviewbot.model.names import MAX_SEARCHED, Lookup, looked_up
from reviewbot.ports import Commit, Occurrence

LookUp = Callable[..., Lookup]


class Words:
    """A snapshot that knows some words, or cannot search; it writes down what it was asked for."""

    def __init__(self, *words: str, searchable: bool = True) -> None:
        self.words = words
        self.searchable = searchable
        self.asked: list[str] = []

    def head(self, path: str) -> str | None:
        return None

    def base(self, path: str) -> str | None:
        return None

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        self.asked.append(word)
        if not self.searchable:
            return None
        return (Occurrence("lib.py", 1, word),) if word in self.words else ()

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return ()


@pytest.fixture(name="task", scope="session")
def _task(a_task: Any, a_payload: Any) -> ReviewTask:
    task: ReviewTask = a_task(payload=a_payload("-old_guard(user)\n+save_user(user)"))
    return task


@pytest.fixture(name="look")
def _look(task: ReviewTask, a_finding: Callable[..., Finding]) -> LookUp:
    def look(message: str, snapshot: Words | None = None) -> Lookup:
        return looked_up(a_finding(message=message), task, snapshot or Words("elsewhere"))

    return look


@pytest.mark.parametrize(
    "message",
    [
        "`flush_ghost` is called twice",
        "`flush_ghost()` is called twice",
        "`flush_ghost` returns `None` and raises `ValueError`",
        "both `flush_ghost` and `flush_ghost` are called",
    ],
)
def test_a_message_that_names_only_what_does_not_exist_is_baseless(message: str, look: LookUp) -> None:
    assert look(message) == Lookup(("flush_ghost",), baseless=True)


@pytest.mark.parametrize(
    "message",
    [
        "`flush_ghost` is called by `save_user`",
        "`flush_ghost` is called by `elsewhere` and so on",
        "`flush_ghost` is called in `x = save_user(user)`",
        "`flush_ghost` took the place of `old_guard`",
    ],
)
def test_beside_something_that_exists_a_missing_name_is_only_told(message: str, look: LookUp) -> None:
    assert look(message) == Lookup(("flush_ghost",), baseless=False)


@pytest.mark.parametrize(
    "message",
    [
        "no name at all",
        "a word without marks: flush_ghost",
        "`save_user` drops the user",
        "`elsewhere` drops the user",
        "use `compare_digest` here",
        "the comparison should be made by `compare_digest`",
        "this raises `ZeroDivisionError`",
        "an empty list ends in `ArithmeticPanic`",
        "it returns `None` or `undefined`",
        "the module `secrets` is there for this",
        "missing call of `rollback_all`",
        "`flush_ghost(a, b)` is no plain name",
        "`ab` is too short to be looked for",
        "`src/app.py` is a path",
    ],
)
def test_nothing_is_missing_where_all_is_known_or_only_wished_for(message: str, look: LookUp) -> None:
    assert look(message) == Lookup()


def test_without_a_search_of_everything_nothing_is_missing(look: LookUp) -> None:
    assert look("`flush_ghost` is called twice", Words(searchable=False)) == Lookup()


def test_what_the_change_shows_is_not_searched_for_and_the_rest_only_so_far(look: LookUp) -> None:
    snapshot = Words()

    found = look("`save_user`, " + ", ".join(f"`ghost_{n}`" for n in range(20)), snapshot)

    assert len(found.missing) == len(snapshot.asked) == MAX_SEARCHED
    assert "save_user" not in snapshot.asked
