"""`reviewbot config`: every setting as a run here would have it, and where it comes from."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.config.source import settings_of
from reviewbot.config.values import KINDS, as_written
from reviewbot.contracts import ChangeSet
from reviewbot.errors import ExitCode
from reviewbot.output.terminal.look import write
from reviewbot.strict_json import for_logs, write_json


def config_command(arguments: argparse.Namespace) -> int:
    """`reviewbot config`. Raises ConfigError, as a review would."""
    base = None if arguments.repo is None else wiring.tree_of(arguments.repo, ChangeSet())
    settings = settings_of(base, os.environ, {})
    if arguments.format == "json":
        write(sys.stdout, settings_json(settings))
    else:
        write(sys.stdout, settings_text(settings, show_origin=arguments.show_origin))
    return ExitCode.REVIEWED


def settings_json(settings: Settings) -> str:
    """By key, each value and its origin."""
    values = _values(settings)
    table = {key: {"value": value, "origin": settings.origin[key]} for key, value in values.items()}
    return write_json(table, indent=2) + "\n"


def settings_text(settings: Settings, *, show_origin: bool) -> str:
    """TOML that a settings file may hold; the origins are its comments."""
    # JSON's texts, numbers, bools and lists of texts are TOML's as well, unless a character is written as two escapes.
    texts = {key: for_logs(json.dumps(value, ensure_ascii=False)) for key, value in _values(settings).items()}
    lines = {key: f"{key} = {text}" for key, text in texts.items()}
    if not show_origin:
        return "".join(f"{line}\n" for line in lines.values())
    width = max(len(line) for line in lines.values() if len(line) <= _WIDEST)
    return "".join(f"{line:<{width}}  # {settings.origin[key]}\n" for key, line in lines.items())


_WIDEST = 48
"""Columns. A longer line, of a list, does not move the comments of the others."""


def _values(settings: Settings) -> Mapping[str, str | int | float | bool | list[str]]:
    return {key: as_written(getattr(settings, key)) for key in KINDS}
