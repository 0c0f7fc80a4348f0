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
from reviewbot.memory.packing import deflate

MARK_BYTES = 3
"""Of one mark, two of which stand for a row. With 5,000 of them a new row is mistaken for an old one once in 1,700."""

MAX_MARKS = 5_000
"""Of a change. Rows of a larger one are not remembered, and nothing counts as unchanged code."""

WHOLE = "*"
"""In place of the marks of a head: all rows of its change were read but those of the files that follow, and the host
still has it."""

MAX_LEFT_CHARS = 48
"""Of these files, packed: the marker of a clean change is a part of its 600 characters."""

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


def without_rows(ledger: Ledger, change: ChangeSet) -> Ledger:
    """The ledger of a first head, whose change the host still has, without marks of its rows: for a short comment.

    The files that were not read to the end are bits in the order of all paths, with a digest of their names. Where
    these bits are no short text either, it is not remembered what was read: the next head is read in full.
    """
    if len(ledger.heads) != 1:
        return ledger
    (first,), paths = ledger.heads, _paths(change)
    bits = sum(1 << paths.index(path) for path in first.lacking if path in paths)
    left = f"{WHOLE}{bits:x}:{_digest(first.lacking)}" if first.lacking else WHOLE
    if not first.base or len(deflate(left)) > MAX_LEFT_CHARS:
        left, first = "", first.model_copy(update={"base": ""})
    heads = (first.model_copy(update={"lacking": ()}),)
    return ledger.model_copy(update={"heads": heads, "seen_last": left})


def with_rows(ledger: Ledger, change: ChangeSet | None) -> Ledger:
    """The ledger with what `without_rows` left out; `change`: of that head, None where it is not known."""
    first = ledger.heads[-1]
    bits, _, digest = ledger.seen_last.removeprefix(WHOLE).partition(":")
    marks, number = marks_of(change) if change else {}, int(bits or "0", 16)
    lacking = [path for at, path in enumerate(_paths(change) if change else ()) if number >> at & 1]
    if digest and _digest(lacking) != digest:
        marks, lacking, first = {}, [], first.model_copy(update={"base": ""})
    rows = in_files(marks, marks.keys() - set(lacking))
    heads = (*ledger.heads[:-1], first.model_copy(update={"lacking": tuple(lacking)}))
    return ledger.model_copy(update={"heads": heads, "seen_last": encode(rows) if len(rows) <= MAX_MARKS else ""})


def _paths(change: ChangeSet) -> list[str]:
    return sorted({file.path for file in change.files})


def _digest(paths: Iterable[str]) -> str:
    return blake2b("\n".join(sorted(set(paths))).encode("utf-8", "surrogatepass"), digest_size=MARK_BYTES).hexdigest()


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
