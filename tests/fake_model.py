"""A model that answers from a list and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from reviewbot.domain.contracts import Usage
from reviewbot.domain.ports import ModelReply, ModelRequest

FOREVER_S = 3600
"""Longer than any test lasts; a deadline ends it."""


class FakeModel:
    """Answers in turn, with the last answer again and again; keeps the requests.

    An answer is a reply, an error to raise, a text, a value that becomes JSON, or None, which never comes.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        if answer is None:
            await asyncio.sleep(FOREVER_S)
            raise AssertionError("no test waits that long")
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ModelReply(text, (), "end", Usage(calls=1), "cheap-1")
