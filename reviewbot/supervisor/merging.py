"""Findings about one place: the same defect said twice becomes one, contradictions are kept side by side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.contracts import SEVERITY_ORDER, Conflict, Finding, Severity
from reviewbot.supervisor.verifier import Together, Voice, agreed, by_a_model_alone, voice_of

SAME_WORDS = 0.6
"""Share of the shorter message's words that two messages have in common when they say the same."""
FEWEST_WORDS = 3
"""Shorter messages have too few words to be compared by them."""
REACH = 60
"""Lines between a finding and another one on the way of its value."""
COMPARED = 16
"""Findings at one place with which a further one is compared. More is a flood; each with each would take minutes."""

_WORD = re.compile(r"[a-z0-9_]{3,}")


class Saying(NamedTuple):
    """How one worker put a defect, before it was joined with others."""

    severity: Severity
    program: bool
    """Whether a program stands behind it."""
    type: str
    message: str


class Defect(NamedTuple):
    """A finding and everything that was joined to it, each saying once."""

    finding: Finding
    sayings: frozenset[Saying]


class Contradiction(NamedTuple):
    """Two defects that cannot both be followed, or be one, as they stand."""

    sides: tuple[Defect, Defect]
    reason: str

    def as_conflict(self) -> Conflict:
        """As it is shown."""
        return Conflict(findings=tuple(side.finding for side in self.sides), reason=self.reason)


class Merged(NamedTuple):
    """Every defect, in exactly one of the two."""

    single: list[Defect]
    contradictions: list[Contradiction]


class _Said(NamedTuple):
    """A finding, the words of its message, which are dear to cut and compared often, and all who said it how."""

    finding: Finding
    words: frozenset[str]
    voices: set[Voice]
    sayings: set[Saying]

    def as_defect(self) -> Defect:
        return Defect(self.finding, frozenset(self.sayings))


def merge(
    findings: Iterable[Finding], together: Together = lambda _sources, _rules: None
) -> tuple[list[Finding], list[Conflict]]:
    """Split findings into single defects and conflicts, as `merged` does."""
    single, contradictions = merged(findings, together)
    return [defect.finding for defect in single], [pair.as_conflict() for pair in contradictions]


def merged(findings: Iterable[Finding], together: Together = lambda _sources, _rules: None) -> Merged:
    """Split findings into single defects and contradictions. No finding is in both, and none is lost.

    Two findings are the same defect if their lines overlap and they share a CWE, a category, a rule or most words; and
    also if one lies on the way of the value that the other follows, and they share a CWE. Those of one tool for one
    worker are the same only where they are repetitions.
    """
    by_path: dict[str, list[_Said]] = defaultdict(list)
    for finding in findings:
        said = _Said(finding, words_of(finding), {voice_of(finding)}, {saying_of(finding)})
        by_path[finding.path].append(said)
    single: list[Defect] = []
    contradictions: list[Contradiction] = []
    for group in by_path.values():
        kept, contradicting = _parted(_trusted(_fold(group), together))
        single += kept
        contradictions += contradicting
    return Merged(single, contradictions)


def words_of(finding: Finding) -> frozenset[str]:
    """The words by which its message is compared with others."""
    return frozenset(_WORD.findall(finding.message.lower()))


def saying_of(finding: Finding) -> Saying:
    """The saying of one finding that nothing was joined to."""
    return Saying(finding.severity, not by_a_model_alone(finding), finding.type, finding.message)


class _Window:
    """The findings that one further down can still concern; the others leave through `done`, each once.

    `reach` is how many lines above another finding one may end and still concern it.
    """

    def __init__(self, reach: int = 0) -> None:
        self._reach = reach
        self.near: list[_Said] = []
        self.done: list[_Said] = []

    def advance(self, line: int) -> None:
        """Let go of what ends above a line."""
        top = line - self._reach
        self.done += [said for said in self.near if said.finding.end_line < top]
        self.near = [said for said in self.near if said.finding.end_line >= top]

    def add(self, said: _Said) -> None:
        """Take one more in; the oldest makes room."""
        self.near.append(said)
        self.done += self.near[:-COMPARED]
        self.near = self.near[-COMPARED:]


def _trusted(group: Iterable[_Said], together: Together) -> Iterator[_Said]:
    """Each with the confidence that all who said it have together, which no order of theirs changes."""
    for said in group:
        confidence = agreed(said.voices, together)
        yield said._replace(finding=said.finding.model_copy(update={"confidence": confidence}))


