"""All tools over one repository: what is offered to a model, and what comes of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from reviewbot.config.messages import quote
from reviewbot.domain.errors import ReviewbotError
from reviewbot.domain.ports import OfferedTool, RepositorySnapshot
from reviewbot.llm.tools.arguments import Arguments, Refused, ToolLimits, ToolParameter, ToolResult, schema_of
from reviewbot.llm.tools.reading import history, list_folder, read
from reviewbot.llm.tools.search import search
from reviewbot.llm.tools.symbols import definition, uses
from reviewbot.llm.tools.view import RepositoryView
from reviewbot.redact.mask import redact
from reviewbot.tables import packaged_table

LEFT_OUT = "\n[{} more characters are left out: ask for something narrower]"


@dataclass(frozen=True)
class _Tool:
    name: str
    description: str
    parameters: tuple[ToolParameter, ...]
    run: Callable[[RepositoryView, Arguments], ToolResult]

    @property
    def offered(self) -> OfferedTool:
        return OfferedTool(self.name, self.description, schema_of(self.parameters))


_RUNS: Mapping[str, Callable[[RepositoryView, Arguments], ToolResult]] = {
    "read": read, "search": search, "definition": definition, "uses": uses, "list": list_folder, "history": history,
}  # fmt: skip


@cache
def _packaged_tools() -> tuple[_Tool, ...]:
    """The tools, as `data/repository_tools.toml` describes them."""
    return tuple(
        _Tool(
            name=row["name"],
            description=row["description"],
            parameters=tuple(ToolParameter(**each) for each in row["parameters"]),
            run=_RUNS[row["name"]],
        )
        for row in packaged_table("repository_tools")["tool"]
    )


_OF_SYMBOLS = frozenset({"definition", "uses"})
_OF_FILES = frozenset({"list", "history"})
"""Tools that name files or commits and show no code."""


class RepositoryTools:
    """Tools for all conversations of one review. Safe to use from several tasks and threads."""

    def __init__(
        self,
        snapshot: RepositorySnapshot,
        limits: ToolLimits | None = None,
        mask: Callable[[str], str] | None = None,
        private: Sequence[str] = (),
        *,
        symbols: bool = False,
    ) -> None:
        """Hold the tools against one change.

        Args:
            snapshot: both sides of the change.
            limits: bounds of each call.
            mask: a text with masked secrets and as many lines as before; None: `redact`.
            private: globs of files that no model is shown, from the base side's settings.
            symbols: whether definitions and uses are looked up as well, beside what a search finds.
        """
        self._mask = mask or (lambda text: redact(text, keep_lines=True))
        self.view = RepositoryView(snapshot, limits or ToolLimits(), self._mask, private)
        self._tools = {tool.name: tool for tool in _packaged_tools() if symbols or tool.name not in _OF_SYMBOLS}

    def list_tools(self, *, of_code: bool = False) -> tuple[OfferedTool, ...]:
        """The tools as they are described to a model, always in the same order; `of_code`: those that show code."""
        return tuple(tool.offered for tool in self._tools.values() if not of_code or tool.name not in _OF_FILES)

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        """Answer one call. What cannot be answered is said in a result that `failed`; nothing is raised."""
        tool = self._tools.get(name)
        if tool is None:
            return ToolResult(f"there is no tool {quote(name)}; there are: {', '.join(self._tools)}", failed=True)
        try:
            given = Arguments(tool.parameters, arguments)
            result = await asyncio.to_thread(tool.run, self.view, given)
        except Refused as refused:
            result = ToolResult(str(refused), failed=True)
        except (ReviewbotError, OSError) as error:
            # The type alone: the text may name files of this machine.
            result = ToolResult(f"it could not be read ({type(error).__name__})", failed=True)
        return replace(result, text=self._sendable(result.text))

    def _sendable(self, text: str) -> str:
        """A text without halves of surrogates, masked once more as a whole, and of bounded length."""
        text = self._mask(text.encode("utf-8", "replace").decode("utf-8"))
        most = self.view.limits.chars
        if len(text) <= most:
            return text
        end = text.rfind("\n", 0, most)
        end = most if end < 0 else end
        return text[:end] + LEFT_OUT.format(len(text) - end)
