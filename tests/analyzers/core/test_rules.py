"""The tables of rules: what they may say, how far a rule is trusted, and ruff's against the ruff that is installed."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.resources import files
from itertools import combinations

import pytest

from reviewbot.analyzers.core.rules import WORDS, LateRules, Rule, packaged_rules, read_rules
from reviewbot.analyzers.ruff.run import find_ruff
from reviewbot.review.calibration import Calibration, RuleRow, wilson
from reviewbot.tables import packaged_table

TABLE = packaged_rules("ruff_rules", Calibration())
"""With the estimates, whatever has been counted since."""

TABLES = sorted(
    entry.name.removesuffix(".toml")
    for entry in (files("reviewbot") / "data" / "rules").iterdir()
    if entry.name.endswith(".toml")
)
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
    written_for = packaged_table("rules/ruff_rules")
    assert str(written_for["version"]).startswith(installed.group() + ".")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(written_for["date"]))
    assert written_for["source"]


def test_no_rule_serves_two_tools() -> None:
    tools = ("ruff-logic", "ruff-performance", "ruff-security", "ruff-style")
    for one, other in combinations(tools, 2):
        assert not TABLE.of_tool(one).keys() & TABLE.of_tool(other).keys()
    assert sum(len(TABLE.of_tool(tool)) for tool in tools) == len(TABLE.rules)


@pytest.mark.parametrize("code", ["S101", "S603", "S607", "ASYNC109"])
def test_rules_that_cry_wolf_are_off(code: str) -> None:
    assert code not in TABLE.rules


@pytest.mark.parametrize("code", ["S602", "S605", "S608", "S307", "S102"])
def test_an_injection_that_nothing_in_a_hunk_could_confirm_goes_to_a_person(code: str) -> None:
    rule = TABLE.rules[code]

    assert rule.severity == "critical"
    assert rule.confidence < rule.confidence_on("x", whole=False) < 80
    assert rule.confidence_on("x", whole=False) >= 50


@pytest.mark.parametrize("code", ["F821", "F811"])
def test_rules_that_need_scope_speak_on_whole_files_only(code: str) -> None:
    assert not TABLE.rules[code].fragments


def test_what_a_bundler_wrote_is_held_back_unless_it_is_a_hole() -> None:
    bundled = "a();" * 300
    slip, hole = packaged_rules("oxlint", Calibration()).rules["no-const-assign"], TABLE.rules["S608"]

    assert (slip.confidence_on("a();"), slip.severity_on("a();")) == (slip.confidence, "critical")
    assert (slip.confidence_on(bundled), slip.severity_on(bundled)) == (70, "warning")
    assert hole.confidence_on(bundled) == hole.confidence_on("a()")
    assert hole.severity_on(bundled) == "critical"


def test_a_word_on_the_line_changes_the_confidence_and_the_name() -> None:
    rule = TABLE.rules["S324"]

    assert (rule.name_on("x = md5(data)"), rule.confidence_on("x = md5(data)")) == ("S324", 75)
    assert rule.name_on("ETAG = md5(data)") == "S324" + WORDS
    assert rule.confidence_on("ETAG = md5(data)") == 40


def test_a_word_without_a_confidence_of_its_own_changes_nothing() -> None:
    rule = Rule("X", "t", "info", "c", 50, words=("token",))

    assert (rule.name_on("token"), rule.confidence_on("token")) == ("X", 50)


def test_a_word_may_make_a_report_less_sure() -> None:
    rule = Rule("X", "t", "info", "c", 90, words=("cache",), words_confidence=0)

    assert (rule.name_on("Cache"), rule.confidence_on("Cache"), rule.confidence_on("x")) == ("X:named", 0, 90)


NAMED = GROUP + 'words = ["token"]\nwords_confidence = 85\n'


@pytest.mark.parametrize(
    ("counted", "plain", "named"),
    [
        ({}, 50, 85),
        ({"S1": (9, 1)}, wilson(9, 1), 85),
        ({"S1:named": (9, 1)}, 50, wilson(9, 1)),
        ({"S1": (0, 9), "S1:named": (99, 0)}, 0, wilson(99, 0)),
        ({"S1": (2, 2), "S1:named": (4, 0)}, 50, 85),
        ({"S2": (9, 1)}, 50, 85),
    ],
    ids=["nothing", "the rule", "the rule with a word", "both", "too little", "another rule"],
)
def test_counts_take_the_place_of_estimates(counted: dict[str, tuple[int, int]], plain: int, named: int) -> None:
    rows = {("t", code): RuleRow("t", code, "1", *count, wilson(*count)) for code, count in counted.items()}

    rule = read_rules(NAMED, Calibration("", rows)).rules["S1"]

    assert (rule.confidence, rule.words_confidence) == (plain, named)


def test_the_counts_of_another_tool_do_not_count() -> None:
    rows = {("u", "S1"): RuleRow("u", "S1", "1", 9, 0, wilson(9, 0))}

    assert read_rules(GROUP, Calibration("", rows)).rules["S1"].confidence == 50


def test_no_rule_gets_a_second_confidence_from_counts() -> None:
    rows = {("t", "S1:named"): RuleRow("t", "S1:named", "1", 9, 0, wilson(9, 0))}

    assert read_rules(GROUP, Calibration("", rows)).rules["S1"].words_confidence is None


@pytest.mark.parametrize("name", TABLES)
def test_every_packaged_table_can_be_read_and_calibrated(name: str) -> None:
    estimated, calibrated = packaged_rules(name, Calibration()), packaged_rules(name)

    assert estimated.rules.keys() == calibrated.rules.keys()
    assert estimated.rules
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(packaged_table(f"rules/{name}")["date"]))
    for rule in estimated.rules.values():
        assert re.fullmatch(r"[A-Za-z0-9-]{1,60}", rule.code)
        assert (rule.words == ()) == (rule.words_confidence is None)


def test_no_rule_stands_in_two_tables() -> None:
    every = [(rule.tool, rule.code) for name in TABLES for rule in packaged_rules(name).rules.values()]

    assert len(set(every)) == len(every)


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


def test_the_late_rules_of_a_tool_are_those_of_its_table() -> None:
    calibration = Calibration(
        "", {("taint", "sql-external"): RuleRow("taint", "sql-external", "1", 40, 0, wilson(40, 0))}
    )

    late, table = LateRules("taint", calibration), packaged_rules("taint", calibration).of_tool("taint")

    assert dict(late) == dict(table)
    assert len(late) == len(table)
    assert late["sql-external"].confidence == wilson(40, 0)


def test_late_rules_read_their_table_only_when_one_is_asked_for() -> None:
    late = LateRules("no-such-tool")

    with pytest.raises(FileNotFoundError):
        late["sql-external"]


def test_what_one_calibration_says_does_not_stay_for_the_next() -> None:
    counted = Calibration("", {("taint", "sql-external"): RuleRow("taint", "sql-external", "1", 0, 40, wilson(0, 40))})
    before = packaged_rules("taint", Calibration()).rules["sql-external"]

    assert packaged_rules("taint", counted).rules["sql-external"].confidence == wilson(0, 40)
    assert packaged_rules("taint", Calibration()).rules["sql-external"] == before


@pytest.mark.parametrize(
    ("message", "said", "shown"),
    [
        ("Insecure hash function `{name}`", "Functions of `hashlib`: `sha1`", "Insecure hash function `sha1`"),
        ("Insecure hash function `{name}`", "Probable use of one", "Probable use of one"),
        ("Mutable default value", "Do not use mutable data structures", "Mutable default value"),
        ("", "Use `x`", "Use `x`"),
    ],
)
def test_a_rules_message_names_what_the_program_quotes_and_without_it_the_programs_own_stands(
    message: str, said: str, shown: str
) -> None:
    rule = Rule(code="S324", tool="ruff-security", severity="warning", category="c", confidence=80, message=message)

    assert rule.message_for(said) == shown
