"""One coroutine, and the moments at which a stop may come."""

from __future__ import annotations

import asyncio
import os
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import pytest

from reviewbot.cli.running import run_to_end


def test_what_the_work_returns_is_what_comes_back() -> None:
    assert run_to_end(lambda: asyncio.sleep(0, "done")) == "done"


def test_a_result_is_never_written_out() -> None:
    """`signal.getsignal` writes out the task that is cancelled by a stop, and what is its result with it."""
    written: list[str] = []

    class Large:
        def __repr__(self) -> str:
            written.append("out")
            return "large"

    run_to_end(lambda: asyncio.sleep(0, Large()))

    assert written == []


def test_a_stop_lets_the_work_tidy_up_first() -> None:
    tidied: list[str] = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(30)
        finally:
            tidied.append("tidied")

    with pytest.raises(KeyboardInterrupt):
        run_to_end(work)
    assert tidied == ["tidied"]


def test_what_was_there_for_a_stop_is_there_again_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    run_to_end(lambda: asyncio.sleep(0))

    assert signal.getsignal(signal.SIGTERM) == before


def test_in_a_thread_of_its_own_the_work_is_done_all_the_same() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(run_to_end, lambda: asyncio.sleep(0, "done")).result() == "done"


def test_work_that_never_began_leaves_nothing_that_python_complains_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio.Runner, "run", interrupted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            run_to_end(lambda: asyncio.sleep(0))
