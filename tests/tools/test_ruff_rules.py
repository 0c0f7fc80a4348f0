"""The table of ruff's rules, against the ruff that is installed and against its own counts."""

from __future__ import annotations

import json
import math
import re
import subprocess
from itertools import combinations

import pytest

from reviewbot.tools.ruff_rules import Rule, packaged_rules, read_rules
from reviewbot.tools.ruff_run import find_ruff

TABLE = packaged_rules()
GROUP = """
schema = 1
date = 2026-01-01
version = "1"
source = "test"
[[group]]
tool = "t"
codes = ["S1"]
category = "c"
severity = "info"
confidence = 50
"""


def ruff(*arguments: str) -> str:
    program = find_ruff()
    assert program is not None
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def wilson(true: int, false: int) -> float:
    """The lower end of the 95% interval of a share, in percent."""
    n, z = true + false, 1.96
    share = true / n
    return (
        100 * (share + z * z / (2 * n) - z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    )


def test_every_rule_is_known_to_the_installed_ruff_and_stable() -> None:
    stable = {
        rule["code"]
        for rule in json.loads(ruff("rule", "--all", "--output-format", "json"))
        if "Stable" in rule["status"]
    }

    assert set(TABLE.rules) <= stable


def test_the_table_was_written_for_the_series_that_is_installed() -> None:
    installed = re.search(r"\d+\.\d+", ruff("--version"))

    assert installed is not None
    assert TABLE.version.startswith(installed.group() + ".")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", TABLE.date)
    assert TABLE.source


def test_no_rule_serves_two_tools() -> None:
    assert TABLE.tools == ("ruff-logic", "ruff-performance", "ruff-security", "ruff-style")
    for one, other in combinations(TABLE.tools, 2):
        assert not TABLE.of_tool(one).keys() & TABLE.of_tool(other).keys()
    assert sum(len(TABLE.of_tool(tool)) for tool in TABLE.tools) == len(TABLE.rules)


@pytest.mark.parametrize("code", ["S101", "S603", "S607", "ASYNC109"])
def test_rules_that_cry_wolf_are_off(code: str) -> None:
    assert code not in TABLE.rules


@pytest.mark.parametrize("code", ["S602", "S605", "S608", "S307", "S102"])
def test_an_injection_that_nothing_confirms_goes_to_a_person(code: str) -> None:
    rule = TABLE.rules[code]

    assert rule.severity == "critical"
    assert 50 <= rule.confidence < 80


@pytest.mark.parametrize("code", ["F821", "F811"])
def test_rules_that_need_scope_speak_on_whole_files_only(code: str) -> None:
    assert not TABLE.rules[code].fragments


def test_a_confidence_with_counts_stays_near_what_the_counts_carry() -> None:
    counted = [rule for rule in TABLE.rules.values() if rule.true is not None and rule.false is not None]

    assert counted
    for rule in counted:
        assert rule.confidence <= wilson(rule.true or 0, rule.false or 0) + 8, rule.code


def test_a_word_on_the_line_changes_the_confidence() -> None:
    rule = TABLE.rules["S311"]

    assert rule.confidence_on("x = random.random()") == 60
    assert rule.confidence_on("reset_TOKEN = random.random()") == 85


def test_a_rule_can_be_silent_in_tests_and_on_an_idiom() -> None:
    rule = Rule("X", "t", "info", "c", 50, tests=False, unless=("Depends(",))

    assert rule.speaks_on("x", in_tests=False)
    assert not rule.speaks_on("x", in_tests=True)
    assert not rule.speaks_on("x=Depends(y)", in_tests=False)


def test_a_table_with_all_that_it_needs_is_read() -> None:
    assert read_rules(GROUP).rules == {"S1": Rule("S1", "t", "info", "c", 50)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 2", "schema 2"),
        ('"S1"', '"S1", "S1"', "S1 stands twice"),
        ("confidence = 50", "confidence = 50\nconfidense = 1", "'confidense'"),
        ("confidence = 50", "confidence = 101", "S1 has no valid"),
        ('"info"', '"bad"', "S1 has no valid"),
    ],
)
def test_a_table_that_says_something_odd_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_rules(GROUP.replace(old, new))
