"""Reviews without a model: workers that have no analyzer do not run, and are named once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from reviewbot.config.globs import applies
from reviewbot.config.providers import KEY_HINT
from reviewbot.domain.contracts import ChangeSet, WorkerCard
from reviewbot.domain.ports import WorkerSet


def without_models(worker_set: WorkerSet, analyzers: Collection[str]) -> tuple[WorkerSet, tuple[WorkerCard, ...]]:
    """Divide the workers into those that can work with analyzers alone, and the others.

    `analyzers` are the names of the tools that work without a model. A worker that needs the result of one that does
    not run does not run either.
    """
    missing = {card.name for card in worker_set.cards if not set(card.tools) & set(analyzers)}
    while more := {card.name for card in worker_set.cards if _needs(card, missing)} - missing:
        missing |= more
    running = tuple(card for card in worker_set.cards if card.name not in missing)
    return replace(worker_set, cards=running), tuple(card for card in worker_set.cards if card.name in missing)


def note_on(left_out: Sequence[WorkerCard], change: ChangeSet, chosen: Collection[str]) -> tuple[str, ...]:
    """One line that names the workers of this change that need a model; `chosen` are those of the settings, if any."""
    names = [
        card.name
        for card in left_out
        if (not chosen or card.name in chosen)
        and any(applies(card.applies_to, file.path, file.kind) for file in change.files)
    ]
    if not names:
        return ()
    them = "This worker needs" if len(names) == 1 else "These workers need"
    return (f"{them} a model key (such as {KEY_HINT}) and did not run: {', '.join(names)}",)


def _needs(card: WorkerCard, others: set[str]) -> bool:
    return card.needs_dependencies and not others.isdisjoint(card.depends_on)
