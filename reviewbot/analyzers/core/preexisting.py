"""Leave out findings that a change did not introduce: the old side of the file has the same one.

Two findings are the same where they have one rule and one token, the code at fault without its layout and comments. A
tool is asked about the old side as if all of it were new, and only where it found something on the new one.
"""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from reviewbot.analyzers.core.single_flight import once_per_file
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import Candidate, Hunk
from reviewbot.domain.ports import ChangedFile, Snapshot, Tool, ToolReport

DOUBTED = 75
"""At most this where the change only touches what was at fault before: it is not posted."""

SOURCE = " <- "
"""In a token, between the code that does harm and where the value comes from."""

MAX_TOKEN = 400
"""Characters of a token; what is alike so far is taken as the same."""

_MAX_BASE = 1_000_000
"""Characters. Of a larger old side only what the hunks show is looked at."""

_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


async def without_preexisting(tool: Tool, file: ChangedFile, report: ToolReport, snapshot: Snapshot) -> ToolReport:
    """Remove from a report the findings that the old side has as well; those the change only touches are trusted less.

    Candidates without a token are left as they are: their tool compares both sides itself, or looks at neither.
    """
    old = old_side(file) if any(candidate.token for candidate in report.candidates) else None
    if old is None:
        return report
    before = await tool.run(old, snapshot)
    kept = _introduced(report.candidates, before.candidates, file.hunks)
    # What was not read to its end, or in parts alone, may hold the same.
    if before.gap is not None or (file.head is not None and old.head is None):
        kept = [one if one.brought else lower_confidence(one) for one in kept]
    left_out = len(report.candidates) - len(kept)
    return ToolReport(tuple(kept), report.run.model_copy(update={"preexisting": left_out}), report.gap)


def token_of(code: str, source: str = "") -> str:
    """A token from code of Python as it is written down, and from what says where a value in it comes from."""
    found: list[str] = []
    try:
        for part in tokenize.generate_tokens(io.StringIO(code).readline):
            if part.type not in _LAYOUT:
                found.append(part.string)  # noqa: PERF401 - what comes before an error counts
    except (tokenize.TokenError, SyntaxError):  # a part of a statement, or of a text
        found = code.split()
    plain = " ".join(found)[:MAX_TOKEN]
    return f"{plain}{SOURCE}{source}"[: 2 * MAX_TOKEN] if source else plain


@once_per_file
def old_side(file: ChangedFile) -> ChangedFile | None:
    """The old side of a file as one that is all new; None where the file is."""
    if file.base is not None and len(file.base) <= _MAX_BASE:
        return _as_new(file, [(1, file.base.removesuffix("\n").split("\n"))], file.base)
    rows = ([row for row in hunk_rows(hunk) if row.old is not None] for hunk in file.hunks)
    return _as_new(file, [(hunk[0].old or 1, [row.text for row in hunk]) for hunk in rows if hunk], None)


def _as_new(file: ChangedFile, texts: Sequence[tuple[int, list[str]]], whole: str | None) -> ChangedFile | None:
    hunks = tuple(_added(first, lines) for first, lines in texts)
    # Its path stays: it shows whether the file is a test or a stub.
    return ChangedFile(file.path, file.path, file.language, hunks, head=whole) if hunks else None


def _added(first: int, lines: Sequence[str]) -> Hunk:
    body = "\n".join(f"+{line}" for line in lines)
    return Hunk(old_start=0, old_count=0, new_start=first, new_count=len(lines), body=body)


class SideLines:
    """Which lines of the old side are gone, and where those of the new side were before."""

    def __init__(self, hunks: Sequence[Hunk]) -> None:
        self._hunks = sorted(hunks, key=lambda hunk: hunk.new_start)
        self._starts = [hunk.new_start + (not hunk.new_count) for hunk in self._hunks]
        self._removed = [frozenset(row.old or 0 for row in hunk_rows(h) if row.kind == "-") for h in self._hunks]
        self.removed = frozenset[int]().union(*self._removed)

    def before(self, line: int) -> int | None:
        """The line of the old side that a line of the new side was; None for an added one."""
        at = bisect_right(self._starts, line) - 1
        if at < 0:
            return line
        hunk = self._hunks[at]
        end = hunk.new_start + (hunk.new_count or 1)  # an empty side begins behind the line that it names
        if line < end:
            return next((row.old for row in hunk_rows(hunk) if row.new == line), None)
        return line + hunk.old_start + (hunk.old_count or 1) - end

    def removed_around(self, line: int) -> frozenset[int]:
        """The lines that the hunk removes which shows a line of the new side."""
        at = bisect_right(self._starts, line) - 1
        return self._removed[at] if at >= 0 else frozenset()


class _New(NamedTuple):
    """A finding of the new side with what is gone around it, and its place on the old side."""

    found: Candidate
    gone: frozenset[int]
    before: int | None


def _introduced(found: Sequence[Candidate], before: Iterable[Candidate], hunks: Sequence[Hunk]) -> list[Candidate]:
    """The candidates that the old side does not have as well; each finding of it stands for one of the new side."""
    sides = SideLines(hunks)
    known: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in before:
        known[candidate.rule].append(candidate)
    all_new = [_New(one, sides.removed_around(one.line or 0), sides.before(_at(one))) for one in found]
    left = [new for new in all_new if not _take(known[new.found.rule], partial(_is_same, new, sides.removed))]
    touched = [_take(known[new.found.rule], partial(_is_touched, new, sides.removed)) for new in left]
    return [lower_confidence(new.found) if was else new.found for new, was in zip(left, touched, strict=True)]


def _take(known: list[Candidate], fits: Callable[[Candidate], bool]) -> bool:
    """Whether a finding of the old side fits, which is then used up."""
    at = next((at for at, old in enumerate(known) if fits(old)), None)
    if at is not None:
        del known[at]
    return at is not None


def _is_same(new: _New, removed: frozenset[int], old: Candidate) -> bool:
    """One that was less sure before, for what stood around it, has become another."""
    alike = new.found.token and old.token == new.found.token and old.confidence >= new.found.confidence
    return bool(alike) and (_is_gone(old, removed) or new.before == _at(old))


def _is_touched(new: _New, removed: frozenset[int], old: Candidate) -> bool:
    """Whether the flaw was there in another form: at this place, or on lines that the same hunk removes."""
    if not new.found.token or old.confidence < new.found.confidence:
        return False
    code, source, _ = new.found.token.partition(SOURCE)
    moved = bool(source) and old.token.startswith(code + source) and _is_gone(old, removed)
    first = old.line or 0
    edited = not new.gone.isdisjoint(range(first, (old.end_line or first) + 1))
    return moved or edited or new.before == _at(old)


def _is_gone(old: Candidate, removed: frozenset[int]) -> bool:
    """Whether a line of it was removed: else it still stands where it was, and is no other."""
    first = old.line or 0
    return not removed.isdisjoint((*range(first, (old.end_line or first) + 1), *old.also))


def _at(candidate: Candidate) -> int:
    return candidate.at or candidate.line or 0


def lower_confidence(candidate: Candidate) -> Candidate:
    """Lower a candidate's confidence and severity, so that it is neither posted nor critical."""
    severity = "warning" if candidate.severity == "critical" else candidate.severity
    return candidate.model_copy(update={"confidence": min(DOUBTED, candidate.confidence), "severity": severity})
