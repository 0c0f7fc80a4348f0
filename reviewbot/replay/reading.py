"""Read and validate the values of a trace as strictly as any other input from outside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from reviewbot.domain.errors import InputError
from reviewbot.review.trace import Event

M = TypeVar("M", bound=BaseModel)


def first_of(events: Sequence[Event], kind: str) -> Event:
    """The first event of a kind. Raises InputError where there is none."""
    found = next((event for event in events if event["event"] == kind), None)
    if found is None:
        raise InputError(f"the trace has no record of the kind {kind!r}: the run it tells of did not come so far")
    return found


def read(contract: type[M], value: object) -> M:
    """A value as a contract. Raises InputError."""
    try:
        return contract.model_validate_json(json.dumps(value))
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the top"
        raise InputError(f"a {contract.__name__} in this trace does not fit at {where[:80]}") from None
