"""Which programs are installed, and which of a change's files one that is not would have read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reviewbot.analyzers.programs.program import INSTALL, ProgramTool, version_of
from reviewbot.analyzers.programs.rows import PROGRAMS
from reviewbot.config.globs import matches_glob
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.ports import Tool
from reviewbot.wording import with_count

FOREIGN: Final = "imported-"
"""How the names of tools begin that only pass on what other programs found."""

RUFF: Final = "ruff"


def missing_note(
    change: ChangeSet, ignore: Collection[str], programs: Sequence[ProgramTool] = PROGRAMS
) -> tuple[str, ...]:
    """One line that names the programs that are not installed and would have read a file of the change."""
    paths = [
        (file.path, file.language)
        for file in change.files
        if file.status != "deleted" and file.hunks and not any(matches_glob(glob, file.path) for glob in ignore)
    ]
    wanted = {row.name: sum(row.reads(*each) for each in paths) for row in programs if row.file() is None}
    named = [f"{name} ({with_count(files, 'file')})" for name, files in wanted.items() if files]
    return (
        (f"not installed, and so not run: {', '.join(named)}; to install them, in a clone of reviewbot: {INSTALL}",)
        if named
        else ()
    )


@dataclass(frozen=True)
class ToolState:
    """One tool as `reviewbot tools` lists it."""

    name: str
    languages: tuple[str, ...]
    """Empty: the plain lines of every file."""
    program: str
    """The distribution of the program that it starts; empty where it is a part of this package."""
    version: str
    """Of the program; empty where it is missing, or there is none."""
    install: str = ""
    """The command that installs the program, where it is missing."""


def tool_states(tools: Mapping[str, Tool], programs: Sequence[ProgramTool] = PROGRAMS) -> list[ToolState]:
    """Every tool of the catalog that looks at files itself, in the catalog's order."""
    rows = {row.name: row for row in programs}
    own = [tool for name, tool in tools.items() if name not in rows and not name.startswith(FOREIGN)]
    return [*(_own_state(tool) for tool in own), *(_state(row) for row in programs)]


def _own_state(tool: Tool) -> ToolState:
    program = RUFF if tool.name.startswith(RUFF) or tool.name == "repository-rules" else ""
    return ToolState(tool.name, tuple(sorted(tool.languages or ())), program, version_of(program) if program else "")


def _state(row: ProgramTool) -> ToolState:
    languages = tuple(sorted(row.languages))
    if row.file() is None:
        return ToolState(row.name, languages, row.package, "", INSTALL)
    return ToolState(row.name, languages, row.package, version_of(row.package))
