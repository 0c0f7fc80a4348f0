"""Strict JSON, which every parser reads alike: parse what others wrote before it is trusted, and write our own."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_RUNNER_COMMAND = re.compile(r"##(?=[A-Za-z]{0,20}\[)")
"""How a command begins that a runner obeys anywhere in a line of its log; see `report.text.escape_runner_commands`."""


class StrictJsonError(ValueError):
    """JSON that can be read in more than one way; its words quote nothing of it but the name of a constant."""


def strictly(text: str | bytes) -> Any:  # noqa: ANN401 - a value of JSON may be anything
    """The value of a text.

    Raises StrictJsonError for a key that stands twice (of two, each reader would believe another), for numbers that are
    none or too large, and for what is nested too deeply; ValueError where it is no JSON at all.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise StrictJsonError("it is nested too deeply") from None


def mend_surrogates(value: Any) -> Any:  # noqa: ANN401 - as above
    """A copy of a JSON value without lone surrogates: halves of a pair that meet are joined, others are U+FFFD.

    JSON can write half a surrogate pair, and neither UTF-8 nor a contract takes one.
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value


def a_dict(value: object) -> dict[str, Any]:
    """The value where it is an object; empty else."""
    return value if isinstance(value, dict) else {}


def a_list(value: object) -> list[Any]:
    """The value where it is an array; empty else."""
    return value if isinstance(value, list) else []


def write_json(value: object, *, indent: int | None = None) -> str:
    """The JSON text of a value, as `for_logs`, without a last LF. Raises ValueError for NaN and infinity."""
    return for_logs(json.dumps(value, indent=indent, allow_nan=False))


def for_logs(text: str) -> str:
    """The same values in a JSON text of ASCII without a DEL, or the start of a command that a CI runner obeys."""
    # Outside of a string there is neither a DEL nor a "#".
    return _RUNNER_COMMAND.sub(r"#\\u0023", text.replace("\x7f", "\\u007f"))


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(found := dict(pairs)) != len(pairs):
        raise StrictJsonError("a key stands twice in one of its objects")
    return found


def _no_number(name: str) -> NoReturn:
    raise StrictJsonError(f"{name} is no number")


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise StrictJsonError("a number in it is too large")
    return number
