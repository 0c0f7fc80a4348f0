"""From labels of findings to what is known of them: observed precision, resolution at the merge, and fitted numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

from reviewbot.domain.contracts.feedback import Label
from reviewbot.evaluate.model_fit import (
    MIN_CHANGES,
    MIN_CLAIMS,
    LabelledClaim,
    calibration_error,
    cross_fit,
    fit_table,
)
from reviewbot.memory.feedback import Verdict, verdict_of
from reviewbot.review.calibration import BAND, wilson_interval
from reviewbot.review.feedback import FeedbackTable, ModelFit, RuleFeedback

Z = 1.96
"""Two-sided 95%."""

FOLDS = 10
"""Pull requests are put into so many groups, and each group is fitted with the claims of the others, to see whether the
fit helps."""

MAX_LABELS = 20_000
"""The newest ones; a fit of so many takes well under a second."""


class Interval(NamedTuple):
    """An observed share with Wilson's interval, 95%."""

    share: float
    low: float
    high: float


class GroupRates(NamedTuple):
    """What became known of one group of findings."""

    by: str
    """What the group has in common: "all", "worker", "rule", "kind", "model" or "band"."""
    name: str
    reported: int
    verdicts: int
    """Findings of which it is known whether they are right."""
    right: float
    wrong: float
    """The same by their weights."""
    precision: Interval | None
    """Of `right` in both; None without a verdict."""
    merged: int
    """Findings that count at the merge of their pull request."""
    acted: int
    """Of these, fixed before it."""
    resolution: Interval | None
    """The resolution rate at the merge; None where nothing was merged."""


def rates(labels: Iterable[Label]) -> tuple[GroupRates, ...]:
    """The rates of all findings, then by worker, rule, kind, model and band of confidence, in order of names."""
    groups: dict[tuple[int, str, str], list[Verdict]] = defaultdict(list)
    for label in labels:
        judged = verdict_of(label)
        for order, (by, name) in enumerate(_groups(label)):
            if name:
                groups[order, by, name].append(judged)
    return tuple(
        _rate(by, name, members) for (_, by, name), members in sorted(groups.items(), key=lambda each: each[0])
    )


def fit_feedback(labels: Sequence[Label]) -> FeedbackTable:
    """What labels say, ready to be applied to findings."""
    judged = [(label, verdict_of(label)) for label in labels[:MAX_LABELS]]
    claims: dict[str, list[LabelledClaim]] = defaultdict(list)
    rules: dict[tuple[str, str, bool], list[tuple[str, Verdict]]] = defaultdict(list)
    for label, verdict in judged:
        change = f"{label.repository}:{label.pull}"
        if label.by_model and verdict.right is not None and label.stated is not None and label.source:
            claims[label.source].append(LabelledClaim(change, label.stated, verdict.right, verdict.weight))
        if name := label.kind if label.by_model else label.rule:
            rules[label.worker, name, label.by_model].append((change, verdict))
    fits = (_fit_model(model, claims[model]) for model in sorted(claims))
    return FeedbackTable(
        models=tuple(each for each in fits if each is not None),
        rules=tuple(_rule(key, rules[key]) for key in sorted(rules)),
    )


def _groups(label: Label) -> Iterator[tuple[str, str]]:
    yield "all", "all"
    yield "worker", label.worker
    yield "rule", "" if label.by_model else label.rule
    yield "kind", label.kind
    yield "model", label.source if label.by_model else ""
    low = None if label.stated is None else min(label.stated, 99) // BAND * BAND
    yield "band", "" if low is None else f"{low:02}-{low + BAND - 1}"


def _rate(by: str, name: str, verdicts: Sequence[Verdict]) -> GroupRates:
    right = sum(each.weight for each in verdicts if each.right is True)
    wrong = sum(each.weight for each in verdicts if each.right is False)
    acted, ignored = (sum(each.acted is done for each in verdicts) for done in (True, False))
    known = sum(each.right is not None for each in verdicts)
    return GroupRates(
        by,
        name,
        len(verdicts),
        known,
        right,
        wrong,
        _interval(right, wrong),
        acted + ignored,
        acted,
        _interval(acted, ignored),
    )


def _interval(yes: float, no: float) -> Interval | None:
    return Interval(yes / (yes + no), *wilson_interval(yes, no, Z)) if yes + no else None


def _fit_model(model: str, claims: Sequence[LabelledClaim]) -> ModelFit | None:
    """The map of a model; None with too few verdicts, or of too few pull requests, to rest on."""
    changes = {each.change for each in claims}
    if sum(each.weight for each in claims) < MIN_CLAIMS or len(changes) < MIN_CHANGES:
        return None
    folded = [each._replace(change=str(crc32(each.change.encode()) % FOLDS)) for each in claims]
    right = [each.right for each in claims]
    before = calibration_error([each.stated for each in claims], right)
    helps = calibration_error(cross_fit(folded), right) < before
    return ModelFit(model=model, points=fit_table(claims) if helps else (), verdicts=len(claims), changes=len(changes))


def _rule(key: tuple[str, str, bool], found: Sequence[tuple[str, Verdict]]) -> RuleFeedback:
    """What is known of a rule. What few pull requests say counts nothing: their authors would decide for all."""
    verdicts = [verdict for _, verdict in found]
    if len({change for change, verdict in found if verdict.right is not None}) < MIN_CHANGES:
        verdicts = [each._replace(right=None) for each in verdicts]
    if len({change for change, verdict in found if verdict.acted is not None}) < MIN_CHANGES:
        verdicts = [each._replace(acted=None) for each in verdicts]
    rate = _rate("rule", key[1], verdicts)
    return RuleFeedback(
        worker=key[0],
        rule=key[1],
        by_model=key[2],
        right=rate.right,
        wrong=rate.wrong,
        acted=rate.acted,
        ignored=rate.merged - rate.acted,
        acted_bound=100 if rate.resolution is None else math.ceil(100 * min(1.0, rate.resolution.high)),
    )
