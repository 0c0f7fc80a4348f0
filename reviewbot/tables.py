"""Read the tables and texts that are packaged below `reviewbot/data`. They are values and never change."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache, wraps
from pkgutil import get_data
from threading import RLock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def made_once(make: Callable[P, T]) -> Callable[P, T]:
    """Like `functools.cache`, also where several threads ask at once: that one would make the value in each of them."""
    lock, kept = RLock(), cache(make)

    @wraps(make)
    def value(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return kept(*args, **kwargs)  # type: ignore[arg-type]  # what cannot be hashed raises, as there

    return value


def packaged_text(name: str) -> str:
    """The text of a file, by its path below `reviewbot/data`."""
    # On the start-up path: `importlib.resources` would take longer to load than all that is read here.
    return (get_data("reviewbot", f"data/{name}") or b"").decode()


@made_once
def packaged_table(name: str) -> dict[str, Any]:
    """The table `NAME.toml`; shared between all that ask, who must not change it."""
    return tomllib.loads(packaged_text(f"{name}.toml"))


def words_in(name: str, key: str) -> frozenset[str]:
    """One list of names or words of a table, as a set."""
    return frozenset(packaged_table(name)[key])


@made_once
def pattern_in(name: str, key: str) -> re.Pattern[str]:
    """One regular expression of a table, whole or in pieces, compiled; upper and lower case are one."""
    return re.compile("".join(packaged_table(name)[key]), re.IGNORECASE)
