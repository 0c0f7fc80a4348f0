"""Argparse with errors of one line that name the nearest word where one was mistyped. On the start-up path."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from reviewbot.cli.output.writing import say
from reviewbot.domain.errors import ExitCode

_CHOICE = re.compile(
    r"(?P<where>argument .*?): invalid choice: '(?P<given>.*)' \(choose from (?P<known>.*)\)", re.DOTALL
)
_SHOWN = 60
"""Characters of a mistyped word that a message repeats."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on standard error and exit code 2."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401 - argparse's own
        """As argparse, but what is left over is an error of the parser that met it, which knows its own options."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            word = rest[0].partition("=")[0] if rest[0].startswith("-") else rest[0]
            options = self._option_string_actions if word.startswith("-") else ()
            self.error(f"unrecognized argument {_quote(word)}{_hint(word, tuple(options))}")
        return known, rest

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
        if match := _CHOICE.fullmatch(message):
            hint = _hint(match["given"], re.findall(r"'([^']*)'", match["known"]))
            what = (
                "there is no command" if match["where"] == "argument COMMAND" else f"{match['where']}: invalid choice"
            )
            known = hint or f"; choose from {match['known']}"
            message = f"{what} {_quote(match['given'])}{known}"
        say(f"{message}; see {self.prog} --help")
        raise SystemExit(ExitCode.USAGE)


def _quote(word: str) -> str:
    return repr(word[:_SHOWN])


def _hint(word: str, known: Sequence[str]) -> str:
    """How an error about a mistyped word goes on; empty where no word is near."""
    from reviewbot.config.messages import did_you_mean  # noqa: PLC0415 - most runs have no error

    hint = did_you_mean(word, known)
    return f"; {hint}" if hint else ""
