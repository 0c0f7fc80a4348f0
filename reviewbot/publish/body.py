"""Render the bodies of reviews: complete ones, and the short ones that only point to another review."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from reviewbot.coverage.verdict import conclusion_of
from reviewbot.domain.contracts import Finding
from reviewbot.hosts.base import PostedReview
from reviewbot.memory.packing import pack
from reviewbot.memory.seen_rows import without_rows
from reviewbot.publish.history import history_section
from reviewbot.publish.marker import ReviewMarker, Signer
from reviewbot.publish.options import PublishRequest
from reviewbot.report.markdown.brief import BRIEF_CHARS, is_brief, render_brief
from reviewbot.report.markdown.comment import MAX_CHARS, render_markdown
from reviewbot.report.text import md_code
from reviewbot.wording import with_count

MIN_CHARS = 30_000
"""What the report needs at least, see `render_markdown`. The longest marker leaves more."""

_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/[A-Za-z0-9._/#-]{1,500}")
_SHORT_SHA = 10


def marker_of(request: PublishRequest) -> ReviewMarker:
    """The marker of the review that is published."""
    pull = request.pull
    colour = conclusion_of(request.delivered.review, gate_reached=request.gate_closed)
    return ReviewMarker(
        pull.repository_id, pull.number, pull.head_sha, request.policy, code=request.code, conclusion=colour
    )


def body_of(request: PublishRequest, signer: Signer, inline: Mapping[Finding, str] | None = None) -> str:
    """The whole review, with the history of earlier heads, the ledger, and its marker behind it.

    Of findings in `inline`, which comments have said (empty: at their lines), it has a line each.
    """
    ending = _ending(request, signer)
    room = max(MIN_CHARS, MAX_CHARS - len(ending) - 1)
    delivered = request.delivered
    if is_brief(delivered.review):
        return f"{render_brief(delivered.review, BRIEF_CHARS - len(ending) - 1)}\n{ending}"
    names = delivered.fingerprints if delivered.ledger is not None else {}
    text = render_markdown(delivered.review, links=request.links, inline=inline, names=names, max_chars=room)
    return f"{text}\n{ending}"


def _ending(request: PublishRequest, signer: Signer) -> str:
    """What stands below the report: a fold for people, and the marker."""
    ledger = request.delivered.ledger
    if ledger is None:
        return f"{signer.review(marker_of(request))}\n"
    if is_brief(request.delivered.review):
        ledger = without_rows(ledger, request.change)
    history = history_section(ledger)
    return "\n".join([*([history] if history else []), signer.review(marker_of(request), pack(ledger)), ""])


def part_body(request: PublishRequest, summary: PostedReview, comments: int, signer: Signer) -> str:
    """The body of a review that only adds comments at lines; the report stands in the summary."""
    marker = replace(marker_of(request), summary=summary.review_id)
    what = with_count(comments, "new comment") if comments else "the gate is closed"
    report = _link(summary, "The report")
    text = f"Of {_commit(marker)}. {report} has all findings of this head, and the states of earlier ones."
    return _pointer(what, text, signer.review(marker))


def outdated_body(marker: ReviewMarker, newer: PostedReview, signer: Signer) -> str:
    """The body of a review that a newer one has replaced."""
    text = f"This review is of {_commit(marker)}, or of other settings. {_link(newer, 'A newer one')} counts."
    return _pointer("an earlier review", text, signer.review(marker.mark_replaced(newer.review_id)))


def twin_body(marker: ReviewMarker, first: PostedReview, signer: Signer) -> str:
    """The body of the second one of two reviews that were posted at the same time."""
    text = f"Two runs reviewed {_commit(marker)} at the same time. {_link(first, 'The first review')} counts."
    return _pointer("the same review twice", text, signer.review(marker.mark_replaced(first.review_id)))


def _pointer(title: str, text: str, marker: str) -> str:
    return f"## reviewbot: {title}\n\n{text}\n\n{marker}\n"


def _commit(marker: ReviewMarker) -> str:
    return md_code(marker.head_sha[:_SHORT_SHA])


def _link(review: PostedReview, words: str) -> str:
    """A link, where the address is plainly one; a host's answer is data as well."""
    return f"[{words}]({review.url})" if _ADDRESS.fullmatch(review.url) else words
