"""From labels of known truth to fitted confidence, through the same functions that a review uses."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.feedback import Label
from reviewbot.evaluate.feedback_fit import fit_feedback, rates
from reviewbot.evaluate.model_fit import calibration_error
from reviewbot.review.feedback import FeedbackTable
from tests.make import one_fast

STATED = (55, 60, 65, 70, 75, 80, 85, 90, 92, 95, 97)
TRUTHS: dict[str, Callable[[int], float]] = {
    "too sure": lambda stated: (stated / 100) ** 3,
    "as right whatever it states": lambda _: 0.6,
    "too cautious": lambda stated: min(0.99, (stated / 100) ** 0.4),
    "sharp at 80": lambda stated: 0.3 if stated < 80 else 0.85,
    "calibrated": lambda stated: stated / 100,
}


def a_label(number: int = 0, **fields: Any) -> Label:
    known: dict[str, Any] = {"finding": f"{number:032x}", "worker": "logic", "source": "model-x", "kind": "race"}
    return Label(**{**known, "stated": 80, "state": "fixed", "outcome": "merged", "pull": str(number // 10), **fields})


def simulated(truth: Callable[[int], float], count: int, seed: int) -> list[Label]:
    """Labels of claims whose true rates are known, ten of each pull request: right ones fixed, others dismissed."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        stated = chance.choice(STATED)
        right = chance.random() < truth(stated)
        wrong = {"state": "dismissed", "origin": "comment", "dismissed_as": "wrong"}
        made.append(a_label(number, stated=stated, **({} if right else wrong)))
    return made


def error_of(table: FeedbackTable, fresh: Sequence[Label], finding: Finding) -> float:
    """The calibration error that the table leaves on labels that it was not fitted on."""
    fitted = {stated: table.apply(finding.model_copy(update={"confidence": stated})).confidence for stated in STATED}
    return calibration_error([fitted[each.stated or 0] for each in fresh], [each.state == "fixed" for each in fresh])


@pytest.mark.parametrize("name", one_fast(TRUTHS))
def test_five_hundred_verdicts_leave_an_error_of_five_hundredths_on_findings_that_come_after_them(
    name: str, a_finding: Callable[..., Finding]
) -> None:
    finding = a_finding(sources=("model:model-x",), type="logic", severity="warning")
    fresh = simulated(TRUTHS[name], 10_000, 1_000)
    errors = [error_of(fit_feedback(simulated(TRUTHS[name], 500, seed)), fresh, finding) for seed in range(20)]

    assert mean(errors) <= 0.05
    assert sorted(errors)[17] <= 0.05, "and in nine single trials of ten"


def test_too_few_verdicts_or_too_few_pull_requests_fit_nothing() -> None:
    assert fit_feedback(simulated(TRUTHS["too sure"], 149, 1)).models == ()
    of_four = [each.model_copy(update={"pull": str(n % 4)}) for n, each in enumerate(simulated(lambda _: 0.5, 400, 1))]
    assert fit_feedback(of_four).models == ()
    halves = [a_label(n, state="open", up=1) for n in range(299)]
    assert fit_feedback(halves).models == (), "a reaction counts as half a verdict"
    assert len(fit_feedback([*halves, a_label(299)]).models) == 1


def test_the_resolution_rate_counts_what_was_fixed_of_what_counts_at_the_merge() -> None:
    labels = [
        *(a_label(n) for n in range(6)),
        *(a_label(n, state="open") for n in range(6, 9)),
        a_label(9, state="outdated"),
        a_label(10, state="fixed", outcome="closed"),
        a_label(11, state="open", resolved=True),
    ]
    overall = rates(labels)[0]

    assert (overall.reported, overall.merged, overall.acted) == (12, 10, 6)
    assert overall.resolution is not None
    assert overall.resolution.share == 0.6
    assert (round(overall.resolution.low, 3), round(overall.resolution.high, 3)) == (0.313, 0.832)


def test_rates_stand_by_worker_rule_kind_model_and_band() -> None:
    labels = [
        a_label(0),
        a_label(1, by_model=False, rule="S608", kind="", source="ruff", stated=100, worker="security"),
    ]
    found = {(rate.by, rate.name): rate.reported for rate in rates(labels)}

    assert found == {
        ("all", "all"): 2,
        ("worker", "logic"): 1,
        ("worker", "security"): 1,
        ("rule", "S608"): 1,
        ("kind", "race"): 1,
        ("model", "model-x"): 1,
        ("band", "80-89"): 1,
        ("band", "90-99"): 1,
    }
    assert rates([]) == ()


def test_a_rule_that_most_merges_left_alone_is_known_as_ignored() -> None:
    ours: dict[str, Any] = {"by_model": False, "rule": "S1", "kind": ""}
    left = [a_label(n, pull=str(n % 5), state="open", **ours) for n in range(17)]
    table = fit_feedback([*left, *(a_label(n, **ours) for n in range(17, 20))])

    [row] = table.rules
    assert (row.acted, row.ignored, row.by_model) == (3, 17, False)
    assert row.acted_bound == 37


@pytest.mark.parametrize(("pulls", "counts"), [(1, False), (4, False), (5, True)])
@pytest.mark.parametrize("by_model", [False, True])
def test_the_author_of_a_few_pull_requests_sinks_no_rule(
    pulls: int, a_finding: Callable[..., Finding], *, counts: bool, by_model: bool
) -> None:
    finding = a_finding(
        sources=("model:model-x" if by_model else "ruff",), rule="" if by_model else "S608", cause="injection",
        type="security", severity="warning", confidence=90,
    )  # fmt: skip
    fields: dict[str, Any] = {"worker": "security", "by_model": by_model, "rule": finding.rule, "kind": "injection"}
    disliked = [a_label(n, pull=str(n % pulls), state="open", down=1, stated=90, **fields) for n in range(60)]
    others = [a_label(60 + n, pull=f"other {n}", state="new", outcome="open", **fields) for n in range(9)]

    table = fit_feedback([*disliked, *others])
    found = table.apply(finding)

    assert (found != finding) is counts
    assert bool(table.notes()) is counts


@given(
    counts=st.lists(
        st.tuples(st.sampled_from(("fixed", "open", "dismissed", "refuted", "outdated")), st.integers(0, 100)),
        max_size=60,
    )
)
def test_every_rate_lies_in_its_interval_and_counts_add_up(counts: list[tuple[str, int]]) -> None:
    labels = [a_label(n, state=state, stated=stated, origin="comment") for n, (state, stated) in enumerate(counts)]
    found = rates(labels)
    for rate in found:
        assert rate.acted <= rate.merged <= rate.reported
        for interval in (rate.precision, rate.resolution):
            if interval is not None:
                assert -1e-9 <= interval.low <= interval.share + 1e-9
                assert interval.share - 1e-9 <= interval.high <= 1 + 1e-9
    assert sum(rate.reported for rate in found if rate.by == "band") == len(labels)
