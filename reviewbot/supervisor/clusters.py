"""Which findings rules cannot settle: contradictions, one cause in different words, quarrels about severity. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from reviewbot.contracts import SEVERITY_ORDER, Conflict, Finding, Severity
from reviewbot.supervisor.merging import COMPARED, Contradiction, Defect, Merged, Saying, order, plain, words_of
from reviewbot.supervisor.verifier import AGREES_FROM, by_a_model_alone
from reviewbot.supervisor.weighing import Rules, rank

ADJACENT = 1
"""Lines between two findings that may mean one thing: a call and the line before it, for instance."""
SHARED_WORDS = 2
"""Words that two messages have in common where it is worth asking whether they say the same."""
WORD_CHARS = 4
"""Shorter words are mostly those that every message has."""
MEMBERS = 6
"""Findings in one cluster. More is a flood that nobody settles by comparing, and stays as it is."""

ClusterKind = Literal["contradiction", "same_cause", "severity"]


class Cluster(NamedTuple):
    """Defects that belong before one judge. Each is in one cluster only."""

    loose: tuple[Defect, ...]
    """Those that stand on their own."""
    contradictions: tuple[Contradiction, ...]
    """Pairs of which rules say only that both cannot be followed."""

    @property
    def members(self) -> tuple[Defect, ...]:
        """All of its defects, by place."""
        sides = (side for pair in self.contradictions for side in pair.sides)
        return tuple(sorted((*self.loose, *sides), key=_place))

    @property
    def kind(self) -> ClusterKind:
        """Why rules stop here."""
        if self.contradictions:
            return "contradiction"
        return "same_cause" if len(self.loose) > 1 else "severity"


class Sorted(NamedTuple):
    """Everything that was merged, each in exactly one place."""

    clusters: tuple[Cluster, ...]
    """Those worth a question, what weighs most first."""
    single: tuple[Finding, ...]
    """What rules have settled."""
    conflicts: tuple[Conflict, ...]
    """And what nobody but a person can."""
    over: int = 0
    """How many clusters were worth a question and are over the limit; they are among the rest."""


def clusters_of(merged: Merged, rules: Rules, limit: int) -> Sorted:
    """Part what is worth a question from what rules have settled. `limit` is how many clusters are asked about."""
    nodes = [Cluster((defect,), ()) for defect in merged.single]
    nodes += [Cluster((), (pair,)) for pair in merged.contradictions]
    groups = [_as_one(group) for group in _linked(nodes)]
    asked: list[Cluster] = []
    rest: list[Cluster] = []
    for group in groups:
        (asked if _is_open(group, rules) else rest).append(group)
    asked.sort(key=_weight)
    rest += asked[limit:]
    return Sorted(
        tuple(asked[:limit]),
        tuple(defect.finding for group in rest for defect in group.loose),
        tuple(pair.as_conflict() for group in rest for pair in group.contradictions),
        over=len(asked[limit:]),
    )


def deterministic(defect: Defect) -> bool:
    """Whether a program stands behind it."""
    return not by_a_model_alone(defect.finding)


def severities(sayings: Iterable[Saying]) -> list[Severity]:
    """Those that a settlement may choose from, the worst first.

    That is what was given, and nothing below what a program said: no model talks that down.
    """
    given = list(sayings)
    floor = min((SEVERITY_ORDER[said.severity] for said in given if said.program), default=len(SEVERITY_ORDER))
    found = {said.severity for said in given if SEVERITY_ORDER[said.severity] <= floor}
    return sorted(found, key=SEVERITY_ORDER.__getitem__)


def _is_open(group: Cluster, rules: Rules) -> bool:
    """Whether a model may decide something here that a reader would see."""
    members = group.members
    if not any(rules.matters(defect.finding) for defect in members):
        return False
    if group.kind == "severity":
        # The worse one speaks by rule. Asked is only where the answer decides what stops a merge.
        choice = severities(members[0].sayings)
        return len(choice) > 1 and choice[0] == "critical"
    return not all(deterministic(defect) for defect in members)


def _linked(nodes: Iterable[Cluster]) -> list[list[Cluster]]:
    """Groups of what may belong together; most have one node."""
    by_path: dict[str, list[Cluster]] = defaultdict(list)
    for node in nodes:
        by_path[node.members[0].finding.path].append(node)
    groups: list[list[Cluster]] = []
    for mine in by_path.values():
        groups += _linked_in_file(sorted(mine, key=_first))
    return groups


def _linked_in_file(nodes: Sequence[Cluster]) -> list[list[Cluster]]:
    # Taken out of the nodes once: of a flood each is looked at many times.
    inside = [tuple(defect.finding for defect in node.members) for node in nodes]
    ends = [max(finding.end_line for finding in findings) for findings in inside]
    group_of: dict[int, list[int]] = {at: [at] for at in range(len(nodes))}
    near: list[int] = []
    for at, findings in enumerate(inside):
        near = [other for other in near if ends[other] + ADJACENT >= findings[0].line][-COMPARED:]
        for other in near:
            if group_of[other] is not group_of[at] and _may_be_one(inside[other], findings):
                _join(group_of, other, at, inside)
        near.append(at)
    return [[nodes[at] for at in group] for first, group in group_of.items() if group[0] == first]


def _join(group_of: dict[int, list[int]], one: int, other: int, inside: Sequence[Sequence[Finding]]) -> None:
    """Make one group of two, unless it would be a flood."""
    together = [*group_of[one], *group_of[other]]
    if sum(len(inside[at]) for at in together) <= MEMBERS:
        for at in together:
            group_of[at] = together


def _may_be_one(one: Sequence[Finding], other: Sequence[Finding]) -> bool:
    return any(_related(first, second) for first in one for second in other)


def _related(one: Finding, other: Finding) -> bool:
    """Whether two believed findings of different finders, close to each other, may mean the same."""
    if min(one.confidence, other.confidence) < AGREES_FROM:
        return False  # what is more likely wrong than right is not to be said again in the words of what is not
    if not (by_a_model_alone(one) or by_a_model_alone(other)):
        return False
    if one.type == other.type and not set(one.sources).isdisjoint(other.sources):
        return False
    if one.line > other.end_line + ADJACENT or other.line > one.end_line + ADJACENT:
        return False
    if one.category == other.category or (one.cwe is not None and one.cwe == other.cwe):
        return True
    quote = plain(one.evidence)
    return (bool(quote) and quote == plain(other.evidence)) or len(_telling(one) & _telling(other)) >= SHARED_WORDS


def _telling(finding: Finding) -> frozenset[str]:
    return frozenset(word for word in words_of(finding) if len(word) >= WORD_CHARS)


def _as_one(group: Sequence[Cluster]) -> Cluster:
    return Cluster(
        tuple(defect for node in group for defect in node.loose),
        tuple(pair for node in group for pair in node.contradictions),
    )


def _place(defect: Defect) -> tuple[object, ...]:
    return (defect.finding.path, *order(defect.finding))


def _first(node: Cluster) -> tuple[object, ...]:
    return _place(node.members[0])


def _weight(group: Cluster) -> tuple[object, ...]:
    return (group.kind != "contradiction", *min(rank(defect.finding) for defect in group.members), _first(group))
