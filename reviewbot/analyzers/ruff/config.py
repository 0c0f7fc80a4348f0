"""The reviewed repository's own configuration of ruff, read as data: from the base side only, and never by ruff itself.

Nothing that it names is opened, and what is not understood is left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reviewbot.domain.ports import Snapshot

_NAMES = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""In the order in which ruff takes them, in each folder from the file's own up to the top."""

_LARGEST = 64 * 1024
"""Characters. A configuration for people is far shorter."""

_MOST_DOTS = 300
"""On one line. Python's TOML reader needs half a minute for a key of thirty thousand parts."""

_DEEPEST = 40
"""Folders."""


@dataclass(frozen=True)
class RuffConfig:
    """One configuration."""

    label: str
    """Its path, for messages."""
    folder: str
    """The folder that it is for, with a "/" at its end; empty for the top."""
    text: str
    values: dict[str, Any]
    """Ruff's own table. Anything may stand in it."""
    requires_python: str = ""
    """The versions that the project says it is for; ruff asks this where its own table says nothing."""


def find_config(
    snapshot: Snapshot, path: str, parse: Callable[[str], dict[str, Any] | None] | None = None
) -> RuffConfig | None:
    """The configuration that ruff would take for a file of the base side; None where there is none of use.

    `parse` is `parse_config`, or one that remembers.
    """
    folders = path.split("/")[:-1]
    for depth in range(min(len(folders), _DEEPEST), -1, -1):
        folder = "".join(f"{name}/" for name in folders[:depth])
        for name in _NAMES:
            text = snapshot.base(folder + name)
            if text is None:
                continue
            values = (parse or parse_config)(text)
            config = _config(folder, name, text, {} if values is None else values)
            # Beside a pyproject.toml of other programs ruff goes on searching; a broken file ends the search.
            if config is not None or values is None:
                return config
    return None


def parse_config(text: str) -> dict[str, Any] | None:
    """Parse a TOML document; None where it is none, or has a size or keys that no hand-written one has."""
    if len(text) > _LARGEST or any(line.count(".") > _MOST_DOTS for line in text.split("\n")):
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # also a number with more digits than Python converts
        return None


def inner(values: dict[str, Any], key: str) -> dict[str, Any]:
    """A table in a table; empty where there is something else."""
    found = values.get(key)
    return found if isinstance(found, dict) else {}


def _config(folder: str, name: str, text: str, values: dict[str, Any]) -> RuffConfig | None:
    """A configuration of ruff; None for a file that has none."""
    if name != "pyproject.toml":
        return RuffConfig(folder + name, folder, text, values) if values else None
    table = inner(inner(values, "tool"), "ruff")
    requires = inner(values, "project").get("requires-python")
    return (
        RuffConfig(folder + name, folder, text, table, requires if isinstance(requires, str) else "") if table else None
    )
