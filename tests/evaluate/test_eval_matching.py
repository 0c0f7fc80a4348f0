"""When a finding is right."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from reviewbot.evaluate.labels import CaseLabels, Golden, LabelPlace, judge, list_cases, matches, read_labels

BENCH = Path(os.environ.get("SHARED", Path(__file__).parents[3] / "shared")) / "bench"


def golden(first: int | None = 10, last: int | None = None, *, cwe: int | None = None, counted: bool = True) -> Golden:
    """A golden in one place of a.py."""
    return Golden("a.py", (LabelPlace("a.py", first, last or first),), cwe, counted)


def at(line: int | None, end: int | None = None, **fields: Any) -> dict[str, Any]:
    """A finding in a.py."""
    return {"file": "a.py", "line": line, "end_line": end, "confidence": 50, **fields}


@pytest.mark.parametrize(
    ("finding", "right"),
    [
        (at(10), True),
        (at(7), True),
        (at(6), False),
        (at(13), True),
        (at(14), False),
        (at(1, 7), True),
        (at(1, 6), False),
        (at(20, 4), False),
        (at(None), False),
        ({"line": 10}, False),
        ({"file": "b.py", "line": 10}, False),
        ({"file": "./a.py", "line": 10}, True),
    ],
)
def test_a_finding_is_right_within_three_lines(finding: dict[str, Any], right: bool) -> None:  # noqa: FBT001 - a table
    assert matches(finding, golden()) is right


def test_only_the_first_thirty_lines_of_a_finding_count() -> None:
    assert matches(at(1, 90), golden(33))
    assert not matches(at(1, 90), golden(34))


def test_any_line_of_a_golden_counts() -> None:
    assert matches(at(23), golden(10, 20))
    assert not matches(at(24), golden(10, 20))


def test_any_place_of_a_golden_counts() -> None:
    two = Golden("a.py", (LabelPlace("a.py", 10, 10), LabelPlace("b.py", 50, 50)), None, counted=True)

    assert matches({"file": "b.py", "line": 50}, two)


def test_a_golden_without_a_line_needs_the_same_kind_of_weakness() -> None:
    assert matches(at(99, cwe="CWE-89"), golden(None, cwe=89))
    assert not matches(at(99, cwe="CWE-79"), golden(None, cwe=89))
    assert not matches(at(99), golden(None, cwe=89))
    assert not matches(at(99), golden(None))


def test_each_finding_on_a_clean_case_is_false() -> None:
    assert judge([at(1), at(2)], CaseLabels()) == ["false", "false"]


def test_two_findings_of_one_golden_are_both_true() -> None:
    assert judge([at(10), at(90), at(11)], CaseLabels((golden(),))) == ["true", "false", "true"]


def test_a_disputed_golden_makes_its_finding_neither_true_nor_false() -> None:
    assert judge([at(10)], CaseLabels((golden(counted=False),))) == ["neutral"]
    assert judge([at(10)], CaseLabels((golden(counted=False), golden(12)))) == ["true"]


def test_where_one_kind_was_tested_nothing_is_known_of_others() -> None:
    labels = CaseLabels((golden(None, cwe=89),), tested_cwe=89)

    assert judge([at(1, cwe="CWE-89"), at(1, cwe="CWE-79"), at(1)], labels) == ["true", "neutral", "neutral"]


def test_a_golden_that_cannot_be_checked_excuses_the_surest_finding_of_its_file() -> None:
    findings = [at(1, confidence=40), at(2, confidence=90), at(3, confidence=60, file="b.py")]

    assert judge(findings, CaseLabels((golden(None),))) == ["false", "neutral", "false"]


def test_a_golden_without_a_file_excuses_a_finding_anywhere() -> None:
    nowhere = Golden(None, (), None, counted=True)

    assert judge([at(1), at(2)], CaseLabels((nowhere,))) == ["neutral", "false"]


@pytest.mark.skipif(not BENCH.is_dir(), reason="the labelled cases are not beside this repository")
def test_rulings_are_those_of_the_published_scorer() -> None:
    scorer = _scorer()
    dice = random.Random(7)
    seen = set()
    for case in list_cases(BENCH / "cases"):
        known = scorer.load_case(case.key, BENCH)
        findings = [_guess(dice, known, confidence) for confidence in dice.sample(range(100), 12)]

        expected = {c: o for o, c in scorer.score_case(known, findings, scorer.Matcher()).outcomes}
        words = {"tp": "true", "fp": "false", "neutral": "neutral"}
        rulings = judge(findings, read_labels(case.folder))
        seen |= set(rulings)

        assert rulings == [words[expected[finding["confidence"]]] for finding in findings], case.key
    assert seen == {"true", "false", "neutral"}


def _guess(dice: random.Random, case: Any, confidence: int) -> dict[str, Any]:
    """A finding that may or may not be near one of the goldens."""
    near = dice.choice(case.golden) if case.golden else {}
    line = dice.choice([near.get("line"), near.get("end_line"), None, 30]) or 20
    start = max(1, line + dice.randint(-40, 8))
    return {
        "file": dice.choice([near.get("file"), near.get("file"), f"./{near.get('file')}", "other.py"]) or "a.py",
        "line": dice.choice([start, start, start, None]),
        "end_line": dice.choice([None, start + dice.randint(0, 45)]),
        "cwe": dice.choice([near.get("cwe"), case.meta.get("tested_cwe"), "CWE-79", None]),
        "confidence": confidence,
    }


def _scorer() -> Any:
    spec = importlib.util.spec_from_file_location("bench_load", BENCH / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_load"] = module
    spec.loader.exec_module(module)
    return module
