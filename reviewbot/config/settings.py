"""Every setting, declared once: type, default, allowed values, meaning, flag, and whether a repository may set it.

Loading, the JSON Schema, the variables, the flags of the command line, `reviewbot config` and the table in
docs/configuration.md are made from these declarations: a further setting is a further row of `Settings`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, get_args

from reviewbot.config.providers import DEFAULT_PROVIDER, PROVIDERS
from reviewbot.config.rules import RuleLevels, RuleSetting, merge_rules
from reviewbot.config.values import (
    NOTHING,
    OFF,
    Choice,
    Dollars,
    Globs,
    NameList,
    Number,
    SettingType,
    ShortText,
    Switch,
    Written,
)
from reviewbot.config.worker_limits import BUDGET, WorkerLimit, WorkerLimits, merge_limits

EngineName = Literal["models", "analyzers", "scripted"]
FailOn = Literal["critical", "warning", "info"]
EffortName = Literal["quick", "standard", "deep"]

FlagGroup = Literal["what is looked for", "models", "the report", "the run"]

PREFIX = "REVIEWBOT_"
"""How the variables of settings begin."""

MANDATORY_WORKER = "security"
"""The worker that a repository cannot switch off; the contracts' own name for it, which pydantic comes with."""

DEFAULT_DEADLINE_S = 600
MIN_TASKS = 4
"""Tasks of analyzers at once, at least: they mostly wait for programs, so that a small machine gains from a few."""
MODEL_CALLS = 16
"""Calls of a model in flight. A review waits for its longest chain of calls then; a rate limit lowers the number."""

_MODEL = r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}"
_REVIEWERS = r"(?:team:)?[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:, ?(?:team:)?[A-Za-z0-9][A-Za-z0-9_-]{0,99}){0,9}"
_TOKENS = 1_000_000_000
"""More than any review of one change takes; a limit above it would be none."""


Affects = Literal["task", "review", "run"]
"""What a setting decides. task: what a worker answers; review: what is made of the answers; run: no more than whether,
where and how fast a review is made, or how it is shown."""


class Flag(NamedTuple):
    """A flag of the command line."""

    name: str
    metavar: str = ""
    group: FlagGroup = "what is looked for"
    """The group of options in the help of `review`; `plan` has those of the first two."""


class RepositoryRule(NamedTuple):
    """The condition under which a reviewed repository may set a value."""

    short: str
    """For the table of the documentation."""
    words: str
    """The whole condition, behind the name of the setting."""
    allows: Callable[[Any], bool]


@dataclass(frozen=True)
class Key:
    """The declaration of one setting."""

    name: str
    kind: SettingType
    meaning: str
    """In one sentence, for editors, the help of its flag, and the documentation."""
    unset: str = ""
    """What holds where it is not set, in words; empty: the default says it."""
    flag: Flag | None = None
    repository: bool | RepositoryRule = False
    """Whether a reviewed repository may set it. The others are the operator's machine, money and gate."""
    merge: Callable[..., Any] | None = None
    """Joins the values of two sources, with a function that names the source of an entry; None: the later one wins."""
    affects: Affects = "review"
    overrides: str = ""
    """The key of single workers that it undoes where a weaker source has set that."""

    @property
    def variable(self) -> str:
        """The name of its environment variable."""
        return PREFIX + self.name.upper()


def setting(kind: SettingType, *, default: Any, meaning: str, **more: Any) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """Declare a field of `Settings`. `more`: further fields of its `Key`."""
    return field(default=default, metadata={"kind": kind, "meaning": meaning, **more})


def _union(before: tuple[str, ...], later: tuple[str, ...], _origin_of: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *later)))


_LOWER = RepositoryRule(
    "only lower",
    f"can only be lowered by a repository, to {DEFAULT_DEADLINE_S} or less",
    lambda value: value <= DEFAULT_DEADLINE_S,
)
_WITH_FLOOR = RepositoryRule(
    f"with `{MANDATORY_WORKER}`",
    f"must name {MANDATORY_WORKER!r}; a repository cannot switch it off",
    lambda value: not value or MANDATORY_WORKER in value,
)
_LESS = RepositoryRule(
    "any threshold, only lower budgets",
    f"can only lower budgets in a repository, and of {MANDATORY_WORKER!r} set the threshold alone",
    lambda value: not any(limit.worker == MANDATORY_WORKER and limit.key in BUDGET for limit in value),
)


