"""Decide how the change of a later head is read: what a push changed, or all of it, with the reason. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from reviewbot.context.dependents import TextOf, code_line, lines_around, touched_lines
from reviewbot.coverage.readings import join_intervals
from reviewbot.coverage.states import READ
from reviewbot.diff.rows import commentable
from reviewbot.domain.contracts import ChangeSet, FileChange, FileReadBefore, Review, StandingFinding
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger, Record
from reviewbot.memory.seen_rows import Marks
from reviewbot.memory.standing_code import standing_codes
from reviewbot.memory.states import US
from reviewbot.review.plan.read_again import covers_line
from reviewbot.wording import with_count

MAX_FILES = 300
"""Files that an entry of the ledger lists; of more it is not remembered what was read."""

MAX_PATH_CHARS = 12_000
"""The same of all their names together."""

QUIET_ROUNDS = 3
"""Heads in a row without a new finding, after which a report says that further rounds are not likely to bring one."""

MAX_CLAIMS = 40
"""Earlier claims that a judge is shown."""

NEAR = 3
"""Lines between a hunk and what a push touched beside it."""

_SHORT_SHA = 10
_TITLE_CHARS = 200


class Scope(NamedTuple):
    """Either the entry on whose review this one rests, or why the whole change is read; neither at a first head."""

    entry: HeadEntry | None
    why_full: str = ""


def scope_of(ledger: Ledger, head: str, policy: str, base: str, *, asked: bool) -> Scope:
    """Whether a review may rest on that of the last head before it, by what the ledger says.

    Args:
        ledger: of the change.
        head: the one that is to be reviewed.
        policy: what decides the review, as in `HeadEntry.policy`.
        base: the commit from which the change starts.
        asked: whether a full review was asked for.
    """
    entry = ledger.last_before(head)
    if entry is None:
        return Scope(None)
    name = entry.head[:_SHORT_SHA]
    reasons = (
        (asked, "it was asked for"),
        (entry.policy != policy, f"settings, workers or program are not those of the review of {name}"),
        (entry.outcome != "reviewed", f"the review of {name} was not complete"),
        (not entry.base, f"what the review of {name} has read is not remembered"),
        (entry.base != base, f"the base moved: the change starts at {base[:_SHORT_SHA]} now"),
    )
    why = next((text for holds, text in reasons if holds), "")
    return Scope(None, why) if why else Scope(entry)


def files_read_before(
    ledger: Ledger, entry: HeadEntry, change: ChangeSet, push: ChangeSet, text: TextOf
) -> tuple[FileReadBefore, ...]:
    """The files of a change of which the review of an earlier head, or one before it, has read all but what was pushed.

    Args:
        ledger: names the head at which each was read.
        entry: of the earlier head.
        change: as it is now.
        push: what the head has beyond the earlier one.
        text: the new side of a file.
    """
    touched = {file.path: file for file in push.files}
    lacking, read_at, found = frozenset(entry.lacking), _read_at(ledger, entry), []
    for file in change.files:
        pushed = touched.get(file.path)
        if file.path in lacking or not (pushed is None or _is_edit(pushed)):
            continue
        lines = () if pushed is None else touched_lines(pushed.hunks)
        again = lines_again(file, lines, text(file.path) or "")
        hunks = pushed.hunks if pushed is not None and again else ()
        found.append(FileReadBefore(path=file.path, head=read_at(file.path), again=again, pushed=hunks))
    return tuple(found)


def lines_again(file: FileChange, lines: Sequence[int], text: str) -> tuple[tuple[int, int], ...]:
    """The lines of a file's hunks that are to be read for the sake of some lines: the definitions around these."""
    found: list[tuple[int, int]] = []
    rows = text.split("\n")
    for hunk in file.hunks:
        first, last = hunk.new_start, hunk.new_start + hunk.new_count
        for line in lines:
            if first - NEAR <= line <= last + NEAR:
                start, end = lines_around(text, file.path, code_line(rows, line)) if text else (first, last)
                found.append((max(first, min(start, line)), min(last, max(end, line))))
    return _joined(span for span in found if span[0] <= span[1])


def unchanged_lines(marks: Marks, seen: Collection[bytes]) -> tuple[FileReadBefore, ...]:
    """The changed rows that reviews of earlier heads have read, by file."""
    found = []
    for path, rows in marks.items():
        lines = [line for line, mine in rows.items() if any(mark in seen for mark in mine)]
        if lines:
            found.append(FileReadBefore(path=path, head="", again=_joined((line, line) for line in lines)))
    return tuple(found)


