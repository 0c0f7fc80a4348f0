"""Deduplicate findings at one place: the same defect said twice becomes one, contradictions are kept side by side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import SECRET, SEVERITY_ORDER, SURE, Conflict, Finding
from reviewbot.review.verify.verifier import (
    AGREES_FROM,
    JointConfidence,
    Vote,
    agreed_confidence,
    by_a_model_alone,
    by_programs_alone,
    vote_of,
)

SAME_WORDS = 0.6
"""Share of the shorter message's words that two messages have in common when they say the same."""
MIN_WORDS = 3
"""Shorter messages have too few words to be compared by them."""
REACH = 60
"""Lines between a finding and another one on the way of its value."""
MAX_PROOF = 8
"""Places that prove one defect; more say the same."""
ALSO = "; also: "
"""Between the messages of one tool that reports two of a kind at one place."""
MAX_MESSAGE = 2_000
"""As long as the contracts let a candidate's message be."""
COMPARED = 16
"""Findings at one place with which a further one is compared. More is a flood; each with each would take minutes."""

_WORD = re.compile(r"[a-z0-9_]{3,}")


class Merged(NamedTuple):
    """Every defect, in exactly one of the two."""

    single: list[Finding]
    contradictions: list[Conflict]
    """Two defects each that cannot both be followed, or be one, as they stand."""


class _Claim(NamedTuple):
    """A finding, the words of its message, which are dear to cut and compared often, and the votes for it."""

    finding: Finding
    words: frozenset[str]
    votes: set[Vote]
    best_confidence: int
    """Of the surest vote on its own; no bonus and no count is in it."""

    @property
    def believed(self) -> bool:
        """Whether one of them is more likely right than wrong."""
        return self.best_confidence >= AGREES_FROM


def merge(findings: Iterable[Finding], joint_confidence: JointConfidence = lambda _sources, _rules: None) -> Merged:
    """Split findings into single defects and contradictions. No finding is in both, and none is lost.

    Two findings are the same defect if their lines overlap and they share a CWE, a category, a rule or most words; and
    also if one lies on the way of the value that the other follows, and they share a CWE. Those of one tool for one
    worker are the same only where they are repetitions.

    What is less likely right than wrong, such as a model's finding that was refuted, is joined to nothing but its own
    repetitions and contradicts nothing: it stays a defect of its own. Programs are believed as their counts say, and no
    model's finding changes which of theirs are one.
    """
    by_path: dict[str, list[_Claim]] = defaultdict(list)
    for finding in findings:
        by_path[finding.path].append(_claim(finding))
    found = Merged([], [])
    for group in by_path.values():
        kept, contradicting = _parted(_trusted(_fold(group), joint_confidence))
        found.single.extend(kept)
        found.contradictions.extend(contradicting)
    return found


def words_of(finding: Finding) -> frozenset[str]:
    """The words by which its message is compared with others."""
    return frozenset(_WORD.findall(finding.message.lower()))


def speaks_for(speaker: Finding, other: Finding) -> bool:
    """Whether both are findings of programs and one defect, which would be reported in the words of `speaker`."""
    if not (by_programs_alone(speaker) and by_programs_alone(other)) or speaker.path != other.path:
        return False
    first, second = sorted((speaker, other), key=order)
    if first.end_line < second.line - REACH:
        return False
    return _graver(speaker) <= _graver(other) and _is_twin(_claim(first), _claim(second))


def _claim(finding: Finding) -> _Claim:
    return _Claim(finding, words_of(finding), {vote_of(finding)}, finding.confidence)


class _Window:
    """The findings that one further down can still concern; the others leave through `done`, each once.

    `reach` is how many lines above another finding one may end and still concern it.
    """

    def __init__(self, reach: int = 0) -> None:
        self._reach = reach
        self.near: list[_Claim] = []
        self.done: list[_Claim] = []

    def advance(self, line: int) -> None:
        """Drop what ends above a line."""
        top = line - self._reach
        self.done += [claim for claim in self.near if claim.finding.end_line < top]
        self.near = [claim for claim in self.near if claim.finding.end_line >= top]

    def add(self, claim: _Claim) -> None:
        """Add one more; the oldest is dropped where there is no room."""
        self.near.append(claim)
        self.done += self.near[:-COMPARED]
        self.near = self.near[-COMPARED:]


def _trusted(group: Iterable[_Claim], joint_confidence: JointConfidence) -> Iterator[_Claim]:
    """Each with the confidence that all who said it have together, which no order of theirs changes."""
    for claim in group:
        confidence = agreed_confidence(claim.votes, joint_confidence)
        yield claim._replace(finding=claim.finding.model_copy(update={"confidence": confidence}))


