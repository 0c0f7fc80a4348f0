"""`reviewbot config`: every setting as a run here would have it, and where it comes from."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from reviewbot import wiring
from reviewbot.cli.repository import find_repository
from reviewbot.config import Settings
from reviewbot.config.settings import KEYS, settings_in_force
from reviewbot.config.source import settings_of
from reviewbot.config.values import Written
from reviewbot.domain.errors import ExitCode
from reviewbot.report.terminal_style import write
from reviewbot.strict_json import for_logs, write_json


def config_command(arguments: argparse.Namespace) -> int:
    """`reviewbot config`. Raises ConfigError, as a review would."""
    folder = arguments.repo or find_repository(Path())
    base = None if folder is None else wiring.tree_of(folder)
    settings = wiring.effective(settings_of(base, os.environ, {}), os.environ)
    if arguments.format == "json":
        write(sys.stdout, settings_json(settings))
    else:
        write(sys.stdout, settings_text(settings, show_origin=arguments.show_origin))
    return ExitCode.REVIEWED


def settings_json(settings: Settings) -> str:
    """By key, each value and its origin."""
    table = {name: {"value": value, "origin": settings.origin[name]} for name, value in _values(settings).items()}
    return write_json(table, indent=2) + "\n"


def settings_text(settings: Settings, *, show_origin: bool) -> str:
    """TOML that a settings file may hold; the origins are its comments, also those of single rules and workers."""
    if not show_origin:
        return "".join(f"{line}\n" for line in _lines(_values(settings).items()))
    rows = settings_in_force(settings)
    lines = _lines((row.name, row.value) for row in rows)
    width = max(len(line) for line in lines if len(line) <= _MAX_COLUMNS)
    return "".join(f"{line:<{width}}  # {row.origin}\n" for line, row in zip(lines, rows, strict=True))


_MAX_COLUMNS = 48
"""Columns. A longer line, of a list, does not move the comments of the others."""


def _values(settings: Settings) -> Mapping[str, Written]:
    return {name: key.kind.write(getattr(settings, name)) for name, key in KEYS.items()}


def _lines(table: Iterable[tuple[str, Written]]) -> list[str]:
    return [f"{name} = {for_logs(_toml(value))}" for name, value in table]


def _toml(value: object) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # JSON's texts, numbers and bools are TOML's as well, unless a character is written as two escapes.
    return json.dumps(value, ensure_ascii=False)
