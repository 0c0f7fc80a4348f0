"""Why a finding at a line is shown or withheld, or why there is none: a recorded run in words.

Pure; nothing here is escaped yet. The trace is the only source: what it does not hold is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from reviewbot.domain.contracts import MODEL_SOURCE, ChangeSet, Dropped, FileChange, Finding, Review, WorkerResult
from reviewbot.domain.contracts.base import Severity
from reviewbot.domain.errors import InputError
from reviewbot.report.findings.agent import place_of
from reviewbot.report.findings.view import details_of, title_of
from reviewbot.report.view_model import GAP_WORDS, WITHHELD_WORDS, state_words, suppression_text, tags

_WHERE: tuple[Literal["shown", "left to a person", "withheld"], ...] = ("shown", "left to a person", "withheld")
_NEIGHBOURS = 3
_REACH = 60
"""Lines between two findings that are merged, at most; `reviewbot.review.combine.dedupe` merges no further."""


class ExplainedRun(NamedTuple):
    """A review as it was delivered, with what its trace says of how it came about."""

    review: Review
    names: Mapping[Finding, str]
    """The fingerprint of each finding; empty where the trace ends before they were made."""
    change: ChangeSet
    thresholds: Mapping[str, int]
    """By type of finding: the confidence from which it is shown."""
    results: Sequence[WorkerResult]
    """Every answer of a worker, those of failed attempts included."""
    events: Sequence[Mapping[str, Any]]


class Explanation(NamedTuple):
    """The explanation of one finding, gap or line."""

    heading: str
    rows: tuple[str, ...]


class Outcome(NamedTuple):
    """Where one candidate for a finding ended, with its account."""

    where: Literal["shown", "left to a person", "withheld", "merged", "dropped"]
    severity: Severity
    account: Explanation


class _Ending(NamedTuple):
    """Where a finding ended, in words."""

    finding: Finding
    where: str
    why: str


def explain(run: ExplainedRun, path: str, line: int) -> list[Explanation]:
    """Everything that the run says of a line on the new side. Raises InputError for a file outside of the change."""
    file = next((each for each in run.change.files if path in (each.path, each.old_path)), None)
    if file is None and not any(ending.finding.path == path for ending in _endings(run.review)):
        raise InputError(f"the change has no file {path}; it has {_join_names(each.path for each in run.change.files)}")
    name = file.path if file is not None and file.path != path else path
    found = [*_reported(run, name, line), *_merged(run, name, line), *_silenced(run.review, name, line)]
    found += _dropped(run.results, name, line)
    nothing = () if found or file is None else _nothing(run, file, line)
    return [*found, *nothing]


def outcomes(run: ExplainedRun) -> Iterator[Outcome]:
    """Every candidate of a run: findings of the review, then what was merged into others, then what was dropped."""
    ended = set()
    for ending in _endings(run.review):
        finding = ending.finding
        ended.add((finding.path, finding.message))
        where = next((each for each in _WHERE if ending.where.startswith(each)), _WHERE[0])
        yield Outcome(where, finding.severity, _account_of(run, ending))
    for result in run.results:
        for raw in result.findings:
            if (raw.path, raw.message) in ended:
                continue
            ended.add((raw.path, raw.message))
            for account in _merged(run, raw.path, raw.line, raw.message):
                yield Outcome("merged", raw.severity, account)
    for result in run.results:
        for entry in result.dropped:
            yield Outcome("dropped", entry.candidate.severity, _drop_account(entry, result.task_id))


def place_named(run: ExplainedRun, fingerprint: str) -> tuple[str, int]:
    """Path and line of the finding whose fingerprint begins like this. Raises InputError for none, or for several."""
    found = {(finding.path, finding.line) for finding, name in run.names.items() if name.startswith(fingerprint)}
    if len(found) != 1:
        how_many = "several findings of this review begin" if found else "no finding of this review begins"
        raise InputError(f"{how_many} with {fingerprint}; PATH:LINE names a line")
    return found.pop()


def _endings(review: Review) -> Iterator[_Ending]:
    """Each finding of a review with the place where it ended."""
    for finding in review.findings:
        yield _Ending(finding, "shown", "")
    for conflict in review.conflicts:
        for finding in conflict.findings:
            yield _Ending(finding, "shown as a contradiction", f"Both sides are shown: {conflict.reason}.")
    for item in review.human:
        if item.finding is not None:
            yield _Ending(item.finding, "left to a person", f"{item.reason}.")
    for entry in review.withheld:
        yield _Ending(entry.finding, f"withheld, {WITHHELD_WORDS[entry.reason]}", f"{entry.message}.")


def _reported(run: ExplainedRun, path: str, line: int) -> Iterator[Explanation]:
    for ending in _endings(run.review):
        finding = ending.finding
        if finding.path == path and _touches(finding, line):
            yield _account_of(run, ending)
    for item in run.review.human:
        if item.finding is None and (item.path, item.line) == (path, line):
            yield Explanation(f"{path}:{line} left to a person", (item.reason,))


def _account_of(run: ExplainedRun, ending: _Ending) -> Explanation:
    heading = f"{place_of(ending.finding)} {ending.where}: {title_of(ending.finding)}"
    return Explanation(heading, tuple(_account(run, ending)))


def _account(run: ExplainedRun, ending: _Ending) -> Iterator[str]:
    """Why it ended there, what it rests on, and how it got its confidence."""
    finding = ending.finding
    threshold = run.thresholds.get(finding.type)
    sure = f"{finding.confidence}% sure"
    if ending.where == "shown" and threshold is not None:
        yield f"Shown because {sure} is at least {threshold}, the threshold of {finding.type}."
    elif ending.why:
        yield f"Why: {ending.why[0].upper()}{ending.why[1:]}"
    yield f"Weight: {finding.severity}; {', '.join(tags(finding))}; {sure}, by {_join_names(finding.sources)}."
    yield from _ruling(run, finding)
    yield from (f"{detail.label}: {detail.text}" for detail in details_of(finding))
    for proof in finding.proof:
        side = "" if proof.side == "new" else " before the change"
        yield f"Proof at {proof.path}:{proof.line}{side}" + (f": {proof.why}" if proof.why else ".")
    if finding.line != finding.end_line or finding.also:
        also = f", and {_join_names(map(str, finding.also))} with it" if finding.also else ""
        yield f"It stands on lines {finding.line} to {finding.end_line}{also}."
    yield from _origin(run.results, finding)
    if name := run.names.get(finding):
        yield f"Fingerprint {name}; `reviewbot dismiss {name[:8]} REASON` decides against it."


def _ruling(run: ExplainedRun, finding: Finding) -> Iterator[str]:
    """How a model's confidence changed on its way."""
    if finding.claimed is not None and finding.claimed != finding.confidence:
        yield f"The model that found it said {finding.claimed}% sure."
    for event in run.events:
        if event.get("event") == "judged" and _is_about(event, finding):
            yield (
                f"The judge {event.get('model', '')} took it from {event.get('claimed')} to {event.get('confidence')}: "
                f"{event.get('reason', '')}"
            )
        elif event.get("event") == "calibrated" and _is_about(event, finding):
            stated, fitted = _numbers(event, "stated"), _numbers(event, "fitted")
            yield f"The {event.get('role')} stated {stated}; as measured that is {fitted}."


