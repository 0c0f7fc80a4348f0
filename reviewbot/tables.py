"""Read the tables and texts that are packaged below `reviewbot/data`. They are values and never change."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


def packaged_text(name: str) -> str:
    """The text of a file, by its path below `reviewbot/data`."""
    return files("reviewbot").joinpath("data", name).read_text("utf-8")


@cache
def packaged_table(name: str) -> dict[str, Any]:
    """The table `NAME.toml`; shared between all that ask, who must not change it."""
    return tomllib.loads(packaged_text(f"{name}.toml"))


def words_in(name: str, key: str) -> frozenset[str]:
    """One list of names or words of a table, as a set."""
    return frozenset(packaged_table(name)[key])
