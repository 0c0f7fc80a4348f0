"""The verdict and its words, the one count of files, and the one table of colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reviewbot.coverage.states import READ
from reviewbot.domain.contracts import (
    ChangeSet,
    Conclusion,
    CoverageCount,
    CoverageState,
    FileCoverage,
    Finding,
    Gap,
    Review,
    Verdict,
    Withheld,
    is_grave,
)
from reviewbot.tables import packaged_table
from reviewbot.wording import with_count

STATE_WORDS: Mapping[CoverageState, str] = packaged_table("report_words")["states"]
"""In the order in which they are counted."""

VERDICT_WORDS: Mapping[Verdict, str] = packaged_table("report_words")["verdicts"]
"""The only words a verdict has. Where it is shown, `coverage_words` stands behind it or on the next line."""


def count_of(coverage: Sequence[FileCoverage]) -> CoverageCount:
    """How many files are in each state."""
    states = Counter[str](entry.state for entry in coverage)
    return CoverageCount(files=len(coverage), **states)


def is_sufficient(entry: FileCoverage) -> bool:
    """Whether a file got what it needs."""
    if entry.state in (*READ, "removed") or entry.need == "nothing":
        return True
    return entry.need == "scan" and entry.state == "scanned"


def decide(
    change: ChangeSet, coverage: Sequence[FileCoverage], gaps: Sequence[Gap], issues: int, people: int
) -> Verdict:
    """The verdict. Never "clean" while a file did not get what it needs, or while nothing was reviewed."""
    if issues:
        return "issues"
    if people:
        return "needs_person"
    if nothing_reviewed(change, coverage):
        return "not_reviewed"
    if gaps:
        return "incomplete"
    if not any(entry.state in READ for entry in coverage):
        return "nothing_to_review"
    return "clean" if all(map(is_sufficient, coverage)) else "limited"


def nothing_reviewed(change: ChangeSet, coverage: Sequence[FileCoverage]) -> bool:
    """Whether there were lines that need a review, and no file with such lines was reviewed."""
    # Of a file that was only renamed no line is there to be read: it neither proves nor demands that something was.
    wanted = [
        entry.state
        for file, parsed, entry in zip(change.files, change.parsed, coverage, strict=True)
        if entry.need == "review" and (file.hunks or parsed.state != "read")
    ]
    return bool(wanted) and READ.isdisjoint(wanted)


def headline(
    verdict: Verdict, coverage: Sequence[FileCoverage], issues: int, people: int, withheld: Sequence[Withheld] = ()
) -> str:
    """The verdict in words, with the count."""
    joint = ": " if verdict in ("not_reviewed", "nothing_to_review") else "; "
    return f"{verdict_words(verdict, issues, people, withheld)}{joint}{coverage_words(coverage)}"


def verdict_words(verdict: Verdict, issues: int, people: int, withheld: Sequence[Withheld] = ()) -> str:
    """The verdict in a few words, and how many findings were decided against: no decision hides a critical one."""
    closed = [entry.finding for entry in withheld if entry.reason in ("dismissed", "refuted")]
    grave = sum(is_grave(each.severity, each.category) for each in closed)
    words = VERDICT_WORDS[verdict].format(
        issues=with_count(issues, "issue"), people=with_count(people, "thing"), open="open " if closed else ""
    )
    return f"{words}{f', {len(closed):,} dismissed' if closed else ''}{f' ({grave:,} critical)' if grave else ''}"


def issues_of(review: Review) -> int:
    """How many issues a review has: shown, contradicted, and hidden by the cap on their number."""
    over_cap = sum(entry.reason == "over_cap" for entry in review.withheld)
    return len(review.findings) + len(review.conflicts) + over_cap


def coverage_words(coverage: Sequence[FileCoverage]) -> str:
    """How many files were reviewed, of all, and in which states the others are. No other text counts files."""
    count = count_of(coverage)
    others = [
        f"{number:,} {words}"
        for state, words in STATE_WORDS.items()
        if state != "reviewed" and (number := getattr(count, state))
    ]
    rest = f" ({', '.join(others)})" if others else ""
    return f"{count.reviewed:,} of {with_count(count.files, 'file')} reviewed{rest}"


def is_lacking(review: Review) -> bool:
    """Whether something failed, or a file did not get what it needs, also where nothing here could give it."""
    return review.incomplete or bool(review.gaps) or not all(map(is_sufficient, review.coverage))


def conclusion_of(review: Review, *, gate_reached: bool) -> Conclusion:
    """The colour of a review, everywhere.

    failure: a finding reached the gate. Else neutral: a file did not get what it needs, nothing was reviewed, something
    waits for a person, or a finding of warning or worse is shown. Else success.
    """
    if gate_reached:
        return "failure"
    reviewed = any(entry.state in READ for entry in review.coverage)
    if is_lacking(review) or review.human or not reviewed:
        return "neutral"
    return "neutral" if any(finding.severity != "info" for finding in _shown(review)) else "success"


def _shown(review: Review) -> Iterator[Finding]:
    yield from review.findings
    for conflict in review.conflicts:
        yield from conflict.findings