def _fold(group: Sequence[_Claim]) -> list[_Claim]:
    """Join what is the same defect, in the findings of one file: those of programs first, as if no model had spoken."""
    programs = [claim for claim in group if by_programs_alone(claim.finding)]
    others = [claim for claim in group if not by_programs_alone(claim.finding)]
    joined = _folded(programs, _is_twin)
    return _folded([*joined, *others], _is_twin_by_a_model) if others else joined


def _folded(group: Iterable[_Claim], is_twin: Callable[[_Claim, _Claim], bool]) -> list[_Claim]:
    window = _Window(REACH)
    for claim in sorted(group, key=_order):
        window.advance(claim.finding.line)
        twin = next((n for n, kept in enumerate(window.near) if is_twin(kept, claim)), None)
        if twin is None:
            window.add(claim)
        else:
            window.near[twin] = _joined(window.near[twin], claim)
    return window.done + window.near


def _parted(group: Iterable[_Claim]) -> tuple[list[Finding], list[Conflict]]:
    """Take pairs that contradict each other out of the findings of one file."""
    window = _Window()
    pairs: list[Conflict] = []
    for claim in sorted(group, key=_order):
        window.advance(claim.finding.line)
        reasons = ((kept, _contradiction(kept, claim, only_believed=True)) for kept in window.near)
        other, reason = next((pair for pair in reasons if pair[1] is not None), (None, None))
        if other is None or reason is None:
            window.add(claim)
        else:
            window.near.remove(other)
            pairs.append(Conflict(findings=(other.finding, claim.finding), reason=reason))
    return [claim.finding for claim in window.done + window.near], pairs


def _is_twin(one: _Claim, other: _Claim) -> bool:
    if one.finding.end_line >= other.finding.line:
        same = _same_cause(one, other) and _contradiction(one, other, only_believed=False) is None
    else:
        same = _is_on_data_flow_path(one.finding, other.finding)
    return same and _may_be_joined(one, other)


def _is_twin_by_a_model(one: _Claim, other: _Claim) -> bool:
    """Whether they are twins, and a model's words are all that stands behind one of them."""
    return any(by_a_model_alone(claim.finding) for claim in (one, other)) and _is_twin(one, other)


def _may_be_joined(one: _Claim, other: _Claim) -> bool:
    """Whether both are believed; or neither gives the other more than it has."""
    if _count(one, other):
        return True
    return not (one.believed or other.believed) and _is_of_one_tool(one.finding, other.finding)


def _count(one: _Claim, other: _Claim) -> bool:
    """Whether both are believed. Of two programs the counts tell how likely each is, however little that may be."""
    programs = by_programs_alone(one.finding) and by_programs_alone(other.finding)
    return programs or (one.believed and other.believed)


def _is_on_data_flow_path(one: Finding, other: Finding) -> bool:
    """Whether two programs follow one defect from different ends: where a text is built, and where it is used."""
    if one.cwe is None or one.cwe != other.cwe or not set(one.sources).isdisjoint(other.sources):
        return False
    return any(
        here.line <= line <= here.end_line for here, there in ((one, other), (other, one)) for line in there.also
    )


def _same_cause(one: _Claim, other: _Claim) -> bool:
    """Whether two findings at one place say the same."""
    first, second = one.finding, other.finding
    if _is_of_one_tool(first, second):
        # One tool that reports twice means two defects, unless it repeats itself or means one kind at one place.
        return (first.rule, first.message) == (second.rule, second.message) or _is_one_place(first, second)
    if first.cwe is not None and first.cwe == second.cwe:
        return True
    if first.cause not in (None, "other") and first.cause == second.cause:
        return True
    if first.category == second.category or (first.rule and first.rule == second.rule):
        return True
    shorter = min(len(one.words), len(other.words))
    return shorter >= MIN_WORDS and len(one.words & other.words) >= SAME_WORDS * shorter


def _is_one_place(first: Finding, second: Finding) -> bool:
    """Whether both are a program's, of one kind on the same lines, such as two unknown names, and no secrets.

    What mends one of them must not be lost: at most one way to mend them is known.
    """
    fixes = {(f.suggestion, f.replacement) for f in (first, second)} - {("", None)}
    kinds = {(f.line, f.end_line, f.category, f.severity) for f in (first, second)}
    is_known = first.category != SECRET and bool(first.rule and second.rule)
    return is_known and len(kinds) == 1 and len(fixes) <= 1


def _is_of_one_tool(first: Finding, second: Finding) -> bool:
    """Whether one tool reported both to one worker."""
    return first.type == second.type and not set(first.sources).isdisjoint(second.sources)


