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
from reviewbot.diff.paths import is_example, is_run_by_hand, is_test

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


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py", "a/test/b.go", "src/__tests__/x.ts", "test_a.py", "a/b_test.go", "x.spec.ts", "conftest.py",
        "spec/models/a_spec.rb", "src/FooTest.java", "Testing/x.c", "a/fixtures/key.pem",
    ],
)  # fmt: skip
def test_a_path_of_test_code_is_known(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["src/contest.py", "latest.py", "attestation/a.py", "src/testimony.py", "inspect.rb"])
def test_a_path_that_only_sounds_like_a_test_is_none(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize("path", ["examples/a.py", "docs/x/y.py", "a/Samples/b.py"])
def test_a_path_of_code_that_is_there_to_be_read_is_known(path: str) -> None:
    assert is_example(path)
    assert not is_example(path.replace("/", "_"))


@pytest.mark.parametrize(
    ("path", "by_hand"),
    [
        ("scripts/a.py", True),
        ("app/cli.py", True),
        ("manage.py", True),
        ("a/__main__.py", True),
        ("src/client.py", False),
    ],
)
def test_a_path_of_a_program_for_people_is_known(path: str, *, by_hand: bool) -> None:
    assert is_run_by_hand(path) is by_hand


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
