"""Every tool that a card may name. A tool exists only if it is listed here; none registers itself.

`all_tools` has the analyzers, which are run once on each changed file; what a model may look up in the repository is in
`reviewbot.llm.tools`. `known_rules` has the names of all rules that our analyzers report, with the category of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from reviewbot.analyzers.both_sides import DiffSemantics
from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.rules import LateRules, RuleTable, packaged_rules
from reviewbot.analyzers.dependencies.tool import AddedDependencies
from reviewbot.analyzers.imported import ImportedFindings
from reviewbot.analyzers.imported.kinds import WORKERS
from reviewbot.analyzers.messages.tool import MessageKeys
from reviewbot.analyzers.migrations.tool import Migrations
from reviewbot.analyzers.patterns.tool import PATTERN_TOOLS, PatternTool
from reviewbot.analyzers.programs.rows import PROGRAMS
from reviewbot.analyzers.programs.tool import ProgramAnalyzer
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.python.views import Budget, Found, View
from reviewbot.analyzers.ruff.repository_rules import RepositoryRules
from reviewbot.analyzers.ruff.run import SYNTAX, RuffRunner, find_ruff
from reviewbot.analyzers.ruff.tool import RuffTool
from reviewbot.analyzers.text import debug_statements, merge_conflicts, secrets
from reviewbot.analyzers.text.change_scan import ChangeScan
from reviewbot.analyzers.text.debug_statements import DebugLeftovers
from reviewbot.analyzers.text.hidden_text import HiddenText
from reviewbot.analyzers.text.merge_conflicts import MergeConflicts
from reviewbot.analyzers.text.review_manipulation import ReviewManipulation
from reviewbot.analyzers.text.secrets import SecretScan
from reviewbot.analyzers.text.weakened_lines import WeakenedLines
from reviewbot.domain.ports import Tool
from reviewbot.review.calibration import Calibration

SCANNING = ("hidden-text", "review-manipulation")
"""Tools that also look at what a change says outside of its lines."""

_TELLS_OF_BROKEN_FILES = "ruff-logic"

_SYNTAX_CATEGORY = "syntax"


def all_tools(
    *,
    ruff: Path | None = None,
    limits: ProgramLimits | None = None,
    rules: RuleTable | None = None,
    calibration: Calibration | None = None,
    foreign: Sequence[Tool] | None = None,
) -> dict[str, Tool]:
    """Every analyzer by its name.

    `ruff` is the program to run, by default the one of the installed package; `foreign` are the tools that report
    what other programs have found.
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
        AddedDependencies(LateRules("dependencies", calibration)),
        WeakenedLines(LateRules("weakened-lines", calibration)),
        Migrations(LateRules("migrations", calibration)),
        MessageKeys(LateRules("message-keys", calibration)),
        SecretScan(),
        MergeConflicts(),
        DebugLeftovers(),
        *(PatternTool(name, calibration) for name in PATTERN_TOOLS),
        RepositoryRules(table.rules, ruff or find_ruff(), limits, reader),
        *(ProgramAnalyzer(row, LateRules(row.name, calibration), row.file()) for row in PROGRAMS),
    ]
    tools += [ImportedFindings(f"imported-{worker}", ()) for worker in WORKERS] if foreign is None else foreign
    return {tool.name: tool for tool in tools}


def change_scan(task_type: str, calibration: Calibration | None = None) -> ChangeScan:
    """The scan of names, title and description, with the rules of `SCANNING`."""
    hidden, manipulation = (LateRules(name, calibration) for name in SCANNING)
    return ChangeScan(HiddenText(hidden), ReviewManipulation(manipulation), task_type)


# The walks of syntax trees are seventy modules. They are loaded with the first file of Python, which is while a model
# thinks about the plan, and not before the first call.


def _taint(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.analyzers.taint import check  # noqa: PLC0415 - as above

    return check(view, budget)


def _security_checks(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.analyzers.security import check  # noqa: PLC0415 - as above

    return check(view, budget)


def _loop_costs(view: View, budget: Budget) -> Iterable[Found]:
    from reviewbot.analyzers.loops import loop_costs  # noqa: PLC0415 - as above

    return loop_costs(view, budget)


@cache
def known_rules() -> Mapping[str, str]:
    """The category of each rule. Rules of ruff that only a repository's own configuration selects are not included."""
    tables = sorted(each.name for each in (files("reviewbot") / "data" / "rules").iterdir())
    found = {
        rule.code: rule.category
        for table in tables
        if table.endswith(".toml")
        for rule in packaged_rules(table.removesuffix(".toml")).rules.values()
    }
    own = {**secrets.RULES, **debug_statements.RULES, **merge_conflicts.RULES, SYNTAX: _SYNTAX_CATEGORY}
    return {**own, **found}
