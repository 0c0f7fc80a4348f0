"""A tool that a model may call: checked arguments, one read within a scope, a text of bounded length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reviewbot.errors import ReviewbotError
from reviewbot.ports import OfferedTool, ToolAnswer, WorkOrder
from reviewbot.tools.reading.arguments import Parameter, Refused, checked, schema_of
from reviewbot.tools.reading.view import Scope, View

MAX_CHARS = 12_000
"""Of an answer: three thousand tokens, which every later turn of the conversation repeats."""

LEFT_OUT = "\n... the rest is left out: {} characters. Ask for something narrower."

Read = Callable[[View, Mapping[str, str]], str]


@dataclass(frozen=True)
class ReadingTool:
    """An `OwnTool`: read-only, confined to the snapshot and to the scope of the one worker that it belongs to."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    scope: Scope
    read: Read

    @property
    def offered(self) -> OfferedTool:
        """How it is described to a model."""
        return OfferedTool(self.name, self.description, schema_of(self.parameters))

    async def call(self, order: WorkOrder, arguments: Mapping[str, object]) -> ToolAnswer:
        """Answer a call; what cannot be answered is told in the answer, and is never an error."""
        try:
            given = checked(self.parameters, arguments)
            text = await asyncio.to_thread(self.read, View(order, self.scope), given)
        except Refused as refused:
            return ToolAnswer("", str(refused), failed=True)
        except (ReviewbotError, OSError) as error:
            # The type alone: the text may name files of this machine.
            return ToolAnswer("", f"it could not be read ({type(error).__name__})", failed=True)
        return ToolAnswer("", _bounded(text))


def _bounded(text: str) -> str:
    """The text as it can be sent: without halves of surrogates, and at most `MAX_CHARS` long."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= MAX_CHARS:
        return text
    end = MAX_CHARS - len(LEFT_OUT) - len(str(len(text)))
    return text[:end] + LEFT_OUT.format(len(text) - end)
