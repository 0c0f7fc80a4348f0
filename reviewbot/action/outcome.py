"""The result of a run of the Action, as values: for its outputs, its summary and its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.coverage import count_of
from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import Review, Verdict
from reviewbot.domain.contracts.pulls import PullReview
from reviewbot.domain.errors import ExitCode
from reviewbot.report.costs import UNKNOWN, tokens
from reviewbot.report.formats import FORMATS

FILES = tuple(form.name for form in FORMATS.values() if form.action_file)
"""Formats of the report that the Action writes as files; their outputs have the paths."""

OUTPUTS = ("verdict", "findings", "critical", *FILES, "review-url", "cost", "tokens", "coverage")
"""The names of the outputs, as action.yml has them."""

STOPPED = "reviewbot was stopped, or met a fault of its own; the log of the step says which"
UNKNOWN_POST = "it is not known whether the review was posted; run this again, which finds out"

_NOTHING_READ: frozenset[Verdict] = frozenset({"not_reviewed", "nothing_to_review"})


@dataclass(frozen=True)
class Reviewed:
    """A review that may be shown, and how the run ends by it."""

    delivered: DeliveredReview
    code: ExitCode
    """By the gate and by what is missing."""
    what: str
    """What was reviewed, in words of ours with numbers and hashes."""
    value: PullReview | None = None
    """What posting it takes; None where there is no pull request."""


@dataclass(frozen=True)
class Posted:
    """What was posted on the pull request. `marks` says whether lines of it carry our marks already."""

    url: str = ""
    marks: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ending:
    """The result that a run reports at its end."""

    reviewed: Reviewed
    code: ExitCode
    posted: Posted = field(default_factory=Posted)
    keyless: bool = False


def outputs_of(ending: Ending, files: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a run that reviewed something; `files` has the paths of reports by their formats."""
    review = ending.reviewed.delivered.review
    critical = sum(finding.severity == "critical" for finding in review.findings)
    # A zero of a review that read nothing would look like a clean one; an empty log would close the alerts that stand.
    read = review.verdict not in _NOTHING_READ
    return {
        "verdict": review.verdict,
        "findings": str(len(review.findings)) if read else "",
        "critical": str(critical) if read else "",
        **{name: files.get(name, "") if review.verdict != "not_reviewed" else "" for name in FILES},
        "review-url": ending.posted.url,
        "cost": UNKNOWN if review.usage.unpriced_calls else f"{review.usage.cost_usd:.4f}",
        "tokens": str(tokens(review.usage)),
        "coverage": in_full(review),
    }


def no_outputs(verdict: str) -> Mapping[str, str]:
    """The outputs of a run that reviewed nothing, without counts: zeros would look like a clean review."""
    return dict.fromkeys(OUTPUTS, "") | {"verdict": verdict}


def in_full(review: Review) -> str:
    """How many files were reviewed, of all: "3/5"."""
    count = count_of(review.coverage)
    return f"{count.reviewed}/{count.files}"
