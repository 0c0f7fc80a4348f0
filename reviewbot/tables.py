"""Read the tables and texts that are packaged below `reviewbot/data`. They are values and never change."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pkgutil import get_data
from typing import Any


def packaged_text(name: str) -> str:
    """The text of a file, by its path below `reviewbot/data`."""
    # On the start-up path: `importlib.resources` would take longer to load than all that is read here.
    return (get_data("reviewbot", f"data/{name}") or b"").decode()


@cache
def packaged_table(name: str) -> dict[str, Any]:
    """The table `NAME.toml`; shared between all that ask, who must not change it."""
    return tomllib.loads(packaged_text(f"{name}.toml"))


def words_in(name: str, key: str) -> frozenset[str]:
    """One list of names or words of a table, as a set."""
    return frozenset(packaged_table(name)[key])


@cache
def pattern_in(name: str, key: str) -> re.Pattern[str]:
    """One regular expression of a table, compiled; upper and lower case are one."""
    return re.compile(packaged_table(name)[key], re.IGNORECASE)