def _is_about(event: Mapping[str, Any], finding: Finding) -> bool:
    if (event.get("path"), event.get("line")) != (finding.path, finding.line):
        return False
    return "message" not in event or event["message"] == finding.message


def _numbers(event: Mapping[str, Any], name: str) -> str:
    numbers = event.get(name)
    return ", ".join(f"{key} {value}" for key, value in numbers.items()) if isinstance(numbers, dict) else "unknown"


def _origin(results: Iterable[WorkerResult], finding: Finding) -> Iterator[str]:
    """The tasks whose answers it came from."""
    tasks = dict.fromkeys(
        result.task_id for result in results if any(_is_part(raw, finding) for raw in result.findings)
    )
    if tasks:
        yield f"Found in {_join_names(tasks)}."


def _merged(run: ExplainedRun, path: str, line: int, message: str | None = None) -> Iterator[Explanation]:
    """Findings of workers at the line that stand in the review as a part of another one, or not at all.

    `message`: of the one that is asked about; None for all of them.
    """
    ended = [ending for ending in _endings(run.review) if ending.finding.path == path]
    reported = {ending.finding.message for ending in ended if _touches(ending.finding, line)}
    for result in run.results:
        for raw in result.findings:
            if raw.path != path or not _touches(raw, line) or raw.message in reported:
                continue
            if message not in (None, raw.message):
                continue
            reported.add(raw.message)
            whole = next((ending for ending in ended if _is_part(raw, ending.finding)), None)
            if whole is None:
                row = "Another finding says it, or another attempt of its task was taken."
                yield Explanation(
                    f"{place_of(raw)} not in the review: {title_of(raw)}", (row, _joined(run.events, raw))
                )
            elif not _touches(whole.finding, line):
                title = title_of(whole.finding)
                row = f"It is reported as a part of {place_of(whole.finding)}, {title}, which is {whole.where}."
                yield Explanation(f"{place_of(raw)} merged: {title_of(raw)}", (row,))


def _joined(events: Iterable[Mapping[str, Any]], raw: Finding) -> str:
    """Which claim says it, where the trace names one."""
    for event in events:
        if event.get("event") == "joined" and event.get("message") == raw.message:
            place = f"{event.get('to_path')}:{event.get('to_line')}"
            return f"The finding at {place} rests on the same proof and speaks for it."
    return f"Its worker was {raw.confidence}% sure of it."


