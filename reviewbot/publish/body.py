"""Render the bodies of reviews: complete ones, and the short ones that only point to another review."""

from __future__ import annotations

import re
from dataclasses import replace

from reviewbot.hosts.base import PostedReview
from reviewbot.publish.marker import ReviewMarker, Signer
from reviewbot.publish.options import PublishRequest
from reviewbot.report.markdown.comment import MAX_CHARS, render_markdown
from reviewbot.report.text import md_code

MIN_CHARS = 30_000
"""What the report needs at least, see `render_markdown`. The longest marker leaves more."""

_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?/[A-Za-z0-9._/#-]{1,500}")
_SHORT_SHA = 10


def marker_of(order: PublishRequest) -> ReviewMarker:
    """The marker of the review that an order is about."""
    pull = order.pull
    names = order.delivered.fingerprints.values()
    marker = ReviewMarker.of(pull.repository_id, pull.number, pull.head_sha, order.policy, names)
    return replace(marker, code=order.code)


def body_of(order: PublishRequest, signer: Signer) -> str:
    """The whole review, complete by itself, with its marker behind it."""
    marker = signer.review(marker_of(order))
    room = max(MIN_CHARS, MAX_CHARS - len(marker) - 1)
    return f"{render_markdown(order.delivered.review, max_chars=room)}\n{marker}\n"


def outdated_body(marker: ReviewMarker, newer: PostedReview, signer: Signer) -> str:
    """The body of a review that a newer one has replaced. It keeps the names of its findings."""
    text = f"This review is of {_commit(marker)}, or of other settings. {_link(newer, 'A newer one')} counts."
    return _pointer("an earlier review", text, signer.review(marker.replaced_by(newer.review_id)))


def twin_body(marker: ReviewMarker, first: PostedReview, signer: Signer) -> str:
    """The body of the second one of two reviews that were posted at the same time."""
    text = f"Two runs reviewed {_commit(marker)} at the same time. {_link(first, 'The first review')} counts."
    return _pointer("the same review twice", text, signer.review(marker.replaced_by(first.review_id)))


def _pointer(title: str, text: str, marker: str) -> str:
    return f"## reviewbot: {title}\n\n{text}\n\n{marker}\n"


def _commit(marker: ReviewMarker) -> str:
    return md_code(marker.head_sha[:_SHORT_SHA])


def _link(review: PostedReview, words: str) -> str:
    """A link, where the address is plainly one; a host's answer is data as well."""
    return f"[{words}]({review.url})" if _ADDRESS.fullmatch(review.url) else words
