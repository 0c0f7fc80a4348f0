"""Render the summary of a run: how it ended and why, then the review itself with its tables of coverage and cost."""

from __future__ import annotations

import re

from reviewbot.action.outcome import Ending
from reviewbot.coverage import is_lacking
from reviewbot.domain.errors import ExitCode
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.text import md, md_code, short_line

REVIEW_CHARS = 200_000
"""A character takes up to four bytes, and a summary 1 MiB."""

_NOTE_CHARS = 1_000
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9_./#-]*")

ENDS = {
    ExitCode.REVIEWED: "passed: nothing of the severity that closes the gate, and nothing unread that should be read",
    ExitCode.GATE: "failed: a finding closes the gate (`fail-on`)",
    ExitCode.INCOMPLETE: "failed: something that should have been reviewed was not",
    ExitCode.PROVIDER: "failed: the model provider could not be used, so that only analyzers reviewed",
    ExitCode.HOST: "failed: GitHub did not take the review, or did not say so",
}
"""How a run that reviewed something ends, in words."""

PASSED_UNREAD = "passed, although not everything was looked at: nothing of the severity that closes the gate"
PASSED_EMPTY = "passed: there is nothing that anybody should read"

KEYLESS = "No key for a model was given: static analyzers reviewed, and no model was asked."


def summary_of(ending: Ending) -> str:
    """The Markdown of a run that reviewed something."""
    notes = [f"Reviewed: {ending.reviewed.what}", *([KEYLESS] if ending.keyless else [])]
    notes += ending.posted.notes
    lines = [f"- **Check {end_of(ending)}.**", *(f"- {_line(text)}" for text in notes)]
    if ending.posted.url:
        lines.append(f"- Posted: {_link(ending.posted.url)}")
    report = render_markdown(ending.reviewed.delivered.review, max_chars=REVIEW_CHARS)
    headline, _, rest = report.partition("\n\n")
    return f"{headline}\n\n" + "\n".join(lines) + f"\n\n{rest}"


def end_of(ending: Ending) -> str:
    """How a run that reviewed something ended, in words of ours alone."""
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
    """The Markdown of a run that came to no review."""
    return f"## reviewbot: no review\n\nNothing was reviewed: {_line(message)}\n"


def _link(url: str) -> str:
    """A link where the address is as plain as GitHub's are; else its letters alone."""
    return f"<{url}>" if _PLAIN_URL.fullmatch(url) else md_code(url)


def _line(text: str) -> str:
    return md(short_line(text, _NOTE_CHARS))
