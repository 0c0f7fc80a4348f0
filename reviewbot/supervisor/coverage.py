"""What was looked at and what was not, and the verdict that follows. The words come from one table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from reviewbot.contracts import ChangeSet, CoverageState, FileCoverage, Gap, GapReason, Plan, Verdict

UNREAD_STATES: dict[CoverageState, GapReason] = {
    "malformed": "unreadable",
    "refused": "unreadable",
    "partial": "unreadable",
    "over_budget": "deadline",
}
"""States in which parsing or planning may leave a file that should have been read, and the gap each one is."""

NEEDLESS_STATES: frozenset[CoverageState] = frozenset({"generated", "binary", "ignored"})
"""States of files that nobody was meant to read."""

ONLY_REMOVED = "lines were only removed, and nothing here reads removed lines"

HEADLINES: dict[Verdict, str] = {
    "issues": "{issues} found; {looked} of {files} reviewed in full{rest}",
    "needs_person": "No certain issue, {people} for a person; {looked} of {files} reviewed in full{rest}",
    "clean": "No issues found in {looked} of {files}{rest}",
    "limited": "No issues found in {looked} of {files}{rest}",
    "incomplete": "Incomplete: no issues found in {looked} of {files}{rest}",
    "not_reviewed": "No review: {looked} of {files} reviewed in full{rest}",
    "nothing_to_review": "Nothing to review in {files}{rest}",
}
"""The only words a verdict has. `looked` counts files that were read to the end by whatever reads their language."""


def final_coverage(
    change: ChangeSet,
    plan: Plan,
    looked: Mapping[str, Iterable[str]],
    gaps: Sequence[Gap],
) -> list[FileCoverage]:
    """One state per file section of the change, in the order of the change. `looked` is by path."""
    left_out = _queues(plan.left_out)
    missing: dict[str, list[str]] = defaultdict(list)
    for gap in gaps:
        missing[gap.path].append(f"{gap.worker}: {gap.message}")
    for entry in plan.unlooked:
        missing[entry.path].append(f"{', '.join(entry.workers)}: {entry.reason}")
    for path in {c.path for c in change.coverage} - {path for task in plan.tasks for path in task.paths}:
        if path not in missing:
            missing[path].append("no worker of this run reads such a file")
    only_removed = {file.path for file in change.files if file.removed and not file.added}
    final: list[FileCoverage] = []
    for parsed in change.coverage:
        if left_out.get(parsed.path):
            final.append(left_out[parsed.path].pop(0))
            continue
        names = tuple(sorted(set(looked.get(parsed.path, ()))))
        if not names and not missing[parsed.path]:
            missing[parsed.path].append(ONLY_REMOVED if parsed.path in only_removed else "nobody read it to its end")
        reasons = [text for text in (parsed.reason, *dict.fromkeys(missing[parsed.path])) if text]
        state: CoverageState = "partial" if missing[parsed.path] else parsed.state
        final.append(FileCoverage(path=parsed.path, state=state, reason="; ".join(reasons), looked=names))
    return final


def parse_gaps(plan: Plan, change: ChangeSet) -> list[Gap]:
    """The gaps that were there before any worker ran: files that could not be read, or only in part."""
    left_out = _queues(plan.left_out)
    # What is left out on purpose need not have been read to its end; what planning said of a file comes first.
    states = [left_out[c.path].pop(0) if left_out.get(c.path) else c for c in change.coverage]
    return [
        Gap(path=c.path, worker="reader", reason=UNREAD_STATES[c.state], message=c.reason)
        for c in states
        if c.state in UNREAD_STATES
    ]


def decide(coverage: Sequence[FileCoverage], gaps: Sequence[Gap], issues: int, people: int) -> Verdict:
    """The verdict. Never "clean" while something that should have been read was not."""
    if issues:
        return "issues"
    if people:
        return "needs_person"
    if all(c.state in NEEDLESS_STATES for c in coverage):
        return "nothing_to_review"
    if none_in_full(coverage):
        return "not_reviewed"
    if gaps or any(c.state in UNREAD_STATES and c.state != "partial" for c in coverage):
        return "incomplete"
    # What is partial without a gap was read by whatever reads its language; nothing more could be done here.
    return "limited" if any(c.state == "partial" for c in coverage) else "clean"


def none_in_full(coverage: Sequence[FileCoverage]) -> bool:
    """Whether there was something to read and no file of it was reviewed in full."""
    # A file that was only renamed or deleted has nothing to read, and is no proof that anything was.
    read = [c for c in coverage if c.looked or c.state != "reviewed"]
    wanted = [c.state for c in read if c.state not in NEEDLESS_STATES]
    return bool(wanted) and "reviewed" not in wanted


def headline(verdict: Verdict, coverage: Sequence[FileCoverage], issues: int, people: int) -> str:
    """The verdict in words."""
    states = Counter(c.state for c in coverage)
    others = [f"{count} {state.replace('_', ' ')}" for state, count in sorted(states.items()) if state != "reviewed"]
    return HEADLINES[verdict].format(
        issues=counted(issues, "issue"),
        people=counted(people, "thing"),
        looked=states["reviewed"],
        files=counted(len(coverage), "file"),
        rest=f" ({', '.join(others)})" if others else "",
    )


def _queues(left_out: Sequence[FileCoverage]) -> dict[str, list[FileCoverage]]:
    """By path; a path that stands in two sections of the diff has two entries, in order."""
    queues: dict[str, list[FileCoverage]] = defaultdict(list)
    for entry in left_out:
        queues[entry.path].append(entry)
    return queues


def counted(number: int, noun: str) -> str:
    """The number with its noun, as in "1 file" and "2 files"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
