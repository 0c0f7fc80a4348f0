"""Settings about single workers, applied to their cards."""

from __future__ import annotations

import pytest

from reviewbot.config import load_settings
from reviewbot.domain.contracts import CardBudget, WorkerCard
from reviewbot.domain.errors import ConfigError
from reviewbot.domain.ports import WorkerSet
from reviewbot.wiring.worker_limits import limit_workers
from tests.make import MakeCard, MakeWorkerSet


@pytest.fixture
def worker_set(a_worker_set: MakeWorkerSet, a_card: MakeCard) -> WorkerSet:
    budget = CardBudget(max_tokens=8_000, timeout_ms=60_000, max_turns=4)
    return a_worker_set(a_card("security"), a_card("logic", tiers=("small", "medium"), budget=budget, threshold=70))


def logic(worker_set: WorkerSet, repository: str | None, user: str | None = None) -> WorkerCard:
    limited = limit_workers(worker_set, load_settings(repository, {}, {}, user_text=user, user_name="mine"))
    return next(card for card in limited.cards if card.name == "logic")


def test_limits_replace_what_the_card_says(worker_set: WorkerSet) -> None:
    text = "[worker.logic]\nthreshold = 90\ntier = 'large'\nmax_tokens = 9000\ntimeout_s = 90\nmax_turns = 5\n"

    card = logic(worker_set, None, text)

    assert (card.threshold, card.tiers) == (90, ("large",))
    assert card.budget == CardBudget(max_tokens=9_000, timeout_ms=90_000, max_turns=5)


def test_settings_for_all_workers_hold_where_a_worker_has_no_limit(worker_set: WorkerSet) -> None:
    text = "min_confidence = 0\ntask_timeout_s = 5\n[worker.security]\nthreshold = 60\n"

    cards = {card.name: card for card in limit_workers(worker_set, load_settings(None, {}, {}, user_text=text)).cards}

    assert (cards["logic"].threshold, cards["security"].threshold) == (0, 60)
    assert {card.budget.timeout_ms for card in cards.values()} == {5_000}


def test_without_settings_the_cards_stay(worker_set: WorkerSet) -> None:
    assert limit_workers(worker_set, load_settings(None, {}, {})) == worker_set


def test_each_limit_is_noted_with_its_place_and_what_the_card_says(worker_set: WorkerSet) -> None:
    limited = limit_workers(worker_set, load_settings("[worker.logic]\nthreshold = 90\ntier = 'small'\n", {}, {}))

    assert limited.notes == (
        ".reviewbot.toml:2: logic.threshold is 90; its card says 70",
        ".reviewbot.toml:3: logic.tier is small; its card says medium",
    )


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [("max_tokens = 8001", "8000"), ("timeout_s = 61", "60"), ("max_turns = 5", "4"), ("tier = 'large'", "medium")],
)
def test_a_repository_cannot_raise_a_budget_and_the_operator_can(
    worker_set: WorkerSet, limit: str, allowed: str
) -> None:
    text = f"[worker.logic]\n{limit}"

    with pytest.raises(ConfigError) as caught:
        logic(worker_set, text)

    key = limit.partition(" ")[0]
    assert str(caught.value) == (
        f".reviewbot.toml:2: logic.{key} can only be lowered by a repository, to {allowed} or less"
    )
    assert logic(worker_set, None, text) != logic(worker_set, None)


def test_a_repository_sets_budgets_up_to_the_cards(worker_set: WorkerSet) -> None:
    text = "[worker.logic]\nmax_tokens = 8000\ntimeout_s = 60\nmax_turns = 1\ntier = 'medium'\nthreshold = 100\n"

    assert (logic(worker_set, text).budget.max_turns, logic(worker_set, text).threshold) == (1, 100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[worker.logc]\nmax_turns = 1", ".reviewbot.toml:2: there is no worker 'logc'; did you mean 'logic'?"),
        ("[worker.x]\nmax_turns = 1", ".reviewbot.toml:2: there is no worker 'x'; known: logic, security"),
        ('workers = ["security", "x"]', ".reviewbot.toml:1: there is no worker 'x'; known: logic, security"),
    ],
)
def test_an_unknown_worker_is_refused_with_the_known_ones(worker_set: WorkerSet, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        logic(worker_set, text)

    assert str(caught.value) == message