@dataclass(frozen=True)
class Settings:
    """What a run may do and shows."""

    # fmt: off
    engine: EngineName | None = setting(
        Choice(get_args(EngineName)), default=None, flag=Flag("--engine", "E", "models"),
        unset="the best one available", affects="task",
        meaning="What does the work: models, analyzers, or scripted (answers of --script); "
        "none: models where a key is configured, else analyzers.")
    fail_on: FailOn | None = setting(
        Choice(get_args(FailOn)), default=None, flag=Flag("--fail-on", "SEVERITY", "the report"), repository=True,
        unset="none: no gate",
        meaning="The mildest severity that makes a run end with exit code 1 (not what needs a person); none: no gate.")
    min_confidence: int | None = setting(
        Number(0, 100, NOTHING), default=None, flag=Flag("--min-confidence", "N"), repository=True,
        unset="each worker's own", overrides="threshold",
        meaning="A finding below it is counted and not shown; none: each worker's own threshold.")
    deadline_s: int = setting(
        Number(1, 86_400), default=DEFAULT_DEADLINE_S, flag=Flag("--deadline", "S", "the run"), repository=_LOWER,
        meaning="Seconds for the whole review. What is not finished by then is named as a gap.")
    max_findings: int = setting(
        Number(1, 1_000), default=25, repository=True,
        meaning="How many findings are shown; the others are counted.")
    concurrency: int | None = setting(
        Number(1, 256, NOTHING), default=None, flag=Flag("--concurrency", "N", "models"),
        unset="16 with models, else the number of processors, at least 4", affects="run",
        meaning="Tasks at once, and calls of a model in flight; none: 16 calls, and a task a processor, at least 4.")
    ignore: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", affects="task",
        meaning="Globs of files that are only scanned, and not reviewed. The report names them.")
    paths: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="everything", affects="task",
        meaning="Globs of the files that are reviewed; empty: all. The others are only scanned.")
    private: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", merge=_union,
        meaning="Globs of files that no model is shown; what one source names, no other takes back.")
    workers: tuple[str, ...] = setting(
        NameList(), default=(), flag=Flag("--worker", "NAME"), repository=_WITH_FLOOR, unset="all", affects="task",
        meaning="Names of the workers to run; empty: all.")
    worker: tuple[WorkerLimit, ...] = setting(
        WorkerLimits(), default=(), repository=_LESS, unset="as each card says", merge=merge_limits,
        meaning="By worker: its threshold, tier and budget, in place of what its card says.")
    rules: tuple[RuleSetting, ...] = setting(
        RuleLevels(), default=(), flag=Flag("--rule", "RULE=LEVEL"), repository=True, unset="as each rule has it",
        merge=merge_rules,
        meaning="By rule or category: off, or the severity that its findings have; on undoes what another source says; "
        "RULE=LEVEL:GLOB for some files.")
    allow_partial: bool = setting(
        Switch(), default=False, flag=Flag("--allow-partial", group="the report"),
        meaning="End with exit code 0 also where something could not be looked at.")
    chunk_lines: int = setting(
        Number(10, 10_000), default=400, affects="task",
        meaning="Changed lines per slice of a file that a model reads; analyzers read whole files.")
    effort: EffortName = setting(
        Choice(get_args(EffortName), optional=False), default="standard", flag=Flag("--effort", "E", "models"),
        affects="task",
        meaning="How much models are asked: quick (no judge), standard, or deep (a reader for each task).")
    reader_lines: int = setting(  # about 30,000 tokens with their context; of more, a model skims
        Number(50, 10_000), default=1_500,
        meaning="Changed lines that one reader of models is shown at once; a larger change is divided into parts.")
    task_timeout_s: int | None = setting(
        Number(1, 86_400, NOTHING), default=None, unset="as each card says", overrides="timeout_s",
        meaning="Seconds for each task, and for a model to say something; none: as each worker's card says.")
    max_cost: float | None = setting(  # a pull request of 5,000 lines costs a fraction of the default
        Dollars(100_000), default=10.0, flag=Flag("--max-cost", "DOLLARS", "models"),
        meaning="Dollars for the whole review. What it cuts off is named as a gap; none: no limit.")
    max_calls: int | None = setting(
        Number(1, 100_000, NOTHING), default=None, unset="no limit",
        meaning="Calls of a model in one review; none: no limit.")
    max_tokens: int | None = setting(
        Number(1_000, _TOKENS, NOTHING), default=None, unset="no limit",
        meaning="Tokens read and written by models in one review, cached ones included; none: no limit.")
    worker_tokens: int | None = setting(
        Number(1_000, _TOKENS, NOTHING), default=None, unset="no limit",
        meaning="The same for each worker; none: no limit.")
    requests_per_minute: int | None = setting(
        Number(1, 1_000_000, NOTHING), default=None, unset="no limit", affects="run",
        meaning="Calls a minute to keep to before the provider says so; none: as fast as it goes.")
    tokens_per_minute: int | None = setting(
        Number(1_000, _TOKENS, NOTHING), default=None, unset="no limit", affects="run",
        meaning="Tokens a minute to keep to; none: as fast as it goes.")
    plan_above: int = setting(
        Number(0, 1_000_000), default=1_500,
        meaning="Changed lines above which a model plans the review; below, rules do.")
    fan_out: int = setting(
        Number(4, 1_000), default=48,
        meaning="Tasks above which a review is summed up part by part first.")
    replan: bool = setting(
        Switch(), default=False,
        meaning="Let critical findings ask for further tasks in a second round.")
    extra_workers: int = setting(
        Number(0, 5), default=0,
        meaning="How many workers that no card describes a model's plan may ask for.")
    provider: str | None = setting(
        Choice(tuple(PROVIDERS)), default=None, unset=DEFAULT_PROVIDER.title, affects="task",
        meaning=f"The provider of the models; none: {DEFAULT_PROVIDER.title}.")
    model_small: str | None = setting(
        ShortText(_MODEL, "the id of a model"), default=None, unset="as shipped", affects="task",
        meaning="The id of the small model, which plans; none: as shipped.")
    model_medium: str | None = setting(
        ShortText(_MODEL, "the id of a model"), default=None, unset="as shipped", affects="task",
        meaning="The id of the medium model; none: as shipped.")
    model_large: str | None = setting(
        ShortText(_MODEL, "the id of a model"), default=None, unset="as shipped", affects="task",
        meaning="The id of the large model; none: as shipped.")
    prices: str | None = setting(
        ShortText(r"[^\x00-\x1f\x7f]{1,1000}", "the name of a TOML file"), default=None, unset="those shipped",
        meaning="A TOML file with the prices of further models; none: those shipped.")
    review_drafts: bool = setting(
        Switch(), default=False, affects="run",
        meaning="Of the App: review drafts before they are ready.")
    review_bots: bool = setting(
        Switch(), default=False, affects="run",
        meaning="Of the App: review pull requests of other bots.")
    only_labels: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="everything", affects="run",
        meaning="Of the App: globs of labels, in any case; a pull request must have one of them; empty: none.")
    skip_labels: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", affects="run",
        meaning="Of the App: globs of labels, in any case; a pull request with one of them is not reviewed.")
    skip_titles: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", affects="run",
        meaning="Of the App: globs of titles that are not reviewed.")
    skip_authors: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", affects="run",
        meaning="Of the App: globs of logins, in any case, whose pull requests are not reviewed.")
    only_branches: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="everything", affects="run",
        meaning="Of the App: globs of the base branches whose pull requests are reviewed; empty: all.")
    skip_branches: tuple[str, ...] = setting(
        Globs(), default=(), repository=True, unset="nothing", affects="run",
        meaning="Of the App: globs of head branches that are not reviewed.")
    person_label: str | None = setting(
        ShortText(r"[^\x00-\x1f\x7f]{1,50}", "the name of a label"), default=None, repository=True, unset="none",
        affects="run",
        meaning="Of the App: the label that is set where something needs a person; none: no label.")
    person_reviewers: str | None = setting(
        ShortText(_REVIEWERS, "logins, or team:NAME, separated by commas"), default=None, repository=True, unset="none",
        affects="run",
        meaning="Of the App: the people asked to review then, as logins or team:NAME; none: no request.")
    inline: int = setting(  # more comments at lines hide each other, and the body has every finding anyway
        Number(0, 10, OFF, 0), default=10, repository=True, affects="run",
        meaning="How many findings a published review repeats at their lines; off: none.")
    request_changes: bool = setting(
        Switch(), default=False, affects="run",
        meaning="Let a published review ask for changes where the gate is closed, in place of commenting.")
    check: bool = setting(
        Switch(), default=True, affects="run",
        meaning="Put a check run beside a published review.")
    # fmt: on
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each setting comes from: "default", the file and line, or the name of the variable or flag."""

    @property
    def tasks_at_once(self) -> int:
        """Tasks of analyzers; by default one for each processor."""
        return self.concurrency or max(MIN_TASKS, os.cpu_count() or 1)

    @property
    def calls_in_flight(self) -> int:
        """Calls of a model, at most."""
        return self.concurrency or MODEL_CALLS


KEYS: Mapping[str, Key] = {each.name: Key(each.name, **each.metadata) for each in fields(Settings) if each.metadata}
"""The declarations, in the order of the documentation."""


DEFAULT = "default"
"""The source of what is set nowhere."""


class SettingInForce(NamedTuple):
    """One setting, or one entry of a table whose entries have sources of their own."""

    name: str
    """Of an entry: "rules.NAME", for instance."""
    value: Written
    origin: str
    meaning: str


def settings_in_force(settings: Settings) -> list[SettingInForce]:
    """All settings in the order of their declaration."""
    rows: list[SettingInForce] = []
    for name, key in KEYS.items():
        value = getattr(settings, name)
        entries = [
            SettingInForce(f"{name}.{end}", inner, origin, key.meaning) for end, inner, origin in key.kind.lines(value)
        ]
        origin = settings.origin.get(name, DEFAULT)
        rows += entries or [SettingInForce(name, key.kind.write(value), origin, key.meaning)]
    return rows
