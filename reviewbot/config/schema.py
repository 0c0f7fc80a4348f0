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
    "concurrency": "How many tasks run at once; by default the number of processors, at least 4.",
    "ignore": "Globs of files that are not reviewed. The report counts them.",
    "workers": "Names of the workers to run; empty: all.",
    "allow_partial": "End with exit code 0 also where something could not be looked at.",
    "chunk_lines": "Changed lines per task.",
}

_FOR_A_REPOSITORY = {
    "deadline_s": f"{FILE_NAME} can only lower it, to {DEFAULT_DEADLINE_S} or less.",
    "workers": f"In {FILE_NAME} it must name {FLOOR_WORKER}.",
}
"""What a repository may set under a condition only; what it may not set at all follows from its keys."""

_OF_THE_MACHINE = frozenset({"concurrency"})
"""Settings whose default is not the same everywhere."""


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
    made: Schema = {"description": " ".join(words), **KINDS[key].schema}
    if key not in _OF_THE_MACHINE:
        made["default"] = as_written(getattr(Settings(), key))
    return made
