"""Post a review in one call, and recover where it is refused or gets no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reviewbot.domain.errors import HostError, HostInvalidError, HostLimitError, HostUnknownError
from reviewbot.hosts.base import PostedReview, ReviewDraft
from reviewbot.publish.body import body_of
from reviewbot.publish.existing_reviews import ExistingReviews, existing_reviews_of
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest
from reviewbot.wording import with_count

LEASE_S = 60.0
"""How long an intent is held: longer than one call takes, and as long as a crashed poster keeps others waiting."""

PATIENCE_S = (2.0, 5.0, 10.0, 20.0, 30.0)
"""Waits between looks, for another poster or for a call without an answer. Together they outlast a lease."""

MAX_PAUSE_S = 180.0
"""Of what a host asks for at its limit. Where it asks for more, another run has to post the review."""


class HeadMovedError(Exception):
    """The pull request's head is no longer the one that was reviewed. It never leaves this package."""


class TakenOverError(Exception):
    """Our lease ran out, and another run has the intent and has posted nothing yet. It never leaves this package."""


@dataclass(frozen=True)
class Sent:
    """A review that stands now."""

    review: PostedReview
    inline: int
    """Comments at lines that came with it."""
    notes: tuple[str, ...] = ()


class _Looked(NamedTuple):
    """What looking for the review has found. `blind`: the last look failed, so that it says nothing."""

    review: PostedReview | None
    blind: bool = False


@dataclass(frozen=True)
class Sender:
    """Posts one draft. `publish` has taken the intent before, and knows that there is no such review."""

    request: PublishRequest
    options: PublishOptions
    context: PublishContext
    as_part: bool = False
    """Whether it only adds comments at lines to a review that stands there."""

    async def check_head(self) -> None:
        """Read the head now. Raises HeadMovedError."""
        if await asyncio.to_thread(self.context.host.head_sha) != self.request.pull.head_sha:
            raise HeadMovedError

    async def send(self, draft: ReviewDraft, blank: Collection[int]) -> Sent:
        """Post a draft; where the host takes it for invalid, once more with less of it.

        `blank` has the ids of reviews without text that stood there before. Raises HeadMovedError, TakenOverError
        and HostError.
        """
        refusals: list[HostInvalidError] = []
        notes: list[str] = []
        whole = draft.body if self.as_part else body_of(self.request, self.options.signer)
        for less in _less_and_less(draft, whole):
            try:
                return Sent(await self._once(less), len(less.comments), tuple(notes))
            except HostInvalidError as error:
                refusals.append(error)
                notes.append(_refusal(less, error))
            if left := await self._left_behind(replace(less, body=whole), blank, notes):
                return Sent(left, 0, tuple(notes))
        raise refusals[-1]

    async def _once(self, draft: ReviewDraft, again: int = 1) -> PostedReview:
        """One call, the lease renewed and the head read right before it.

        It is sent again only where the host refused it for its limit, or where a minute of looking has not found it.
        """
        if not await asyncio.to_thread(self.context.intents.begin, self.request.key, self.context.holder, LEASE_S):
            if theirs := (await self._look_after(PATIENCE_S)).review:
                return theirs
            raise TakenOverError
        await self.check_head()
        try:
            return await asyncio.to_thread(self.context.host.post_review, draft)
        except (HostLimitError, HostUnknownError) as error:
            waits = _waits(error, again)
            looked = await self._look_after(waits)
            if looked.review:
                return looked.review
            # A review that could not be looked for may stand there.
            if looked.blind or not (again and waits):
                raise
        return await self._once(draft, again - 1)

    async def _look_after(self, waits: Sequence[float]) -> _Looked:
        """Look after each wait, until the review stands there. A look that fails is made up for by the next one."""
        blind = False
        for wait in waits:
            await self.context.clock.sleep(wait)
            try:
                found = await existing_reviews_of(
                    self.request.pull, self.request.policy, self.options.signer, self.context.host
                )
            except HostError:
                blind = True
                continue
            if (this := self._mine(found)) is not None:
                return _Looked(this)
            blind = False
        return _Looked(None, blind)

    def _mine(self, found: ExistingReviews) -> PostedReview | None:
        return found.part if self.as_part else found.this

    async def _left_behind(self, draft: ReviewDraft, blank: Collection[int], notes: list[str]) -> PostedReview | None:
        """What a refused call has left: the review without its comments, or one without text, which gets ours."""
        found = await existing_reviews_of(
            self.request.pull, self.request.policy, self.options.signer, self.context.host
        )
        if (this := self._mine(found)) is not None:
            return await self._completed(this, draft.body, notes) if draft.comments else this
        for review in found.blank:
            if review.review_id in blank:
                continue
            try:
                await asyncio.to_thread(self.context.host.edit_review, review.review_id, draft.body)
            except HostError as error:
                notes.append(f"an empty review ({review.review_id}) was left behind and cannot be filled: {error}")
            else:
                notes.append(f"an empty review ({review.review_id}) was left behind and now holds this one")
                return replace(review, body=draft.body)
        return None

    async def _completed(self, review: PostedReview, whole: str, notes: list[str]) -> PostedReview:
        """Edit a review that came without its comments at lines: its body must not refer to them."""
        try:
            await asyncio.to_thread(self.context.host.edit_review, review.review_id, whole)
        except HostError as error:
            notes.append(f"the review {review.review_id} refers to comments at lines that the host refused: {error}")
        return replace(review, body=whole)


def _waits(error: HostLimitError | HostUnknownError, again: int) -> tuple[float, ...]:
    """What was carried out is visible within a minute. What was refused for a limit need not be waited for in vain."""
    if isinstance(error, HostUnknownError):
        return PATIENCE_S
    pause = LEASE_S if error.retry_after_s is None else error.retry_after_s
    return (pause,) if again and pause <= MAX_PAUSE_S else ()


def _less_and_less(draft: ReviewDraft, whole: str) -> Iterator[ReviewDraft]:
    """The draft, its body alone, then that as a comment: authors may not request changes on their own pull request."""
    yield draft
    if draft.comments:
        yield replace(draft, comments=(), body=whole)
    if draft.event != "COMMENT":
        yield replace(draft, comments=(), body=whole, event="COMMENT")


def _refusal(draft: ReviewDraft, error: HostInvalidError) -> str:
    what = f"the review with {with_count(len(draft.comments), 'comment')} at lines" if draft.comments else "the review"
    asking = " that asks for changes" if draft.event == "REQUEST_CHANGES" else ""
    return f"the host refused {what}{asking}: {error}"
