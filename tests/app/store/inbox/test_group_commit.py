from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from reviewbot.app.store.inbox.group_commit import GroupCommit


def test_each_gets_its_own_answer() -> None:
    together: GroupCommit[int, int] = GroupCommit(lambda asked: [2 * each for each in asked])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(together.ask, range(200)))

    assert answers == [2 * each for each in range(200)]


def test_who_comes_while_others_are_waited_for_is_answered_with_the_next_batch() -> None:
    batches: list[list[int]] = []
    begun, go_on = Event(), Event()

    def answer(asked: list[int]) -> list[int]:
        batches.append(asked)
        begun.set()
        assert go_on.wait(60)
        return asked

    together = GroupCommit(answer)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(together.ask, 0)
        assert begun.wait(60)
        others = [pool.submit(together.ask, each) for each in range(1, 5)]
        while len(together._waiting) < 4:
            pass
        go_on.set()
        answers = [each.result(10) for each in (first, *others)]

    assert answers == [0, 1, 2, 3, 4]
    assert [len(batch) for batch in batches] == [1, 4]


def test_what_breaks_breaks_for_the_whole_batch_and_not_for_the_next() -> None:
    def answer(asked: list[int]) -> list[int]:
        if 13 in asked:
            raise ValueError("no 13")
        return asked

    together = GroupCommit(answer)

    with pytest.raises(ValueError, match="no 13"):
        together.ask(13)
    assert together.ask(14) == 14


def test_all_at_once_are_all_answered() -> None:
    barrier = Barrier(6)
    together: GroupCommit[int, int] = GroupCommit(lambda asked: asked)

    def ask(number: int) -> int:
        barrier.wait(60)
        return together.ask(number)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(ask, range(6))) == list(range(6))
