"""The setting `worker`: limits of single workers, from each source."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.config import Settings, load_settings
from reviewbot.config.messages import find_key_lines
from reviewbot.config.worker_limits import LIMITS, WorkerLimit, WorkerLimits
from reviewbot.domain.contracts import CardBudget, WorkerCard
from reviewbot.domain.errors import ConfigError

KIND = WorkerLimits()
FILE = """\
[worker.security]
threshold = 90

[worker]
logic.tier = "large"
style = {max_turns = 2}
"""


def load(repository: str | None = None, **more: Any) -> Settings:
    return load_settings(repository, more.pop("environ", {}), more.pop("flags", {}), **more)


def refusal(repository: str | None = None, **more: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(repository, **more)
    return str(caught.value)


def test_each_limit_of_a_file_knows_its_line() -> None:
    assert load(user_text=FILE, user_name="mine").worker == (
        WorkerLimit("security", "threshold", 90, "mine:2"),
        WorkerLimit("logic", "tier", "large", "mine:5"),
        WorkerLimit("style", "max_turns", 2, "mine:6"),
    )


def test_a_variable_sets_limits_too() -> None:
    settings = load(environ={"REVIEWBOT_WORKER": "security.threshold=90, logic.tier=small"})

    assert KIND.write(settings.worker) == {"security": {"threshold": 90}, "logic": {"tier": "small"}}
    assert {limit.origin for limit in settings.worker} == {"REVIEWBOT_WORKER"}


def test_sources_are_merged_limit_by_limit_and_the_last_one_wins() -> None:
    settings = load(
        "[worker.logic]\nmax_tokens = 500\nmax_turns = 2\n",
        user_text="[worker.logic]\nmax_turns = 3\n[worker.style]\nthreshold = 60\n",
        user_name="mine",
    )

    assert {(str(limit), limit.value, limit.origin) for limit in settings.worker} == {
        ("logic.max_tokens", 500, ".reviewbot.toml:2"),
        ("logic.max_turns", 3, "mine:2"),
        ("style.threshold", 60, "mine:4"),
    }
    assert settings.origin["worker"] == ".reviewbot.toml:1, mine:1"


@pytest.mark.parametrize(("key", "limit"), [("min_confidence", "threshold"), ("task_timeout_s", "timeout_s")])
def test_a_setting_for_all_workers_undoes_the_limits_of_weaker_sources_alone(key: str, limit: str) -> None:
    own = f"[worker.logic]\n{limit} = 70\nmax_turns = 2\n"

    weaker = load(own, environ={f"REVIEWBOT_{key.upper()}": "60"})
    same = load(user_text=f"{own}[worker.style]\n{limit} = 50\n", environ={}, flags={})
    both = load(user_text=f"{key} = 60\n{own}", user_name="mine")

    assert [str(each) for each in weaker.worker] == ["logic.max_turns"]
    assert len(same.worker) == 3
    assert [str(each) for each in both.worker] == [f"logic.{limit}", "logic.max_turns"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[worker.logic]\ntreshold = 1", "mine:1: worker: logic: unknown key 'treshold'; did you mean 'threshold'?"),
        ("[worker.logic]\nthreshold = 101", "mine:2: worker: logic.threshold must be a whole number from 0 to 100, "),
        ("[worker.logic]\ntier = 'huge'", "mine:2: worker: logic.tier must be one of small, medium, large, not 'huge'"),
        ("worker = 3", "mine:1: worker must be a table for each worker with threshold, "),
        ("worker = {logic = 3}", "mine:1: worker must be a table for each worker with threshold, "),
        ("worker = {'A b' = {}}", "mine:1: worker must be a table for each worker with threshold, "),
        ("[workers.logic]\nthreshold = 1", "mine:1: workers must be a list of worker names"),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_refused_with_its_line(text: str, message: str) -> None:
    assert refusal(user_text=text, user_name="mine").startswith(message)


@pytest.mark.parametrize("text", ["security.threshold", "security=90", "security.threshold=9999999", "=", "a.b.c=1"])
def test_a_wrong_text_is_refused(text: str) -> None:
    assert refusal(environ={"REVIEWBOT_WORKER": text}).startswith("REVIEWBOT_WORKER")


def test_a_repository_cannot_take_the_security_workers_budget() -> None:
    assert load("[worker.security]\nthreshold = 95").worker[0].value == 95
    assert refusal("[worker.security]\nmax_turns = 1") == (
        ".reviewbot.toml:1: worker can only lower budgets in a repository, and of 'security' set the threshold alone"
    )


def test_the_bounds_of_limits_are_those_of_a_card() -> None:
    of_budget = CardBudget.model_json_schema()["properties"]
    bounds = {key: (found["minimum"], found["maximum"]) for key, found in of_budget.items()}
    kinds: dict[str, Any] = dict(LIMITS)

    for key in ("max_tokens", "max_turns"):
        assert (kinds[key].schema["minimum"], kinds[key].schema["maximum"]) == bounds[key]
    assert kinds["timeout_s"].schema["maximum"] * 1000 == bounds["timeout_ms"][1]
    assert kinds["tier"].words == tuple(WorkerCard.model_json_schema()["properties"]["tiers"]["items"]["enum"])


def test_key_lines_are_found_in_every_form_of_a_key() -> None:
    text = "\ufeff# a = 1\n'a' = 1\n\"b.c\" . d= 2\n [ e . \"f\" ] # g\n\th=[\n'i = 1',\n]\n[[j]]\n"

    assert find_key_lines(text) == {
        ("a",): 2, ("b.c",): 3, ("b.c", "d"): 3, ("e",): 4, ("e", "f"): 4, ("e", "f", "h"): 5, ("j",): 8,
    }  # fmt: skip
