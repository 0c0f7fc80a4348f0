"""What requests to a Messages API cost in input-token equivalents, with the best caching that there could be.

Uncached input counts 1.25, for it is written to the cache; what a request has in common with an earlier one of the same
model counts .1, from 1,024 tokens on. A token is four characters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

WRITTEN, READ = 1.25, 0.1
MIN_CACHED = 4_096
"""Characters: providers keep nothing shorter."""


def equivalents(bodies: Iterable[Mapping[str, Any]]) -> float:
    """Of these requests in their order, of which none was asked before."""
    earlier: dict[str, list[str]] = {}
    total = 0.0
    for body in bodies:
        text = json.dumps([body.get("tools"), body.get("system"), body["messages"]])
        mine = earlier.setdefault(json.dumps([body["model"], body.get("output_config")], sort_keys=True), [])
        shared = max((_shared(text, each) for each in mine), default=0)
        shared = shared if shared >= MIN_CACHED else 0
        mine.append(text)
        total += ((len(text) - shared) * WRITTEN + shared * READ) / 4
    return total


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