def _contradiction(one: _Claim, other: _Claim, *, only_believed: bool) -> str | None:
    """Why two findings at one place cannot both be followed, or None; `only_believed`: None too unless both count."""
    if only_believed and not _count(one, other):
        return None
    first, second = one.finding, other.finding
    if first.type == second.type or not _same_cause(one, other):
        return None
    if {first.severity, second.severity} == {"critical", "info"}:
        return f"{first.type} calls it {first.severity}, {second.type} calls it {second.severity}"
    if first.suggestion and second.suggestion and plain(first.suggestion) != plain(second.suggestion):
        return f"{first.type} and {second.type} suggest different code for the same defect"
    return None


def _joined(one: _Claim, other: _Claim) -> _Claim:
    """One finding for both, as severe as the graver one: one of them speaks, the other's evidence counts.

    Among programs the graver and surer one speaks, as their reports are counted. Where a model has a part in it, one
    speaks that is sure enough to be shown on its own; of two that both are or both are not, a program speaks before a
    model, so that no model's text silences it, and of two models the graver one.
    """
    programs = by_programs_alone(one.finding) and by_programs_alone(other.finding)
    best, rest = sorted((one, other), key=_program_order if programs else _surer)
    one.votes.update(other.votes)
    severity = min(best.finding.severity, rest.finding.severity, key=SEVERITY_ORDER.__getitem__)
    fixed: dict[str, object] = {"severity": severity, "message": _both_messages(best.finding, rest.finding)}
    if by_a_model_alone(best.finding) and not by_a_model_alone(rest.finding):
        # A program's finding stays the one of its rule, and is measured by the threshold that it had without a model.
        fixed |= {"type": rest.finding.type, "rule": rest.finding.rule or best.finding.rule}
        fixed |= {"also": _way(best.finding, rest.finding)}
    finding = merge_words(best.finding, rest.finding).model_copy(update=fixed)
    best_confidence = max(one.best_confidence, other.best_confidence)
    return best._replace(finding=finding, votes=one.votes, best_confidence=best_confidence)


def _both_messages(speaker: Finding, other: Finding) -> str:
    """The speaker's message; with the other's behind it where one tool reports two of a kind at one place."""
    if speaker.message == other.message or not (_is_of_one_tool(speaker, other) and _is_one_place(speaker, other)):
        return speaker.message
    if len(speaker.message) + len(other.message) > MAX_MESSAGE or other.message in speaker.message.split(ALSO):
        return speaker.message
    return f"{speaker.message}{ALSO}{other.message}"


def _way(speaker: Finding, other: Finding) -> tuple[int, ...]:
    """The lines of both ways, and that of the other where the speaker's are elsewhere: it is not to be lost."""
    lines = {*speaker.also, *other.also}
    if other.line > speaker.end_line or other.end_line < speaker.line:
        lines.add(other.line)
    return tuple(sorted(lines))


def _graver(finding: Finding) -> tuple[int, int]:
    return SEVERITY_ORDER[finding.severity], -finding.confidence


def _program_order(claim: _Claim) -> tuple[int, int]:
    return _graver(claim.finding)


def _surer(claim: _Claim) -> tuple[bool, bool, int, int]:
    return (claim.best_confidence < SURE, by_a_model_alone(claim.finding), *_graver(claim.finding))


def merge_words(speaker: Finding, other: Finding) -> Finding:
    """The speaker's words for both: what it leaves blank the other may fill, and both are named as sources."""
    filled = {name: getattr(speaker, name) or getattr(other, name) for name in _FILLED}
    filled["proof"] = tuple(dict.fromkeys((*speaker.proof, *other.proof)))[:MAX_PROOF]
    filled["worth"] = other.worth if speaker.worth is None else speaker.worth
    if speaker.replacement is None and (speaker.line, speaker.end_line) == (other.line, other.end_line):
        filled["replacement"] = other.replacement
    return speaker.model_copy(update={"sources": tuple(sorted({*speaker.sources, *other.sources})), **filled})


_FILLED = ("trigger", "contract", "symptom", "suggestion", "judgement", "disputed", "cwe", "also")
"""Filled from the other finding where the speaker has none. A doubt that either raised stays as well."""


def order(f: Finding) -> tuple[int | str | Sequence[str], ...]:
    """By place, and then by everything else: the order in which workers answered must not show in the review."""
    place = (f.line, f.end_line, f.type, f.rule, f.message, -f.confidence)
    texts = (f.suggestion, f.trigger, f.evidence, f.cwe or 0, f.contract, f.symptom, f.judgement, f.disputed)
    return (
        *place,
        f.severity,
        f.category,
        f.sources,
        *texts,
        f.claimed or 0,
        f.symbol,
        str(f.also),
        str(f.replacement),
    )


def _order(claim: _Claim) -> tuple[int | str | Sequence[str], ...]:
    return order(claim.finding)


def plain(text: str) -> str:
    """Without what only lays out."""
    return " ".join(text.split())
