"""Limit a flood of findings: keep the worst of each rule, so that no rule can crowd out another one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from reviewbot.domain.contracts import SEVERITY_ORDER, Candidate

MAX_PER_RULE = 100
"""Findings of one rule in one file. With the hundredth a reader knows; the number of all is in a gap."""

MAX_PER_FILE = 200
"""Of one tool. Reviews are not read that far."""

MAX_PER_TASK = 400

MAX_PER_RUN = 10_000
"""Of all tools together."""

_NAMED = 5
"""Rules that a message names with their numbers."""


class CappedCandidates(NamedTuple):
    """The candidates that are kept, the worst first where there were too many, and how many of each rule there were."""

    candidates: tuple[Candidate, ...]
    counts: Counter[str]

    @property
    def total(self) -> int:
        """How many there were."""
        return self.counts.total()

    @property
    def flood(self) -> str:
        """What is not kept, in words; empty where everything is."""
        if self.total == len(self.candidates):
            return ""
        named = self.counts.most_common(_NAMED)
        most = ", ".join(f"{rule} {times} times" if times > 1 else f"{rule} once" for rule, times in named)
        more = " and others" if len(self.counts) > _NAMED else ""
        return f"{self.total} findings here ({most}{more}); {len(self.candidates)} are kept, the worst of each rule"


def keep(candidates: Iterable[Candidate], limit: int, per_rule: int = MAX_PER_RULE) -> CappedCandidates:
    """At most `limit` candidates and `per_rule` of each rule; in their order where all are kept.

    Of each rule the worst comes first, then of each the second, and so on. Candidates are taken one by one and those
    that cannot be kept are let go, so that an iterator of any length takes little memory.
    """
    counts: Counter[str] = Counter()
    held: dict[str, list[tuple[int, Candidate]]] = defaultdict(list)
    for at, candidate in enumerate(candidates):
        rule = candidate.rule or candidate.category
        counts[rule] += 1
        mine = held[rule]
        mine.append((at, candidate))
        if len(mine) > 2 * per_rule:
            mine.sort(key=_badness)
            del mine[per_rule:]
    there = [each for mine in held.values() for each in mine]
    if len(there) == counts.total() <= limit and all(times <= per_rule for times in counts.values()):
        return CappedCandidates(tuple(candidate for _, candidate in sorted(there, key=lambda pair: pair[0])), counts)
    ranked = [(rank, each) for mine in held.values() for rank, each in enumerate(sorted(mine, key=_badness)[:per_rule])]
    ranked.sort(key=lambda pair: (pair[0], _badness(pair[1])))
    return CappedCandidates(tuple(candidate for _, (_, candidate) in ranked[:limit]), counts)


def _badness(each: tuple[int, Candidate]) -> tuple[int, int, int]:
    at, candidate = each
    return SEVERITY_ORDER[candidate.severity], -candidate.confidence, at
