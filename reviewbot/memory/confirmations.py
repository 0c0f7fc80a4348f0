"""Findings that a person confirmed: where a review leaves one to a person, it counts as the others do. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from reviewbot.domain.contracts import Finding, Review
from reviewbot.memory.decisions import Decision, covering

CERTAIN: Final = 100


def confirmed_findings(
    review: Review, confirmations: Iterable[Decision], names: Mapping[Finding, Collection[str]]
) -> Iterator[tuple[Finding, Finding]]:
    """Yield the findings that a review leaves to a person although one confirmed them, each with its confirmed form.

    Args:
        review: with what is for a person.
        confirmations: who confirmed which fingerprint, and why.
        names: of these findings, the fingerprints that they have and had.
    """
    found = covering(confirmations)
    for finding in dict.fromkeys(item.finding for item in review.human if item.finding is not None):
        if decision := found(finding, names[finding]):
            words = f"confirmed by {decision.author} in {decision.source}: {decision.reason}"
            judgement = f"{words}. {finding.judgement}" if finding.judgement else words
            yield finding, finding.model_copy(update={"confidence": CERTAIN, "judgement": judgement})


def with_confirmed(review: Review, confirmed: Mapping[Finding, Finding]) -> Review:
    """The review with these among its findings, in their confirmed form. Its verdict is not counted again."""
    human = tuple(item for item in review.human if item.finding is None or item.finding not in confirmed)
    return review.model_copy(update={"findings": (*confirmed.values(), *review.findings), "human": human})
