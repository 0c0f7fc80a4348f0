"""Answer a merge queue: a check run on the commit of a merge group, from the review of the pull request's head.

Nothing is reviewed again: a group holds what its pull requests changed, and a queue does not wait for long.
"""

from __future__ import annotations

import asyncio

from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.contracts import Conclusion
from reviewbot.domain.errors import HostMissingError
from reviewbot.hosts.base import CheckDraft, CodeHost, PullRequest
from reviewbot.publish.check_run import CHECK_NAME
from reviewbot.publish.existing_reviews import Own, existing_reviews_of
from reviewbot.publish.marker import Signer
from reviewbot.report.text import md_code

_SHORT_SHA = 10
_TITLES: dict[Conclusion, str] = {
    "success": "Reviewed before it was queued",
    "failure": "Gate closed by the review before it was queued",
    "neutral": "Reviewed before it was queued, with findings or in part",
}


def answer_merge_group(host: CodeHost, request: ReviewRequest, signer: Signer) -> None:
    """Write the check run. Blocking; a second time it may stand there twice, and says the same. Raises HostError."""
    pull = found = None
    if request.number:
        try:
            pull = host.pull_request(request.repository, request.number)
        except HostMissingError:
            pull = None
    if pull is not None and pull.repository_id == request.repository_id:
        reviews = asyncio.run(existing_reviews_of(pull, "", signer, host.reviews(pull)))
        found = reviews.own_of_head(pull.head_sha)
    checks = host.checks(request.repository, request.number)
    head = str(request.trigger.get("head_sha") or "")
    checks.finish_check(checks.start_check(CHECK_NAME, head), group_check(pull, found))


def group_check(pull: PullRequest | None, found: Own | None) -> CheckDraft:
    """The check run of a merge group: the colour of the review that stands, and never green without one. Pure."""
    if pull is None:
        why = "The branch of this merge group names no pull request of this repository."
        return CheckDraft("Not reviewed", f"**Not reviewed:** {why}\n", "", "neutral")
    which = f"pull request {pull.number} at {md_code(pull.head_sha[:_SHORT_SHA])}"
    if found is None:
        return CheckDraft("Not reviewed", f"**Not reviewed:** {which} has no review by reviewbot.\n", "", "neutral")
    stored = found.marker.conclusion
    conclusion: Conclusion = stored if stored is not None and stored in _TITLES else "neutral"
    text = f"The review of {which} counts: {found.review.url}\n\nThe merge group itself was not reviewed again."
    return CheckDraft(_TITLES[conclusion], f"{text}\n", "", conclusion)
