"""Locks that a file still takes and no longer gives back."""

from __future__ import annotations

from typing import Any

import pytest

BASE = "func (s *Store) Get() int {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn s.n\n}\n"


def test_a_lock_that_is_not_given_back_is_told_at_the_line_where_it_was(said: Any) -> None:
    found = said(BASE, BASE.replace("\tdefer s.mu.Unlock()\n", ""), path="store/a.go")["removed-unlock"]

    assert found.message == "`s.mu` is locked as before, and not unlocked here any more."
    assert (found.side, found.near) == ("old", 3)


@pytest.mark.parametrize(
    "head",
    [
        BASE.replace("\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n", ""),
        BASE.replace("\tdefer s.mu.Unlock()\n\treturn s.n\n", "\tn := s.n\n\ts.mu.Unlock()\n\treturn n\n"),
        BASE.replace("defer s.mu.Unlock()", "t.Cleanup(s.mu.Unlock)"),
        BASE.replace("defer s.mu.Unlock()", "defer s.unlockAll()"),
        "package store\n",
    ],
    ids=["with the lock", "elsewhere", "handed on", "a helper", "all is gone"],
)
def test_a_lock_that_is_given_back_elsewhere_draws_nothing(said: Any, head: str) -> None:
    assert said(BASE, head, path="store/a.go") == {}


def test_a_lock_that_was_given_back_more_often_than_taken_is_not_counted(said: Any) -> None:
    base = BASE.replace("\tdefer", "\tif s.n > 0 {\n\t\ts.mu.Unlock()\n\t\treturn 0\n\t}\n\tdefer")

    assert said(base, base.replace("\t\ts.mu.Unlock()\n", ""), path="store/a.go") == {}
