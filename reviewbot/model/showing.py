"""Findings and the code under them, as they are put before a model that judges findings and not code.

Nothing here depends on where in a file the code stands. Everything that an author or another model wrote is fenced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewbot.contracts import ChangeSet, Finding
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.model.fence import fenced
from reviewbot.redact import redact

CONTEXT_ROWS = 8
"""Rows above and below a finding that are shown with it."""
MAX_ROWS = 80
"""Of one excerpt."""
MAX_CHARS = 800
"""Of one text of a finding, and of one row of code."""
MAX_FINDING_CHARS = 3_000
"""Of all texts of one finding; the quote comes last, for the code is shown beside it."""


def shown_code(change: ChangeSet, findings: Iterable[Finding]) -> str:
    """The rows of the change around some findings of one file, fenced; empty where the change does not show them."""
    places = [(finding.path, finding.line, finding.end_line) for finding in findings]
    first, last = min(line for _, line, _ in places), max(line for _, _, line in places)
    path = places[0][0]
    found = [_around(list(hunk_rows(hunk)), first, last) for f in change.files if f.path == path for hunk in f.hunks]
    rows = [row for hunk in found for row in hunk][:MAX_ROWS]
    code = "\n".join(row.kind + row.text[:MAX_CHARS] for row in rows)
    return fenced("code", redact(f"file: {path}\n{code}")) if rows else ""


def shown_finding(finding: Finding, head: Iterable[str]) -> str:
    """One finding: what we know of it in our own words, then its texts, fenced."""
    return "\n".join([*head, fenced("finding", "\n".join(_texts(finding))[:MAX_FINDING_CHARS])])


def _texts(finding: Finding) -> Iterator[str]:
    told = {
        "category": finding.category,
        "message": finding.message,
        "trigger": finding.trigger,
        "violates": finding.contract,
        "symptom": finding.symptom,
        "suggestion": finding.suggestion,
        "proof": finding.judgement,
        "disputed": finding.disputed,
        "quote": finding.evidence,
    }
    for name, text in told.items():
        if text.strip():
            yield f"{name}: {redact(text[:MAX_CHARS])}"


def _around(rows: list[Row], first: int, last: int) -> list[Row]:
    """The rows of one hunk at some lines of the new side, with what stands around them; none where it has none."""
    at = [index for index, row in enumerate(rows) if row.new is not None and first <= row.new <= last]
    return rows[max(0, at[0] - CONTEXT_ROWS) : at[-1] + CONTEXT_ROWS + 1] if at else []
