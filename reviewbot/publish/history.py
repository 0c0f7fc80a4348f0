"""Render the outcome of each head of a pull request, and the states of its findings: a fold of the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from reviewbot.domain.contracts.ledger import FindingState, HeadOutcome, Ledger, Record
from reviewbot.report.text import md, md_code, short_line
from reviewbot.wording import with_count

MAX_HEADS, MAX_RECORDS = 15, 40
MAX_ROWS_CHARS = 4_000
"""Of the rows of records: escaped text grows, and the ledger and the shortest report need the rest of a comment."""
_OUTCOMES: Mapping[HeadOutcome, str] = {
    "reviewed": "reviewed",
    "partial": "reviewed in part",
    "not_reviewed": "not reviewed",
}
_ORDER: tuple[FindingState, ...] = ("open", "fixed", "dismissed", "refuted", "outdated")
_SHORT_SHA, _PATH_CHARS, _TITLE_CHARS, _REASON_CHARS = 10, 120, 160, 160


def history_section(ledger: Ledger) -> str:
    """The fold, with a last LF; empty for the first head of a change, whose report says it all."""
    is_first = len(ledger.heads) < 2 and not any(head.unposted for head in ledger.heads)  # noqa: PLR2004 - the first
    if is_first and all(record.state == "new" for record in ledger.records):
        return ""
    return "\n\n".join(_blocks(ledger)) + "\n"


def states_line(ledger: Ledger) -> str:
    """How many findings are in which state."""
    counts = Counter(record.state for record in ledger.records)
    words = {"new": "new", "open": "open since an earlier head"}
    return ", ".join(f"{counts[state]} {words.get(state, state)}" for state in ("new", *_ORDER) if counts[state])


def _blocks(ledger: Ledger) -> Iterator[str]:
    heads = with_count(len(ledger.heads), "head")
    yield f"<details><summary>Over {heads}: {states_line(ledger) or 'no findings'}</summary>"
    rows = ["| Head | Review | New | Open before | Closed |", "| --- | --- | ---: | ---: | ---: |"]
    for head in ledger.heads[-MAX_HEADS:]:
        rows += [f"| {md_code(each[:_SHORT_SHA])} | not posted | | | |" for each in head.unposted]
        name, outcome = md_code(head.head[:_SHORT_SHA]), _OUTCOMES[head.outcome]
        rows.append(f"| {name} | {outcome} | {head.new} | {head.open} | {head.closed} |")
    yield "\n".join(rows)
    older = [record for record in ledger.records if record.state != "new"]
    shown = _rows(sorted(older, key=_weight)[:MAX_RECORDS])
    if shown:
        yield "\n".join(shown)
    left = len(older) - len(shown) + ledger.forgotten
    if left > 0:
        yield f"... and {with_count(left, 'more finding')} of earlier heads."
    yield "</details>"


def _weight(record: Record) -> tuple[int, bool]:
    """Open ones first, and of one state the critical ones: they are the last to be cut."""
    return _ORDER.index(record.state), record.severity != "critical"


def _rows(records: Iterable[Record]) -> list[str]:
    """The first records, as many as have room."""
    rows = [f"- {record_line(record)}" for record in records]
    ends = accumulate(len(row) + 1 for row in rows)
    return [row for row, end in zip(rows, ends, strict=True) if end <= MAX_ROWS_CHARS]


def record_line(record: Record) -> str:
    """One line of Markdown for a finding of an earlier head."""
    place = md_code(short_line(f"{record.path}:{record.line}", _PATH_CHARS))
    title = md(short_line(record.title, _TITLE_CHARS))
    name = md_code(record.name[:_SHORT_SHA])
    if record.state == "open":
        since = f" since {md_code(record.since[:_SHORT_SHA])}" if record.since else ""
        disputed = f", disputed by {md(short_line(record.disputed, _REASON_CHARS))}" if record.disputed else ""
        return f"{place} open{since}{disputed}: {title} ({name})"
    why = md(short_line(f"{record.reason} ({record.who})", _REASON_CHARS))
    at = f" at {md_code(record.head[:_SHORT_SHA])}" if record.head else ""
    return f"{place} {record.state}{at}: {title}: {why} ({name})"
