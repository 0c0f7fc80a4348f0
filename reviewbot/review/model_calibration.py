"""What the numbers that models state are worth: maps from a stated number to the observed one, by model and prompt.

A reader and a judge state two numbers for each claim: confidence (is it true) and worth (would the maintainers act on
it). The tables are data (`reviewbot/data/model_calibration.toml`), made by `reviewbot calibrate --models` from claims
with labels. A table holds for the model that was measured, with the prompts that it was measured with.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from reviewbot.domain.contracts.base import Confidence, Contract, Count, first_fault
from reviewbot.tables import packaged_text

Role = Literal["reader", "judge"]
Quantity = Literal["confidence", "worth"]

ModelId = Annotated[str, Field(min_length=1, max_length=200)]
"""The id under which a model answers."""
PromptHash = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
"""Of the system prompt and the answer schema."""
Points = tuple[tuple[Confidence, Confidence], ...]
"""(stated, fitted), in percent."""

MAX_FITTED = 99
"""Nothing but a person is certain."""


class NumberMap(Contract):
    """The map of one number that one model states in one role, with one prompt."""

    role: Role
    quantity: Quantity
    model: ModelId
    prompt: PromptHash
    points: Points
    """Both rising; empty: the number was measured and stays as it is stated."""

    @model_validator(mode="after")
    def _points_rise(self) -> Self:
        if not all(one[0] < two[0] and one[1] <= two[1] for one, two in pairwise(self.points)):
            raise ValueError("the points of a map must rise")
        return self


class Band(Contract):
    """Claims whose stated numbers lie in one band of the reliability table."""

    low: Confidence
    claims: Annotated[int, Field(ge=1)]
    right: Count
    """True claims; for worth, those that a label of the change names."""
    stated: Annotated[float, Field(ge=0, le=100)]
    """Mean of the stated numbers."""
    fitted: Annotated[float, Field(ge=0, le=100)]
    """Mean of the fitted numbers, each fitted without the claims of its own change."""


class MeasuredMap(NumberMap):
    """A map with the measurement that it comes from."""

    date: str
    changes: Annotated[int, Field(ge=1)]
    claims: Annotated[int, Field(ge=1)]
    error_stated: Annotated[float, Field(ge=0, le=1)]
    """Expected calibration error (ECE) of the stated numbers."""
    error_fitted: Annotated[float, Field(ge=0, le=1)]
    """The same of the fitted numbers, each fitted without the claims of its own change."""
    bands: tuple[Band, ...]


class ModelTables(Contract):
    """All that was measured; each model, role, quantity and prompt once."""

    schema_version: Literal[1] = 1
    table: tuple[MeasuredMap, ...] = ()

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        keys = [key_of(table) for table in self.table]
        if len(set(keys)) < len(keys):
            raise ValueError("two tables are of the same model, role, quantity and prompt")
        return self


class NumberMaps(Contract):
    """The hashes of a run's prompts by role, and the maps that were measured with these prompts."""

    prompts: Mapping[str, str] = Field(default_factory=dict)
    maps: tuple[NumberMap, ...] = ()

    def find(self, role: Role, quantity: Quantity, model: str) -> NumberMap | None:
        """The map of this number; None where it was not measured with the prompts of this run."""
        wanted = (role, quantity, model)
        return next((each for each in self.maps if (each.role, each.quantity, each.model) == wanted), None)


Key = tuple[Role, Quantity, str, str]
"""Role, quantity, model and prompt."""


def key_of(table: NumberMap) -> Key:
    """The key of a map."""
    return table.role, table.quantity, table.model, table.prompt


def maps_for(tables: ModelTables, prompts: Mapping[str, str]) -> NumberMaps:
    """The maps that were measured with these prompts, by role; without the measurements behind them."""
    held = [table for table in tables.table if prompts.get(table.role) == table.prompt]
    fields = set(NumberMap.model_fields)
    maps = tuple(NumberMap.model_validate(table.model_dump(include=fields)) for table in held)
    return NumberMaps(prompts=dict(prompts), maps=maps)


def place_on(points: Points, stated: int) -> int:
    """The number in place of a stated one, between 0 and 99; without points the stated one.

    Between two points it lies on the line; outside it is moved like the nearest point.
    """
    if not points:
        return stated
    if stated <= points[0][0]:
        value: float = points[0][1] - (points[0][0] - stated)
    elif stated >= points[-1][0]:
        value = points[-1][1] + (stated - points[-1][0])
    else:
        (x, y), (x2, y2) = next((one, two) for one, two in pairwise(points) if stated <= two[0])
        value = y + (y2 - y) * (stated - x) / (x2 - x)
    return max(0, min(MAX_FITTED, round(value)))


@cache
def packaged_model_tables() -> ModelTables:
    """The tables that come with the package."""
    return read_model_tables(packaged_text("model_calibration.toml"))


def read_model_tables(text: str) -> ModelTables:
    """Read tables from TOML. Raises ValueError for any other form."""
    try:
        # By way of JSON, so that a list may stand for a tuple and nothing else for anything else.
        return ModelTables.model_validate_json(json.dumps(tomllib.loads(text)))
    except ValidationError as error:
        raise ValueError(": ".join(first_fault(error))) from None
    except (RecursionError, TypeError):
        raise ValueError("it is nested too deeply, or holds a value that no table has") from None
