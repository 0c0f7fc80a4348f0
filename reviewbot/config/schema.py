"""The JSON Schema of a settings file, from the same kinds that check it."""

from __future__ import annotations

from reviewbot.config.load import FILE_NAME, FLOOR_WORKER, REPOSITORY_KEYS
from reviewbot.config.settings import DEFAULT_DEADLINE_S, Settings
from reviewbot.config.values import KINDS, Schema, as_written

_MEANING = {
    "engine": "Who does the work; none: the best one that is available.",
    "fail_on": "The mildest severity that makes a run end with exit code 1; none: no gate.",
    "min_confidence": "A finding below it is counted and not shown; none: each worker's own threshold.",
    "deadline_s": "Seconds for the whole review. What is not finished by then is named as a gap.",
    "max_findings": "How many findings are shown; the others are counted.",
    "concurrency": "Tasks at once, and calls of a model in flight; none: 16 calls, and a task a processor, at least 4.",
    "ignore": "Globs of files that are only scanned, and not reviewed. The report names them.",
    "paths": "Globs of the files that are reviewed; empty: all. The others are only scanned.",
    "private": "Globs of files that no model is shown; what one source names, no other takes back.",
    "workers": "Names of the workers to run; empty: all.",
    "rules": "By rule or category: off, or the severity that its findings have; on undoes what another source says.",
    "allow_partial": "End with exit code 0 also where something could not be looked at.",
    "chunk_lines": "Changed lines per slice of a file that a model reads; analyzers read whole files.",
    "effort": "How much models are asked: quick (no judge), standard, or deep (a reader for each task).",
    "reader_lines": "Changed lines that one reader of models is shown at once; a larger change is divided into parts.",
    "task_timeout_s": "Seconds for each task, and for a model to say something; none: as each worker's card says.",
    "max_cost": "Dollars for the whole review. What it cuts off is named as a gap; none: no limit.",
    "max_calls": "Calls of a model in one review; none: no limit.",
    "max_tokens": "Tokens read and written by models in one review, cached ones included; none: no limit.",
    "worker_tokens": "The same for each worker; none: no limit.",
    "requests_per_minute": "Calls a minute to keep to before the provider says so; none: as fast as it goes.",
    "tokens_per_minute": "Tokens a minute to keep to; none: as fast as it goes.",
    "plan_above": "Changed lines above which a model plans the review; below, rules do.",
    "fan_out": "Tasks above which a review is summed up part by part first.",
    "replan": "Let critical findings ask for further tasks in a second round.",
    "extra_workers": "How many workers that no card describes a model's plan may ask for.",
    "provider": "Who serves the models; none: Anthropic.",
    "model_haiku": "The id of the cheap model, which plans; none: as shipped.",
    "model_sonnet": "The id of the middle model; none: as shipped.",
    "model_opus": "The id of the strong model; none: as shipped.",
    "prices": "A TOML file with the prices of further models; none: those shipped.",
    "review_drafts": "Of the App: review drafts before they are ready.",
    "review_bots": "Of the App: review pull requests of other bots.",
    "only_labels": "Of the App: globs of labels, in any case; a pull request must have one of them; empty: none.",
    "skip_labels": "Of the App: globs of labels, in any case; a pull request with one of them is not reviewed.",
    "skip_titles": "Of the App: globs of titles that are not reviewed.",
    "skip_authors": "Of the App: globs of logins, in any case, whose pull requests are not reviewed.",
    "only_branches": "Of the App: globs of the base branches whose pull requests are reviewed; empty: all.",
    "skip_branches": "Of the App: globs of head branches that are not reviewed.",
    "person_label": "Of the App: the label that is set where something needs a person; none: no label.",
    "person_reviewers": "Of the App: who is asked to review then, logins or team:NAME; none: nobody.",
    "inline": "How many findings a published review repeats at their lines; off: none.",
    "request_changes": "Let a published review ask for changes where the gate is closed, in place of commenting.",
    "check": "Put a check run beside a published review.",
}

_FOR_A_REPOSITORY = {
    "deadline_s": f"{FILE_NAME} can only lower it, to {DEFAULT_DEADLINE_S} or less.",
    "workers": f"In {FILE_NAME} it must name {FLOOR_WORKER}.",
}
"""What a repository may set under a condition only; what it may not set at all follows from its keys."""


def settings_schema() -> Schema:
    """The schema of the user's file and of `.reviewbot.toml`, as JSON values; without `$schema`."""
    return {
        "title": "Settings of reviewbot",
        "description": f"~/.config/reviewbot/config.toml, and {FILE_NAME} with fewer keys.",
        "type": "object",
        "additionalProperties": False,
        "properties": {key: _property(key) for key in KINDS},
    }


def _property(key: str) -> Schema:
    words = [_MEANING[key]]
    if key not in REPOSITORY_KEYS:
        words.append(f"Not in {FILE_NAME}.")
    elif key in _FOR_A_REPOSITORY:
        words.append(_FOR_A_REPOSITORY[key])
    default = as_written(key, getattr(Settings(), key))
    return {"description": " ".join(words), **KINDS[key].schema, "default": default}
