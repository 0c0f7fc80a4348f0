"""Prove replacements before they are offered as suggestions, which a reader applies with one click.

What is proven: the lines are still those that were reviewed, only added lines change, the whole file parses and nothing
outside of the lines means something else by its place, the program that reported the defect no longer does, and none
of our analyzers has anything new to say. What is not: that the code does what its author wants. Where nothing here
parses the language, nothing is proven and nothing offered; the report then shows the code as code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from reviewbot.diff.rows import side_texts
from reviewbot.domain.contracts import MODEL_SOURCE, Candidate, ChangeSet, FileChange, Finding, Hunk
from reviewbot.domain.ports import Answer, Snapshot
from reviewbot.publish.suggestions.parsing import fault_of, outside
from reviewbot.publish.suggestions.patched_snapshot import Patch, PatchedSnapshot, added_lines, hunk_at, patch_change
from reviewbot.redact.mask import Mask, SecretMask
from reviewbot.report.text import visible

MAX_LINES = 30
"""Of what is replaced, and of what replaces it. More is a rewrite, which should not be applied with one click."""
MAX_CHARS = 4_000
MAX_PROOFS = 20
"""Of one review: each takes a run of every analyzer over a file, and at most ten comments stand at lines."""

_BREAKS_OUT = re.compile(r"`{3}|~{3}|<!--|-->|\ufffd")
"""A fence, a comment of HTML as our marker is one, and bytes that are no text and would be lost."""

Check = Callable[[FileChange, Snapshot], Awaitable[Answer]]
"""What all of our analyzers say of one file of a change, with a snapshot that has its new side."""


class SuggestionProof(NamedTuple):
    """`text` is what may be offered in the place of a finding's lines: whole lines joined by LF, "" deletes them.

    None where nothing is offered; `reason` then says why, and is empty where there was nothing to prove.
    """

    text: str | None
    reason: str = ""


class _Place(NamedTuple):
    """Where a replacement goes: the file and the hunk that show its lines, and all lines of the file."""

    file: FileChange
    hunk: Hunk
    lines: list[str]
    patch: Patch


class Prover:
    """Tries replacements on scratch copies of the files of one change."""

    def __init__(self, change: ChangeSet, snapshot: Snapshot, check: Check) -> None:
        self._files = {file.path: file for file in change.files}
        self._snapshot = snapshot
        self._check = check
        self._mask = SecretMask(side_texts(change))
        self._before: dict[str, Answer] = {}

    async def proven(self, findings: Iterable[Finding]) -> dict[Finding, SuggestionProof]:
        """Try each finding's replacement, in the order of the findings; of two for one place the first is offered."""
        proofs: dict[Finding, SuggestionProof] = {}
        tried = 0
        for finding in findings:
            if finding.replacement is None or finding in proofs:
                continue
            if any(proof.text is not None and _meet(finding, other) for other, proof in proofs.items()):
                proofs[finding] = SuggestionProof(None, "another suggestion changes the same lines")
            elif tried == MAX_PROOFS:
                proofs[finding] = SuggestionProof(None, f"only {MAX_PROOFS} replacements of one review are tried")
            else:
                tried += 1
                proofs[finding] = await self.prove(finding)
        return proofs

    async def prove(self, finding: Finding) -> SuggestionProof:
        """Try the replacement of one finding. Raises nothing: what cannot be proven is not offered."""
        if finding.replacement is None:
            return SuggestionProof(None)
        place = self._place(finding, finding.replacement)
        if isinstance(place, str):
            return SuggestionProof(None, place)
        text = place.patch.text(place.lines)
        reason = _parse_problem(place, text) or await self._worse(finding, place, text)
        return SuggestionProof(None, reason) if reason else SuggestionProof(finding.replacement)

    def _place(self, finding: Finding, replacement: str) -> _Place | str:
        """Where it goes, or why it goes nowhere."""
        file, head = self._files.get(finding.path), self._snapshot.head(finding.path)
        if file is None or head is None or file.minified:
            return "the whole file is not at hand"
        hunk = hunk_at(file, finding.line, finding.end_line)
        lines = head.split("\n")
        old = lines[finding.line - 1 : finding.end_line]
        if hunk is None or not _is_evidence(old, finding, self._mask):
            return "its lines are not those that were reviewed"
        new = [] if replacement == "" else replacement.split("\n")
        if reason := _unfit(old, new):
            return reason
        ending = "\r" if old[0].endswith("\r") else ""
        patch = Patch(finding.line, finding.end_line, tuple(line + ending for line in new))
        first, last, _ = patch.touched_lines(lines)
        if not _is_added(hunk, first, last):
            return "it changes lines that this change did not add"
        return _Place(file, hunk, lines, patch)

    async def _worse(self, finding: Finding, place: _Place, text: str) -> str:
        """What the analyzers hold against it; "" where that is nothing."""
        path = finding.path
        if path not in self._before:
            self._before[path] = await self._check(place.file, self._snapshot)
        before = self._before[path]
        first, last, new = place.patch.touched_lines(place.lines)
        changed = patch_change(place.file, place.hunk, first, last, new)
        after = await self._check(changed, PatchedSnapshot(self._snapshot, path, text))
        if before.gaps or after.gaps:
            return "not every analyzer could read the file"
        had, has = Counter(map(_kind, before.candidates)), Counter(map(_kind, after.candidates))
        for source in sorted(each for each in finding.sources if not each.startswith(MODEL_SOURCE)):
            kinds = {_kind(each) for each in before.candidates if each.source == source and _is_at(each, finding)}
            if not kinds:
                return f"{source[:40]} cannot be asked again"
            if any(has[kind] >= had[kind] for kind in kinds):
                return f"{source[:40]} still reports the defect"
        if more := sorted(f"{source} {rule}" for source, rule in has - had):
            return f"{more[0][:80]} would be new"
        return ""


