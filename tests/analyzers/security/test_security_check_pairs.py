"""Each rule of the checks of our own against its pairs: wrong code, and code that is as alike as possible and right."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.python.tool import PythonTool
from reviewbot.analyzers.security import check
from reviewbot.review.calibration import Calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import Candidate, FileChange
    from reviewbot.domain.ports import Snapshot

MARK = "  # <<<"
PAIRS = tomllib.loads((Path(__file__).parents[2] / "pairs" / "security_checks.toml").read_text("utf-8"))["pair"]
TABLE = packaged_rules("security_checks", Calibration())


def findings(change: FileChange, snapshot: Snapshot) -> list[Candidate]:
    """What the tool says of a new file."""
    tool = PythonTool("security-checks", check, TABLE.of_tool("security-checks"), PythonReader())
    report = asyncio.run(tool.run(changed_file([change], snapshot), snapshot))
    assert report.gap is None
    return list(report.candidates)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_a_rule_speaks_of_the_wrong_code_alone(
    pair: dict[str, Any], file_of: Callable[..., FileChange], snapshot_of: Callable[..., Snapshot]
) -> None:
    path = pair.get("path", "src/app.py")
    expected = [n for n, line in enumerate(pair["wrong"].split("\n"), 1) if line.endswith(MARK)]

    marked = pair["wrong"].replace(MARK, "")
    wrong = findings(file_of(marked, path=path), snapshot_of(marked))
    right = findings(file_of(pair["right"], path=path), snapshot_of(pair["right"]))

    assert [found.line for found in wrong if found.rule == pair["rule"]] == expected
    assert {found.suggestion for found in wrong if found.rule == pair["rule"]} == {TABLE.rules[pair["rule"]].fix}
    assert [found.rule for found in right if found.rule == pair["rule"] or found.confidence >= 80] == []


def test_every_rule_has_a_pair() -> None:
    assert {pair["rule"] for pair in PAIRS} == set(TABLE.rules)


def test_the_names_of_pairs_are_different() -> None:
    names = [pair["name"] for pair in PAIRS]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("rule", TABLE.rules.values(), ids=lambda rule: rule.code)
def test_every_rule_says_what_is_wrong_and_when_it_bites(rule: Any) -> None:
    assert rule.tool == "security-checks"
    assert rule.message
    assert rule.trigger
    assert rule.cwe


def test_no_estimate_claims_to_be_nearly_certain() -> None:
    assert all(rule.confidence <= 95 for rule in TABLE.rules.values())