def _is_part(raw: Finding, whole: Finding) -> bool:
    """Whether a worker's finding may have become a finding of the review, or been merged into it."""
    near = raw.line <= whole.end_line + _REACH and whole.line <= raw.end_line + _REACH
    return raw.path == whole.path and near and set(raw.sources) <= set(whole.sources) and (
        raw.message == whole.message or raw.category == whole.category or raw.cwe == whole.cwe is not None
    )  # fmt: skip


def _silenced(review: Review, path: str, line: int) -> Iterator[Explanation]:
    for entry in review.suppressed:
        if (entry.path, entry.line) == (path, line):
            heading = (
                f"{path}:{line} {'silenced' if entry.is_silenced else entry.action}: {entry.message or entry.rule}"
            )
            yield Explanation(heading, (f"{suppression_text(entry)}.",))


def _dropped(results: Iterable[WorkerResult], path: str, line: int) -> Iterator[Explanation]:
    """Candidates that became no finding, for instance because their quote is not in the change."""
    for result in results:
        for entry in result.dropped:
            candidate = entry.candidate
            if candidate.path == path and line in (candidate.line, candidate.near, *candidate.also):
                yield _drop_account(entry, result.task_id, line)


def _drop_account(entry: Dropped, task_id: str, line: int | None = None) -> Explanation:
    """Why a candidate was dropped; `line`: the one that is asked about, in place of the one that it names."""
    candidate = entry.candidate
    at = line or candidate.line or candidate.near
    place = f"{candidate.path}:{at}" if at else candidate.path
    by = f"Said by {candidate.source}, {candidate.confidence}% sure, in {task_id}."
    return Explanation(f"{place} dropped: {candidate.title or candidate.message}", (f"Why: {entry.reason}.", by))


def _nothing(run: ExplainedRun, file: FileChange, line: int) -> Iterator[Explanation]:
    """Why nothing was found at a line: what was read of it, by whom, and what was left out."""
    rows: list[str] = []
    spans = [(hunk.new_start, hunk.new_start + hunk.new_count - 1) for hunk in file.hunks if hunk.new_count]
    inside = any(first <= line <= last for first, last in spans)
    if not inside:
        shown = _join_names(f"{first} to {last}" for first, last in spans) or "none"
        rows.append(
            f"Line {line} is outside of what the change shows of this file: lines {shown}. Nothing is reported there."
        )
    coverage = next((entry for entry in run.review.coverage if entry.path == file.path), None)
    if coverage is not None:
        rows.append(f"The file was {state_words(coverage)}{f': {coverage.reason}' if coverage.reason else ''}.")
    if inside:
        rows += _readers(run.results, file.path, line)
    for gap in run.review.gaps:
        if gap.path == file.path:
            who = f"{gap.worker}, {gap.tool}" if gap.tool else gap.worker
            rows.append(f"Not looked at by {who}: {GAP_WORDS[gap.reason]}: {gap.message}.")
    for skipped in run.review.unlooked:
        if skipped.path == file.path:
            rows.append(f"Not looked at for {_join_names(skipped.workers)}: {skipped.reason}.")
    rows += _neighbours(run, file.path, line)
    yield Explanation(f"Nothing was found at {file.path}:{line}", tuple(dict.fromkeys(rows)))


def _readers(results: Iterable[WorkerResult], path: str, line: int) -> Iterator[str]:
    """Who read the line to the end, and said nothing of it."""
    who: dict[str, dict[str, None]] = {}
    for result in results:
        for reading in result.metadata.readings:
            spans = (span for span in reading.spans if span.new_start <= line < span.new_start + span.new_count)
            if reading.path == path and any(spans):
                names = (
                    *(name.removeprefix(MODEL_SOURCE) for name in reading.models),
                    *reading.analyzers,
                    *reading.scans,
                )
                who.setdefault(result.task_id.partition(":")[0], {}).update(dict.fromkeys(names))
    for worker, found in who.items():
        if found:
            yield f"The line was read for {worker} by {_join_names(found)}, which said nothing of it."
    if not any(who.values()):
        yield "No task read this line to the end."


def _neighbours(run: ExplainedRun, path: str, line: int) -> Iterator[str]:
    """The nearest findings of the file, and candidates that named no line."""
    mine = [ending for ending in _endings(run.review) if ending.finding.path == path]
    for ending in sorted(mine, key=lambda each: abs(each.finding.line - line))[:_NEIGHBOURS]:
        yield f"Near it: {place_of(ending.finding)}, {ending.where}: {title_of(ending.finding)}."
    for result in run.results:
        for entry in result.dropped:
            candidate = entry.candidate
            if candidate.path == path and candidate.line is None and candidate.near is None:
                yield f"Dropped without a line: {candidate.title or candidate.message} ({entry.reason})."


def _touches(finding: Finding, line: int) -> bool:
    return finding.line <= line <= finding.end_line or line in finding.also


def _join_names(names: Iterable[str]) -> str:
    """Some names in a row; beyond a dozen they are counted."""
    every = list(names)
    more = len(every) - 12
    return ", ".join(every[:12]) + (f" and {more:,} more" if more > 0 else "")
