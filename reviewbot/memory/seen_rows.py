"""Which rows of a change an earlier head's review has read, as a short text that travels with the ledger.

A row is known by its text and by that of the row above it, or of the row below it, without blanks at their ends, and
not by its file or line: a rename, a rebase, and other rows that are inserted or changed leave it as it is.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

from reviewbot.diff.rows import commentable, hunk_rows
from reviewbot.domain.contracts import ChangeSet, FileChange, Finding
from reviewbot.domain.contracts.ledger import Ledger

MARK_BYTES = 3
"""Of one mark, two of which stand for a row. With 5,000 of them a new row is mistaken for an old one once in 1,700."""

MAX_MARKS = 5_000
"""Of a change. Rows of a larger one are not remembered, and nothing counts as unchanged code."""

WHOLE = "*"
"""In place of the marks of a head: all rows of its change were read, and the host still has it."""

Marks = Mapping[str, Mapping[int, frozenset[bytes]]]
"""By path and line of the new side: the marks of each added row. Removed rows count with the line that follows them."""


def marks_of(change: ChangeSet) -> dict[str, dict[int, frozenset[bytes]]]:
    """The marks of all changed rows."""
    found: dict[str, dict[int, frozenset[bytes]]] = {}
    for file in change.files:
        found.setdefault(file.path, {}).update(_marks_of_file(file))
    return found


def in_files(marks: Marks, paths: Iterable[str]) -> frozenset[bytes]:
    """The marks of these files."""
    return frozenset(mark for path in paths for row in marks.get(path, {}).values() for mark in row)


def shows(change: ChangeSet, marks: Marks, path: str, lines: range) -> bool:
    """Whether a hunk shows one of these lines, which a finding may quote though the change left it as it was."""
    hunks = (hunk for file in change.files if file.path == path for hunk in file.hunks)
    return not commentable(hunks).isdisjoint(lines) or any(line in marks.get(path, {}) for line in lines)


def encode(rows: Collection[bytes]) -> str:
    """Marks as one text."""
    return b64encode(b"".join(sorted(rows))).decode("ascii")


def decode(text: str) -> frozenset[bytes]:
    """The marks of a text of `encode`; no marks for any other text."""
    try:
        data = b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        return frozenset()
    return frozenset(data[at : at + MARK_BYTES] for at in range(0, len(data), MARK_BYTES))


def without_rows(ledger: Ledger) -> Ledger:
    """The ledger of a first head whose change was read to the end, without marks of its rows: for a short comment."""
    whole = len(ledger.heads) == 1 and ledger.heads[0].base and ledger.seen_last
    return ledger.model_copy(update={"seen_last": WHOLE}) if whole else ledger


def with_rows(ledger: Ledger, change: ChangeSet | None) -> Ledger:
    """The ledger with the marks that `without_rows` left out; `change`: of that head, None where it is not known."""
    marks = marks_of(change) if change else {}
    rows = in_files(marks, marks)
    return ledger.model_copy(update={"seen_last": encode(rows) if len(rows) <= MAX_MARKS else ""})


def stands_on_seen_rows(finding: Finding, marks: Marks, seen: Collection[bytes]) -> bool:
    """Whether all changed rows that a finding rests on were read before: its own, those on its way, and its proof."""
    spans = [(finding.path, finding.line, finding.end_line), *((finding.path, line, line) for line in finding.also)]
    spans += [(proof.path, proof.line, proof.end_line) for proof in finding.proof if proof.side == "new"]
    rows = [row for span in spans for row in _within(marks, *span)]
    return bool(rows) and all(any(mark in seen for mark in row) for row in rows)


def _within(marks: Marks, path: str, first: int, last: int) -> Iterable[frozenset[bytes]]:
    rows = marks.get(path, {})
    if last - first > len(rows):
        return (row for line, row in rows.items() if first <= line <= last)
    return (rows[line] for line in range(first, last + 1) if line in rows)


def _marks_of_file(file: FileChange) -> dict[int, frozenset[bytes]]:
    found: dict[int, frozenset[bytes]] = {}
    for hunk in file.hunks:
        rows = list(hunk_rows(hunk))
        texts = {row.new: row.text.strip() for row in rows if row.new is not None}
        line: int | None = None
        for row in reversed(rows):
            line = line if row.new is None else row.new
            text = row.text.strip()
            if row.kind == "+" and line is not None:
                found[line] = frozenset(
                    (_mark("above", texts.get(line - 1, ""), text), _mark("below", text, texts.get(line + 1, "")))
                )
            elif row.kind == "-" and line is not None:
                found.setdefault(line, frozenset((_mark("removed", text, ""),)))
    return found


def _mark(kind: str, first: str, second: str) -> bytes:
    whole = f"{kind}\n{first}\n{second}".encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=MARK_BYTES).digest()
