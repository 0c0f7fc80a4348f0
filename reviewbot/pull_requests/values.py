"""Convert a review that may be shown to the value that is stored between two steps, and back."""

from __future__ import annotations

from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import ChangeSet, Hunk, Review
from reviewbot.domain.contracts.pulls import PullReview
from reviewbot.memory.fingerprints import all_of


def names_of(delivered: DeliveredReview) -> tuple[str, ...]:
    """The fingerprints in the order of the findings."""
    return tuple(delivered.fingerprints.get(finding, "") for finding in dict.fromkeys(all_of(delivered.review)))


def to_delivered(value: PullReview) -> DeliveredReview:
    """The review with what its findings are called."""
    names = zip(dict.fromkeys(all_of(value.review)), value.fingerprints, strict=True)
    return DeliveredReview(value.review, {finding: name for finding, name in names if name}, value.ledger)


def part_with_findings(change: ChangeSet, review: Review) -> ChangeSet:
    """The files of a change that have findings: no other can have a comment.

    Without their text, for posting needs only the numbers of the lines that the change shows.
    """
    paths = {finding.path for finding in all_of(review)}
    kept = [(file, state) for file, state in zip(change.files, change.parsed, strict=True) if file.path in paths]
    files = tuple(file.model_copy(update={"hunks": tuple(map(_marks, file.hunks))}) for file, _ in kept)
    parsed = tuple(state for _, state in kept)
    wordless = {"title": "", "description": "", "read_before": None}
    return change.model_copy(update={**wordless, "files": files, "parsed": parsed})


def _marks(hunk: Hunk) -> Hunk:
    marks = "\n".join(line[:1] for line in hunk.body.split("\n"))
    return hunk.model_copy(update={"heading": "", "body": marks})
