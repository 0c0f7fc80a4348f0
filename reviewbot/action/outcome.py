"""The result of a run of the Action, as values: for its outputs, its summary and its exit code.

The summary says how the run ended and why, then has the review itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.coverage.verdict import count_of, is_lacking
from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import Verdict
from reviewbot.domain.contracts.pulls import PullReview
from reviewbot.domain.errors import ExitCode
from reviewbot.hosts.registry import posted_links
from reviewbot.report.costs import UNKNOWN
from reviewbot.report.formats import FORMATS
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.text import md, md_code, short_line

FILES = tuple(form.name for form in FORMATS.values() if form.action_file)
"""Formats of the report that the Action writes as files; their outputs have the paths."""

OUTPUTS = ("verdict", "findings", "critical", *FILES, "review-url", "cost", "tokens", "coverage")
"""The names of the outputs, as action.yml has them."""

STOPPED = "reviewbot was stopped, or met a fault of its own; the log of the step says which"
UNKNOWN_POST = "it is not known whether the review was posted; run this again, which finds out"

_NOTHING_READ: frozenset[Verdict] = frozenset({"not_reviewed", "nothing_to_review"})

REVIEW_CHARS = 200_000
"""A character takes up to four bytes, and a summary 1 MiB."""

_NOTE_CHARS = 1_000
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9_./#-]*")

NO_GATE = "no finding closes the gate (`fail-on`, by default none)"

ENDS = {
    ExitCode.REVIEWED: f"passed: {NO_GATE}, and nothing unread that should be read",
    ExitCode.GATE: "failed: a finding closes the gate (`fail-on`)",
    ExitCode.INCOMPLETE: "failed: something that should have been reviewed was not, as the coverage says "
    "(`allow_partial` in the file of `config` lets it pass)",
    ExitCode.PROVIDER: "failed: the model provider could not be used, so that only analyzers reviewed",
    ExitCode.HOST: "failed: GitHub did not take the review, or did not say so",
}
"""How a run that reviewed something ends, in words."""

PASSED_UNREAD = f"passed, although not everything was looked at: {NO_GATE}"
PASSED_EMPTY = "passed: nothing in the change needs a review"

KEYLESS = (
    "No key for a model was given: static analyzers reviewed, and no model was asked. With one in the input "
    "anthropic-api-key models read files of every language."
)


@dataclass(frozen=True)
class ActionReview:
    """A review that may be shown, and how the run ends by it."""

    delivered: DeliveredReview
    code: ExitCode
    """By the gate and by what is missing."""
    what: str
    """What was reviewed: fixed text with numbers and hashes."""
    value: PullReview | None = None
    """What posting it takes; None where there is no pull request."""


@dataclass(frozen=True)
class PostOutcome:
    """What was posted on the pull request. `marks` says whether lines of it carry our marks already."""

    url: str = ""
    marks: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ending:
    """The result that a run reports at its end."""

    reviewed: ActionReview
    code: ExitCode
    posted: PostOutcome = field(default_factory=PostOutcome)
    keyless: bool = False


def outputs_of(ending: Ending, files: Mapping[str, str]) -> dict[str, str]:
    """The outputs of a run that reviewed something; `files` has the paths of reports by their formats."""
    review = ending.reviewed.delivered.review
    count = count_of(review.coverage)
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
        "tokens": str(review.usage.tokens),
        "coverage": f"{count.reviewed}/{count.files}",
    }


def no_outputs(verdict: str) -> Mapping[str, str]:
    """The outputs of a run that reviewed nothing, without counts: zeros would look like a clean review."""
    return dict.fromkeys(OUTPUTS, "") | {"verdict": verdict}


def summary_of(ending: Ending) -> str:
    """The Markdown of a run that reviewed something."""
    notes = [f"Reviewed: {ending.reviewed.what}", *([KEYLESS] if ending.keyless else [])]
    notes += ending.posted.notes
    lines = [f"- **Check {end_of(ending)}.**", *(f"- {_line(text)}" for text in notes)]
    if ending.posted.url:
        lines.append(f"- Posted: {_link(ending.posted.url)}")
    value = ending.reviewed.value
    links = posted_links(ending.posted.url, value.pull) if value else None
    report = render_markdown(ending.reviewed.delivered.review, links=links, max_chars=REVIEW_CHARS)
    headline, _, rest = report.partition("\n\n")
    return f"{headline}\n\n" + "\n".join(lines) + f"\n\n{rest}"


def end_of(ending: Ending) -> str:
    """How a run that reviewed something ended, as a fixed text."""
    review = ending.reviewed.delivered.review
    if ending.code == ExitCode.REVIEWED and is_lacking(review):
        return PASSED_UNREAD
    if ending.code == ExitCode.REVIEWED and review.verdict == "nothing_to_review":
        return PASSED_EMPTY
    return ENDS[ending.code]


def summary_of_nothing(why: str) -> str:
    """The Markdown of a run that had nothing to review."""
    return f"## reviewbot: nothing to review\n\n{_line(why)}\n"


def summary_of_failure(message: str) -> str:
    """The Markdown of a run that ended without a review."""
    return f"## reviewbot: no review\n\nNothing was reviewed: {_line(message)}\n"


def _link(url: str) -> str:
    """A link where the address is as plain as GitHub's are; else its letters alone."""
    return f"<{url}>" if _PLAIN_URL.fullmatch(url) else md_code(url)


def _line(text: str) -> str:
    return md(short_line(text, _NOTE_CHARS))
