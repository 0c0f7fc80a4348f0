"""Apply the settings about workers to their cards: thresholds, tiers and budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reviewbot.config import Settings
from reviewbot.config.load import FILE_NAME
from reviewbot.config.messages import nearest
from reviewbot.config.providers import TIERS
from reviewbot.config.worker_limits import BUDGET, WorkerLimit
from reviewbot.domain.contracts import WorkerCard
from reviewbot.domain.errors import ConfigError
from reviewbot.domain.ports import WorkerSet


def limit_workers(worker_set: WorkerSet, settings: Settings) -> WorkerSet:
    """The workers as the settings want them, with a note for each limit of a single worker.

    Raises ConfigError for a worker that does not exist, and where a repository raises a budget.
    """
    cards = {card.name: _with_general_limits(card, settings) for card in worker_set.cards}
    named = [(name, settings.origin["workers"]) for name in settings.workers]
    named += [(limit.worker, limit.origin) for limit in settings.worker]
    for name, origin in named:
        if name not in cards:
            raise ConfigError(f"{origin}: there is no worker {name!r}; {nearest(name, cards)}")
    notes = []
    for limit in settings.worker:
        card = cards[limit.worker]
        before = _value(card, limit.key)
        if limit.origin.partition(":")[0] == FILE_NAME and limit.key in BUDGET and _is_above(limit, before):
            raise ConfigError(f"{limit.origin}: {limit} can only be lowered by a repository, to {before} or less")
        cards[limit.worker] = _with_limit(card, limit.key, limit.value)
        notes.append(f"{limit.origin}: {limit} is {limit.value}; its card says {before}")
    return replace(worker_set, cards=tuple(cards.values()), notes=tuple(notes))


def _with_general_limits(card: WorkerCard, settings: Settings) -> WorkerCard:
    """The card with what the settings say of all workers."""
    general: Mapping[str, int | None] = {"threshold": settings.min_confidence, "timeout_s": settings.task_timeout_s}
    for key, value in general.items():
        card = card if value is None else _with_limit(card, key, value)
    return card


def _with_limit(card: WorkerCard, key: str, value: object) -> WorkerCard:
    match key, value:
        case "threshold", _:
            return card.model_copy(update={key: value})
        case "tier", _:
            return card.model_copy(update={"tiers": (value,)})
        case "timeout_s", int():
            key, value = "timeout_ms", value * 1000
    return card.model_copy(update={"budget": card.budget.model_copy(update={key: value})})


def _value(card: WorkerCard, key: str) -> int | str:
    """What a card says of a limit; of its tiers the highest."""
    found: dict[str, int | str] = {
        "threshold": card.threshold,
        "tier": card.tiers[-1],
        "timeout_s": card.budget.timeout_ms // 1000,
        "max_tokens": card.budget.max_tokens,
        "max_turns": card.budget.max_turns,
    }
    return found[key]


def _is_above(limit: WorkerLimit, allowed: int | str) -> bool:
    if limit.key == "tier":
        return TIERS.index(str(limit.value)) > TIERS.index(str(allowed))
    return int(limit.value) > int(allowed)
