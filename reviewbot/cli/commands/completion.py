"""`reviewbot completion`: a script with which a shell completes our command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import shtab

from reviewbot import wiring
from reviewbot.cli.arguments import build_parser
from reviewbot.config.settings import KEYS
from reviewbot.config.values import Choice
from reviewbot.domain.errors import ExitCode

_PLACES = {"FILE": shtab.FILE, "DIFF": shtab.FILE, "DIR": shtab.DIR}
"""What the parser calls an argument tells what may stand there."""


def completion_command(arguments: argparse.Namespace) -> int:
    """`reviewbot completion SHELL`; the script goes to standard output."""
    names = [card.name for card in wiring.load_workers(None).cards]
    sys.stdout.write(completion_script(build_parser(), arguments.shell, names))
    return ExitCode.REVIEWED


def completion_script(parser: argparse.ArgumentParser, shell: str, workers: Sequence[str]) -> str:
    """The script of bash, zsh or fish. Marks the parser with what may stand where; it must not parse after that."""
    words: dict[str, Sequence[str]] = {"--worker": workers}
    words |= {key.flag.name: key.kind.words for key in KEYS.values() if key.flag and isinstance(key.kind, Choice)}
    _mark(parser, words)
    return shtab.complete(parser, shell).rstrip("\n") + "\n"


def _mark(parser: argparse.ArgumentParser, words: Mapping[str, Sequence[str]]) -> None:
    for action in parser._actions:  # noqa: SLF001 - argparse shows its arguments in no other way; shtab reads them too
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            for inner in action.choices.values():
                _mark(inner, words)
        elif known := [word for option in action.option_strings for word in words.get(option, ())]:
            action.choices = known
        elif isinstance(action.metavar, str) and action.metavar in _PLACES:
            action.complete = _PLACES[action.metavar]  # type: ignore[attr-defined]  # so that shtab knows
