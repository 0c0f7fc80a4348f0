"""What becomes of a cluster when a model has judged it. Pure, and the same for any answer, in any order.

What a program found is never joined to another program's finding, never loses its words, its confidence or its
severity, and never enters a conflict that rules have not seen. A model's finding may be said again by another; the
most severe one speaks, so that no text of a milder one can silence it, and the settlement says whose advice stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce
from typing import Literal, NamedTuple

from reviewbot.contracts import Conflict, Finding, Settlement, Severity
from reviewbot.supervisor.clusters import Cluster, Sorted, deterministic, severities
from reviewbot.supervisor.merging import Contradiction, Defect, plain, said_again
from reviewbot.supervisor.weighing import Rules, rank

Effect = Literal["unchanged", "joined", "apart", "conflict", "severity"]

_FEWEST_SIDES = 2


class Outcome(NamedTuple):
    """The findings of one cluster, each in exactly one place."""

    effect: Effect
    single: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]


class Decision(NamedTuple):
    """What was decided of one cluster, and why."""

    handle: str
    cluster: Cluster
    effect: Effect
    reason: str


class Settling(NamedTuple):
    """The findings after all decisions."""

    single: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]
    decisions: tuple[Decision, ...]


Handles = Mapping[str, Mapping[str, Defect]]
"""By a cluster's handle, in the order of the clusters: its members by their handles."""


def handles_of(clusters: Iterable[Cluster]) -> Handles:
    """Names by which a model can speak of clusters and their members; each is given once."""
    named: dict[str, dict[str, Defect]] = {}
    count = 0
    for number, cluster in enumerate(clusters, 1):
        mine = named[f"c{number}"] = {}
        for defect in cluster.members:
            count += 1
            mine[f"f{count}"] = defect
    return named


def settle(found: Sorted, answers: Iterable[Settlement], rules: Rules) -> Settling:
    """Apply what a model said of each cluster. What it did not say, or said in two ways, stays as rules have it."""
    said: dict[str, set[Settlement]] = {}
    for each in answers:
        said.setdefault(each.cluster, set()).add(each)
    single, conflicts = list(found.single), list(found.conflicts)
    decisions: list[Decision] = []
    for (handle, members), cluster in zip(handles_of(found.clusters).items(), found.clusters, strict=True):
        mine = said.get(handle, set())
        answer = next(iter(mine)) if len(mine) == 1 else None
        outcome = _by_rules(cluster)
        reason = "it was answered in two ways" if mine else "it was not answered"
        if answer is not None:
            kept = [members[name] for name in sorted(set(answer.keep) & set(members))]
            outcome, reason = _settled(cluster, answer, kept, rules), answer.reason
        single += outcome.single
        conflicts += outcome.conflicts
        decisions.append(Decision(handle, cluster, outcome.effect, reason))
    return Settling(tuple(single), tuple(conflicts), tuple(decisions))


def _by_rules(cluster: Cluster) -> Outcome:
    pairs = tuple(pair.as_conflict() for pair in cluster.contradictions)
    return Outcome("unchanged", tuple(defect.finding for defect in cluster.loose), pairs)


def _settled(cluster: Cluster, answer: Settlement, kept: Sequence[Defect], rules: Rules) -> Outcome:
    if cluster.kind == "severity":
        return _of_severity(cluster.loose[0], answer)
    if not answer.same_cause:
        return _apart(cluster) if answer.resolved else _by_rules(cluster)
    if not answer.resolved:
        return _in_conflict(cluster, answer.reason)
    outcome = _joined(cluster, answer, kept, rules)
    return _by_rules(cluster) if _loses(cluster, outcome, rules) else outcome


def _loses(cluster: Cluster, outcome: Outcome, rules: Rules) -> bool:
    """Whether something that was certain enough to be shown now belongs to a stricter worker and is not."""
    before = [defect.finding for defect in cluster.members]
    after = [*outcome.single, *(finding for conflict in outcome.conflicts for finding in conflict.findings)]
    joined = [finding for finding in before if finding not in after]
    # What was joined may be, word for word, one of those that were there before.
    new = [finding for finding in after if finding not in before]
    stands = all(map(rules.let_through, new)) if new else any(map(rules.let_through, after))
    return any(map(rules.let_through, joined)) and not stands


def _of_severity(defect: Defect, answer: Settlement) -> Outcome:
    if not answer.resolved:
        return Outcome("unchanged", (defect.finding,), ())
    severity = _chosen(answer.severity, (defect,))
    return Outcome("severity", (defect.finding.model_copy(update={"severity": severity}),), ())


def _chosen(wanted: Severity, defects: Iterable[Defect]) -> Severity:
    """The wanted severity where it was given and may be chosen, else the worst.

    What one of them calls more than worth knowing is settled to no less than a warning: it is one word against another.
    """
    choice = severities(said for defect in defects for said in defect.sayings)
    if wanted not in choice:
        return choice[0]
    return "warning" if wanted == "info" and choice[0] != "info" else wanted


