"""What the adapter must know of one program: a row of `data/programs.toml`."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.wording import install_command

EXTRA = "tools"
"""The extra of this package that installs every program."""

INSTALL = install_command(EXTRA)


class Said(NamedTuple):
    """One diagnostic of a program, on rows `first` to `last` of a file, each counted from 1."""

    file: str
    """The name that the file had in the run."""
    code: str
    message: str
    first: int
    last: int


Parse = Callable[[bytes], Iterator[Said]]
"""Reads what a program wrote. Raises ValueError, LookupError or TypeError where that has another form."""


@dataclass(frozen=True)
class ProgramTool:
    """A program that comes as a wheel, how it is started on copies of files, and how its answer is read."""

    name: str
    """As cards write it; its rules stand in `data/rules/NAME.toml`."""
    package: str
    """The distribution that brings it."""
    executable: str
    """Below the folder of scripts, or with a folder below the one of packages."""
    arguments: tuple[str, ...]
    """In front of the files. It must name every configuration that the program would look for, or switch that off."""
    parse: Parse
    languages: frozenset[str]
    suffix: str = ""
    """Of the names that files have in a run."""
    kept_suffixes: frozenset[str] = frozenset()
    """Suffixes that a file keeps in a run: the program goes by them."""
    paths: re.Pattern[str] | None = None
    """Where it is for some files of its languages only: what their names hold."""
    not_paths: re.Pattern[str] | None = None
    """Names of files of its languages that it cannot read."""
    unless: re.Pattern[str] | None = None
    """What a text holds that it cannot read."""
    silencers: re.Pattern[str] | None = None
    """Words in a text that would silence the program or load something for it; they are crossed out."""
    unread: frozenset[str] = frozenset()
    """Codes by which it says that it could not read a file."""
    statuses: frozenset[int] = frozenset({0, 1})
    """How it ends where it has read the files."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """Files that reviewbot puts beside the copies."""
    module: bool = False
    """It is a package of Python and is started with `python -I -m`."""
    skipped: bytes = b""
    """What stands on standard error where it has left out a file."""
    limits: ProgramLimits = field(default_factory=ProgramLimits)

    def file(self) -> Path | None:
        """The program in the environment of this one; None where it is not installed. PATH is not searched."""
        folder = sysconfig.get_path("purelib" if "/" in self.executable else "scripts")
        found = Path(folder) / self.executable
        return found if found.is_file() else None

    def reads(self, path: str, language: str) -> bool:
        """Whether it is for a file, by its name."""
        return (
            language in self.languages
            and (self.paths is None or self.paths.search(path) is not None)
            and (self.not_paths is None or self.not_paths.search(path) is None)
        )

    def prepared(self, text: str) -> str | None:
        """The text as the program is given it, of the same rows and columns; None where it cannot read such a text."""
        if self.unless is not None and self.unless.search(text):
            return None
        return text if self.silencers is None else self.silencers.sub(_crossed_out, text)


def version_of(package: str) -> str:
    """The version of an installed distribution."""
    from importlib import metadata  # noqa: PLC0415 - slow to load, and asked for where a program has run

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _crossed_out(found: re.Match[str]) -> str:
    return "x" * len(found[0])
