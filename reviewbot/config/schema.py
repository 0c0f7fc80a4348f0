"""The JSON Schema of a settings file, from the same kinds that check it."""

from __future__ import annotations

from reviewbot.config.keys import KEYS
from reviewbot.config.load import FILE_NAME, FLOOR_WORKER
from reviewbot.config.settings import DEFAULT_DEADLINE_S, Settings
from reviewbot.config.values import Schema, as_written

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
        "properties": {key: _property(key) for key in KEYS},
    }


def _property(key: str) -> Schema:
    words = [KEYS[key].meaning]
    if not KEYS[key].repository:
        words.append(f"Not in {FILE_NAME}.")
    elif key in _FOR_A_REPOSITORY:
        words.append(_FOR_A_REPOSITORY[key])
    default = as_written(key, getattr(Settings(), key))
    return {"description": " ".join(words), **KEYS[key].kind.schema, "default": default}
