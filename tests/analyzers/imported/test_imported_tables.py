"""What is known by heart of other programs: who they are, what they tag, which weaknesses are neighbours."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.core.rules import Rule, packaged_rules
from reviewbot.analyzers.imported.kinds import Kinds, ResultKind, categories, slug
from reviewbot.analyzers.imported.results import Result

KINDS = Kinds(packaged_rules("ruff_rules").rules)
NEIGHBOURS = {
    "command-injection": [77, 78, 88],
    "sql-injection": [89, 564, 943],
    "code-injection": [94, 95, 96],
    "deserialization": [502, 915],
    "path-traversal": [22, 23, 36, 73],
    "xss": [79, 80, 116],
    "xxe": [611, 776],
    "tls": [295, 297],
    "weak-cryptography": [326, 327, 328],
    "weak-random": [330, 338],
    "secret": [259, 321, 522, 798],
}
PROGRAMS = [
    "bandit", "brakeman", "checkov", "devskim", "gosec", "grype", "kics", "njsscan", "semgrep", "snyk", "tfsec",
    "trivy", "zizmor",
]  # fmt: skip
SECRETS = ["gitleaks", "trufflehog", "detect-secrets", "betterleaks"]
TAGS = {
    "performance": ["performance", "efficiency", "perf"],
    "style": ["style", "stylistic", "readability", "convention", "conventions", "formatting", "layout"],
    "logic": ["correctness", "reliability", "bug", "bugs", "suspicious"],
}


def result(rule: str = "a.b", *tags: str, cwe: int | None = None) -> Result:
    return Result(rule, "error", "m", "a.py", 1, 1, frozenset(tags), cwe, 0.0)


def rule(code: str, category: str, cwe: int | None, tool: str = "ruff-security") -> Rule:
    return Rule(code=code, tool=tool, severity="warning", category=category, confidence=80, cwe=cwe)


@pytest.mark.parametrize(("category", "cwe"), [(word, cwe) for word, all_ in NEIGHBOURS.items() for cwe in all_])
def test_neighbours_among_weaknesses_have_one_category_and_keep_their_number(category: str, cwe: int) -> None:
    assert KINDS.of("checker", result(cwe=cwe)) == ResultKind("security", category, cwe)


@pytest.mark.parametrize("cwe", [1, 21, 24, 90, 93, 97, 117, 260, 320, 331, 501, 523, 777, 797, 799, 914, 942])
def test_a_weakness_beside_those_is_none_of_ours(cwe: int) -> None:
    assert KINDS.of("checker", result("r", cwe=cwe)) == ResultKind("logic", "r", cwe)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_looks_for_weaknesses_alone_is_for_security(program: str) -> None:
    assert KINDS.of(f"{program.title()} 1.2", result("r")) == ResultKind("security", "r", None)


@pytest.mark.parametrize("program", SECRETS)
def test_a_program_that_looks_for_secrets_alone_finds_secrets_unless_it_says_otherwise(program: str) -> None:
    assert KINDS.of(program, result("r")) == ResultKind("security", "secret", 798)
    assert KINDS.of(program, result("r", cwe=89)) == ResultKind("security", "sql-injection", 89)


@pytest.mark.parametrize(("worker", "tag"), [(worker, tag) for worker, tags in TAGS.items() for tag in tags])
def test_a_tag_sends_a_result_to_its_worker_also_from_a_program_for_security(worker: str, tag: str) -> None:
    assert KINDS.of("semgrep", result("r", "cli", tag)).worker == worker


def test_the_codes_of_bandit_that_are_none_of_ours_stay_with_security() -> None:
    assert KINDS.of("bandit", result("B999")) == ResultKind("security", "B999", None)


def test_a_weakness_is_called_what_most_of_our_security_rules_call_it() -> None:
    rules = [
        rule("S1", "word", 7),
        rule("S2", "other", 7),
        rule("S3", "other", 7),
        rule("S4", "b", 8),
        rule("S5", "a", 8),
        rule("S6", "nothing", None),
        *(rule(f"B{number}", "of logic", 7, "ruff-logic") for number in range(3)),
        rule("B9", "of logic", 9, "ruff-logic"),
    ]

    assert categories({each.code: each for each in rules}) == {7: "other", 8: "a"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "unnamed"),
        ("!!!", "unnamed"),
        ("  a b  ", "a-b"),
        ("--a--", "a"),
        ("-" * 100 + "a", "a"),
        ("a" * 100, "a" * 80),
        ("a" * 80, "a" * 80),
        ("py/A_b.c:d@e-f", "py/A_b.c:d@e-f"),
    ],
)
def test_a_slug_keeps_what_names_may_hold(text: str, expected: str) -> None:
    assert slug(text) == expected
