"""The JSON Schema of a settings file, from the same kinds that check it."""

from __future__ import annotations

from reviewbot.config.load import FILE_NAME
from reviewbot.config.settings import KEYS, Key, RepositoryRule, Settings
from reviewbot.config.values import Schema


def settings_schema() -> Schema:
    """The schema of the user's file and of `.reviewbot.toml`, as JSON values; without `$schema`."""
    return {
        "title": "Settings of reviewbot",
        "description": f"~/.config/reviewbot/config.toml, and {FILE_NAME} with fewer keys.",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _property(key) for name, key in KEYS.items()},
    }


def _property(key: Key) -> Schema:
    words = [key.meaning]
    if not key.repository:
        words.append(f"Not in {FILE_NAME}.")
    elif isinstance(key.repository, RepositoryRule):
        words.append(f"In {FILE_NAME} it {key.repository.words}.")
    default = key.kind.write(getattr(Settings(), key.name))
    return {"description": " ".join(words), **key.kind.schema, "default": default}
