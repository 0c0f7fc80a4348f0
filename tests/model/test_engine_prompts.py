"""The shipped prompts name what their answers are made of, and speak the tools' language."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from reviewbot.cards import load_crew, shipped_files
from reviewbot.contracts import Escalating, EscalationReason, Judged, Reported, Severity, WorkerAnswer
from reviewbot.model.scope import PLAINLY

ROOT = Path(__file__).parents[2]
TEXTS = shipped_files()
RULES = TEXTS["prompts/worker.md"]
WORKERS = ("security", "logic", "performance", "style")

PROMPT_CHARS = 7_500
"""Of the shared rules and one worker's prompt: each task reads them again, from the cache at best."""


def slugs_in(worker: str) -> set[str]:
    """The categories that a prompt lists."""
    return set(re.findall(r"`([a-z-]+)`", TEXTS[f"prompts/{worker}.md"].partition("## Severity and categories")[2]))


def rules_of_programs() -> list[tuple[str, str]]:
    """Tool and category of every rule."""
    tables: list[Any] = [tomllib.loads(path.read_text("utf-8")) for path in ROOT.glob("reviewbot/data/rules/*.toml")]
    entries = [entry for table in tables for part in table.values() if isinstance(part, list) for entry in part]
    return [(entry["tool"], entry["category"]) for entry in entries if "category" in entry]


def test_the_shared_rules_name_every_field_of_an_answer() -> None:
    fields = {*WorkerAnswer.model_fields, *Reported.model_fields, *Escalating.model_fields, *Judged.model_fields}
    named = set(re.findall(r"`([a-z_]+)`", RULES))

    assert fields - named - {"hint"} == set()
    assert named >= {"confirmed", "refuted", "unsure"}


def test_they_name_every_word_that_an_answer_may_hold() -> None:
    words = {*get_args(Severity), *get_args(EscalationReason)} - {"timeout"}

    assert all(f"`{word}`" in RULES for word in words)


@pytest.mark.parametrize("worker", WORKERS)
def test_a_worker_is_told_the_categories_of_its_own_tools(worker: str) -> None:
    tools = next(card.tools for card in load_crew({}, all_known_tools()).cards if card.name == worker)
    spoken = {category for tool, category in rules_of_programs() if tool in tools}

    assert spoken
    assert spoken - slugs_in(worker) == set()


@pytest.mark.parametrize("worker", WORKERS)
def test_no_worker_is_told_a_category_that_is_plainly_anothers(worker: str) -> None:
    others = {slug for owner, slugs in PLAINLY.items() if owner != worker for slug in slugs}

    assert slugs_in(worker) & others == set()
    assert PLAINLY[worker] - {worker} <= slugs_in(worker)


@pytest.mark.parametrize("worker", WORKERS)
def test_a_prompt_is_short(worker: str) -> None:
    assert len(RULES) + len(TEXTS[f"prompts/{worker}.md"]) <= PROMPT_CHARS


def test_the_shared_rules_are_no_workers_prompt() -> None:
    assert "worker.md" not in {card.prompt for card in load_crew({}, all_known_tools()).cards}


def all_known_tools() -> set[str]:
    """All that a shipped card may name."""
    return {
        tool for path, text in TEXTS.items() if path.startswith("workers/") for tool in tomllib.loads(text)["tools"]
    }