def _unfit(old: list[str], new: list[str]) -> str:
    """Why lines cannot take the place of others, whatever they mean; "" where they can."""
    text = "\n".join(new)
    is_odd = bool(_BREAKS_OUT.search(text)) or "\ufffd" in "\n".join(old) or visible(text) != text
    rules = (
        (max(len(old), len(new)) > MAX_LINES or len(text) > MAX_CHARS, f"it is longer than {MAX_LINES} lines"),
        (is_odd, "it holds what cannot be shown as code without doubt"),
        ([line.removesuffix("\r") for line in old] == new, "it changes nothing that can be shown"),
        (len({line.endswith("\r") for line in old}) > 1, "its lines end in different ways"),
        (new and _indent(new) != _indent(old), "it is indented in another way than the lines that it replaces"),
    )
    return next((reason for holds, reason in rules if holds), "")


def _parse_problem(place: _Place, text: str) -> str:
    """Why the file with the patch is not what it was around it; "" where it is."""
    language, patch = place.file.language, place.patch
    fault = fault_of(language, text)
    if fault is None:
        return f"nothing here parses {language}"
    if fault:
        return f"with it the file does not parse: {fault}"
    before = "\n".join(place.lines)
    delta = len(patch.new) - (patch.end_line - patch.line + 1)
    last = patch.end_line + delta
    if language == "python" and outside(before, patch.line, patch.end_line) != outside(text, patch.line, last, delta):
        return "it changes what stands outside of its lines"
    return ""


def _is_added(hunk: Hunk, first: int, last: int) -> bool:
    """Whether only added lines change; where lines are merely put in (last < first), one beside them must be added."""
    added = added_lines(hunk)
    return added.issuperset(range(first, last + 1)) if first <= last else not added.isdisjoint((first - 1, first))


def _is_evidence(old: list[str], finding: Finding, mask: Mask) -> bool:
    """Whether lines of the head are those of the finding, whose secrets are masked."""
    said = [line.removesuffix("\r") for line in finding.evidence.split("\n")]
    plain = [line.removesuffix("\r") for line in old]
    return len(old) == finding.end_line - finding.line + 1 and said in (plain, mask("\n".join(plain)).split("\n"))


def _indent(lines: list[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


def _kind(candidate: Candidate) -> tuple[str, str]:
    return candidate.source, candidate.rule or candidate.category


def _is_at(candidate: Candidate, finding: Finding) -> bool:
    return candidate.line is not None and finding.line <= candidate.line <= finding.end_line


def _meet(one: Finding, other: Finding) -> bool:
    return one.path == other.path and one.line <= other.end_line and other.line <= one.end_line