def standing_findings(records: Iterable[Record], text: TextOf) -> tuple[StandingFinding, ...]:
    """Open findings whose code the head has. `text`: the new side of a file."""
    mine = [record for record in records if record.is_open]
    lines = standing_codes(mine, {}, text, lambda _path: False)
    places = ((each, lines[each.name]) for each in mine)
    return tuple(
        StandingFinding(path=each.path, line=line, kind=each.kind) for each, line in places if isinstance(line, int)
    )


def convergence_note(ledger: Ledger) -> str:
    """What the report says after `QUIET_ROUNDS` heads without a new finding; empty before."""
    last = ledger.heads[-QUIET_ROUNDS:]
    if len(last) < QUIET_ROUNDS or any(each.outcome != "reviewed" or each.new for each in last):
        return ""
    if len({each.base for each in last} - {""}) > 1:
        return ""  # changes of their own, such as one commit after another
    open_ones = with_count(sum(each.is_open for each in ledger.records), "finding")
    return f"Converged: the last {QUIET_ROUNDS} heads brought nothing new. {open_ones} of earlier heads still open"


def claims_about(ledger: Ledger, is_shown: Callable[[str, int], bool]) -> str:
    """What earlier heads' reviews said about some lines, one line each, with its state."""
    mine = [record for record in ledger.records if is_shown(record.path, record.line)]
    mine.sort(key=lambda record: (not record.is_open, record.path, record.line))
    return "\n".join(
        f"{each.path}:{each.line} {each.severity}, {each.state}: {' '.join(each.title.split())[:_TITLE_CHARS]}"
        + ("" if each.is_open and each.who == US else f" ({' '.join(each.reason.split())[:_TITLE_CHARS]}; {each.who})")
        for each in mine[:MAX_CLAIMS]
    )


def scope_note(entry: HeadEntry, change: ChangeSet, files: Sequence[FileReadBefore], places: int) -> str:
    """What the report says of a review that rests on an earlier one."""
    again = {each.path for each in files if each.again}
    known = {each.path for each in files}
    new = [file.path for file in change.files if file.path not in known and file.hunks]
    more = f", with {with_count(places, 'file')} that may use it" if places else ""
    read = f"{len(again) + len(new)} of {with_count(len(change.files), 'file')}"
    return (
        f"Models read what was pushed since {entry.head[:_SHORT_SHA]} and what depends on it: in {read}{more}. The rest"
        " they read at earlier heads, and its findings stand until their code changes; programs looked at all of it"
    )


def entry_of(entry: HeadEntry, review: Review, change: ChangeSet, base: str) -> HeadEntry:
    """The entry of a head with what its review has read; without a base where that does not fit in."""
    lacking = tuple(each.path for each in review.coverage if each.state not in READ and each.state != "removed")
    since = change.read_before.head if change.read_before is not None else ""
    files = tuple(each.path for each in review.coverage if each.state == "reviewed") if since else ()
    named = (*lacking, *files)
    if len(named) > MAX_FILES or sum(map(len, named)) > MAX_PATH_CHARS:
        return entry
    return entry.model_copy(update={"base": base, "since": since, "files": files, "lacking": lacking})


def _is_edit(file: FileChange) -> bool:
    """Whether a push changed nothing of a file but lines that its diff shows."""
    return file.status == "modified" and bool(file.hunks) and not file.mode_changed and not file.minified


def _read_at(ledger: Ledger, last: HeadEntry) -> Callable[[str], str]:
    """The head whose review read a file last: one that lists it, or the last one of the whole change."""
    found: dict[str, str] = {}
    whole = last.head
    for entry in reversed(ledger.heads[: ledger.heads.index(last) + 1]):
        if not entry.since:
            whole = entry.head
            break
        found = {**dict.fromkeys(entry.files, entry.head), **found}
    return lambda path: found.get(path, whole)


def _joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans that touch or overlap as one, in order."""
    found = join_intervals(sorted((first, last + 1) for first, last in spans))
    return tuple((first, end - 1) for first, end in found)


def shown_rows(change: ChangeSet, files: Iterable[FileReadBefore]) -> dict[str, frozenset[int]]:
    """The lines of the new side that readers are shown, by path: of files that are not listed all of their hunks."""
    known = {each.path: each.again for each in files}
    return {
        file.path: frozenset(
            line for line in commentable(file.hunks) if file.path not in known or covers_line(known[file.path], line)
        )
        for file in change.files
    }
