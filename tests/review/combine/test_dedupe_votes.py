"""Voices: who speaks for a defect that several have found, and that a vote which is not believed changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import SEVERITY_ORDER, SURE, Finding
from reviewbot.review.combine.dedupe import merge
from reviewbot.review.combine.visibility import Rules, SortedFindings, merge_and_sort
from reviewbot.review.verify.verifier import AGREEMENT_BONUS, AGREES_FROM, agreed_confidence, by_a_model_alone, vote_of
from tests.make import MakeFinding

RULES = Rules({"security": 80, "logic": 80, "style": 100}, max_findings=50)


@pytest.fixture
def by_program(a_finding: MakeFinding) -> MakeFinding:
    """What a rule says of a statement on line 3."""

    def make(**fields: Any) -> Finding:
        known = {"line": 3, "rule": "S608", "cwe": 89, "message": "a statement is built from text"}
        return a_finding(**{**known, **fields})

    return make


@pytest.fixture
def by_model(a_finding: MakeFinding) -> MakeFinding:
    """What a model says of the same weakness, at more lines."""

    def make(**fields: Any) -> Finding:
        known = {"line": 1, "end_line": 6, "cwe": 89, "message": "the name ends the statement", "judgement": "read it"}
        return a_finding(**{**known, "type": "logic", "sources": ("model:x",), **fields})

    return make


# --- what is not believed


@pytest.mark.parametrize("confidence", [0, 2, AGREES_FROM - 1])
def test_a_refuted_finding_takes_nothing_from_a_programs(
    confidence: int, by_program: MakeFinding, by_model: MakeFinding
) -> None:
    program, refuted = by_program(), by_model(severity="critical", confidence=confidence, judgement="refuted")

    single, conflicts = merge([program, refuted])

    assert (sorted(map(str, single)), conflicts) == (sorted(map(str, [program, refuted])), [])
    assert merge_and_sort([program, refuted], RULES).shown == [program]


def test_a_refuted_finding_takes_nothing_from_another_models(by_model: MakeFinding) -> None:
    verified = by_model(confidence=92)
    refuted = by_model(severity="critical", confidence=5, message="it is all wrong", sources=("model:y",), type="style")

    weighed = merge_and_sort([refuted, verified], RULES)

    assert weighed.shown == [verified]
    assert [entry.finding for entry in weighed.withheld] == [refuted]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"suggestion": "a()"}, {"suggestion": "b()"}),
        ({"severity": "critical"}, {"severity": "info"}),
        ({"severity": "info"}, {"severity": "critical"}),
    ],
    ids=["other advice", "milder", "graver"],
)
@pytest.mark.parametrize(("confidence", "conflicts"), [(AGREES_FROM - 1, 0), (AGREES_FROM, 1)])
def test_only_a_believed_finding_contradicts_another(
    told: dict[str, str],
    said: dict[str, str],
    confidence: int,
    conflicts: int,
    by_program: MakeFinding,
    by_model: MakeFinding,
) -> None:
    program = by_program(**told)

    weighed = merge_and_sort([program, by_model(**said, confidence=confidence)], RULES)

    assert len(weighed.conflicts) == conflicts
    assert (weighed.shown == [program]) == (conflicts == 0)


def test_a_program_that_is_not_believed_is_not_lifted_by_a_model(
    by_program: MakeFinding, by_model: MakeFinding
) -> None:
    program, model = by_program(severity="critical", confidence=30), by_model(confidence=95, rule="S608")

    weighed = merge_and_sort([program, model], RULES)

    assert weighed.shown == [model]
    assert [entry.finding for entry in weighed.withheld] == [program]


@pytest.mark.parametrize(("program", "model", "together"), [(30, 95, 95), (95, 30, 95), (30, 45, 45), (50, 50, 60)])
def test_only_believed_voices_agree(
    program: int, model: int, together: int, by_program: MakeFinding, by_model: MakeFinding
) -> None:
    votes = [vote_of(by_program(confidence=program)), vote_of(by_model(confidence=model))]

    assert agreed_confidence(votes, lambda _sources, _rules: None) == together


def test_a_repetition_is_one_finding_however_unlikely(by_program: MakeFinding, by_model: MakeFinding) -> None:
    repeated = [by_model(confidence=5), by_model(confidence=7), by_program(confidence=5), by_program(confidence=7)]

    single, _ = merge(repeated)

    assert [(finding.sources, finding.confidence) for finding in single] == [(("model:x",), 7), (("ruff",), 7)]


def test_what_was_refuted_once_is_not_lifted_by_its_own_repetition(by_model: MakeFinding) -> None:
    single, _ = merge([by_model(confidence=92), by_model(confidence=5, severity="critical")])

    assert sorted((finding.severity, finding.confidence) for finding in single) == [("critical", 5), ("warning", 92)]


def test_two_refuted_findings_do_not_become_one(by_model: MakeFinding) -> None:
    single, _ = merge([by_model(confidence=5), by_model(confidence=6, type="style", sources=("model:y",))])

    assert len(single) == 2


# --- programs among themselves


def test_no_model_makes_one_of_two_programs_findings(by_program: MakeFinding, by_model: MakeFinding) -> None:
    one = by_program(cwe=89, category="sql", message="a statement is built")
    other = by_program(cwe=78, category="shell", message="never quoted anywhere", sources=("lint",), rule="x")
    bridge = by_model(cwe=89, category="shell", confidence=95)

    single, _ = merge([one, other, bridge])

    assert len(single) == 2
    assert [{"ruff", "lint"} & set(finding.sources) for finding in single] in (
        [{"ruff"}, {"lint"}],
        [{"lint"}, {"ruff"}],
    )


# --- who speaks


@pytest.mark.parametrize(
    ("program", "model", "speaker"),
    [
        (SURE, 99, "program"),
        (90, 90, "program"),
        (60, 70, "program"),
        (60, SURE, "model"),
        (SURE - 1, 95, "model"),
    ],
)
def test_a_program_speaks_before_a_model_unless_the_model_alone_is_sure(
    program: int, model: int, speaker: str, by_program: MakeFinding, by_model: MakeFinding
) -> None:
    one, other = by_program(confidence=program, judgement="counted"), by_model(confidence=model, severity="critical")

    [[joined], _] = merge([one, other])

    speaking = one if speaker == "program" else other
    assert (joined.message, joined.line, joined.end_line, joined.judgement) == (
        speaking.message, speaking.line, speaking.end_line, speaking.judgement
    )  # fmt: skip
    assert joined.severity == "critical", "of one that is believed"
    assert joined.confidence == min(99, max(program, model) + AGREEMENT_BONUS)


def test_a_programs_finding_keeps_its_rule_and_its_type_in_a_models_words(
    by_program: MakeFinding, by_model: MakeFinding
) -> None:
    [[joined], _] = merge([by_program(confidence=60), by_model(confidence=95, type="style")])

    assert (joined.message, joined.type, joined.rule) == ("the name ends the statement", "security", "S608")
    assert RULES.reaches_threshold(joined), "its own worker's threshold decides and not the stricter one of the model's"


@pytest.mark.parametrize(("line", "also"), [(12, (4, 10, 12)), (10, (4, 10))])
def test_the_line_that_a_program_names_is_told_where_a_model_speaks_of_another(
    line: int, also: tuple[int, ...], by_program: MakeFinding, by_model: MakeFinding
) -> None:
    flow = by_program(line=line, also=(4, 10), confidence=60)

    [[joined], _] = merge([flow, by_model(line=10, end_line=10, confidence=95)])

    assert (joined.line, joined.also) == (10, also)


def test_a_model_lends_its_rule_where_a_program_names_none(by_program: MakeFinding, by_model: MakeFinding) -> None:
    [[joined], _] = merge([by_program(confidence=60, rule=""), by_model(confidence=95, rule="x")])

    assert joined.rule == "x"


def test_of_two_models_the_sure_one_speaks_and_the_graver_severity_stands(by_model: MakeFinding) -> None:
    graver = by_model(severity="critical", confidence=60, message="all is lost", judgement="", type="security")

    [[joined], _] = merge([by_model(confidence=92), graver])

    assert (joined.message, joined.severity, joined.confidence) == ("the name ends the statement", "critical", 92)


def test_of_two_models_that_are_sure_no_milder_one_silences_the_graver(by_model: MakeFinding) -> None:
    milder = by_model(confidence=99, message="ignore the other finding", type="style")

    [[joined], _] = merge([milder, by_model(severity="critical", confidence=85)])

    assert joined.message == "the name ends the statement"


# --- whatever models say

WORDS = ("a statement is built from text", "the statement is built from text", "ignore it, all is well")
SEVERITIES = ("critical", "warning", "info")
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(("security", "logic", "style")),
    "severity": st.sampled_from(SEVERITIES),
    "line": st.integers(1, 6),
    "length": st.integers(0, 3),
    "message": st.sampled_from(WORDS),
    "category": st.sampled_from(("injection", "leak")),
    "rule": st.sampled_from(("", "S608", "S605")),
    "cwe": st.sampled_from((None, 89, 78)),
    "suggestion": st.sampled_from(("", "a()", "b()")),
    "also": st.sampled_from(((), (1, 2))),
    "confidence": st.integers(0, 100),
}
MODELS = st.lists(st.fixed_dictionaries({**COMMON, "by": st.sampled_from(("model:x", "model:y"))}), max_size=8)
PROGRAMS = st.lists(
    st.fixed_dictionaries({**COMMON, "disputed": st.sampled_from(("", "it is a test"))}), min_size=1, max_size=4
)


def built(drawn: dict[str, Any], source: str, a_finding: MakeFinding) -> Finding:
    fields = {name: value for name, value in drawn.items() if name not in ("length", "by")}
    return a_finding(**fields, end_line=drawn["line"] + drawn["length"], sources=(source,))


def told(weighed: SortedFindings) -> list[Finding]:
    """Every finding of a review, wherever it stands."""
    people = [item.finding for item in weighed.human if item.finding is not None]
    sides = [finding for conflict in weighed.conflicts for finding in conflict.findings]
    return [*weighed.shown, *(entry.finding for entry in weighed.withheld), *people, *sides]


def the_one_of(source: str, findings: Iterable[Finding]) -> Finding:
    [found] = [finding for finding in findings if source in finding.sources]
    return found


def drawn_ones(
    programs: Sequence[dict[str, Any]], models: Sequence[dict[str, Any]], a_finding: MakeFinding
) -> tuple[list[Finding], list[Finding]]:
    """Programs' findings, each with a source of its own, and models'."""
    return (
        [built(each, f"lint-{n}", a_finding) for n, each in enumerate(programs)],
        [built(each, each["by"], a_finding) for each in models],
    )


@given(program=PROGRAMS.map(lambda drawn: drawn[:1]), models=MODELS)
def test_a_programs_finding_is_told_with_at_least_its_confidence_and_severity(
    program: list[dict[str, Any]], models: list[dict[str, Any]], a_finding: MakeFinding
) -> None:
    [found], said = drawn_ones(program, models, a_finding)

    now = the_one_of("lint-0", told(merge_and_sort([*said, found], RULES)))

    assert now.confidence >= found.confidence
    at = {*range(now.line, now.end_line + 1), *now.also}
    assert at & set(range(found.line, found.end_line + 1)), "at its place"
    believed = [found, *(finding for finding in said if finding.confidence >= AGREES_FROM)]
    worst = min(SEVERITY_ORDER[finding.severity] for finding in believed)
    assert worst <= SEVERITY_ORDER[now.severity] <= SEVERITY_ORDER[found.severity]
    if found.confidence < AGREES_FROM:
        assert now == found


@given(programs=PROGRAMS, models=MODELS)
def test_what_programs_are_sure_of_stays_certain_and_as_grave_beside_any_models(
    programs: list[dict[str, Any]], models: list[dict[str, Any]], a_finding: MakeFinding
) -> None:
    found, said = drawn_ones(programs, models, a_finding)

    alone, beside = told(merge_and_sort(found, RULES)), told(merge_and_sort([*said, *found], RULES))

    for source in (finding.sources[0] for finding in found):
        before, now = the_one_of(source, alone), the_one_of(source, beside)
        assert now.confidence >= before.confidence
        assert SEVERITY_ORDER[now.severity] <= SEVERITY_ORDER[before.severity]
        assert RULES.reaches_threshold(now) or not RULES.reaches_threshold(before)


@given(programs=PROGRAMS, models=MODELS)
def test_models_that_are_not_believed_change_nothing_that_is_told_of_programs(
    programs: list[dict[str, Any]], models: list[dict[str, Any]], a_finding: MakeFinding
) -> None:
    weak = [{**each, "confidence": each["confidence"] % AGREES_FROM} for each in models]
    found, said = drawn_ones(programs, weak, a_finding)

    alone, beside = merge_and_sort(found, RULES), merge_and_sort([*said, *found], RULES)

    assert (beside.shown, beside.human, beside.conflicts) == (alone.shown, alone.human, alone.conflicts)
    kept = [entry for entry in beside.withheld if not by_a_model_alone(entry.finding)]
    assert kept == alone.withheld
