"""An artifact held against what the API says itself: which of its claims may be told, and why each other is refused.

Pure. Nothing that the artifact brought leaves here but the fact that a place and a rule were named: path, line and code
are those of the change, severity, category and words those of our tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from reviewbot.action.artifact import QUOTE_CHARS, Artifact, Claim, Identity
from reviewbot.action.artifact_rules import SOURCE, Standing, standing_of
from reviewbot.contracts import SEVERITY_ORDER, ChangeSet, Finding
from reviewbot.diff.rows import Row, hunk_rows, side_texts
from reviewbot.errors import ArtifactError
from reviewbot.redact import Mask, SecretMask, redact

MAX_SPAN = 400
"""Lines of one place. A finding about more of them is about none."""

MAX_COMPARED = 1_000_000
"""Characters of code that are compared with quotes, of all claims together: to mask a million takes a second or two,
and a stranger may name 400 of the longest lines in each of 500 claims."""

NO_RULE = "of a tool or rule that this version does not have"
NO_FILE = "about a file that this change does not touch"
NO_LINE = "not on a line that this change adds"
NO_QUOTE = "its quote is not the code at that line"
TOO_SURE = "surer of itself than the counts for its rule allow"
TOO_GRAVE = "graver than its rule is anywhere"
TOO_MUCH = "about more code than is compared"
TWICE = "there already"

_WRONG = {
    "repository_id": "it is about another repository",
    "number": "it is about another pull request",
    "head_sha": "it is about another head",
    "base_sha": "it is about another base",
}


class Checked(NamedTuple):
    """What may be told of an artifact."""

    findings: tuple[Finding, ...]
    refused: Mapping[str, int]
    """How many claims, by the reason."""
    seen: int
    """Files of the change that stage one says it read in full."""
    left_out: int
    """Findings that stage one says it did not put in."""


def check_identity(artifact: Artifact, expected: Identity) -> None:
    """Refuse an artifact about something else. Raises ArtifactError."""
    for name, words in _WRONG.items():
        if getattr(artifact.identity, name) != getattr(expected, name):
            raise ArtifactError(words)


def checked(artifact: Artifact, change: ChangeSet) -> Checked:
    """The claims that hold, as findings, and the number of the others by reason."""
    code = _Code(_rows_of(change), SecretMask(side_texts(change)))
    findings: dict[tuple[str, int, str], Finding] = {}
    refused: Counter[str] = Counter()
    for claim in artifact.findings:
        standing = standing_of(claim.tool, claim.rule)
        found = NO_RULE if standing is None else _finding(claim, standing, code)
        if isinstance(found, str):
            refused[found] += 1
        elif (found.path, found.line, found.rule) in findings:
            refused[TWICE] += 1
        else:
            findings[found.path, found.line, found.rule] = found
    paths = {file.path for file in change.files}
    seen = {entry.path for entry in artifact.coverage if entry.state == "reviewed"}
    if strangers := len({entry.path for entry in artifact.coverage} - paths):
        refused[NO_FILE] += strangers
    return Checked(tuple(findings.values()), dict(sorted(refused.items())), len(seen & paths), artifact.left_out)


def evidence_of(rows: Mapping[int, Row], line: int, end_line: int) -> str | None:
    """The code of lines that the change shows, from an added one on; None where it does not show them."""
    if not line <= end_line <= line + MAX_SPAN or line not in rows or rows[line].kind != "+":
        return None
    texts = [rows[number].text for number in range(line, end_line + 1) if number in rows]
    return "\n".join(texts) if len(texts) == end_line - line + 1 else None


def quote_of(evidence: str) -> str:
    """Code as both stages quote it."""
    return redact(evidence)[:QUOTE_CHARS]


def _rows_of(change: ChangeSet) -> dict[str, dict[int, Row]]:
    """The new side's rows of each file by number; of a name that stands there twice both count."""
    known: dict[str, dict[int, Row]] = {}
    for file in change.files:
        rows = known.setdefault(file.path, {})
        for hunk in file.hunks:
            rows |= {row.new: row for row in hunk_rows(hunk) if row.new is not None}
    return known


class _Code:
    """The code at the places of a change, masked: each once, and not more of it than `MAX_COMPARED`."""

    def __init__(self, rows: Mapping[str, Mapping[int, Row]], mask: Mask) -> None:
        self._rows = rows
        self._mask = mask
        self._masked: dict[tuple[str, int, int], str] = {}
        self._left = MAX_COMPARED

    def at(self, claim: Claim) -> str | _Refusal:
        """The masked code at a claim's place, or why there is none."""
        if claim.path not in self._rows:
            return _Refusal(NO_FILE)
        place = (claim.path, claim.line, claim.end_line)
        if place not in self._masked:
            evidence = evidence_of(self._rows[claim.path], claim.line, claim.end_line)
            if evidence is None:
                return _Refusal(NO_LINE)
            if len(evidence) > self._left:
                return _Refusal(TOO_MUCH)
            self._left -= len(evidence)
            self._masked[place] = self._mask(evidence)
        return self._masked[place]


class _Refusal(NamedTuple):
    why: str


def _finding(claim: Claim, standing: Standing, code: _Code) -> Finding | str:
    """The claim as a finding, or why it is refused."""
    evidence = code.at(claim)
    if isinstance(evidence, _Refusal):
        return evidence.why
    if evidence[:QUOTE_CHARS] != claim.quote:
        return NO_QUOTE
    if claim.confidence > standing.confidence:
        return TOO_SURE
    if SEVERITY_ORDER[claim.severity] < SEVERITY_ORDER[standing.severity]:
        return TOO_GRAVE
    words = f": {standing.message}" if standing.message else ""
    return Finding(
        type=standing.worker,
        severity=claim.severity,
        path=claim.path,
        line=claim.line,
        end_line=claim.end_line,
        message=f"The fork's own report names {claim.rule} ({claim.tool}) here{words}",
        evidence=evidence,
        confidence=min(claim.confidence, standing.trusted),
        category=standing.category,
        rule=claim.rule,
        cwe=standing.cwe,
        sources=(SOURCE,),
    )
