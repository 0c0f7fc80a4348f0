"""`reviewbot tools`: list the tools that look at files, and say how to install those that are missing."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import fill

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.programs.installed import ToolState, tool_states
from reviewbot.domain.errors import ExitCode
from reviewbot.report.terminal_style import style_of, write
from reviewbot.strict_json import write_json

_INDENT = "    "


def tools_command(arguments: argparse.Namespace) -> int:
    """`reviewbot tools`."""
    states = tool_states(all_tools())
    if arguments.format == "json":
        listed = [{**asdict(state), "installed": not state.install} for state in states]
        sys.stdout.write(write_json(listed, indent=2) + "\n")
        return ExitCode.REVIEWED
    write(sys.stdout, _render(states, style_of(sys.stdout, os.environ).width))
    return ExitCode.REVIEWED


def _render(states: Sequence[ToolState], width: int) -> str:
    """Each tool with its program and its languages; the missing ones once more at the end, with the command."""
    lines: list[str] = []
    for state in states:
        program = f"{state.program} {state.version or 'is not installed'}" if state.program else "built in"
        languages = ", ".join(state.languages) or "every file, line by line"
        lines.append(fill(f"{state.name}  {program}; {languages}", width, subsequent_indent=_INDENT))
    for command in dict.fromkeys(state.install for state in states if state.install):
        missing = ", ".join(state.name for state in states if state.install == command)
        lines.append(
            fill(
                f"missing: {missing}. To install them, in a clone of reviewbot: {command}",
                width,
                subsequent_indent=_INDENT,
            )
        )
    return "\n".join(lines) + "\n"
