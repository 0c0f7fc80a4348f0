"""What a model may say when it calls a tool: a closed object of short texts, checked before anything is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from reviewbot.config.hints import quoted
from reviewbot.diff.names import exact
from reviewbot.diff.policy import refusal

MAX_NAME = 200
MAX_QUOTE = 500
MAX_PATH = 1_000
"""Characters. Nobody means a longer one."""

_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::)[^\W\d][\w$]*){0,20}[?!]?")

Kind = Literal["path", "name", "quote", "side"]


class Refused(Exception):  # noqa: N818 - not an error: the model is told what is expected
    """A call that is not answered; its text says why, in one line for the model."""


@dataclass(frozen=True)
class Parameter:
    """One argument. All of them are texts, and all are required."""

    name: str
    kind: Kind
    description: str

    @property
    def schema(self) -> dict[str, object]:
        """Its JSON Schema, without the bounds that a provider would not check."""
        choice: dict[str, object] = {"enum": ["base", "head"]} if self.kind == "side" else {}
        return {"type": "string", **choice, "description": self.description}


def schema_of(parameters: Sequence[Parameter]) -> dict[str, object]:
    """A closed object in which everything is required."""
    return {
        "type": "object",
        "properties": {parameter.name: parameter.schema for parameter in parameters},
        "required": [parameter.name for parameter in parameters],
        "additionalProperties": False,
    }


def checked(parameters: Sequence[Parameter], arguments: Mapping[str, object]) -> dict[str, str]:
    """The arguments as texts. Raises Refused."""
    expected = {parameter.name for parameter in parameters}
    if set(arguments) != expected:
        raise Refused(f"the arguments must be exactly: {', '.join(sorted(expected))}")
    return {parameter.name: _text(parameter, arguments[parameter.name]) for parameter in parameters}


def _text(parameter: Parameter, value: object) -> str:
    if not isinstance(value, str):
        raise Refused(f"{parameter.name} must be a text, not {quoted(value)}")
    fault = _FAULTS[parameter.kind](value)
    if fault:
        raise Refused(f"{parameter.name} {fault}, not {quoted(value)}")
    # Ruby's `save!` and `Shop::open?` are looked for as words, which have no such signs.
    return value.rstrip("?!").replace("::", ".") if parameter.kind == "name" else value


def _path_fault(value: str) -> str:
    if len(value) > MAX_PATH:
        return f"must have at most {MAX_PATH} characters"
    # A part that is empty or a dot would give one file a second name, past a rule over names.
    if refusal(exact(value)) or {"", "."} & set(value.split("/")):
        return "must be a path inside the repository, such as src/app.py"
    return ""


def _name_fault(value: str) -> str:
    known = len(value) <= MAX_NAME and _NAME.fullmatch(value)
    return "" if known else f"must be a name of the code, such as total or Shop.total, of at most {MAX_NAME} characters"


def _quote_fault(value: str) -> str:
    known = len(value) <= MAX_QUOTE and value.strip() and "\n" not in value.strip()
    return "" if known else f"must be one line of the file, word for word, of at most {MAX_QUOTE} characters"


def _side_fault(value: str) -> str:
    return "" if value in {"base", "head"} else "must be base or head"


_FAULTS = {"path": _path_fault, "name": _name_fault, "quote": _quote_fault, "side": _side_fault}
