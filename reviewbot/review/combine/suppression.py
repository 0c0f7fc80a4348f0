"""Silence findings, or change their severity, as settings and comments of the base side say. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from reviewbot.config.rules import RuleSetting, setting_of
from reviewbot.domain.contracts import Finding, Severity, Suppression, WorkerResult
from reviewbot.review.combine.dedupe import speaks_for
from reviewbot.review.combine.ignore_comments import IgnoreComment

FindingKey = tuple[str, int, str]
"""Path, line and message of a finding."""
MAX_REFUSED = 100
"""Refused comments that a review lists: the author of a change can write any number of them."""


@dataclass(frozen=True)
class Suppressor:
    """Decides which findings are silenced or change their severity, and words what is said of refused comments."""

    rules: tuple[RuleSetting, ...] = ()
    comments: Mapping[str, tuple[IgnoreComment, ...]] = field(default_factory=dict)
    """By path: those that count."""
    categories: Mapping[str, str] = field(default_factory=dict)
    """The category of each known rule: a comment that names a rule is also about a model's finding of its category."""
    refused: tuple[Suppression, ...] = ()
    thresholds: Mapping[str, int] = field(default_factory=dict)
    """By task type: the confidence from which a finding is shown without another one beside it."""

    @classmethod
    def of(
        cls,
        rules: tuple[RuleSetting, ...],
        comments: Iterable[IgnoreComment],
        categories: Mapping[str, str],
        thresholds: Mapping[str, int],
    ) -> Self:
        """With these settings and all comments of a change."""
        by_path: dict[str, tuple[IgnoreComment, ...]] = defaultdict(tuple)
        refused = []
        for comment in comments:
            if comment.fault:
                refused.append(comment.as_refused())
            else:
                by_path[comment.path] += (comment,)
        return cls(rules, dict(by_path), categories, tuple(refused[:MAX_REFUSED]), thresholds)

    def apply(self, result: WorkerResult) -> WorkerResult:
        """The result with what is left of its findings, and an entry for each one that was silenced or changed."""
        kept: list[Finding] = []
        entries: list[Suppression] = []
        named = [(finding, self._entry(finding)) for finding in result.findings]
        silenced = [(finding, entry) for finding, entry in named if entry is not None and entry.is_silenced]
        for finding, own in named:
            entry = self._entry_of_same_defect(finding, silenced) if own is None else own
            if entry is not None:
                entries.append(entry)
            if entry is None:
                kept.append(finding)
            elif entry.shown_as is not None:
                kept.append(finding.model_copy(update={"severity": entry.shown_as}))
        if not entries:
            return result
        return result.model_copy(update={"findings": tuple(kept), "suppressed": (*result.suppressed, *entries)})

    def _entry(self, finding: Finding) -> Suppression | None:
        said = setting_of(self.rules, _names_of(finding), finding.path)
        if said is not None and said.level == "off":
            return _suppressed(finding, action="off", by=said.origin)
        if (comment := self._comment(finding)) is not None:
            return _suppressed(finding, action="ignored", by=f"comment at line {comment.line}", reason=comment.reason)
        if said is not None and said.level not in ("on", finding.severity):
            return _suppressed(finding, action="severity", by=said.origin, shown_as=said.level)
        return None

    def _entry_of_same_defect(
        self, finding: Finding, silenced: Iterable[tuple[Finding, Suppression]]
    ) -> Suppression | None:
        """The entry of a finding that nothing names, where a silenced one would have been shown in its place.

        Otherwise `sql-parameter = "off"` would only replace that finding by the uncertain S608 of the same line. What
        is certain without the silenced finding stays, and so does what a model found.
        """
        if finding.confidence >= self.thresholds.get(finding.type, 0):
            return None
        for other, entry in silenced:
            if speaks_for(other, finding):
                same = f"the same defect as {other.rule or other.category}"
                reason = f"{entry.reason}; {same}" if entry.reason else same
                return _suppressed(finding, action=entry.action, by=entry.by, reason=reason)
        return None

    def _comment(self, finding: Finding) -> IgnoreComment | None:
        """The comment about this finding: on its first or last line, or alone on the line above it."""
        names = set(_names_of(finding))
        for comment in self.comments.get(finding.path, ()):
            here = comment.line in (finding.line, finding.end_line)
            above = comment.alone and comment.line == finding.line - 1
            if (here or above) and not names.isdisjoint(self._meant(comment, finding)):
                return comment
        return None

    def _meant(self, comment: IgnoreComment, finding: Finding) -> Iterable[str]:
        """What a comment names; for a finding without a rule, the categories of the rules that it names as well."""
        if finding.rule:
            return comment.names
        return (*comment.names, *(self.categories[name] for name in comment.names if name in self.categories))


def _names_of(finding: Finding) -> tuple[str, ...]:
    """What a finding goes by, the most specific first: its rule, the rule without its form, its category."""
    names = (finding.rule, finding.rule.partition(":")[0], finding.category)
    return tuple(dict.fromkeys(name for name in names if name))


def _suppressed(finding: Finding, **how: object) -> Suppression:
    """The entry of a finding; `how`: what was done to it, and by what."""
    about = {name: getattr(finding, name) for name in _TAKEN}
    return Suppression.model_validate({**about, **how})


_TAKEN = ("path", "line", "rule", "category", "type", "severity", "message")


def distinct_suppressions(entries: Iterable[Suppression]) -> tuple[Suppression, ...]:
    """Each entry once, by place."""
    return tuple(sorted(set(entries), key=_order))


def configured_severities(entries: Iterable[Suppression]) -> dict[FindingKey, Severity]:
    """The severities that settings have given. No later ruling on a finding may change them."""
    return {(each.path, each.line, each.message): each.shown_as for each in entries if each.shown_as is not None}


def _order(entry: Suppression) -> tuple[object, ...]:
    return entry.path, entry.line, entry.action, entry.rule, entry.by, entry.message
