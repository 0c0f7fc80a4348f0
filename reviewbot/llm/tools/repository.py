"""All tools over one repository: what is offered to a model, and what comes of a call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from reviewbot.config.messages import quote
from reviewbot.domain.errors import ReviewbotError
from reviewbot.domain.ports import OfferedTool, RepositorySnapshot
from reviewbot.llm.tools.arguments import Arguments, Parameter, Refused, ToolLimits, ToolResult, schema_of
from reviewbot.llm.tools.reading import history, list_folder, read
from reviewbot.llm.tools.search import search
from reviewbot.llm.tools.symbols import definition, uses
from reviewbot.llm.tools.view import RepositoryView
from reviewbot.redact.mask import redact

LEFT_OUT = "\n[{} more characters are left out: ask for something narrower]"


@dataclass(frozen=True)
class _Tool:
    name: str
    description: str
    parameters: tuple[Parameter, ...]
    run: Callable[[RepositoryView, Arguments], ToolResult]

    @property
    def offered(self) -> OfferedTool:
        return OfferedTool(self.name, self.description, schema_of(self.parameters))


_FILE = Parameter("path", "path", "The file, by its path in the repository.", required=True)
_FIRST = Parameter("first", "line", "The first line, counted from 1; left out: the beginning.")
_SIDE = Parameter("side", "side", "head: as the change leaves it, which is the default; base: as it was before.")

_NAME = Parameter(
    "name",
    "pattern",
    "A name, best as the code uses it: total, Shop.total, self.cache.get, pkg.Func.",
    required=True,
)
_NEAR = Parameter("path", "path", "The file in which it is used: its imports and types tell which one is meant.")

_TOOLS = (
    _Tool(
        "read",
        "Numbered lines of a file, at most 300 in one call.",
        (_FILE, _FIRST, Parameter("last", "line", "The last line; left out: as far as one call reaches."), _SIDE),
        read,
    ),
    _Tool(
        "search",
        "The lines of the repository, as the change leaves it, that match a pattern: grouped by file, sources before "
        "tests, with line numbers.",
        (
            Parameter("pattern", "pattern", "A regular expression of RE2, which matches within a line.", required=True),
            Parameter("path", "glob", "Only files with such a path: a file, a folder, or a glob such as src/**/*.py."),
            Parameter("literal", "switch", "true: the pattern is a plain text."),
            Parameter("ignore_case", "switch", "true: upper and lower case are alike."),
        ),
        search,
    ),
    _Tool(
        "definition",
        "The whole code of a function, method, class, type or constant (Python, TypeScript, JavaScript, Go), and where "
        "else its name is defined.",
        (_NAME, _NEAR),
        definition,
    ),
    _Tool(
        "uses",
        "Every line that uses a name, with the function around it: sources before tests, definitions left out.",
        (_NAME, _NEAR),
        uses,
    ),
    _Tool(
        "list",
        "The files below a folder, and how many lie in the folders that are too deep to be shown.",
        (Parameter("path", "path", "The folder; left out: the whole repository."),),
        list_folder,
    ),
    _Tool(
        "history",
        "The last commits that changed a file, before the change: date and subject, the newest first.",
        (_FILE,),
        history,
    ),
)
_OF_SYMBOLS = frozenset({"definition", "uses"})


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
        self._tools = {tool.name: tool for tool in _TOOLS if symbols or tool.name not in _OF_SYMBOLS}

    def list_tools(self) -> tuple[OfferedTool, ...]:
        """The tools as they are described to a model, always in the same order."""
        return tuple(tool.offered for tool in self._tools.values())

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
