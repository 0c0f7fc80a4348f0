"""The state of each file, from what it needs, what was read of it, and what failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from reviewbot.coverage.needs import is_removed
from reviewbot.coverage.readings import covers
from reviewbot.domain.contracts import (
    ChangeSet,
    CoverageState,
    FileChange,
    FileCoverage,
    Gap,
    GapReason,
    ParsedFile,
    ParseState,
    Plan,
    PlannedFile,
    Reading,
)

_SHORT_SHA = 10

READ: frozenset[CoverageState] = frozenset({"reviewed", "earlier"})
"""States of a file that was read to its end, now or at an earlier head."""

READER = "reader"
"""The worker of gaps that were there before any worker ran: files that could not be read."""

UNREADABLE: dict[ParseState, GapReason] = {
    "malformed": "unreadable",
    "refused": "unreadable",
    "partial": "unreadable",
    "over_budget": "budget",
}
"""States in which parsing leaves a file that should have been read, and the gap each one is."""

ONLY_REMOVED = "lines were only removed, and analyzers report on added lines"
CUT_LINE = "a line of it is too long and was cut, so that its rest was not read"
FAILED = "a part of its review failed"
NO_READER = "nothing in this run understands its lines"
NO_MODEL = "analyzers read it, and no model"
NOT_ALL = "not all of its hunks were read"


class _FileReadings(NamedTuple):
    """Everything that is known of one file."""

    file: FileChange
    parsed: ParsedFile
    planned: PlannedFile
    readings: Sequence[Reading]
    failed: bool
    """Whether some worker or tool has a gap about it."""
    with_models: bool
    """Whether models read in this run."""


def final_coverage(
    change: ChangeSet, plan: Plan, readings: Iterable[Reading], gaps: Sequence[Gap]
) -> list[FileCoverage]:
    """One state per file section of the change, in the order of the change."""
    by_path: dict[str, list[Reading]] = defaultdict(list)
    for reading in (*readings, *plan.read_before):
        by_path[reading.path].append(reading)
    with_models = any(reading.models for reading in chain.from_iterable(by_path.values()))
    failed = {gap.path for gap in gaps if gap.worker != READER}
    return [
        _coverage(_FileReadings(file, parsed, planned, by_path.get(file.path, ()), file.path in failed, with_models))
        for file, parsed, planned in _with_needs(change, plan)
    ]


def file_gaps(plan: Plan, change: ChangeSet) -> list[Gap]:
    """The gaps that are there before any worker runs: files that cannot be read, or only in part."""
    found = []
    for file, parsed, planned in _with_needs(change, plan):
        if planned.need == "review" and parsed.state in UNREADABLE:
            reason = UNREADABLE[parsed.state]
            found.append(Gap(path=file.path, worker=READER, reason=reason, message=parsed.reason))
        elif planned.over_cap:
            found.append(Gap(path=file.path, worker=READER, reason="budget", message=planned.reason))
    return found


def _with_needs(change: ChangeSet, plan: Plan) -> Iterator[tuple[FileChange, ParsedFile, PlannedFile]]:
    """Each file with what the plan says of it; a path that stands in two sections has two entries, in order."""
    needs: Mapping[str, list[PlannedFile]] = defaultdict(list)
    for each in plan.files:
        needs[each.path].append(each)
    for file, parsed in zip(change.files, change.parsed, strict=True):
        planned = needs[file.path].pop(0) if needs[file.path] else PlannedFile(path=file.path)
        yield file, parsed, planned


def _coverage(known: _FileReadings) -> FileCoverage:
    state, reasons = _state(known)
    earlier = next((each.head for each in known.readings if each.head), "") if state in READ else ""
    return FileCoverage(
        path=known.file.path,
        state=state,
        need=known.planned.need,
        reason="" if state == "reviewed" else "; ".join(dict.fromkeys(filter(None, reasons))),
        models=_merge_names(reading.models for reading in known.readings if not reading.head),
        analyzers=_merge_names(reading.analyzers for reading in known.readings),
        scans=_merge_names(reading.scans for reading in known.readings),
        added=known.file.added,
        removed=known.file.removed,
        earlier=earlier,
    )


def _state(known: _FileReadings) -> tuple[CoverageState, list[str]]:
    """The state, and the reasons for it."""
    file, parsed, planned = known.file, known.parsed, known.planned
    if is_removed(file, parsed):
        return "removed", ["deleted"]
    if parsed.state not in ("read", "partial"):
        return "not_reviewed", [parsed.reason or planned.reason]
    if planned.need == "scan" and not file.hunks and parsed.state == "read":
        return "scanned", [planned.reason]
    return _state_by_readings(known)


def _state_by_readings(known: _FileReadings) -> tuple[CoverageState, list[str]]:
    """The same for a file whose lines are known."""
    file, reason, readings = known.file, known.planned.reason, known.readings
    lacking = _lacking(known)
    if covers(reviews := _reviews(known), file):
        read: CoverageState = "earlier" if all(each.head for each in reviews) else "reviewed"
        heads = dict.fromkeys(f"by the review of {each.head[:_SHORT_SHA]}" for each in reviews if each.head)
        return ("partial", lacking) if lacking else (read, list(heads))
    analyzed = known.with_models and covers([each for each in readings if each.analyzers], file)
    if analyzed and known.planned.need == "review":
        return "partial", [*lacking, NO_MODEL]
    if covers([each for each in readings if each.scans], file):
        return ("partial", [reason, *lacking]) if lacking else ("scanned", [reason or _why(file)])
    if readings:
        return "partial", [reason, *lacking, NOT_ALL]
    return "not_reviewed", [reason, *lacking] if reason or lacking else [_why_nothing(file)]


def _reviews(known: _FileReadings) -> list[Reading]:
    """The readings that count as a review of the file."""
    if known.with_models:
        return [each for each in known.readings if each.models]
    only_removed = known.file.removed and not known.file.added
    return [] if only_removed else [each for each in known.readings if each.analyzers]


def _lacking(known: _FileReadings) -> list[str]:
    """Why the file was not seen completely, however many have read what there was to see."""
    reasons = [known.parsed.reason] if known.parsed.state == "partial" else []
    reasons += [CUT_LINE] if known.file.minified else []
    reasons += [FAILED] if known.failed else []
    return reasons


def _why(file: FileChange) -> str:
    """Why a file was only scanned."""
    return ONLY_REMOVED if file.removed and not file.added else NO_READER


def _why_nothing(file: FileChange) -> str:
    """Why nothing read a file that needs a review."""
    if file.hunks:
        return "no worker of this run reads such a file"
    done = {"renamed": "renamed, content unchanged", "copied": "copied, content unchanged"}
    return done.get(file.status, "no line changed")


def _merge_names(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({name for names in lists for name in names}))
