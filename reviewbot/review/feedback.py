"""What feedback of an installation makes of a finding's numbers: fitted confidence, and worth where people do not act.

`reviewbot.evaluate.feedback_fit` makes the table from labels; nothing here reads any. A fitted confidence takes the
place of what a model or a rule says where enough verdicts are known. What people leave unfixed at the merge loses
worth, within bounds: it moves to the fold of minor findings, and is never critical or a sure security finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated

from pydantic import Field

from reviewbot.domain.contracts import MODEL_SOURCE, Finding
from reviewbot.domain.contracts.base import Contract, Count
from reviewbot.review.calibration import BAND, MIN_COUNTS, RuleBand
from reviewbot.review.model_calibration import Points, place_on
from reviewbot.review.verify.verifier import by_a_model_alone
from reviewbot.wording import with_count

MIN_RESOLVED = 20
"""Findings of merged pull requests, of one rule or kind. With fewer, the bound below is above one half even where three
in ten were acted on, so that chance would decide."""

MAX_SINK = 30
"""Points of worth that a rule or kind loses at most: one that is worth 80 or more stays a comment of its own."""

UNSAID_WORTH = 70
"""Of a program's finding, of which no model said how much it is worth: fixed when pointed out."""

LISTED_FROM = 50
"""A critical finding that was this likely stays this likely: feedback alone never takes it from the list."""

Share = Annotated[float, Field(ge=0)]


class ModelFit(Contract):
    """The map from the confidence that a model's claims have to how often they are right here."""

    model: str
    points: Points
    """As in `NumberMap`; empty: the fit is no better than the numbers as they are."""
    verdicts: Count
    changes: Count
    """Pull requests that these verdicts come from."""


class RuleFeedback(Contract):
    """Counts of verdicts on the findings of one rule of a program, or of one kind of model claims."""

    worker: str
    rule: str
    """The rule; of model claims the cause, from a closed list."""
    by_model: bool
    right: Share = 0.0
    wrong: Share = 0.0
    """Weighted verdicts."""
    acted: Count = 0
    ignored: Count = 0
    """At the merge."""
    acted_bound: Annotated[int, Field(ge=0, le=100)] = 100
    """Upper end of the interval of the share that was acted on, in percent."""


class FeedbackTable(Contract):
    """All that labels say, ready to be applied. Empty: nothing changes."""

    models: tuple[ModelFit, ...] = ()
    rules: tuple[RuleFeedback, ...] = ()

    def apply(self, finding: Finding) -> Finding:
        """The finding with its fitted numbers."""
        if not self.models and not self.rules:
            return finding
        row = self._rules.get((finding.type, _rule_of(finding), by_a_model_alone(finding)))
        changed: dict[str, int] = {}
        confidence = self._confidence(finding, row)
        if confidence != finding.confidence:
            changed = {"confidence": confidence, "uncounted": finding.confidence}
        if (worth := _worth(finding, row)) is not None:
            changed["worth"] = worth
        return finding.model_copy(update=changed) if changed else finding

    def why_minor(self, finding: Finding) -> str:
        """What people did with findings like this one, where that has lowered its worth; else an empty text."""
        row = self._rules.get((finding.type, _rule_of(finding), by_a_model_alone(finding)))
        if row is None or not _is_ignored(row):
            return ""
        return f"; of {row.acted + row.ignored} findings like it, {row.acted} were fixed before the merge"

    def notes(self) -> tuple[str, ...]:
        """One line for the report: which numbers are fitted, and to what."""
        parts = [
            f"claims of {each.model} by {with_count(each.verdicts, 'verdict')} on {with_count(each.changes, 'change')}"
            for each in self.models
            if each.points
        ]
        counted = sum(not each.by_model and each.right + each.wrong >= MIN_COUNTS for each in self.rules)
        parts += [f"{with_count(counted, 'rule')} by what people said of them"] if counted else []
        notes = (f"Confidence is fitted to feedback of this installation: {', '.join(parts)}",) if parts else ()
        ignored = sorted(each.rule for each in self.rules if _is_ignored(each))
        if ignored:
            notes = (
                *notes,
                f"Less worth by feedback, since most were not fixed before the merge: {', '.join(ignored)}",
            )
        return notes

    @cached_property
    def _models(self) -> Mapping[str, ModelFit]:
        return {each.model: each for each in self.models}

    @cached_property
    def _rules(self) -> Mapping[tuple[str, str, bool], RuleFeedback]:
        return {(each.worker, each.rule, each.by_model): each for each in self.rules}

    def _confidence(self, finding: Finding, row: RuleFeedback | None) -> int:
        fitted = finding.confidence
        if by_a_model_alone(finding):
            model = self._models.get(source_of(finding))
            fitted = fitted if model is None else place_on(model.points, fitted)
        elif row is not None and row.right + row.wrong >= MIN_COUNTS:
            band = RuleBand(finding.confidence // BAND * BAND, round(row.right), round(row.wrong))
            fitted = band.adjust(finding.confidence)
        if finding.severity == "critical":
            return max(fitted, min(finding.confidence, LISTED_FROM))
        return fitted


NO_FEEDBACK = FeedbackTable()
"""Nothing is known, and nothing changes."""


def source_of(finding: Finding) -> str:
    """The model that claims a finding alone; else the programs that found it, joined by "+"."""
    if by_a_model_alone(finding):
        return finding.sources[0].removeprefix(MODEL_SOURCE)
    return "+".join(sorted({each for each in finding.sources if not each.startswith(MODEL_SOURCE)}))


def _rule_of(finding: Finding) -> str:
    return (finding.cause or "") if by_a_model_alone(finding) else finding.rule


def _is_ignored(row: RuleFeedback) -> bool:
    return row.acted + row.ignored >= MIN_RESOLVED and row.acted_bound < LISTED_FROM


def _worth(finding: Finding, row: RuleFeedback | None) -> int | None:
    """The lowered worth; None where it stays."""
    if row is None or not _is_ignored(row):
        return None
    said = UNSAID_WORTH if finding.worth is None else finding.worth
    worth = max(row.acted_bound, said - MAX_SINK)
    return worth if worth < said else None
