"""Commit several threads' writes in one transaction: all of them wait for the disk once, at the same time.

The first thread leads: it carries out what waits, itself included. Threads that come meanwhile wait, and the first of
those leads next.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class _Asked(Generic[Q, A]):
    """One question and, in the end, its answer or why there is none."""

    def __init__(self, question: Q) -> None:
        self.question = question
        self.answer: A | None = None
        self.error: Exception | None = None
        self.leads = False
        self.woken = Lock()
        """Held until the leader wakes the thread: an `Event` is ten times the work, which each delivery would pay."""
        self.woken.acquire()


class Together(Generic[Q, A]):
    """Answers requests of many threads in batches. `answer_all` gives one answer for each request."""

    def __init__(self, answer_all: Callable[[list[Q]], list[A]]) -> None:
        self._answer_all = answer_all
        self._lock = Lock()
        self._leading = False
        self._waiting: list[_Asked[Q, A]] = []

    def ask(self, question: Q) -> A:
        """The answer. What `answer_all` raises is raised for every question of the batch."""
        asked: _Asked[Q, A] = _Asked(question)
        with self._lock:
            asked.leads = not self._leading
            self._leading = True
            if not asked.leads:
                self._waiting.append(asked)
        if not asked.leads:
            asked.woken.acquire()
        if asked.leads:
            self._lead(asked)
        if asked.error is not None:
            raise asked.error
        return asked.answer  # type: ignore[return-value] # it is there where there is no error

    def _lead(self, first: _Asked[Q, A]) -> None:
        with self._lock:
            batch = [first, *self._waiting]
            self._waiting = []
        try:
            for asked, answer in zip(batch, self._answer_all([each.question for each in batch]), strict=True):
                asked.answer = answer
        except Exception as error:  # noqa: BLE001 - it is raised again, by everyone who waits for it
            for asked in batch:
                asked.error = error
        with self._lock:
            following = self._waiting.pop(0) if self._waiting else None
            self._leading = following is not None
        if following is not None:
            following.leads = True
            following.woken.release()
        for asked in batch[1:]:
            asked.woken.release()
