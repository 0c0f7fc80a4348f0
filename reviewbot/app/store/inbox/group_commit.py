"""Commit several threads' writes in one transaction: all of them wait for the disk once, at the same time.

A thread hands in what it wants and waits for its turn. The one that has the turn carries out all that was handed in
until then; those whose answer is there when their turn comes have nothing to do.
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
        self.answers: list[A] = []
        self.error: Exception | None = None


class GroupCommit(Generic[Q, A]):
    """Answers requests of many threads in batches. `answer_all` gives one answer for each request."""

    def __init__(self, answer_all: Callable[[list[Q]], list[A]]) -> None:
        self._answer_all = answer_all
        self._lock = Lock()
        self._turn = Lock()
        self._waiting: list[_Asked[Q, A]] = []

    def ask(self, question: Q) -> A:
        """The answer. What `answer_all` raises is raised for every question of the batch."""
        asked: _Asked[Q, A] = _Asked(question)
        with self._lock:
            self._waiting.append(asked)
        with self._turn:
            if not asked.answers and asked.error is None:
                self._answer_batch()
        if asked.error is not None:
            raise asked.error
        return asked.answers[0]

    def _answer_batch(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        try:
            for asked, answer in zip(batch, self._answer_all([each.question for each in batch]), strict=True):
                asked.answers.append(answer)
        except Exception as error:  # noqa: BLE001 - it is raised again, by everyone who waits for it
            for asked in batch:
                asked.error = error
