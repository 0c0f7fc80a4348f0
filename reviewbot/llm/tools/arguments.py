"""Arguments of a tool call, a closed object that is checked first, and its results with the limits of their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from reviewbot.config.globs import glob_fault
from reviewbot.config.messages import quote
from reviewbot.diff.parser.file_names import exact
from reviewbot.diff.policy import refusal

MAX_PATTERN = 400
"""Characters of what is searched for."""

MAX_PATH = 1_000
MAX_LINE = 10_000_000

Kind = Literal["path", "glob", "pattern", "line", "side", "switch"]

Side = Literal["head", "base"]


@dataclass(frozen=True)
class ToolParameter:
    """One argument of a tool."""

    name: str
    kind: Kind
    description: str
    required: bool = False

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON Schema."""
        choice: dict[str, object] = {"enum": ["head", "base"]} if self.kind == "side" else {}
        return {"type": _TYPES[self.kind], **choice, "description": self.description}


_TYPES: Mapping[Kind, str] = {
    "path": "string",
    "glob": "string",
    "pattern": "string",
    "line": "integer",
    "side": "string",
    "switch": "boolean",
}


def schema_of(parameters: Sequence[ToolParameter]) -> dict[str, object]:
    """The JSON Schema of all arguments: a closed object."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


class Arguments:
    """Checked arguments, by name. What was not given has a default."""

    def __init__(self, parameters: Sequence[ToolParameter], given: Mapping[str, object]) -> None:
        """Raises Refused."""
        given = {name: value for name, value in given.items() if value is not None}
        known = {parameter.name: parameter for parameter in parameters}
        strange = sorted(set(given) - set(known))
        if strange:
            raise Refused(f"unknown argument {quote(strange[0])}; the arguments are: {', '.join(known)}")
        missing = [parameter.name for parameter in parameters if parameter.required and parameter.name not in given]
        if missing:
            raise Refused(f"{missing[0]} is missing")
        self._values = {name: _checked(known[name], value) for name, value in given.items()}

    def text(self, name: str) -> str:
        """A path, a glob or a pattern; empty where it was not given."""
        return str(self._values.get(name, ""))

    def number(self, name: str, default: int) -> int:
        """A line."""
        return cast("int", self._values.get(name, default))

    def switch(self, name: str) -> bool:
        """A switch; off where it was not given."""
        return self._values.get(name) is True

    @property
    def side(self) -> Side:
        """Of the change: the head where nothing else was asked for."""
        return "base" if self._values.get("side") == "base" else "head"


_EXPECTED: Mapping[Kind, str] = {
    "switch": "true or false",
    "line": "the number of a line from 1",
    "side": "head or base",
}


def _checked(parameter: ToolParameter, value: object) -> str | int | bool:
    match parameter.kind, value:
        case "switch", bool():
            return value
        case "line", int() if not isinstance(value, bool) and 0 < value <= MAX_LINE:
            return value
        case "side", "head" | "base":
            return str(value)
        case "path", str():
            return _path(parameter, value)
        case "glob", str():
            fault = f"{quote(value)} {fault}" if value and (fault := glob_fault(value)) else ""
        case "pattern", str():
            fault = (
                "" if 0 < len(value) <= MAX_PATTERN else f"must have 1 to {MAX_PATTERN} characters, not {len(value)}"
            )
        case _:
            fault = f"must be {_EXPECTED.get(parameter.kind, 'a text')}, not {quote(value)}"
    if fault:
        raise Refused(f"{parameter.name} {fault}")
    return str(value)


def _path(parameter: ToolParameter, value: str) -> str:
    """A path in the one form that rules over names know; "." and "/" at its ends are dropped. Empty: the top."""
    path = value.removesuffix("/")
    while path.startswith("./"):
        path = path[2:]
    if path in {"", "."}:
        if parameter.required:
            raise Refused(f"{parameter.name} must be a path inside the repository, such as src/app.py")
        return ""
    if len(path) > MAX_PATH or refusal(exact(path)) or {"", "."} & set(path.split("/")):
        raise Refused(f"{parameter.name} must be a path inside the repository, such as src/app.py, not {quote(value)}")
    return path


class Refused(Exception):  # noqa: N818 - no error: the model is shown what is expected
    """A call that is not answered; its text says why, in one line for the model."""


@dataclass(frozen=True)
class EvidenceEntry:
    """Consecutive lines of a file that a tool has shown, with masked secrets, without line ends."""

    path: str
    side: Side
    first: int
    """Of the lines, counted from 1."""
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class ToolResult:
    """The answer to one call. `text` is data of the repository: the sender puts it between fences."""

    text: str
    failed: bool = False
    evidence: tuple[EvidenceEntry, ...] = ()


@dataclass(frozen=True)
class ToolLimits:
    """Bounds of one call."""

    read_lines: int = 300
    line_chars: int = 400
    """Of a line that is shown; the rest of a longer one is left out."""
    matches: int = 60
    """Lines that a search shows."""
    matches_per_file: int = 12
    matches_counted: int = 1_000
    """Lines of one file that are counted."""
    uses: int = 400
    """Lines after which uses of a name are not looked for any further."""
    search_bytes: int = 512 * 2**20
    """Of files that one search reads."""
    search_seconds: float = 20.0
    listed: int = 200
    """Entries of an outline."""
    commits: int = 10
    chars: int = 16_000
    """Of an answer: about 4,000 tokens."""
