"""How far a finding can be believed, given what stands behind it. No source scores its own finding.

Findings of programs carry the confidence that was measured for their rule. What a model says is worth little until a
second look confirms it; that second look is another call, and where an engine offers none, the cap stays.
"""

from __future__ import annotations

from reviewbot.contracts import Finding, WorkerResult
from reviewbot.worker import MODEL_SOURCE

UNVERIFIED_CAP = 70
"""Below the threshold of 80: nobody has tried to refute it yet. Critical ones still reach a person."""


def verified(result: WorkerResult) -> WorkerResult:
    """The result with the caps by evidence applied."""
    return result.model_copy(update={"findings": tuple(capped(finding) for finding in result.findings)})


def capped(finding: Finding) -> Finding:
    """The finding with its confidence cut to what its evidence carries."""
    if by_a_model_alone(finding) and finding.confidence > UNVERIFIED_CAP:
        return finding.model_copy(update={"confidence": UNVERIFIED_CAP})
    return finding


def by_a_model_alone(finding: Finding) -> bool:
    """Whether no program stands behind this finding."""
    return all(source.startswith(MODEL_SOURCE) for source in finding.sources)


def by_programs_alone(finding: Finding) -> bool:
    """Whether no model had a part in this finding."""
    return not any(source.startswith(MODEL_SOURCE) for source in finding.sources)
