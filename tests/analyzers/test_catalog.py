"""The registry of tools, and the layer's small parts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.changed_lines import ChangedLine, added_lines, new_side
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot, Tool


ROOT = Path(__file__).parent.parent.parent


def test_every_tool_is_in_the_catalog_under_its_own_name() -> None:
    tools: dict[str, Tool] = all_tools()

    assert sorted(tools) == [
        "actionlint",
        "debug-leftovers",
        "dependencies",
        "diff-semantics",
        "hadolint",
        "hidden-text",
        "imported-logic",
        "imported-performance",
        "imported-security",
        "imported-style",
        "loop-costs",
        "merge-conflicts",
        "message-keys",
        "migrations",
        "oxlint",
        "patterns-logic",
        "patterns-performance",
        "patterns-security",
        "repository-rules",
        "review-manipulation",
        "ruff-logic",
        "ruff-performance",
        "ruff-security",
        "ruff-style",
        "secrets",
        "security-checks",
        "shellcheck",
        "squawk",
        "taint",
        "weakened-lines",
        "yamllint",
        "zizmor",
    ]
    assert all(tool.name == name for name, tool in tools.items())


@pytest.mark.parametrize(
    "table",
    ["ruff_rules", "taint", "security_checks", "loop_costs", "diff_semantics", "hidden_text", "review_manipulation"],
)
def test_every_tool_of_a_rule_table_is_in_the_catalog(table: str) -> None:
    assert {rule.tool for rule in packaged_rules(table).rules.values()} <= set(all_tools())


def test_every_tool_is_on_one_card_and_no_other() -> None:
    cards = [tomllib.loads(path.read_text()) for path in sorted((ROOT / "workers").glob("*.toml"))]

    assert sorted(name for card in cards for name in card["tools"]) == sorted(all_tools())


def test_the_new_side_has_the_lines_of_each_hunk_that_adds_something(
    file_of: Callable[..., FileChange], bare: Snapshot
) -> None:
    file = changed_file([file_of(" a\n-b\n+c\n\\ No newline at end of file", "-d\n e", "+f", start=3)], bare)

    assert new_side(file) == (
        (ChangedLine(3, "a", added=False), ChangedLine(4, "c", added=True)),
        (ChangedLine(2003, "f", added=True),),
    )
    assert [line.number for line in added_lines(file)] == [4, 2003]


NINE = ("python", "typescript", "javascript", "go", "java", "kotlin", "ruby", "rust", "csharp", "php")


def test_the_languages_that_something_understands_are_named_by_a_tool_that_reads_them() -> None:
    reading = [tool for name, tool in all_tools().items() if name != "diff-semantics" and tool.languages is not None]
    understood = {language for tool in reading for language in tool.languages or ()}

    assert understood.issuperset(NINE)
    assert understood.isdisjoint({"swift", "scala", "dart", "perl", "lua", "c", "cpp", "text"})
