"""What every output says of a review, as plain values: order, counts, and equal reasons merged with their files.

Pure; nothing here is escaped yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reviewbot.coverage.states import READ, READER
from reviewbot.coverage.verdict import STATE_WORDS
from reviewbot.domain.contracts import (
    MODEL_SOURCE,
    SEVERITY_ORDER,
    FileCoverage,
    Finding,
    Gap,
    Need,
    PlannedFile,
    Review,
    Severity,
    SkippedWorkers,
    Suppression,
)
from reviewbot.tables import packaged_table
from reviewbot.wording import with_count

SEVERITY_WORDS: dict[Severity, str] = {"critical": "Critical", "warning": "Warnings", "info": "Notes"}
GAP_WORDS: Mapping[str, str] = packaged_table("report_words")["gaps"]
WITHHELD_WORDS: Mapping[str, str] = packaged_table("report_words")["withheld"]


class Unseen(NamedTuple):
    """Files that were not reviewed in full, or not by everyone, for one and the same reason."""

    what: str
    reason: str
    paths: tuple[str, ...]


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Critical first; the order within a severity is the synthesizer's."""
    return sorted(findings, key=lambda finding: SEVERITY_ORDER[finding.severity])


def readers_line(review: Review, *, names: bool = True) -> str:
    """Which models read files of the change, and which tools analyzed or only scanned them; by name or by number.

    It counts no files: the headline does.
    """
    kinds = (("read by", "models", ""), ("analyzed by", "analyzers", "analyzer"), ("scanned by", "scans", "scan"))
    parts = []
    for word, field, noun in kinds:
        if found := sorted({name for entry in review.coverage for name in getattr(entry, field)}):
            by_number = noun and not names
            parts.append(f"{word} {with_count(len(found), noun) if by_number else ', '.join(found)}")
    line = "; ".join(parts) or "nothing was read"
    return f"{line[0].upper()}{line[1:]}."


def unseen(review: Review) -> list[Unseen]:
    """Every file that was not reviewed in full, by state and reason; then workers that could not look, and failures."""
    files = [entry for entry in review.coverage if entry.state not in READ]
    shown = {(entry.path, entry.reason) for entry in files}
    gaps = [gap for gap in review.gaps if gap.worker != READER or (gap.path, gap.message) not in shown]
    return [
        *grouped_files(files),
        *left_out(review),
        *_merge_workers(gaps),
    ]


def failures(review: Review) -> list[Unseen]:
    """What failed and was not looked at because of it, by reason."""
    return _merge_workers(review.gaps)


def coverage_groups(review: Review) -> list[Unseen]:
    """Every file once, by state and reason, those that were reviewed first; then what workers left out of these."""
    ranked = sorted(review.coverage, key=lambda entry: tuple(STATE_WORDS).index(entry.state))
    return [*grouped_files(ranked), *left_out(review)]


def left_out(review: Review) -> list[Unseen]:
    """What workers were planned not to look at, of the files that were read."""
    read = {entry.path for entry in review.coverage if entry.state in ("reviewed", "partial")}
    return skipped_parts(entry for entry in review.unlooked if entry.path in read)


def grouped_files(entries: Iterable[FileCoverage]) -> list[Unseen]:
    """Files by state and reason."""
    return _group(((state_words(entry), entry.reason), entry.path) for entry in entries)


def models_of(review: Review) -> list[str]:
    """Which models read files of the change."""
    return sorted({name.removeprefix(MODEL_SOURCE) for entry in review.coverage for name in entry.models})


def line_counts(review: Review) -> str:
    """How many lines the change adds and removes."""
    added, removed = (sum(getattr(entry, name) for entry in review.coverage) for name in ("added", "removed"))
    return f"+{added:,} -{removed:,} lines"


def state_words(entry: FileCoverage) -> str:
    """The state of a file in words, and whether that is all that it needs."""
    enough = entry.need == "scan" and entry.state == "scanned"
    return f"{STATE_WORDS[entry.state]}, which is enough" if enough else STATE_WORDS[entry.state]


def _merge_workers(gaps: Iterable[Gap]) -> list[Unseen]:
    """Gaps by reason; workers that met the same one on the same file are named together."""
    who: dict[tuple[str, str], dict[str, None]] = {}
    for gap in gaps:
        who.setdefault((gap.path, _why(gap)), {})[_who(gap)] = None
    return _group(((", ".join(names), why), path) for (path, why), names in who.items())


def without_review(entries: Iterable[PlannedFile]) -> list[Unseen]:
    """Files that a plan gives no reader, or that need none, by reason."""
    words: dict[Need, str] = {"review": "needs a review", "scan": "scans are enough", "nothing": "not read"}
    return _group(((words[entry.need], entry.reason), entry.path) for entry in entries if entry.reason)


def skipped_parts(entries: Iterable[SkippedWorkers]) -> list[Unseen]:
    """Parts of the review that were planned out, by workers and reason."""
    return _group(((f"not looked at for {', '.join(entry.workers)}", entry.reason), entry.path) for entry in entries)


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
    done = ("silenced" if entry.reason else "off") if entry.action == "off" else "ignored"
    found = f": {entry.severity}: {entry.message}" if entry.is_grave else ""
    return f"{name} {done} by {entry.by}{why}{found}"


def tags(finding: Finding) -> list[str]:
    """What a finding is and who says so: type or category, rule, weakness."""
    kinds = dict.fromkeys((finding.type, finding.category))
    return [*kinds, *([finding.rule] if finding.rule else []), *([f"CWE-{finding.cwe}"] if finding.cwe else [])]


def _who(gap: Gap) -> str:
    if gap.reason == "provider" and gap.tool is None:
        return "models"  # every worker met it, so that its files are one list
    return f"{gap.worker} ({gap.tool})" if gap.tool else gap.worker


def _why(gap: Gap) -> str:
    return f"{GAP_WORDS[gap.reason]}: {gap.message}" if gap.message else GAP_WORDS[gap.reason]


def _group(entries: Iterable[tuple[tuple[str, str], str]]) -> list[Unseen]:
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for key, path in entries:
        groups.setdefault(key, {})[path] = None
    return [Unseen(what, reason, tuple(paths)) for (what, reason), paths in groups.items()]
