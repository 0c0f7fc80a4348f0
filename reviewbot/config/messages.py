"""Build error messages about configuration: values quoted safely, and the nearest name that exists."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches

from reviewbot.domain.errors import ConfigError

MAX_FILE_BYTES = 64 * 1024
"""Of a settings file, a card or a prompt. Larger ones are not written by hand."""

_MAX_DOT_WORK = 1_000_000
"""Sum over the lines of their dots squared. tomllib's time for a name grows with the square of its dotted parts: a file
of 40 KB took 13 s. A thousand dots on one line take about 30 ms, and no file needs them."""

_KEY_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"\\\n]*"|'[^'\n]*'""")
_DOTTED = rf"\s*((?:{_KEY_PART.pattern})(?:\s*\.\s*(?:{_KEY_PART.pattern}))*)\s*"
_HEADER, _ASSIGNMENT = re.compile(rf"\s*\[\[?{_DOTTED}\]"), re.compile(rf"{_DOTTED}=")

_MAX_DEPTH = 8
"""Names of a key's path of which lines are kept; no setting has half as many, and each length costs a copy."""
_SHOWN = 60
"""Characters of a foreign text that an error message repeats."""


def quote(value: object) -> str:
    """A value of a foreign file for one line of a terminal: escaped and cut. Tables and arrays are only named."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > _SHOWN:
        return "a huge number"
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def nearest(name: str, known: Iterable[str]) -> str:
    """How an error about an unknown name goes on: the nearest known one, or all of them."""
    names = sorted(known)
    return did_you_mean(name, names) or (f"known: {', '.join(names)}" if names else "none is known")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question whether the nearest known name is meant; empty where none is near."""
    close = get_close_matches(name[:_SHOWN], sorted(known), n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def read_toml(where: str, text: str) -> dict[str, object]:
    """The table of a TOML file. Raises ConfigError that begins with `where`, for any text at all."""
    check_size(where, text)
    if sum(line.count(".") ** 2 for line in text.split("\n")) > _MAX_DOT_WORK:
        raise ConfigError(f"{where}: has too many dots on a line; dotted names must be short")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ConfigError(f"{where}: is nested too deeply") from None
    except ValueError as error:  # also numbers with more digits than Python converts
        raise ConfigError(f"{where}: is not valid TOML: {_one_line(str(error))}") from None


def find_key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key of a TOML file is first set, by its path; a table has that of its first key or header.

    Keys within inline tables, and keys with escapes, are not found. A line of a multi-line text may be taken for a key:
    the numbers are for messages alone.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if match := _HEADER.match(line):
            table = path = _key_path(match[1])
        elif match := _ASSIGNMENT.match(line):
            path = table + _key_path(match[1])
        else:
            continue
        for length in range(1, min(len(path), _MAX_DEPTH) + 1):
            found.setdefault(path[:length], number)
    return found


def _key_path(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _KEY_PART.findall(text))


def check_size(where: str, text: str) -> None:
    """Raise ConfigError where a file is longer than a person would write."""
    if len(text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        raise ConfigError(f"{where}: is larger than {MAX_FILE_BYTES // 1024} KiB")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:200]
