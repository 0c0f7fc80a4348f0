"""Post exactly one review: the host has no "post unless present", so we look, post once, and look again.

    head as reviewed? -> take the intent -> look for its review -> head again -> one call -> look once more

A review is known by its author, its signed marker, its head and its policy. Whatever is not known to have been
carried out is looked for before anything is repeated.

The report of the next head takes the place of the last one in the same review, the summary: comments at lines for what
is new come in a short review of their own, threads of what is dealt with are answered and resolved, and the summary is
edited last. Until then another run of the same head finds what was done, and completes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import HostError, HostInvalidError, HostUnknownError
from reviewbot.hosts.base import InlineComment, PostedReview, ReviewDraft, Thread
from reviewbot.publish.body import body_of, marker_of, outdated_body, part_body, twin_body
from reviewbot.publish.existing_reviews import ExistingReviews, existing_reviews_of
from reviewbot.publish.inline import PlacedComment, inline_comments, reported_fingerprints, said_by_others
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest
from reviewbot.publish.post_review import LEASE_S, PATIENCE_S, HeadMovedError, Sender, Sent, TakenOverError
from reviewbot.publish.rebuild_ledger import OwnThread, own_threads
from reviewbot.publish.threads import Answering

SETTLE_S = 2.0
"""After posting, until what another poster did at the same time can be seen by everyone."""

_MOVED = "the head moved while the review was made; a newer review is due"
_BUSY = "another run is posting this review and has not finished"
_NEWER = "A newer review of this pull request has taken its place."
_OVERTAKEN = "the head moved while it was posted; a review of the newer head counts"
_NOT_EDITED = "the summary could not be edited, and the report stands in a review of its own: {}"
_TWIN = "another run posted the same review at the same time; that one counts"


async def publish(request: PublishRequest, options: PublishOptions, context: PublishContext) -> PullPosted:
    """Post exactly one review of this head under this policy, and point reviewbot's older ones to it.

    Raises HostError: HostAccessError where a permission is missing, HostUnknownError where it is not known whether it
    was posted (another run finds out), HostInvalidError where the host takes not even the body.
    """
    try:
        return await _Run(request, options, context).publish()
    except HeadMovedError:
        return PullPosted(outcome="head_moved", notes=(_MOVED,))
    except TakenOverError:
        return PullPosted(outcome="busy", notes=(_BUSY,))


class _Threads(NamedTuple):
    """The threads of a pull request: those that we began, and all others."""

    own: tuple[OwnThread, ...]
    others: tuple[Thread, ...]


@dataclass(frozen=True)
class _Run:
    request: PublishRequest
    options: PublishOptions
    context: PublishContext

    async def publish(self) -> PullPosted:
        """As the function of this name; raises HeadMovedError and TakenOverError as well."""
        sender = Sender(self.request, self.options, self.context)
        await sender.check_head()
        found = await self._take()
        if found is None:
            return PullPosted(outcome="busy", notes=(_BUSY,))
        try:
            return await self._publish(found, sender)
        except HostUnknownError:
            raise  # it may still show: until the lease has run out others wait for it
        except (HostError, HeadMovedError):
            # No request is under way any more: the next run need not wait. A lease of nothing lets it go.
            await asyncio.to_thread(self.context.intents.begin, self.request.key, self.context.holder, 0)
            raise

    async def _take(self) -> ExistingReviews | None:
        """Take the intent and look. None where another holder keeps it and has posted nothing."""
        for wait in (0.0, *PATIENCE_S):
            if wait:
                await self.context.clock.sleep(wait)
                found = await self._find_existing()
                if found.this is not None:
                    return found
            if await asyncio.to_thread(self.context.intents.begin, self.request.key, self.context.holder, LEASE_S):
                return await self._find_existing()
        return None

    async def _publish(self, found: ExistingReviews, sender: Sender) -> PullPosted:
        if found.this is not None:
            await self._done(found.this.review_id)
            notes = await self._point(found, found.this)
            for twin in found.twins:
                notes += await self._edit(twin.review.review_id, self._twin_of(found.this))
            return _outcome("already_posted", found.this, tuple(notes))
        if known := await self._known(found):
            return PullPosted(outcome="already_posted", review_id=known)
        if (summary := found.summary) is not None:
            return await self._update(found, summary)
        draft, notes = await self._draft()
        sent = await sender.send(draft, {each.review_id for each in found.blank})
        await self._done(sent.review.review_id)
        return await self._settled(replace(sent, notes=(*notes, *sent.notes)))

    async def _known(self, found: ExistingReviews) -> int | None:
        """What the intents say that was posted, where the host does not show its marker, or not yet."""
        known = await asyncio.to_thread(self.context.intents.find_posted, self.request.key)
        shown = any(each.review.review_id == known for each in found.own)  # with another head in it, or replaced
        return None if shown else known

    async def _draft(self) -> tuple[ReviewDraft, list[str]]:
        """The whole review, with notes. There may be threads that it deals with: the summary above them may be lost."""
        ledger = self.request.delivered.ledger
        is_late = ledger is not None and any(each.state != "new" for each in ledger.records)
        wanted = self.options.inline and self.request.delivered.review.findings
        threads = await self._threads() if wanted or is_late else _Threads((), ())
        placed = await self._comments(threads) if wanted else ()
        request, notes = await self._answered(threads.own)
        draft = ReviewDraft(
            commit_sha=request.pull.head_sha,
            body=self._body(request, threads.own, placed),
            event="REQUEST_CHANGES" if self._asks else "COMMENT",
            comments=tuple(each.comment for each in placed),
        )
        return draft, notes

    async def _answered(self, threads: Sequence[OwnThread]) -> tuple[PublishRequest, list[str]]:
        """Answer the threads of what is dealt with; the request with the ledger after that, and notes."""
        request = self.request
        if (ledger := request.delivered.ledger) is None or not threads:
            return request, []
        answered = await Answering(request.pull, self.options.signer, self.context.host).answer_all(threads, ledger)
        return replace(request, delivered=request.delivered._replace(ledger=answered.ledger)), answered.notes

    def _body(self, request: PublishRequest, threads: Sequence[OwnThread], placed: Sequence[PlacedComment]) -> str:
        """The report, with a line for each finding that a comment or an earlier report has said.

        The comment is one of these, or a thread; what goes to a person has none, and is known from the ledger.
        A thread whose line is no longer in the change stands in the conversation, with all that it said.
        """
        where = {each.name: "" if each.thread.line is not None else "at an earlier head" for each in threads}
        at_lines: dict[Finding, str] = {}
        people = {item.finding for item in request.delivered.review.human}
        for finding, name in request.delivered.fingerprints.items():
            record = None if request.delivered.ledger is None else request.delivered.ledger.find(name)
            spots = [where[each] for each in ((name,) if record is None else record.names) if each in where]
            is_known = finding in people and record is not None and record.since != request.pull.head_sha
            if spots or is_known:
                at_lines[finding] = spots[0] if spots else ""
        at_lines |= {each.finding: "" for each in placed}
        return body_of(request, self.options.signer, at_lines)

    @property
    def _asks(self) -> bool:
        return self.options.request_changes and self.request.gate_closed

    async def _threads(self) -> _Threads:
        host = self.context.host
        account = await asyncio.to_thread(host.own_id)
        every = await asyncio.to_thread(host.threads)
        own = tuple(own_threads(self.request.pull, self.options.signer, account, every))
        mine = {each.thread.thread_id for each in own}
        return _Threads(own, tuple(each for each in every if each.thread_id not in mine))

    async def _comments(self, threads: _Threads) -> tuple[PlacedComment, ...]:
        """Comments for what was not said before, by us or by another account in a thread of its own."""
        before = reported_fingerprints(self.request, {each.name for each in threads.own})
        before |= said_by_others(self.request, threads.others)
        return await asyncio.to_thread(inline_comments, self.request, self.options, before)

    async def _update(self, found: ExistingReviews, summary: PostedReview) -> PullPosted:
        """Add what is new, answer what is dealt with, and put the report of this head in the place of the last one."""
        sender = Sender(self.request, self.options, self.context, as_part=True)
        threads = await self._threads()
        placed = await self._comments(threads)
        sent = await self._add(found, summary, sender, tuple(each.comment for each in placed))
        notes = [*(sent.notes if sent else ())]
        await sender.check_head()
        request, more = await self._answered(threads.own)
        notes += more
        await sender.check_head()
        for review in () if self._asks else found.blocking:
            notes += await self._release(review)
        body = self._body(request, threads.own, placed if sent and sent.inline else ())
        try:
            await asyncio.to_thread(self.context.host.edit_review, summary.review_id, body)
        except HostInvalidError as error:
            notes.append(_NOT_EDITED.format(error))
            return await self._post_anew(found, body, notes, sent.inline if sent else 0)
        await self._done(summary.review_id)
        notes += await self._keep(summary, body)
        return _outcome("posted", summary, tuple(notes), sent.inline if sent else 0)

    async def _post_anew(self, found: ExistingReviews, body: str, notes: list[str], inline: int) -> PullPosted:
        """Post the report as a review of its own, for a host that edits no review that was submitted."""
        draft = ReviewDraft(self.request.pull.head_sha, body, "COMMENT", ())
        sender = Sender(self.request, self.options, self.context)
        sent = await sender.send(draft, {each.review_id for each in found.blank})
        await self._done(sent.review.review_id)
        return await self._settled(replace(sent, inline=inline, notes=(*notes, *sent.notes)))

    async def _add(
        self, found: ExistingReviews, summary: PostedReview, sender: Sender, comments: tuple[InlineComment, ...]
    ) -> Sent | None:
        """Post comments for what is new, and ask for changes where no review does yet; None where nothing is due."""
        asks = self._asks and not found.blocking
        if found.part is not None or not (comments or asks):
            return None
        body = part_body(self.request, summary, len(comments), self.options.signer)
        draft = ReviewDraft(self.request.pull.head_sha, body, "REQUEST_CHANGES" if asks else "COMMENT", comments)
        return await sender.send(draft, {each.review_id for each in found.blank})

    async def _keep(self, summary: PostedReview, body: str) -> list[str]:
        """Look once more, a little later: the run of an older head may have written over ours."""
        await self.context.clock.sleep(SETTLE_S)
        try:
            found = await self._find_existing()
            if found.this is not None:
                return []
            if await asyncio.to_thread(self.context.host.head_sha) != self.request.pull.head_sha:
                return [_OVERTAKEN]
        except HostError as error:
            return [f"posted; what else stands there could not be looked at: {error}"]
        return await self._edit(summary.review_id, body)

    async def _settled(self, sent: Sent) -> PullPosted:
        """Look once more, a little later; then ours counts, or points to that of another poster who was first."""
        await self.context.clock.sleep(SETTLE_S)
        review = sent.review
        try:
            found = await self._find_existing()
        except HostError as error:
            note = f"posted; what else stands there could not be looked at: {error}"
            return _outcome("posted", review, (*sent.notes, note), sent.inline)
        first = found.this
        if first is None or first.review_id >= review.review_id:
            notes = (*sent.notes, *await self._point(found, review))
            return _outcome("posted", review, notes, sent.inline)
        await self._done(first.review_id)
        trouble = await self._edit(review.review_id, self._twin_of(first))
        return _outcome("already_posted", first, (*sent.notes, _TWIN, *trouble), sent.inline)

    async def _point(self, found: ExistingReviews, newest: PostedReview) -> list[str]:
        """Let each older review that still counts point to the newest one, where that is still of the head."""
        older = found.older_than(newest.review_id)
        if not older:
            return []
        try:
            head = await asyncio.to_thread(self.context.host.head_sha)
        except HostError as error:
            return [f"older reviews do not point to this one: {error}"]
        if head != self.request.pull.head_sha:
            return await self._overtaken(found, newest, head)
        notes: list[str] = []
        for own in older:
            if not (own.marker.newer or own.marker.summary):
                body = outdated_body(own.marker, newest, self.options.signer)
                notes += await self._edit(own.review.review_id, body)
            notes += await self._release(own.review)
        return notes

    async def _overtaken(self, found: ExistingReviews, mine: PostedReview, head: str) -> list[str]:
        """Let ours, which came after that of a newer head, point to that one; else that head's own run does it."""
        newer = found.of_head(head)
        if newer is None:
            return [_MOVED]
        body = outdated_body(marker_of(self.request), newer, self.options.signer)
        return [_OVERTAKEN, *await self._edit(mine.review_id, body), *await self._release(mine)]

    async def _release(self, review: PostedReview) -> list[str]:
        """An older review that asks for changes would stand in the way of merging for ever: only the newest may."""
        try:
            if review.blocks:
                await asyncio.to_thread(self.context.host.release_review, review.review_id, _NEWER)
        except HostError as error:
            return [f"the older review {review.review_id} still asks for changes: {error}"]
        return []

    async def _edit(self, review_id: int, body: str) -> list[str]:
        """Replace the body of an own review. A failure is noted and costs nothing: the newest review is complete."""
        try:
            await asyncio.to_thread(self.context.host.edit_review, review_id, body)
        except HostError as error:
            return [f"the review {review_id} could not be made to point to the one that counts: {error}"]
        return []

    def _twin_of(self, first: PostedReview) -> str:
        return twin_body(marker_of(self.request), first, self.options.signer)

    async def _find_existing(self) -> ExistingReviews:
        return await existing_reviews_of(self.request.pull, self.request.policy, self.options.signer, self.context.host)

    async def _done(self, review_id: int) -> None:
        await asyncio.to_thread(self.context.intents.record_posted, self.request.key, review_id)


def _outcome(
    outcome: Literal["posted", "already_posted"], review: PostedReview, notes: tuple[str, ...], inline: int = 0
) -> PullPosted:
    return PullPosted(outcome=outcome, url=review.url, review_id=review.review_id, inline=inline, notes=notes)
