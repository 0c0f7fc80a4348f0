"""The setting `worker`: the threshold, tier and budget of single workers, in place of what their cards say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from reviewbot.config.messages import nearest, quote
from reviewbot.config.providers import TIERS
from reviewbot.config.values import MAX_ITEMS, NAME, Choice, EntryError, Number, SettingType, Value

LIMITS: Mapping[str, SettingType] = {
    "threshold": Number(0, 100),
    "tier": Choice(TIERS, optional=False),
    "max_tokens": Number(256, 64_000),
    "timeout_s": Number(1, 900),
    "max_turns": Number(1, 10),
}
"""What can be set of one worker. The bounds are those of a card's budget."""

_MAX_DIGITS = 6
"""Of a number in a text; those of all limits are shorter."""

BUDGET = frozenset(LIMITS) - {"threshold"}
"""Those of them that cost time or money."""


class WorkerLimit(NamedTuple):
    """One of `LIMITS`, of one worker."""

    worker: str
    key: str
    value: int | str
    origin: str = ""
    """The file and line, or the variable, that sets it."""

    def __str__(self) -> str:
        return f"{self.worker}.{self.key}"


class WorkerLimits(SettingType):
    """A table for each worker; in a text, `WORKER.KEY=VALUE`, separated by commas."""

    def __init__(self) -> None:
        limits = {key: kind.schema for key, kind in LIMITS.items()}
        super().__init__(
            f"a table for each worker with {', '.join(LIMITS)}, such as security.threshold=90",
            {
                "type": "object",
                "maxProperties": MAX_ITEMS,
                "propertyNames": {"pattern": f"^{NAME.pattern}$"},
                "additionalProperties": {"type": "object", "additionalProperties": False, "properties": limits},
            },
            lambda value: isinstance(value, Mapping) and len(value) <= MAX_ITEMS,
            keep=lambda value: tuple(limit for worker, table in value.items() for limit in _limits(worker, table)),
        )

    def parse(self, text: str) -> Value:
        """As `check`, of the parts of a text."""
        table: dict[str, dict[str, object]] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, said = (piece.strip() for piece in part.partition("="))
            worker, _, key = name.partition(".")
            number = said.isascii() and said.isdigit() and len(said) <= _MAX_DIGITS
            table.setdefault(worker, {})[key] = int(said) if number else said
        return self.check(table)

    def write(self, value: Any) -> dict[str, Any]:  # noqa: ANN401 - as in `SettingType`
        """The table that a settings file would hold."""
        table: dict[str, dict[str, object]] = {}
        for limit in value:
            table.setdefault(limit.worker, {})[limit.key] = limit.value
        return table

    def lines(self, value: Any) -> list[tuple[str, Any, str]]:  # noqa: ANN401 - as in `SettingType`
        """Each limit with its source."""
        return [(str(limit), limit.value, limit.origin) for limit in value]


def merge_limits(
    before: Iterable[WorkerLimit], later: Iterable[WorkerLimit], origin_of: Callable[..., str]
) -> tuple[WorkerLimit, ...]:
    """The limits of two sources; of one that both set, the later source counts."""
    named = {str(limit): limit._replace(origin=origin_of(limit.worker, limit.key)) for limit in later}
    return (*(limit for limit in before if str(limit) not in named), *named.values())


def _limits(worker: object, table: object) -> Iterable[WorkerLimit]:
    if not isinstance(worker, str) or not NAME.fullmatch(worker) or not isinstance(table, Mapping):
        raise ValueError(table)
    for key, value in table.items():
        if key not in LIMITS:
            raise EntryError(f"{worker}: unknown key {quote(key)}; {nearest(str(key), LIMITS)}", worker)
        try:
            found = LIMITS[key].check(value)
        except ValueError:
            raise EntryError(
                f"{worker}.{key} must be {LIMITS[key].expected}, not {quote(value)}", worker, key
            ) from None
        yield WorkerLimit(worker, key, found)  # type: ignore[arg-type]  # a number or a word, by `LIMITS`
