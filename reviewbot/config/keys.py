"""Every setting, declared once: what it may be, what it means, its flag, and whether a repository may set it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.config.rules import RuleLevels
from reviewbot.config.values import Choice, Dollars, Few, Globs, Line, Names, Number, Switch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reviewbot.config.values import Kind

_MODEL = r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}"
_REVIEWERS = r"(?:team:)?[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:, ?(?:team:)?[A-Za-z0-9][A-Za-z0-9_-]{0,99}){0,9}"
_TOKENS = 1_000_000_000
"""More than any review of one change takes; a limit above it would be none."""


@dataclass(frozen=True)
class Key:
    """One setting; its name is the key of a settings file."""

    kind: Kind
    meaning: str
    """In one line, for editors and people."""
    flag: str = ""
    """Of the command line; empty: it has none."""
    repository: bool = False
    """Whether a reviewed repository may set it. The others are the operator's machine, money and gate."""


KEYS: Mapping[str, Key] = {
    "engine": Key(Choice(("claude", "analyzers", "scripted")), flag="--engine", meaning=
        "Who does the work; none: the best one that is available."),
    "fail_on": Key(Choice(("critical", "warning", "info")), flag="--fail-on", repository=True, meaning=
        "The mildest severity that makes a run end with exit code 1; none: no gate."),
    "min_confidence": Key(Number(0, 100, optional=True), flag="--min-confidence", repository=True, meaning=
        "A finding below it is counted and not shown; none: each worker's own threshold."),
    "deadline_s": Key(Number(1, 86_400), flag="--deadline", repository=True, meaning=
        "Seconds for the whole review. What is not finished by then is named as a gap."),
    "max_findings": Key(Number(1, 1_000), repository=True, meaning=
        "How many findings are shown; the others are counted."),
    "concurrency": Key(Number(1, 256, optional=True), flag="--concurrency", meaning=
        "Tasks at once, and calls of a model in flight; none: 16 calls, and a task a processor, at least 4."),
    "ignore": Key(Globs(), repository=True, meaning=
        "Globs of files that are only scanned, and not reviewed. The report names them."),
    "paths": Key(Globs(), repository=True, meaning=
        "Globs of the files that are reviewed; empty: all. The others are only scanned."),
    "private": Key(Globs(), repository=True, meaning=
        "Globs of files that no model is shown; what one source names, no other takes back."),
    "workers": Key(Names(), flag="--worker", repository=True, meaning=
        "Names of the workers to run; empty: all."),
    "rules": Key(RuleLevels(), flag="--rule", repository=True, meaning=
        "By rule or category: off, or the severity that its findings have; on undoes what another source says."),
    "allow_partial": Key(Switch(), flag="--allow-partial", meaning=
        "End with exit code 0 also where something could not be looked at."),
    "chunk_lines": Key(Number(10, 10_000), meaning=
        "Changed lines per slice of a file that a model reads; analyzers read whole files."),
    "effort": Key(Choice(("quick", "standard", "deep"), optional=False), flag="--effort", meaning=
        "How much models are asked: quick (no judge), standard, or deep (a reader for each task)."),
    "reader_lines": Key(Number(50, 10_000), meaning=
        "Changed lines that one reader of models is shown at once; a larger change is divided into parts."),
    "task_timeout_s": Key(Number(1, 86_400, optional=True), meaning=
        "Seconds for each task, and for a model to say something; none: as each worker's card says."),
    "max_cost": Key(Dollars(100_000), flag="--max-cost", meaning=
        "Dollars for the whole review. What it cuts off is named as a gap; none: no limit."),
    "max_calls": Key(Number(1, 100_000, optional=True), meaning=
        "Calls of a model in one review; none: no limit."),
    "max_tokens": Key(Number(1_000, _TOKENS, optional=True), meaning=
        "Tokens read and written by models in one review, cached ones included; none: no limit."),
    "worker_tokens": Key(Number(1_000, _TOKENS, optional=True), meaning=
        "The same for each worker; none: no limit."),
    "requests_per_minute": Key(Number(1, 1_000_000, optional=True), meaning=
        "Calls a minute to keep to before the provider says so; none: as fast as it goes."),
    "tokens_per_minute": Key(Number(1_000, _TOKENS, optional=True), meaning=
        "Tokens a minute to keep to; none: as fast as it goes."),
    "plan_above": Key(Number(0, 1_000_000), meaning=
        "Changed lines above which a model plans the review; below, rules do."),
    "fan_out": Key(Number(4, 1_000), meaning=
        "Tasks above which a review is summed up part by part first."),
    "replan": Key(Switch(), meaning=
        "Let critical findings ask for further tasks in a second round."),
    "extra_workers": Key(Number(0, 5), meaning=
        "How many workers that no card describes a model's plan may ask for."),
    "provider": Key(Choice(("anthropic", "bedrock", "vertex")), meaning=
        "Who serves the models; none: Anthropic."),
    "model_small": Key(Line(_MODEL, "the id of a model"), meaning=
        "The id of the small model, which plans; none: as shipped."),
    "model_medium": Key(Line(_MODEL, "the id of a model"), meaning=
        "The id of the medium model; none: as shipped."),
    "model_large": Key(Line(_MODEL, "the id of a model"), meaning=
        "The id of the large model; none: as shipped."),
    "prices": Key(Line(r"[^\x00-\x1f\x7f]{1,1000}", "the name of a TOML file"), meaning=
        "A TOML file with the prices of further models; none: those shipped."),
    "review_drafts": Key(Switch(), meaning=
        "Of the App: review drafts before they are ready."),
    "review_bots": Key(Switch(), meaning=
        "Of the App: review pull requests of other bots."),
    "only_labels": Key(Globs(), repository=True, meaning=
        "Of the App: globs of labels, in any case; a pull request must have one of them; empty: none."),
    "skip_labels": Key(Globs(), repository=True, meaning=
        "Of the App: globs of labels, in any case; a pull request with one of them is not reviewed."),
    "skip_titles": Key(Globs(), repository=True, meaning=
        "Of the App: globs of titles that are not reviewed."),
    "skip_authors": Key(Globs(), repository=True, meaning=
        "Of the App: globs of logins, in any case, whose pull requests are not reviewed."),
    "only_branches": Key(Globs(), repository=True, meaning=
        "Of the App: globs of the base branches whose pull requests are reviewed; empty: all."),
    "skip_branches": Key(Globs(), repository=True, meaning=
        "Of the App: globs of head branches that are not reviewed."),
    "person_label": Key(Line(r"[^\x00-\x1f\x7f]{1,50}", "the name of a label"), repository=True, meaning=
        "Of the App: the label that is set where something needs a person; none: no label."),
    "person_reviewers": Key(Line(_REVIEWERS, "logins, or team:NAME, separated by commas"), repository=True, meaning=
        "Of the App: the people asked to review then, as logins or team:NAME; none: no request."),
    "inline": Key(Few(10), repository=True, meaning=
        "How many findings a published review repeats at their lines; off: none."),
    "request_changes": Key(Switch(), meaning=
        "Let a published review ask for changes where the gate is closed, in place of commenting."),
    "check": Key(Switch(), meaning=
        "Put a check run beside a published review."),
}  # fmt: skip
"""In the order of the documentation."""

KINDS: Mapping[str, Kind] = {name: key.kind for name, key in KEYS.items()}
FLAGS: Mapping[str, str] = {name: key.flag for name, key in KEYS.items() if key.flag}
REPOSITORY_KEYS = frozenset(name for name, key in KEYS.items() if key.repository)