def _fold(group: Iterable[_Said]) -> list[_Said]:
    """Join what is the same defect, in the findings of one file."""
    window = _Window(REACH)
    for said in sorted(group, key=_order):
        window.advance(said.finding.line)
        twin = next((n for n, kept in enumerate(window.near) if _is_twin(kept, said)), None)
        if twin is None:
            window.add(said)
        else:
            window.near[twin] = _joined(window.near[twin], said)
    return window.done + window.near


def _parted(group: Iterable[_Said]) -> tuple[list[Defect], list[Contradiction]]:
    """Take pairs that contradict each other out of the findings of one file."""
    window = _Window()
    pairs: list[Contradiction] = []
    for said in sorted(group, key=_order):
        window.advance(said.finding.line)
        reasons = ((kept, _contradiction(kept, said)) for kept in window.near)
        other, reason = next((pair for pair in reasons if pair[1] is not None), (None, None))
        if other is None or reason is None:
            window.add(said)
        else:
            window.near.remove(other)
            pairs.append(Contradiction((other.as_defect(), said.as_defect()), reason))
    return [said.as_defect() for said in window.done + window.near], pairs


def _is_twin(one: _Said, other: _Said) -> bool:
    if one.finding.end_line >= other.finding.line:
        return _same_cause(one, other) and _contradiction(one, other) is None
    return _on_the_way(one.finding, other.finding)


def _on_the_way(one: Finding, other: Finding) -> bool:
    """Whether two programs follow one defect from different ends: where a text is built, and where it is used."""
    if one.cwe is None or one.cwe != other.cwe or not set(one.sources).isdisjoint(other.sources):
        return False
    return any(_lies_on(here, there) for here, there in ((one, other), (other, one)))


def _lies_on(one: Finding, other: Finding) -> bool:
    return any(one.line <= line <= one.end_line for line in other.also)


def _same_cause(one: _Said, other: _Said) -> bool:
    """Whether two findings at one place say the same."""
    first, second = one.finding, other.finding
    if first.type == second.type and not set(first.sources).isdisjoint(second.sources):
        # One tool that reports twice means two defects, such as two keys on one line, unless it repeats itself.
        return (first.rule, first.message) == (second.rule, second.message)
    if first.cwe is not None and first.cwe == second.cwe:
        return True
    if first.category == second.category or (first.rule and first.rule == second.rule):
        return True
    shorter = min(len(one.words), len(other.words))
    return shorter >= FEWEST_WORDS and len(one.words & other.words) >= SAME_WORDS * shorter


def _contradiction(one: _Said, other: _Said) -> str | None:
    """Why two findings at one place cannot both be followed, or None."""
    first, second = one.finding, other.finding
    if first.type == second.type or not _same_cause(one, other):
        return None
    if {first.severity, second.severity} == {"critical", "info"}:
        return f"{first.type} calls it {first.severity}, {second.type} calls it {second.severity}"
    if first.suggestion and second.suggestion and plain(first.suggestion) != plain(second.suggestion):
        return f"{first.type} and {second.type} suggest different code for the same defect"
    return None


def _joined(one: _Said, other: _Said) -> _Said:
    """One finding for both: the more severe and surer one speaks, the other's evidence counts."""
    best, rest = sorted(
        (one, other), key=lambda said: (SEVERITY_ORDER[said.finding.severity], -said.finding.confidence)
    )
    one.voices.update(other.voices)
    one.sayings.update(other.sayings)
    finding = said_again(best.finding, rest.finding)
    return best._replace(finding=finding, voices=one.voices, sayings=one.sayings)


def said_again(speaker: Finding, other: Finding) -> Finding:
    """The speaker's words for both: what it leaves blank the other may fill, and both are named as sources."""
    filled = {name: getattr(speaker, name) or getattr(other, name) for name in _FILLED}
    return speaker.model_copy(update={"sources": tuple(sorted({*speaker.sources, *other.sources})), **filled})


_FILLED = ("trigger", "contract", "symptom", "suggestion", "proof", "disputed", "cwe", "also")
"""A doubt that was raised stays as well, whoever speaks."""


def order(f: Finding) -> tuple[int | str | Sequence[str], ...]:
    """By place, and then by everything else: the order in which workers answered must not show in the review."""
    place = (f.line, f.end_line, f.type, f.rule, f.message, -f.confidence)
    told = (f.suggestion, f.trigger, f.evidence, f.cwe or 0, f.contract, f.symptom, f.proof, f.disputed)
    return (*place, f.severity, f.category, f.sources, *told, f.claimed or 0, f.symbol, str(f.also))


def _order(said: _Said) -> tuple[int | str | Sequence[str], ...]:
    return order(said.finding)


def plain(text: str) -> str:
    """Without what only lays out."""
    return " ".join(text.split())
