"""Notes on critical findings and secrets that were decided against: a reader of each head has to see them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewbot.domain.contracts import Finding, is_grave
from reviewbot.memory.fingerprints import Identity
from reviewbot.memory.recall import Recalled

_SAID_CHARS = 300


def grave_notes(recalled: Recalled, names: Mapping[Finding, Identity]) -> tuple[str, ...]:
    """One line each: for what this review withholds, and for what it does not report while the ledger has it closed."""
    return tuple(_notes(recalled, names))


def _notes(recalled: Recalled, names: Mapping[Finding, Identity]) -> Iterator[str]:
    for finding, entry in recalled.held.items():
        if is_grave(finding.severity, finding.category):
            title = (finding.title or finding.message)[:_SAID_CHARS]
            yield f"{finding.severity} and {entry.reason}: {finding.path}:{finding.line}: {title} - {entry.message}"
    noted = {names[finding].name for finding in recalled.held}
    for record in recalled.ledger.records:
        # A record has no category; for what a program found, its kind is that.
        if (
            record.state in ("dismissed", "refuted")
            and record.name not in noted
            and is_grave(record.severity, record.kind)
        ):
            what = f"{record.severity} and {record.state}: {record.path}:{record.line}"
            yield f"{what}: {record.title} - {record.reason} ({record.who}); not reported for this head"
