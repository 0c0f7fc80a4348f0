"""What `paths` of a `tsconfig.json` or `jsconfig.json` say that an import stands for. A configuration is data here."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable
from functools import lru_cache

from reviewbot.strict_json import a_dict

_NAMES = ("tsconfig.json", "jsconfig.json")
MAX_CHARS = 100_000
"""Of a configuration."""

MAX_EXTENDED = 3
"""Configurations that one is built on."""

_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def alias_target(module: str, near: str, read: Callable[[str], str | None]) -> str:
    """The module that an import by an alias means, relative to the file that has it; empty where that is not certain.

    Args:
        module: as it is written, "@/lib/price".
        near: the path of the file that imports it.
        read: the text of a file of the tree, None where there is none.
    """
    folder = posixpath.dirname(near)
    while True:
        name = next((each for each in _NAMES if read(posixpath.join(folder, each)) is not None), None)
        if name is not None:
            target = _target(module, posixpath.join(folder, name), read, MAX_EXTENDED)
            relative = posixpath.relpath(target, posixpath.dirname(near) or ".") if target else ""
            return relative if relative.startswith(".") or not relative else f"./{relative}"
        if not folder:
            return ""
        folder = posixpath.dirname(folder)


def _target(module: str, path: str, read: Callable[[str], str | None], depth: int) -> str:
    config = _parsed(read(path) or "")
    options = a_dict(config.get("compilerOptions"))
    folder = posixpath.dirname(path)
    if "paths" not in options:
        extended = config.get("extends")
        is_ours = isinstance(extended, str) and extended.startswith(".") and depth > 0
        below = posixpath.normpath(posixpath.join(folder, str(extended))) if is_ours else ""
        below = below if below.endswith(".json") else f"{below}.json"
        return _target(module, below, read, depth - 1) if is_ours and not below.startswith("..") else ""
    # The longest alias counts, as in TypeScript.
    for alias, targets in sorted(a_dict(options["paths"]).items(), key=lambda each: -len(each[0])):
        prefix, star, _ = alias.partition("*")
        if module != alias and not (star and module.startswith(prefix)):
            continue
        if not isinstance(targets, list) or len(targets) != 1 or not isinstance(targets[0], str):
            return ""  # which of them is meant depends on what is there
        base = posixpath.join(folder, str(options.get("baseUrl", ".")))
        named = targets[0].replace("*", module[len(prefix) :] if star else "")
        found = posixpath.normpath(posixpath.join(base, named))
        return "" if found.startswith(("..", "/")) else found
    return ""


@lru_cache(maxsize=32)
def _parsed(text: str) -> dict[str, object]:
    """A configuration without its comments and last commas; empty where it cannot be read."""
    plain = _COMMENTS.sub(lambda match: match[1] or "", text) if len(text) <= MAX_CHARS else ""
    try:
        return a_dict(json.loads(re.sub(r",(?=\s{0,200}[}\]])", "", plain)))
    except (ValueError, RecursionError):
        return {}
