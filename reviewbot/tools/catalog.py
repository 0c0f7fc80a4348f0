"""Every tool that a card may name. Nothing registers itself: what is not written here does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.tools.leftovers import DebugLeftovers
from reviewbot.tools.merge_conflicts import MergeConflicts
from reviewbot.tools.ruff import RuffTool
from reviewbot.tools.ruff_rules import packaged_rules
from reviewbot.tools.ruff_run import RuffRunner, find_ruff
from reviewbot.tools.secrets import SecretScan

if TYPE_CHECKING:
    from pathlib import Path

    from reviewbot.ports import Tool
    from reviewbot.tools.process import Limits
    from reviewbot.tools.ruff_rules import RuleTable

_TELLS_OF_BROKEN_FILES = "ruff-logic"


def all_tools(
    *, ruff: Path | None = None, limits: Limits | None = None, rules: RuleTable | None = None
) -> dict[str, Tool]:
    """Every tool by its name. `ruff` is the program to run, by default the one of the installed package."""
    table = rules or packaged_rules()
    runner = RuffRunner(table.rules, ruff or find_ruff(), limits)
    tools: list[Tool] = [
        RuffTool(name, table.of_tool(name), runner, broken_files=name == _TELLS_OF_BROKEN_FILES)
        for name in ("ruff-security", "ruff-performance", "ruff-style", "ruff-logic")
    ]
    tools += [SecretScan(), MergeConflicts(), DebugLeftovers()]
    return {tool.name: tool for tool in tools}
