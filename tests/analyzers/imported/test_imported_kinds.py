from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.imported.kinds import WORKERS, Kinds, ResultKind, slug
from reviewbot.analyzers.imported.results import Result
from reviewbot.domain.contracts import Candidate

KINDS = Kinds(packaged_rules("ruff_rules").rules)


def kind(tool: str, rule: str = "x", *tags: str, cwe: int | None = None, score: float = 0.0) -> ResultKind:
    return KINDS.of(tool, Result(rule, "error", "m", "a.py", 1, 1, frozenset(tags), cwe, score))


@pytest.mark.parametrize(
    ("tool", "rule", "expected"),
    [
        ("ruff", "S608", ResultKind("security", "sql-injection", 89)),
        ("bandit", "B608", ResultKind("security", "sql-injection", 89)),
        ("Bandit", "B324", ResultKind("security", "weak-cryptography", 328)),
        ("flake8", "B006", ResultKind("logic", "shared-state", 665)),
        ("pylint", "W0127", ResultKind("logic", "no-effect", 561)),
        ("ruff", "PERF401", ResultKind("performance", "loop", None)),
        ("ruff", "ASYNC210", ResultKind("performance", "blocking-call", 1088)),
        ("ruff", "W605", ResultKind("style", "escape", None)),
    ],
)
def test_what_our_rules_know_they_decide(tool: str, rule: str, expected: ResultKind) -> None:
    assert kind(tool, rule) == expected


@pytest.mark.parametrize(
    ("tool", "rule", "expected"),
    [
        ("ruff", "S311", "S311"),
        ("bandit", "B311", "S311"),
        ("Bandit", "B608", "S608"),
        ("pylint", "W0127", "PLW0127"),
        ("bandit", "B999", "B999"),
        ("checker", "B311", "B311"),
        ("codeql", "py/unused import!", "py/unused-import"),
        ("checker", "", ""),
    ],
)
def test_a_rule_that_ours_for_ruff_was_made_from_has_its_name(tool: str, rule: str, expected: str) -> None:
    assert KINDS.rule(tool, Result(rule, "error", "m", "a.py", 1, 1, frozenset(), None, 0.0)) == expected


@pytest.mark.parametrize(
    ("rule", "worker"),
    [
        ("S603", "security"),
        ("PERF203", "performance"),
        ("C416", "performance"),
        ("E501", "style"),
        ("D103", "style"),
        ("UP006", "style"),
        ("C901", "style"),
        ("ANN001", "style"),
        ("F401", "logic"),
        ("B904", "logic"),
        ("E902", "logic"),
        ("SLOT000", "logic"),
        ("", "logic"),
    ],
)
def test_other_codes_of_ruff_go_by_their_family(rule: str, worker: str) -> None:
    assert kind("ruff", rule).worker == worker


@pytest.mark.parametrize(
    ("tool", "tags", "cwe", "score", "worker"),
    [
        ("CodeQL", ["security", "external/cwe/cwe-089"], 89, 8.8, "security"),
        ("CodeQL", ["maintainability", "useless-code", "external/cwe/cwe-563"], 563, 0.0, "logic"),
        ("CodeQL", ["reliability", "correctness"], None, 0.0, "logic"),
        ("ESLint", ["performance"], None, 0.0, "performance"),
        ("ESLint", ["stylistic"], None, 0.0, "style"),
        ("ESLint", [], None, 0.0, "logic"),
        ("Semgrep OSS", [], None, 0.0, "security"),
        ("Semgrep OSS", ["performance"], None, 0.0, "performance"),
        ("zizmor", [], None, 0.0, "security"),
        ("checker", [], 78, 0.0, "security"),
        ("checker", [], 88, 0.0, "security"),
        ("checker", [], 563, 0.0, "logic"),
        ("checker", [], None, 5.0, "security"),
        ("", [], None, 0.0, "logic"),
    ],
)
def test_other_results_go_by_tags_then_program_then_weakness(
    tool: str, tags: list[str], cwe: int | None, score: float, worker: str
) -> None:
    assert kind(tool, "r", *tags, cwe=cwe, score=score).worker == worker


@pytest.mark.parametrize(
    ("cwe", "category"),
    [
        (89, "sql-injection"),
        (78, "command-injection"),
        (77, "command-injection"),
        (94, "code-injection"),
        (22, "path-traversal"),
        (73, "path-traversal"),
        (79, "xss"),
        (502, "deserialization"),
        (918, "ssrf"),
        (295, "tls"),
        (327, "weak-cryptography"),
        (328, "weak-cryptography"),
        (259, "secret"),
    ],
)
def test_a_weakness_has_the_category_that_our_rules_give_it(cwe: int, category: str) -> None:
    assert kind("semgrep", "a.b", "security", cwe=cwe) == ResultKind("security", category, cwe)


def test_a_scan_for_secrets_finds_secrets() -> None:
    assert kind("gitleaks", "slack-bot-token") == ResultKind("security", "secret", 798)


def test_without_a_weakness_the_end_of_the_rule_is_the_category() -> None:
    assert kind("zizmor", "zizmor/template-injection") == ResultKind("security", "template-injection", None)
    assert kind("codeql", "py/unused import!") == ResultKind("logic", "unused-import", None)


def test_a_weakness_of_another_worker_names_no_category_of_security() -> None:
    assert kind("eslint", "r", "performance", cwe=78) == ResultKind("performance", "r", 78)


@given(text=st.text(max_size=200))
def test_any_text_is_a_slug(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_.:/@-]{1,80}", slug(text))


@given(tool=st.text(max_size=30), rule=st.text(max_size=30), tags=st.lists(st.text(max_size=10), max_size=3))
def test_any_result_has_a_worker_and_a_category_that_contracts_take(tool: str, rule: str, tags: list[str]) -> None:
    found = kind(tool, rule, *tags)

    fields: dict[str, Any] = {"severity": "info", "path": "a", "quote": "b", "message": "c", "confidence": 1}
    assert found.worker in WORKERS
    made = Candidate(source=slug(f"imported:{tool}"), category=found.category, cwe=found.cwe, **fields)
    assert made.source.startswith("imported:")
