"""What every output says of a review, as plain values: order, counts, and equal reasons told once with their files.

Pure; nothing here is escaped yet.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.contracts import SEVERITY_ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reviewbot.contracts import CoverageState, FileCoverage, Finding, Gap, Review, Severity, Suppression, Unlooked

SEVERITY_WORDS: dict[Severity, str] = {"critical": "Critical", "warning": "Warnings", "info": "Notes"}
STATE_WORDS: dict[CoverageState, str] = {
    "reviewed": "reviewed",
    "partial": "reviewed in part",
    "generated": "generated",
    "binary": "binary",
    "ignored": "ignored",
    "refused": "refused",
    "malformed": "malformed",
    "over_budget": "over budget",
}
GAP_WORDS = {
    "missing_program": "a program is missing",
    "crashed": "crashed",
    "timeout": "took too long",
    "flooded": "reported too much",
    "bad_answer": "gave no usable answer",
    "deadline": "the run's deadline came first",
    "dependency": "what it waits for failed",
    "breaker": "failed too often",
    "unreadable": "could not read it",
    "unsettled": "left it to a person",
    "budget": "the budget was spent",
    "refused": "declined to answer",
    "provider": "the model provider could not be used",
    "no_answer": "no answer came",
}
READER = "reader"
"""The worker of gaps that were there before any worker ran: files that could not be read."""
WITHHELD_WORDS = {
    "below_threshold": "below the confidence threshold",
    "over_cap": "over the cap on findings",
    "critic": "set aside by the last look over the review",
    "repeated": "told by another finding already",
}


class Unseen(NamedTuple):
    """Files that were not looked at, or not by everyone, for one and the same reason."""

    what: str
    reason: str
    paths: tuple[str, ...]


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Critical first; the order within a severity is the synthesizer's."""
    return sorted(findings, key=lambda finding: SEVERITY_ORDER[finding.severity])


