"""The flags of settings: added to a command's parser, and read from its arguments. On the start-up path."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from reviewbot.config.rules import RuleLevels
from reviewbot.config.settings import KEYS, Key, Settings
from reviewbot.config.values import NameList, Switch


def flags_of(arguments: argparse.Namespace) -> dict[str, object]:
    """Flags by the keys of `Settings`; None for a flag that is not given, or that the command does not have."""
    given = {name: getattr(arguments, name, None) for name, key in KEYS.items() if key.flag}
    return {name: ",".join(value) if isinstance(value, list) else value for name, value in given.items()}


def add_flags(groups: Mapping[str, argparse._ActionsContainer], only: Collection[str] = KEYS.keys()) -> None:
    """Add the flags of settings to a command, each to the group of options that its declaration names.

    `only`: the keys of the settings that the command takes.
    """
    for key in KEYS.values():
        if key.flag is not None and key.name in only and (group := groups.get(key.flag.group)) is not None:
            how: dict[str, Any] = {"metavar": key.flag.metavar}
            if isinstance(key.kind, Switch):
                how = {"action": "store_true", "default": None}
            elif isinstance(key.kind, NameList):
                how |= {"nargs": "+", "action": "extend"}
            elif isinstance(key.kind, RuleLevels):
                how |= {"action": "append"}
            group.add_argument(key.flag.name, dest=key.name, help=help_of(key), **how)


def help_of(key: Key) -> str:
    """The meaning of a setting as the help of its flag, with its default."""
    text = (key.meaning[0].lower() + key.meaning[1:]).rstrip(".")
    default = getattr(Settings(), key.name)
    return text if isinstance(default, bool | tuple | None) else f"{text} (default: {str(default).removesuffix('.0')})"
