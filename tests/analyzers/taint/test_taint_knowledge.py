"""The table of what is known of libraries, and the rules that speak of it."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.taint.knowledge import Knowledge, packaged_knowledge, read_knowledge, words_of
from reviewbot.review.calibration import Calibration


@pytest.fixture
def known() -> Knowledge:
    return packaged_knowledge()


def test_each_reach_of_each_kind_has_a_rule_and_each_rule_a_reach(known: Knowledge) -> None:
    told = {f"{name}-{suffix}" for name, kind in known.kinds.items() for suffix in kind.suffixes.values()}
    assert told | {"sql-identifier-parameter"} == set(packaged_rules("taint").of_tool("taint"))


def test_each_kind_that_is_made_harmless_exists(known: Knowledge) -> None:
    named = {kind for rule in known.named for kind in rule.kinds}
    ended = {kind for kinds in known.sanitizers.values() for kind in kinds}
    assert named | ended <= {*known.kinds, "*"}


def test_each_source_has_a_reach_that_some_kind_tells(known: Knowledge) -> None:
    assert {source.reach for source in known.sources.values()} == {"remote", "typed", "local"}


def test_a_flow_from_outside_is_trusted_no_less_than_one_from_a_parameter(known: Knowledge) -> None:
    rules = packaged_rules("taint", Calibration()).rules
    for name, kind in known.kinds.items():
        external = rules[f"{name}-external"]
        for suffix in set(kind.suffixes.values()) - {"external"}:
            other = rules[f"{name}-{suffix}"]
            assert other.confidence <= external.confidence
            assert (other.category, other.cwe) == (external.category, external.cwe)


def test_rules_share_category_and_weakness_with_other_tools_where_the_defect_is_the_same() -> None:
    ours = {rule.category: rule.cwe for rule in packaged_rules("taint").rules.values()}
    others = {(rule.category, rule.cwe) for rule in packaged_rules("ruff_rules").rules.values()}
    for category in ("sql-injection", "command-injection", "deserialization", "path-traversal", "xss", "ssrf", "xxe"):
        assert (category, ours[category]) in others


NAMES = {
    "escape_for_html": {"xss", "xpath"},
    "escapeHtml": {"xss", "xpath"},
    "sanitize_name": {"*"},
    "safe_join": {"*"},
    "get_valid_name": {"*"},
    "unsafe_join": set(),
    "quote_identifier": {"sql"},
    "escape_shell_arg": {"command"},
    "ldap_escape": {"ldap"},
    "escape_regex": {"regex"},
    "escape": {"xss", "sql", "command", "ldap", "xpath", "regex"},
    "escape_room": set(),
    "html": set(),
    "": set(),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_believed_only_in_what_it_says(name: str, known: Knowledge) -> None:
    assert known.harmless_by_name(name) == NAMES[name]


def test_words_of_a_name() -> None:
    assert words_of("getSafeURL_for_html2") == ["get", "safe", "url", "for", "html2"]


def test_the_first_name_that_is_known_decides(known: Knowledge) -> None:
    assert [sink.kind for sink in known.sinks_called(["os.system", ".execute"])] == ["command"]
    assert [sink.kind for sink in known.sinks_called(["x.y", ".execute"])] == ["sql"]
    assert known.sinks_called([]) == ()


def test_a_table_of_another_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="schema 2"):
        read_knowledge("schema = 2")


def test_a_sink_of_an_unknown_kind_is_refused() -> None:
    table = """
        schema = 1
        sanitizer = []
        kind = []
        source = []
        named = []
        [special]
        kinds = []
        [[sink]]
        kind = "nothing"
        names = ["a"]
        args = [0]
    """
    with pytest.raises(ValueError, match="'nothing'"):
        read_knowledge(table)
