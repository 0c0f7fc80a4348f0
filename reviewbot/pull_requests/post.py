"""The third step: post exactly one review on the host, and conclude the check run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullPosted, PullReview
from reviewbot.domain.errors import HostError
from reviewbot.hosts.registry import posted_links
from reviewbot.publish.check_run import CHECK_NAME, check_of
from reviewbot.publish.existing_reviews import find_posted_review as standing_review
from reviewbot.publish.options import PublishContext, PublishOptions, PublishRequest
from reviewbot.publish.post import publish
from reviewbot.pull_requests.check_run import Check, abandon_check, finish_check
from reviewbot.pull_requests.host_session import POSTING_S, READING_S, HostSession
from reviewbot.pull_requests.review import Prepared
from reviewbot.pull_requests.values import to_delivered
from reviewbot.report.findings.links import SourceLinks

_STOPPED = "the run was stopped while it posted its review; another run finds out what stands there"


async def post(session: HostSession, value: PullReview) -> PullPosted:
    """Post a review once, and conclude its check run. A head that moved on gets nothing, and the outcome says so.

    Raises HostError: HostAccessError where a permission is missing. The check run is concluded in that case as well.
    """
    session.host.within(POSTING_S)
    delivered = to_delivered(value)
    try:
        published = await _publish(session, value, delivered)
    except HostError:
        await _finish(session, value, superseded=False)
        raise
    except asyncio.CancelledError:
        await abandon_check(session, value.pull, Check(value.check_id), _STOPPED, "cancelled", "Not posted")
        raise
    moved = published.outcome == "head_moved"
    url, note = await _finish(session, value, superseded=moved, links=posted_links(published.url, value.pull))
    notes = (*value.notes, *published.notes, *((note,) if note else ()))
    return published.model_copy(update={"check_url": url, "notes": notes})


async def _publish(session: HostSession, value: PullReview, delivered: DeliveredReview) -> PullPosted:
    ref = value.pull
    pull = await asyncio.to_thread(session.host.pull_request, ref.repository, ref.number)
    # The publisher reads the head again before every write; what it compares with is the one that was reviewed.
    reviewed = replace(pull, repository_id=ref.repository_id, base_sha=ref.base_sha, head_sha=ref.head_sha)

    def suggest(finding: Finding) -> str | None:
        return value.suggestions.get(delivered.fingerprints.get(finding, ""))

    request = PublishRequest(reviewed, delivered, value.change, value.policy, value.gate_closed, value.exit_code)
    options = PublishOptions(session.signer, suggest, inline=value.inline, request_changes=value.request_changes)
    host = session.host.reviews(pull)
    return await publish(request, options, PublishContext(host, session.intents, session.clock, session.holder))


async def _finish(
    session: HostSession, value: PullReview, *, superseded: bool, links: SourceLinks | None = None
) -> tuple[str, str]:
    # With time of its own: however long posting took, a check run must not stay in progress.
    session.host.within(READING_S)
    draft = check_of(value.review, value.change, gate_closed=value.gate_closed, superseded=superseded, links=links)
    return await finish_check(session, value.pull, value.check_id, draft)


async def find_posted(session: HostSession, prepared: Prepared) -> PullPosted | None:
    """The review of this head, from this base and under this policy, that stands there and leaves nothing to do.

    None where it is not going to be posted; where none stands there; where the one that does closed the gate or was
    incomplete, which a second run has to say again; where its check run was never concluded; and where the host does
    not tell: posting looks once more, and says what is wrong.
    """
    if not prepared.options.to_post:
        return None
    session.host.within(READING_S)
    host = session.host.reviews(prepared.pull)
    try:
        found = await standing_review(prepared.pull, prepared.policy, session.signer, host)
    except HostError:
        return None
    return None if found is None or await _is_left_open(session, prepared) else found


async def _is_left_open(session: HostSession, prepared: Prepared) -> bool:
    """Whether a run that was cut short left the check run of this head in progress."""
    checks = session.host.checks(prepared.ref.repository, prepared.ref.number)
    try:
        return bool(await asyncio.to_thread(checks.in_progress, CHECK_NAME, prepared.ref.head_sha))
    except HostError:
        return False
