from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Finding
from reviewbot.review.combine.visibility import Rules, sort_findings
from reviewbot.review.feedback import FeedbackTable, ModelFit, RuleFeedback, source_of

MakeFinding = Callable[..., Finding]
MODEL = ("model:model-x",)


def a_fit(*points: tuple[int, int]) -> FeedbackTable:
    return FeedbackTable(models=(ModelFit(model="model-x", points=points, verdicts=200, changes=20),))


def ignored(worker: str = "security", rule: str = "S1", bound: int = 30, **fields: object) -> FeedbackTable:
    row = {"worker": worker, "rule": rule, "by_model": False, "acted": 3, "ignored": 37, "acted_bound": bound}
    return FeedbackTable(rules=(RuleFeedback.model_validate({**row, **fields}),))


def test_without_feedback_a_finding_stays_what_it_is(a_finding: MakeFinding) -> None:
    finding = a_finding()

    assert FeedbackTable().apply(finding) is finding
    assert FeedbackTable().notes() == ()


def test_a_models_claim_gets_the_fitted_confidence_and_keeps_the_former_one_beside_it(a_finding: MakeFinding) -> None:
    table = a_fit((60, 20), (90, 70))
    finding = table.apply(a_finding(sources=MODEL, confidence=75))

    assert (finding.confidence, finding.uncounted) == (45, 75)
    assert table.apply(a_finding(sources=("model:other",), confidence=75)).confidence == 75
    assert table.apply(a_finding(sources=("ruff",), confidence=75)).uncounted is None
    assert table.notes() == (
        "Confidence is fitted to feedback of this installation: claims of model-x by 200 verdicts on 20 changes",
    )


def test_a_programs_rule_moves_to_the_share_that_was_right(a_finding: MakeFinding) -> None:
    table = ignored(right=2.0, wrong=38.0, acted=0, ignored=0, acted_bound=100)
    low = table.apply(a_finding(rule="S1", confidence=90))

    assert low.confidence == round((12 * 90 + 100 * 2) / 52)
    assert table.apply(a_finding(rule="S2", confidence=90)).confidence == 90
    few = ignored(right=0.0, wrong=7.0, acted=0, ignored=0, acted_bound=100)
    assert few.apply(a_finding(rule="S1", confidence=90)).confidence == 90


def test_a_rule_that_people_ignore_sinks_into_the_fold_of_minor_findings(a_finding: MakeFinding) -> None:
    rules = Rules({"security": 80, "logic": 80}, 10, feedback=ignored(worker="logic"))
    sorted_findings = sort_findings([a_finding(rule="S1", type="logic")], [], rules)

    [entry] = sorted_findings.withheld
    assert (entry.reason, entry.finding.worth) == ("minor", 40)
    assert entry.message == "true and minor: worth 40; of 40 findings like it, 3 were fixed before the merge"
    assert "S1" in rules.feedback.notes()[-1]


@pytest.mark.parametrize("worth", [80, 90, 100])
def test_a_claim_of_great_worth_stays_a_comment_whatever_its_kind(a_finding: MakeFinding, worth: int) -> None:
    table = ignored(worker="logic", rule="race", by_model=True, bound=10)
    finding = a_finding(sources=MODEL, cause="race", type="logic", worth=worth)
    shown = sort_findings([finding], [], Rules({"logic": 80}, 10, feedback=table)).shown

    assert [each.worth for each in shown] == [worth - 30]


def test_too_few_merged_findings_sink_nothing(a_finding: MakeFinding) -> None:
    table = ignored(acted=0, ignored=19, bound=17)

    assert table.apply(a_finding(rule="S1")).worth is None


@given(
    confidence=st.integers(0, 99),
    fitted=st.integers(0, 99),
    worth=st.none() | st.integers(0, 100),
    bound=st.integers(0, 100),
    counts=st.tuples(st.integers(0, 500), st.integers(0, 500)),
    sources=st.sampled_from([MODEL, ("ruff",)]),
)
def test_whatever_feedback_says_a_critical_security_finding_stays_listed(
    a_finding: MakeFinding,
    confidence: int,
    fitted: int,
    worth: int | None,
    bound: int,
    counts: tuple[int, int],
    sources: tuple[str, ...],
) -> None:
    acted, left = counts
    table = FeedbackTable(
        models=a_fit((50, fitted)).models,
        rules=tuple(
            RuleFeedback(
                worker="security", rule=rule, by_model=rule == "race", right=acted, wrong=left, acted=acted,
                ignored=left, acted_bound=bound,
            )
            for rule in ("S1", "race")
        ),
    )  # fmt: skip
    finding = a_finding(
        severity="critical", rule="S1", cause="race", confidence=confidence, worth=worth, sources=sources
    )
    plain, counted = (
        sort_findings([finding], [], Rules({"security": 80}, 10, feedback=each)) for each in (FeedbackTable(), table)
    )

    if plain.shown or plain.human:
        assert counted.shown or counted.human
    assert not any(entry.reason == "minor" for entry in counted.withheld)


def test_the_source_of_a_finding_is_its_model_or_its_programs(a_finding: MakeFinding) -> None:
    assert source_of(a_finding(sources=MODEL)) == "model-x"
    assert source_of(a_finding(sources=("taint", "ruff", *MODEL))) == "ruff+taint"
