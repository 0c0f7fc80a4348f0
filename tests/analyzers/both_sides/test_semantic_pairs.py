"""The tool's own pairs, without the rest of the product; and that no rule of ruff's finds what they show."""

from __future__ import annotations

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.run import changed_file

FILE = Path(__file__).parents[2] / "pairs" / "diff_semantics.toml"
PAIRS: list[dict[str, Any]] = tomllib.loads(FILE.read_text("utf-8"))["pair"]
PYTHON = [pair for pair in PAIRS if pair["path"].endswith(".py")]
"""The others are of languages that the fixtures of this folder do not write; tests/pairs has them all."""
RUFF = ("ruff-security", "ruff-performance", "ruff-style", "ruff-logic")


def text_of(pair: dict[str, Any], side: str) -> str:
    return str(pair[side]).replace("  # <<<", "")


def marked(pair: dict[str, Any]) -> list[int]:
    return [number for number, line in enumerate(pair["wrong"].split("\n"), 1) if line.endswith("# <<<")]


@pytest.mark.parametrize("pair", PYTHON, ids=[pair["name"] for pair in PYTHON])
def test_what_is_wrong_is_told_at_its_line_and_what_is_right_is_not(said: Any, pair: dict[str, Any]) -> None:
    others = pair.get("others", {})

    wrong = said(pair["base"], text_of(pair, "wrong"), others, path=pair["path"])
    right = said(pair["base"], text_of(pair, "right"), others, path=pair["path"])

    assert wrong[pair["rule"]].line in marked(pair)
    assert pair["rule"] not in right
    assert not [each for each in right.values() if each.confidence >= 80]


def test_every_rule_has_a_pair(rules: Any) -> None:
    assert {pair["rule"] for pair in PAIRS} == set(rules)


@pytest.mark.slow
def test_ruff_finds_nothing_of_what_the_pairs_show(repository: Any, file_of: Any) -> None:
    tools = all_tools()

    async def told(pair: dict[str, Any]) -> set[str]:
        base, head, path = pair["base"], text_of(pair, "wrong"), pair["path"]
        snapshot = repository(path, (base, head), pair.get("others", {}))
        reports = [
            await tools[name].run(changed_file([file_of(base, head, path)], snapshot), snapshot) for name in RUFF
        ]
        assert not [report.gap for report in reports if report.gap]
        return {f"{each.rule} at {each.line}" for report in reports for each in report.candidates}

    async def all_told() -> dict[str, set[str]]:
        return {pair["name"]: await told(pair) for pair in PYTHON}

    found = asyncio.run(all_told())

    assert {name: said for name, said in found.items() if said} == {}
