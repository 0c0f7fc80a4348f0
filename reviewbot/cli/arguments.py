"""The parser of the command line, of the table `data/commands.toml`. On the start-up path.

Its errors are of one line that names the nearest word where one was mistyped.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, get_args

from reviewbot import __version__
from reviewbot.cli.flags import add_flags
from reviewbot.cli.output.writing import say
from reviewbot.config.settings import KEYS, FlagGroup
from reviewbot.domain.errors import ExitCode
from reviewbot.hosts.registry import name_forms
from reviewbot.report.formats import FORMATS
from reviewbot.tables import packaged_table

_CHOICE = re.compile(
    r"(?P<where>argument .*?): invalid choice: '(?P<given>.*)' \(choose from (?P<known>.*)\)", re.DOTALL
)
_SHOWN = 60
"""Characters of a mistyped word that a message repeats."""

_TYPES = {"path": Path, "integer": int}


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


def build_parser(asked: str = "") -> argparse.ArgumentParser:
    """The parser of all commands. In what it returns, `run` is the command's name and `module` where it is.

    Where `asked` is a command, the others are there without their options, which take longer to add than to parse.
    """
    table = packaged_table("commands")
    alone = any(row["name"] == asked for row in table["command"])
    parser = Parser(
        prog="reviewbot",
        description="Reviews a change the way a careful team would, and says what it looked at and what it did not.",
        epilog=table["epilogs"]["general"],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"reviewbot {__version__}")
    commands = parser.add_subparsers(dest="run", metavar="COMMAND", required=True)
    for row in table["command"]:
        name, purpose = row["name"], row["purpose"]
        command = commands.add_parser(
            name,
            help=purpose,
            description=f"{purpose[0].upper()}{purpose[1:]}.",
            epilog=table["epilogs"].get(row.get("epilog"), ""),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(module=row.get("module", name))
        if alone and name != asked:
            continue
        _add_options(command, row.get("options", ()))
        add_flags(dict.fromkeys(get_args(FlagGroup), command), row.get("settings", ()))
        for each in table["group"]:
            if name in each["commands"]:
                group = command.add_argument_group(each["title"], each.get("description"))
                add_flags({each["title"]: group}, KEYS if each.get("flags") else ())
                _add_options(group, each["options"])
    return parser


def _add_options(parser: argparse._ActionsContainer, options: Iterable[str | Mapping[str, Any]]) -> None:
    """Add options of the table; one that several commands have is given by its name there."""
    for option in options:
        how = dict(packaged_table("commands")["options"][option] if isinstance(option, str) else option)
        names = [how.pop(key) for key in ("name", "also") if key in how]
        if "{pull_names}" in how.get("help", ""):
            how["help"] = how["help"].replace("{pull_names}", name_forms())
        if how.get("choices") == "formats":
            how["choices"] = list(FORMATS)
        if "type" in how:
            how["type"] = _TYPES[how["type"]]
        parser.add_argument(*names, **how)
