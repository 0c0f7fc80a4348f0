"""Findings of models beside each other: which tell of one defect, and which of them matter. Pure.

Each was judged alone, and severities that were given alone cannot be compared; nor can rules tell that a caller and a
function far from it are told of for one cause. What programs found is not compared: no model has a say in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.contracts import SEVERITY_ORDER, Compared, Finding, Severity, Withheld
from reviewbot.supervisor.merging import said_again
from reviewbot.supervisor.verifier import by_a_model_alone
from reviewbot.supervisor.weighing import Rules, rank

MAX_COMPARED = 60
"""Findings of one comparison, the gravest first. More is a flood, and what is over it stays as it is."""
FEWEST = 2
"""There is nothing to compare one finding with."""

_LOWEST_OF_A_CRITICAL: Severity = "warning"
"""What a critical finding may be lowered to: a text in the code may have asked for less."""


class Outcome(NamedTuple):
    """What is left to be placed, and what another finding tells already."""

    single: tuple[Finding, ...]
    repeated: tuple[Withheld, ...]


def comparable(findings: Iterable[Finding], rules: Rules) -> dict[str, Finding]:
    """By its handle each finding that only models have made and that is sure enough to be shown; empty where one is."""
    mine = (finding for finding in findings if by_a_model_alone(finding) and rules.let_through(finding))
    ranked = sorted(mine, key=rank)[:MAX_COMPARED]
    return {f"f{number}": finding for number, finding in enumerate(ranked, 1)} if len(ranked) >= FEWEST else {}


def compared(findings: Sequence[Finding], named: Mapping[str, Finding], answers: Iterable[Compared]) -> Outcome:
    """Apply what a model said of the `named` ones. What it left out, or said in two ways, stays as it is."""
    said: dict[str, set[Compared]] = {}
    for each in answers:
        said.setdefault(each.finding, set()).add(each)
    heard = {handle: said[handle].pop() for handle in named if len(said.get(handle, ())) == 1}
    spoken: list[Finding] = []
    repeated: list[Withheld] = []
    for group in _groups(named, heard):
        one, others = _as_one([(named[handle], heard.get(handle)) for handle in group])
        spoken.append(one)
        repeated += others
    taken = set(named.values())
    return Outcome((*(finding for finding in findings if finding not in taken), *spoken), tuple(repeated))


def _groups(named: Mapping[str, Finding], heard: Mapping[str, Compared]) -> list[list[str]]:
    """The handles by defect, in our order; a circle of repetitions is one defect as well."""
    group_of = {handle: [handle] for handle in named}
    for handle, each in heard.items():
        if each.same_as in group_of and group_of[each.same_as] is not group_of[handle]:
            together = sorted([*group_of[handle], *group_of[each.same_as]], key=list(named).index)
            group_of.update(dict.fromkeys(together, together))
    return [group for handle, group in group_of.items() if group[0] == handle]


def _as_one(group: Sequence[tuple[Finding, Compared | None]]) -> tuple[Finding, list[Withheld]]:
    """One finding for a defect, and the others as repetitions of it. The gravest speaks, whatever a model prefers."""
    severities = [_severity(finding, said) for finding, said in group]
    (speaker, _), *others = sorted(group, key=lambda each: rank(each[0]))
    one = speaker
    for other, _ in others:
        one = _with(one, other)
    worst = min(severities, key=SEVERITY_ORDER.__getitem__)
    told = [Withheld(finding=other, reason="repeated", message=_told_by(speaker, said)) for other, said in others]
    return one.model_copy(update={"severity": worst}), told


def _severity(finding: Finding, said: Compared | None) -> Severity:
    """As it stands beside the others. None is raised to critical: who saw it alone and closely did not."""
    if said is None or finding.severity == said.severity:
        return finding.severity
    if finding.severity == "critical":
        return _LOWEST_OF_A_CRITICAL
    return "info" if said.severity == "info" else "warning"


def _with(one: Finding, other: Finding) -> Finding:
    """The speaker with another's support; within its file with the other's lines, which lie on the way of it."""
    if one.path != other.path:
        return one.model_copy(update={"sources": tuple(sorted({*one.sources, *other.sources}))})
    lines = {*one.also, *other.also} | ({other.line} if not one.line <= other.line <= one.end_line else set())
    return said_again(one, other).model_copy(update={"also": tuple(sorted(lines))})


def _told_by(speaker: Finding, said: Compared | None) -> str:
    why = f": {said.reason}" if said is not None and said.same_as is not None and said.reason else ""
    return f"{speaker.path}:{speaker.line} tells of the same defect{why}"
