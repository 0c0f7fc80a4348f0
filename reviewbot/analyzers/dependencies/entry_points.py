"""Find an entry point that a change adds to one manifest of a package and not to the other one beside it.

A package for npm and JSR names its entry points twice, in `exports` of `package.json` and of `jsr.json` or `deno.json`.
Certain where all that the one had before stood in the other as well: then the two lists are kept alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase

from reviewbot.domain.ports import ChangedFile, Snapshot
from reviewbot.strict_json import a_dict

MANIFESTS = ("package.json", "jsr.json", "deno.json")

MIN_SHARED = 3
"""Entry points that both had before; fewer of them may be alike by chance."""


MAX_ENTRY_POINTS = 1_000
"""Of one manifest; one with more of them is not looked at."""


def missing_entry_points(file: ChangedFile, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Yield each new entry point of a manifest with the path of the manifest beside it that lacks it. Blocks."""
    folder, _, name = file.path.rpartition("/")
    before = {each for each in _entry_points(file.base) if "*" not in each}
    if name not in MANIFESTS or len(before) < MIN_SHARED:
        return
    new = [each for each in _entry_points(file.head) if each not in before and "*" not in each]
    for other in MANIFESTS if new else ():
        path = f"{folder}/{other}".lstrip("/")
        if other != name and before <= _entry_points(snapshot.base(path)).keys():
            has = _entry_points(snapshot.head(path))
            yield from ((each, path) for each in new if not any(_covers(known, each) for known in has))


def _covers(known: str, entry: str) -> bool:
    return known == entry or ("*" in known and fnmatchcase(entry, known))


def _entry_points(text: str | None) -> dict[str, object]:
    try:
        exports = a_dict(a_dict(json.loads(text or "{}")).get("exports"))
    except (ValueError, RecursionError):
        return {}
    return {
        each: target for each, target in exports.items() if each.startswith(".") and len(exports) <= MAX_ENTRY_POINTS
    }