def _apart(cluster: Cluster) -> Outcome:
    """They mean different defects, so that their advice does not collide. Programs that quarrel stay side by side."""
    parted = [pair for pair in cluster.contradictions if not all(map(deterministic, pair.sides))]
    stay = tuple(pair.as_conflict() for pair in cluster.contradictions if pair not in parted)
    sides = (side.finding for pair in parted for side in pair.sides)
    single = (*(defect.finding for defect in cluster.loose), *sides)
    return Outcome("apart" if parted else "unchanged", single, stay)


def _in_conflict(cluster: Cluster, reason: str) -> Outcome:
    """They are one defect, and nobody can say who is right: shown side by side, programs left where they are."""
    models = [defect.finding for defect in cluster.members if not deterministic(defect)]
    if cluster.contradictions or len(models) < _FEWEST_SIDES:
        return _by_rules(cluster)
    types = " and ".join(sorted({finding.type for finding in models}))
    words = f"{types} disagree on one defect, and it could not be settled: {reason}"
    alone = tuple(defect.finding for defect in cluster.loose if deterministic(defect))
    return Outcome("conflict", alone, (Conflict(findings=tuple(models), reason=words),))


def _joined(cluster: Cluster, answer: Settlement, kept: Sequence[Defect], rules: Rules) -> Outcome:
    """They are one defect: one speaks, the models' others say it again."""
    programs = [defect for defect in cluster.members if deterministic(defect)]
    models = [defect for defect in cluster.members if not deterministic(defect)]
    # One that no reader is told of is not put in the place of one that a reader should see: it stays where it is.
    speaking = [defect for defect in programs if rules.matters(defect.finding)]
    if not programs or not (speaking or cluster.contradictions):
        return _of_models(cluster, models, answer, kept)
    if cluster.contradictions and (not speaking or any(not deterministic(defect) for defect in kept)):
        return _by_rules(cluster)  # no model's advice takes the place of a program's
    speaker = min(speaking, key=_surest)
    one = _spoken(speaker, models, answer.severity)
    if cluster.contradictions:
        one = one.model_copy(update=_advice(speaker.finding, one))
    stay = [pair for pair in cluster.contradictions if all(map(deterministic, pair.sides))]
    conflicts = tuple(_with(pair, speaker, one) for pair in stay)
    paired = [side for pair in stay for side in pair.sides]
    free = [defect for defect in programs if not any(defect is side for side in paired)]
    return Outcome("joined", tuple(one if defect is speaker else defect.finding for defect in free), conflicts)


def _of_models(cluster: Cluster, models: Sequence[Defect], answer: Settlement, kept: Sequence[Defect]) -> Outcome:
    """The models' findings become one. Programs', where there are any, stay on their own."""
    members = sorted(models, key=lambda defect: rank(defect.finding))
    advice = {plain(defect.finding.suggestion) for defect in members if defect.finding.suggestion}
    if len(members) < _FEWEST_SIDES or (cluster.contradictions and len(advice) > 1 and len(kept) != 1):
        return _by_rules(cluster)  # there is nothing to join; or it says that it is settled, and not how
    one = _spoken(members[0], members[1:], answer.severity)
    preferred = sorted((defect.finding for defect in kept if not deterministic(defect)), key=rank)
    if preferred and preferred[0].suggestion:
        one = one.model_copy(update=_advice(preferred[0], one))
    alone = (defect.finding for defect in cluster.loose if deterministic(defect))
    return Outcome("joined", (one, *alone), ())


def _advice(giver: Finding, one: Finding) -> dict[str, object]:
    """What `giver` advises; what replaces its lines replaces no others."""
    same = (giver.line, giver.end_line) == (one.line, one.end_line)
    return {"suggestion": giver.suggestion, "replacement": giver.replacement if same else None}


def _spoken(speaker: Defect, others: Sequence[Defect], wanted: Severity) -> Finding:
    """One finding for all. What a model holds to be the same is no independent support: there is no bonus."""
    everyone = (speaker, *others)
    one = reduce(said_again, (defect.finding for defect in others), speaker.finding)
    confidence = max(defect.finding.confidence for defect in everyone)
    return one.model_copy(update={"confidence": confidence, "severity": _chosen(wanted, everyone)})


def _with(pair: Contradiction, speaker: Defect, one: Finding) -> Conflict:
    sides: Collection[Finding] = [one if side is speaker else side.finding for side in pair.sides]
    return Conflict(findings=tuple(sides), reason=pair.reason)


def _surest(defect: Defect) -> tuple[object, ...]:
    return (-defect.finding.confidence, *rank(defect.finding))
