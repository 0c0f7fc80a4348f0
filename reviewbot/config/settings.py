"""The settings of one run, as one frozen value that is built once and handed in."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from reviewbot.config.rules import RuleSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

EngineName = Literal["claude", "analyzers", "scripted"]
Provider = Literal["anthropic", "bedrock", "vertex"]
FailOn = Literal["critical", "warning", "info"]
EffortName = Literal["quick", "standard", "deep"]

DEFAULT_DEADLINE_S = 600
DEFAULT_MAX_FINDINGS = 25
DEFAULT_CHUNK_LINES = 400
DEFAULT_READER_LINES = 1_500
"""About 30,000 tokens with their context. Of more, a model skims."""
DEFAULT_MAX_COST = 10.0
"""Dollars. A pull request of 5,000 lines costs a fraction of it; what would cost more should be a person's decision."""
DEFAULT_PLAN_ABOVE = 1_500
DEFAULT_FAN_OUT = 48
DEFAULT_INLINE = 10
"""Comments at lines. More of them hide each other, and the body of the review has every finding anyway."""
MIN_TASKS = 4
"""Tasks of analyzers at once, at least: they mostly wait for programs, so that a small machine gains from a few."""
MODEL_CALLS = 16
"""Calls of a model in flight. A review waits for its longest chain of calls then; a rate limit lowers the number."""


@dataclass(frozen=True)
class Settings:
    """What a run may do and shows. Every field but `origin` is one of `config.keys.KEYS`, where its meaning stands."""

    engine: EngineName | None = None
    fail_on: FailOn | None = None
    min_confidence: int | None = None
    deadline_s: int = DEFAULT_DEADLINE_S
    max_findings: int = DEFAULT_MAX_FINDINGS
    concurrency: int | None = None
    ignore: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    rules: tuple[RuleSetting, ...] = ()
    allow_partial: bool = False
    chunk_lines: int = DEFAULT_CHUNK_LINES
    effort: EffortName = "standard"
    reader_lines: int = DEFAULT_READER_LINES
    task_timeout_s: int | None = None
    max_cost: float | None = DEFAULT_MAX_COST
    max_calls: int | None = None
    max_tokens: int | None = None
    worker_tokens: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    plan_above: int = DEFAULT_PLAN_ABOVE
    fan_out: int = DEFAULT_FAN_OUT
    replan: bool = False
    extra_workers: int = 0
    provider: Provider | None = None
    model_small: str | None = None
    model_medium: str | None = None
    model_large: str | None = None
    prices: str | None = None
    review_drafts: bool = False
    review_bots: bool = False
    only_labels: tuple[str, ...] = ()
    skip_labels: tuple[str, ...] = ()
    skip_titles: tuple[str, ...] = ()
    skip_authors: tuple[str, ...] = ()
    only_branches: tuple[str, ...] = ()
    skip_branches: tuple[str, ...] = ()
    person_label: str | None = None
    person_reviewers: str | None = None
    inline: int = DEFAULT_INLINE
    request_changes: bool = False
    check: bool = True
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each setting comes from: "default", ".reviewbot.toml", the user's file, the variable's or flag's name."""

    @property
    def tasks_at_once(self) -> int:
        """Tasks of analyzers; by default one for each processor."""
        return self.concurrency or max(MIN_TASKS, os.cpu_count() or 1)

    @property
    def calls_in_flight(self) -> int:
        """Calls of a model, at most."""
        return self.concurrency or MODEL_CALLS
