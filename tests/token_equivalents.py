"""What requests to a Messages API cost in input-token equivalents, with the best caching that there could be.

Uncached input counts 1.25, for it is written to the cache; what a request has in common with an earlier one of the same
model counts .1, from 1,024 tokens on. A token is four characters.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

WRITTEN, READ = 1.25, 0.1
MIN_CACHED = 4_096
"""Characters: providers keep nothing shorter."""
CODE = frozenset({"change", "dependents", "deleted"})
"""Sections of a reader's first message that show code; the others are the map around it."""
_SECTION = re.compile(r"<<<(\w+) (\w{16})\n.*?<<<end \2", re.DOTALL)


def equivalents(bodies: Iterable[Mapping[str, Any]]) -> float:
    """Of these requests in their order, of which none was asked before."""
    return sum(by_part(bodies).values())


def by_part(bodies: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The same by what the tokens are: tools, instructions, map, code, task, look-ups, judge. Values are floats."""
    earlier: dict[str, list[str]] = {}
    total: Counter[str] = Counter()
    for body in bodies:
        parts = list(_parts(body))
        text = "".join(part for _, part in parts)
        mine = earlier.setdefault(json.dumps([body["model"], body.get("output_config")], sort_keys=True), [])
        shared = max((_shared(text, each) for each in mine), default=0)
        shared = shared if shared >= MIN_CACHED else 0
        mine.append(text)
        for name, part in parts:
            read = min(shared, len(part))
            shared -= read
            total[name] += (read * READ + (len(part) - read) * WRITTEN) / 4  # type: ignore[assignment]  # a float
    return total


def _parts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "tools", json.dumps(body.get("tools"))
    yield "instructions", json.dumps(body.get("system"))
    (shown, *asked), *later = ([*message["content"]] for message in body["messages"])
    at = 0
    for section in _SECTION.finditer(shown["text"]):
        yield "code" if section[1] in CODE else "map", json.dumps(shown["text"][at : section.end()])
        at = section.end()
    if shown["text"][at:]:
        yield "task", json.dumps(shown["text"][at:])
    for part in asked:
        yield "judge" if "Rule on each of these claims" in part["text"] else "task", json.dumps(part)
    yield from (("look-ups", json.dumps(each)) for each in later)


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
