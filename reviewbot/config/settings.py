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
"""Dollars. A pull request of 5,000 lines costs a fraction of it; what would cost more should be somebody's decision."""
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
    """What a run may do and shows. Every field but `origin` is a key of `.reviewbot.toml`, a variable and a flag."""

    engine: EngineName | None = None
    """None: choose the best one that is available."""
    fail_on: FailOn | None = None
    """The mildest severity that makes the run end with the gate's exit code; None: no gate."""
    min_confidence: int | None = None
    """0-100; None: each worker's own threshold."""
    deadline_s: int = DEFAULT_DEADLINE_S
    """Seconds for the whole review."""
    max_findings: int = DEFAULT_MAX_FINDINGS
    """Findings shown; the others are counted."""
    concurrency: int | None = None
    """Tasks at once, and calls of a model in flight; None: as `tasks_at_once` and `calls_in_flight` say."""
    ignore: tuple[str, ...] = ()
    """Globs of files that are only scanned, and not reviewed; the report names them."""
    paths: tuple[str, ...] = ()
    """Globs of the files to review; empty: all. The others are only scanned."""
    private: tuple[str, ...] = ()
    """Globs of files that no model is shown."""
    workers: tuple[str, ...] = ()
    """Names of the workers to run; empty: all."""
    rules: tuple[RuleSetting, ...] = ()
    """Rules that are off or have another severity; the first entry that is about a finding counts."""
    allow_partial: bool = False
    """Whether a review that could not look at everything still ends with exit code 0."""
    chunk_lines: int = DEFAULT_CHUNK_LINES
    """Changed lines per slice of a file that a model reads; analyzers read whole files."""
    effort: EffortName = "standard"
    """How much models are asked: "quick", one reader for all tasks of a part and no judge; "standard", and a judge;
    "deep", a reader for each task."""
    reader_lines: int = DEFAULT_READER_LINES
    """Changed lines that one reader is shown at once; a larger change is divided into parts."""
    task_timeout_s: int | None = None
    """Seconds for each task, and for a model to say something; None: as each worker's card says."""
    max_cost: float | None = DEFAULT_MAX_COST
    """Dollars for the whole review; None: no limit."""
    max_calls: int | None = None
    """Calls of a model; None: no limit."""
    max_tokens: int | None = None
    """Tokens read and written by models, cached ones included; None: no limit."""
    worker_tokens: int | None = None
    """The same, of each worker."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    """What the account allows, where that should be kept to before the provider says so; None: as fast as it goes."""
    plan_above: int = DEFAULT_PLAN_ABOVE
    """Changed lines above which a model plans the review; below, rules do."""
    fan_out: int = DEFAULT_FAN_OUT
    """Tasks above which a review has two levels."""
    replan: bool = False
    """Whether critical findings may ask for further tasks in a second round."""
    extra_workers: int = 0
    """How many workers that no card describes a model's plan may ask for."""
    provider: Provider | None = None
    """Who serves the models; None: Anthropic."""
    model_haiku: str | None = None
    model_sonnet: str | None = None
    model_opus: str | None = None
    """The model of each tier; None: as shipped."""
    prices: str | None = None
    """A TOML file with the prices of further models; None: those shipped."""
    review_drafts: bool = False
    """Of the App: whether drafts are reviewed before they are ready."""
    review_bots: bool = False
    """Of the App: whether pull requests of other bots are reviewed. Never our own."""
    only_labels: tuple[str, ...] = ()
    """Of the App: globs of labels of which a pull request must have one; empty: none is needed."""
    skip_labels: tuple[str, ...] = ()
    skip_titles: tuple[str, ...] = ()
    skip_authors: tuple[str, ...] = ()
    """Of the App: globs of labels, titles and logins; what fits one is not reviewed."""
    only_branches: tuple[str, ...] = ()
    """Of the App: globs of the base branches whose pull requests are reviewed; empty: all."""
    skip_branches: tuple[str, ...] = ()
    """Of the App: globs of head branches that are not reviewed."""
    person_label: str | None = None
    """Of the App: the label that is set where something needs a person; None: none."""
    person_reviewers: str | None = None
    """Of the App: who is asked to review then, logins or team:NAME, separated by commas; None: nobody."""
    inline: int = DEFAULT_INLINE
    """Comments at lines that a published review has at most; 0: none."""
    request_changes: bool = False
    """Whether a published review asks for changes where the gate is closed, in place of commenting."""
    check: bool = True
    """Whether a published review has a check run beside it."""
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
