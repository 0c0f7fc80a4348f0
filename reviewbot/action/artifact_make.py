"""A review of the analyzers as the artifact that carries it: only what the other side would take."""

from __future__ import annotations

from pydantic import ValidationError

from reviewbot.action.artifact import MAX_FILES, MAX_FINDINGS, Artifact, Claim, Identity, Seen
from reviewbot.action.artifact_check import quote_of
from reviewbot.action.artifact_rules import milder, who_tells
from reviewbot.contracts import DESCRIPTION, TITLE, FileCoverage, Finding, Review
from reviewbot.output.facts import by_severity
from reviewbot.output.fingerprints import all_of


def artifact_of(identity: Identity, review: Review) -> Artifact:
    """The artifact of one review, which has been masked; the gravest findings come first.

    The other side reads title and description itself.
    """
    claims: dict[tuple[str, int, str], Claim] = {}
    left_out = 0
    told = (finding for finding in all_of(review) if finding.path not in (TITLE, DESCRIPTION))
    for finding in by_severity(dict.fromkeys(told)):
        claim = _claim(finding)
        if claim is None or len(claims) >= MAX_FINDINGS:
            left_out += 1
        else:
            claims.setdefault((claim.path, claim.line, claim.rule), claim)
    seen = [each for each in map(_seen, review.coverage) if each is not None]
    return Artifact(
        identity=identity, findings=tuple(claims.values()), left_out=left_out, coverage=tuple(seen[:MAX_FILES])
    )


def _claim(finding: Finding) -> Claim | None:
    """The finding without its words; None where no table has its rule, or its file's name is no text."""
    known = who_tells(finding.sources, finding.rule)
    if known is None:
        return None
    tool, standing = known
    try:
        # What several tools say of one place makes the whole surer and graver; the other side asks for one rule.
        return Claim(
            tool=tool,
            rule=finding.rule,
            path=_text(finding.path),
            line=finding.line,
            end_line=finding.end_line,
            quote=_text(quote_of(finding.evidence)),
            severity=milder(finding.severity, standing.severity),
            confidence=min(finding.confidence, standing.confidence),
        )
    except (ValidationError, UnicodeError):
        return None


def _seen(entry: FileCoverage) -> Seen | None:
    try:
        return Seen(path=_text(entry.path), state=entry.state)
    except (ValidationError, UnicodeError):
        return None


def _text(text: str) -> str:
    """The text. Raises UnicodeError for bytes of a name that are none, which JSON cannot carry."""
    text.encode()
    return text
