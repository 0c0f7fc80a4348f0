"""Set the confidence of a finding by the evidence for it. No source scores its own finding.

Findings of programs carry the confidence of their rule, counted on labelled cases or estimated. What a model says is
worth little until a second look confirms it; that is another call, and where an engine offers none, the cap stays.

No model lowers or deletes what a program found. Where one holds it to be wrong, that is written into `disputed` and
the confidence stays; a disputed finding that is critical and certain enough to be shown is for a person to decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import MODEL_SOURCE, SURE, Finding, WorkerResult

UNVERIFIED_CAP = 70
"""Below the threshold of 80: no judge has tried to refute it yet. Critical ones still reach a person."""

AGREEMENT_BONUS = 10
"""A program and a model that found the same thing independently: each is rarely wrong in the same way."""
AGREES_FROM = 50
"""What is less likely right than wrong, such as a refuted finding of a model, supports no other finding."""
FOREIGN_BONUS = 20
"""What one of our own tools found as well as a program of the repository's: they were written by different people,
unless both report the same rule, which is then one program counted twice."""
FOREIGN_SOURCE = "imported:"
"""How the source of a finding begins that another program reported in a file that was handed in."""
HIGHEST_CONFIDENCE = 99
"""Nothing but a person is certain."""

JointConfidence = Callable[[Iterable[str], Iterable[str]], int | None]
"""The confidence that was counted for a place of which these sources speak with these rules; None without counts."""


def verify_result(result: WorkerResult) -> WorkerResult:
    """The result with the caps by evidence applied: programs have their counted confidence, and a model its cap."""
    return result.model_copy(update={"findings": tuple(cap_finding(finding) for finding in result.findings)})


def cap_finding(finding: Finding) -> Finding:
    """The finding with its confidence cut to what its evidence carries: a claim without proof is capped."""
    if by_a_model_alone(finding) and not finding.proof and finding.confidence > UNVERIFIED_CAP:
        return finding.model_copy(update={"confidence": UNVERIFIED_CAP})
    return finding


def by_a_model_alone(finding: Finding) -> bool:
    """Whether no program stands behind this finding."""
    return all(source.startswith(MODEL_SOURCE) for source in finding.sources)


def by_programs_alone(finding: Finding) -> bool:
    """Whether no model had a part in this finding."""
    return not any(source.startswith(MODEL_SOURCE) for source in finding.sources)


class Vote(NamedTuple):
    """What counts of a finding when it supports others."""

    sources: tuple[str, ...]
    rule: str
    """Without what follows ":", which tells forms of one rule apart."""
    full_rule: str
    """The rule in full."""
    cwe: int | None
    confidence: int
    program: bool
    """No model had a part in it."""
    model: bool
    """No program had a part in it."""
    foreign: bool
    """Another program reported it in a file that was handed in."""


def vote_of(finding: Finding) -> Vote:
    """The vote of one finding that nothing was joined to."""
    return Vote(
        sources=finding.sources,
        rule=finding.rule.partition(":")[0],
        full_rule=finding.rule,
        cwe=finding.cwe,
        confidence=finding.confidence,
        program=by_programs_alone(finding),
        model=by_a_model_alone(finding),
        foreign=all(source.startswith(FOREIGN_SOURCE) for source in finding.sources),
    )


def agreed_confidence(votes: Iterable[Vote], joint_confidence: JointConfidence) -> int:
    """The confidence of a defect that all of these have named; their order has no part in it.

    Built-in programs that name one weakness by different rules have what was counted for them together. What was not
    counted gains one bonus, however many agree: the foreign one where a program handed in names the weakness by a rule
    that no built-in program has reported, else the common one where two programs agree so, or a program and a model
    that are both more likely right than wrong. Built-in programs alone that are unsure stay so when they agree: flows
    and injection rules agreed on arguments that an administrator types. One that was handed in with a rule that a
    built-in program has reported is the same program counted twice, and counts for nothing.
    """
    everyone = set(votes)
    known = {vote.rule for vote in everyone if vote.program and not vote.foreign and vote.rule}
    heard = {vote for vote in everyone if not (vote.foreign and vote.rule in known)}
    trust, bonus = 0, 0
    for weakness in _by_weakness(heard):
        own = [vote for vote in weakness if not vote.foreign]
        foreign = [vote for vote in weakness if vote.foreign]
        count = _counted(own, joint_confidence) if _are_two(own) else None
        trust = max(trust, _surest(own) if count is None else count, _surest(foreign))
        bonus = max(bonus, _agreement(own, foreign, counted=count is not None))
    trust = max(trust, _surest(vote for vote in heard if not _is_weighed(vote)))
    believed = [vote for vote in heard if vote.confidence >= AGREES_FROM]
    if any(vote.program for vote in believed) and any(vote.model for vote in believed):
        bonus = max(bonus, AGREEMENT_BONUS)
    built_in = all(vote.program and not vote.foreign for vote in heard)
    return max(trust, min(SURE - 1 if built_in else HIGHEST_CONFIDENCE, trust + bonus))


def _agreement(own: Sequence[Vote], foreign: Sequence[Vote], *, counted: bool) -> int:
    """The bonus of programs for one weakness; `counted`: what ours are worth together is known."""
    if own and foreign:
        return FOREIGN_BONUS
    return AGREEMENT_BONUS if (not counted and _are_two(own)) or _are_two(foreign) else 0


def _is_weighed(vote: Vote) -> bool:
    return vote.program and vote.cwe is not None


def _by_weakness(votes: Iterable[Vote]) -> Iterable[list[Vote]]:
    named: dict[int | None, list[Vote]] = defaultdict(list)
    for vote in filter(_is_weighed, votes):
        named[vote.cwe].append(vote)
    return named.values()


def _are_two(votes: Sequence[Vote]) -> bool:
    """Whether two of them are different programs that tell different rules."""
    sources = {vote.sources for vote in votes}
    return len(sources) > 1 and len({vote.rule or vote.sources for vote in votes}) > 1


def _counted(votes: Sequence[Vote], joint_confidence: JointConfidence) -> int | None:
    sources = {source for vote in votes for source in vote.sources}
    return joint_confidence(sources, {vote.full_rule for vote in votes})


def _surest(votes: Iterable[Vote]) -> int:
    return max((vote.confidence for vote in votes), default=0)
