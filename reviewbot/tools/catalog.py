"""Every tool that a card may name. Nothing registers itself: what is not written here does not exist.

There are two kinds: analyzers (`all_tools`), which are run once on each changed file, and tools for reading
(`own_tools`), which a model may call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.tools.change_scan import ChangeScan
from reviewbot.tools.diff_semantics import DiffSemantics
from reviewbot.tools.foreign import ForeignFindings
from reviewbot.tools.foreign.kinds import WORKERS
from reviewbot.tools.hidden_text import HiddenText
from reviewbot.tools.leftovers import DebugLeftovers
from reviewbot.tools.merge_conflicts import MergeConflicts
from reviewbot.tools.python_reader import PythonReader
from reviewbot.tools.python_tool import PythonTool
from reviewbot.tools.repository_rules import RepositoryRules
from reviewbot.tools.review_manipulation import ReviewManipulation
from reviewbot.tools.ruff import RuffTool
from reviewbot.tools.ruff_run import RuffRunner, find_ruff
from reviewbot.tools.rules import LateRules, packaged_rules
from reviewbot.tools.secrets import SecretScan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reviewbot.calibration import Calibration
    from reviewbot.ports import Tool
    from reviewbot.tools.process import Limits
    from reviewbot.tools.rules import RuleTable
    from reviewbot.tools.views import Budget, Found, View

SCANNING = ("hidden-text", "review-manipulation")
"""Tools that also look at what a change says outside of its lines."""

_TELLS_OF_BROKEN_FILES = "ruff-logic"


def all_tools(
    *,
    ruff: Path | None = None,
    limits: Limits | None = None,
    rules: RuleTable | None = None,
    calibration: Calibration | None = None,
    foreign: Sequence[Tool] | None = None,
) -> dict[str, Tool]:
    """Every analyzer by its name.

    `ruff` is the program to run, by default the one of the installed package; `foreign` are the tools that tell what
    other programs have found.
    """
    table = rules or packaged_rules("ruff_rules", calibration)
    reader = PythonReader()
    runner = RuffRunner(table.rules, ruff or find_ruff(), limits, reader)
    tools: list[Tool] = [
        RuffTool(name, table.of_tool(name), runner, broken_files=name == _TELLS_OF_BROKEN_FILES)
        for name in ("ruff-security", "ruff-performance", "ruff-style", "ruff-logic")
    ]
    tools += [
        PythonTool("taint", _taint, LateRules("taint", calibration), reader),
        PythonTool("security-checks", _security_checks, LateRules("security-checks", calibration), reader),
        PythonTool("loop-costs", _loop_costs, LateRules("loop-costs", calibration), reader),
        DiffSemantics(LateRules("diff-semantics", calibration)),
        HiddenText(LateRules("hidden-text", calibration)),
        ReviewManipulation(LateRules("review-manipulation", calibration)),
        SecretScan(),
        MergeConflicts(),
        DebugLeftovers(),
        RepositoryRules(table.rules, ruff or find_ruff(), limits, reader),
    ]
    tools += [ForeignFindings(f"sarif-{worker}", ()) for worker in WORKERS] if foreign is None else foreign
    return {tool.name: tool for tool in tools}


def change_scan(task_type: str, calibration: Calibration | None = None) -> ChangeScan:
    """The scan of names, title and description, with the rules of `SCANNING`."""
    hidden, manipulation = (LateRules(name, calibration) for name in SCANNING)
    return ChangeScan(HiddenText(hidden), ReviewManipulation(manipulation), task_type)


# The walks of syntax trees are seventy modules. They are loaded with the first file of Python, which is while a model
# thinks about the plan, and not before the first call.


def _taint(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.tools.taint import check  # noqa: PLC0415 - as above

    return check(view, budget)


def _security_checks(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.tools.security_checks import check  # noqa: PLC0415 - as above

    return check(view, budget)


def _loop_costs(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.tools.loop_costs import loop_costs  # noqa: PLC0415 - as above

    return loop_costs(view, budget)