def counted(number: int, noun: str) -> str:
    """The number with its noun, as in "1 file" and "2,000 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def coverage_line(review: Review) -> str:
    """How many of the files were looked at, how far, and with what."""
    seen = [entry for entry in review.coverage if entry.looked]
    partly = sum(entry.state != "reviewed" for entry in seen)
    part = f" ({partly:,} only in part)" if partly else ""
    looked = sorted({name for entry in review.coverage for name in entry.looked})
    tools = f", with {', '.join(looked)}" if looked else ""
    return f"Looked at {len(seen):,} of {counted(len(review.coverage), 'file')}{part}{tools}."


def unseen(review: Review) -> list[Unseen]:
    """Everything that was not looked at, in full: files, then workers that could not look, then failures.

    The coverage of a file repeats what gaps, unlooked parts and open questions say of it; here it is said once.
    """
    said: dict[str, set[str]] = defaultdict(set)
    for gap in review.gaps:
        said[gap.path].add(f"{gap.worker}: {gap.message}")
    for part in review.unlooked:
        said[part.path].add(f"{', '.join(part.workers)}: {part.reason}")
    for item in review.human:
        said[item.path].add(item.reason)
    files = [rest for entry in review.coverage if (rest := _unsaid(entry, said[entry.path]))]
    shown = {(entry.path, entry.reason) for entry in files}
    gaps = [gap for gap in review.gaps if gap.worker != READER or (gap.path, gap.message) not in shown]
    return [
        *left_out(files),
        *unlooked(review.unlooked),
        *_together(gaps),
    ]


def _together(gaps: Iterable[Gap]) -> list[Unseen]:
    """Gaps by reason; workers that met the same one on the same file are named together."""
    who: dict[tuple[str, str], dict[str, None]] = {}
    for gap in gaps:
        who.setdefault((gap.path, _why(gap)), {})[_who(gap)] = None
    return _grouped(((", ".join(names), why), path) for (path, why), names in who.items())


def _unsaid(entry: FileCoverage, said: set[str]) -> FileCoverage | None:
    """What only the coverage says of a file; None where it was reviewed, or other parts of the review say it all."""
    if entry.state == "reviewed":
        return None
    rest = entry.reason
    for text in sorted(said, key=len, reverse=True):
        rest = rest.replace(text, "")
    rest = "; ".join(part for part in rest.split("; ") if part.strip())
    if entry.state == "partial" and said and not rest:
        return None
    return entry.model_copy(update={"reason": rest})


def left_out(entries: Iterable[FileCoverage]) -> list[Unseen]:
    """Files by state and reason."""
    return _grouped(((STATE_WORDS[entry.state], entry.reason), entry.path) for entry in entries)


def unlooked(entries: Iterable[Unlooked]) -> list[Unseen]:
    """Parts of the review that were planned out, by workers and reason."""
    return _grouped(((f"not looked at for {', '.join(entry.workers)}", entry.reason), entry.path) for entry in entries)


def withheld_counts(review: Review) -> str:
    """How many findings are not shown, by reason; empty where there are none."""
    counts = Counter(item.reason for item in review.withheld)
    return ", ".join(f"{number} {WITHHELD_WORDS[reason]}" for reason, number in counts.items())


class SuppressionGroup(NamedTuple):
    """What one setting or comment did to findings, in words, and where."""

    text: str
    places: tuple[tuple[str, int], ...]
    """Path and line of each finding; of a refused comment, its own."""
    important: bool
    """A reader must see it: something grave was silenced, or a comment does not count."""


def suppression_groups(review: Review) -> list[SuppressionGroup]:
    """By setting or comment; a silenced finding that is critical or a secret, and each refused comment, for itself."""
    groups: dict[tuple[str, bool], dict[tuple[str, int], None]] = {}
    for entry in review.suppressed:
        important = entry.is_grave or entry.action == "refused"
        groups.setdefault((suppression_text(entry), important), {})[entry.path, entry.line] = None
    made = [SuppressionGroup(text, tuple(places), important) for (text, important), places in groups.items()]
    return sorted(made, key=lambda group: not group.important)


def suppression_text(entry: Suppression) -> str:
    """What was done to a finding, and by what; with the finding itself where a reader must see it."""
    name = entry.rule or entry.category
    why = f" ({entry.reason})" if entry.reason else ""
    if entry.action == "refused":
        return f"{entry.by}: ignore[{name}]{why} silences nothing: {entry.message}"
    if entry.action == "severity":
        return f"{name} is {entry.shown_as} in place of {entry.severity} by {entry.by}"
    done = "off" if entry.action == "off" else "ignored"
    found = f": {entry.severity}: {entry.message}" if entry.is_grave else ""
    return f"{name} {done} by {entry.by}{why}{found}"


def tags(finding: Finding) -> list[str]:
    """What a finding is and who says so: type or category, rule, weakness."""
    kinds = dict.fromkeys((finding.type, finding.category))
    return [*kinds, *([finding.rule] if finding.rule else []), *([f"CWE-{finding.cwe}"] if finding.cwe else [])]


def _who(gap: Gap) -> str:
    if gap.reason == "provider" and gap.tool is None:
        return "models"  # every worker met it, so that its files are one list
    return f"{gap.worker}, {gap.tool}" if gap.tool else gap.worker


def _why(gap: Gap) -> str:
    return f"{GAP_WORDS[gap.reason]}: {gap.message}" if gap.message else GAP_WORDS[gap.reason]


def _grouped(entries: Iterable[tuple[tuple[str, str], str]]) -> list[Unseen]:
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for key, path in entries:
        groups.setdefault(key, {})[path] = None
    return [Unseen(what, reason, tuple(paths)) for (what, reason), paths in groups.items()]


def advice(finding: Finding) -> str:
    """What mends it: a finder's words or code, else the lines that are to stand in its place; empty where none is."""
    return finding.suggestion if finding.suggestion.strip() else finding.replacement or ""
