"""Read, post and edit the reviews of one pull request on GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.domain.errors import HostAccessError, HostMissingError, HostUnknownError
from reviewbot.hosts.base import InlineComment, PostedComment, PostedReview, PullRequest, ReviewDraft
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha

_VIEWER = "query { viewer { databaseId } }"
"""Who we are, for a token that may not ask `/user`: one of an App's installation, or of a workflow."""

_PENDING, _BLOCKING = "PENDING", "CHANGES_REQUESTED"
"""The states of a review that only its author sees, which is none yet, and of one that asks for changes."""

Json = Mapping[str, Any]


class GithubHost:
    """A `ReviewHost`. Blocking; raises HostError and its kinds alone."""

    def __init__(self, client: GithubClient, pull: PullRequest, own_id: int | None = None) -> None:
        """`own_id`: the account of our reviews, where it is known; else GitHub is asked."""
        self._client = client
        self._pull = f"/repos/{check_repository(pull.repository)}/pulls/{pull.number}"
        self._url = pull.url
        self._own_id = own_id

    def head_sha(self) -> str:
        """The head, read now."""
        head = _object(_object(self._client.request("GET", self._pull).data).get("head"))
        return check_sha(_text(head.get("sha")))

    def own_id(self) -> int:
        """The id of the account that writes our reviews; requested once.

        A token of an App's installation or of a workflow may not read `/user`, and GraphQL's viewer tells it all the
        same: https://docs.github.com/en/graphql/reference/queries#user
        """
        if self._own_id is None:
            try:
                found = _object(self._client.request("GET", "/user").data).get("id")
            except (HostAccessError, HostMissingError):
                found = _object(self._client.graphql(_VIEWER, {}).get("viewer")).get("databaseId")
            if not is_id(found):
                raise HostAccessError("GitHub does not tell whose token this is, so that no review of ours is known")
            self._own_id = int(str(found))
        return self._own_id

    def reviews(self) -> tuple[PostedReview, ...]:
        """All reviews, of all pages, oldest first. One that was begun and not submitted is none."""
        listed = self._client.items(f"{self._pull}/reviews")
        shown = [each for each in listed if str(each.get("state", "")).upper() != _PENDING]
        return tuple(sorted((self._review(each) for each in shown if is_id(each.get("id"))), key=_by_id))

    def comments(self) -> tuple[PostedComment, ...]:
        """All comments at lines, of all pages, oldest first."""
        found = [each for each in self._client.items(f"{self._pull}/comments") if is_id(each.get("id"))]
        return tuple(_comment(each) for each in found)

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        """Post in one call, never repeated. Raises HostInvalidError where GitHub rejects the draft, or a line of it.

        https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
        """
        body: dict[str, object] = {"commit_id": draft.commit_sha, "body": draft.body, "event": draft.event}
        if draft.comments:
            body["comments"] = [_inline(comment) for comment in draft.comments]
        answer = self._client.request("POST", f"{self._pull}/reviews", body=body, repeatable=False).data
        if not isinstance(answer, dict) or not is_id(answer.get("id")):
            raise HostUnknownError("GitHub took the review and names no id for it")
        return self._review(answer)

    def edit_review(self, review_id: int, body: str) -> None:
        """Replace the body of a review of our own.

        https://docs.github.com/en/rest/pulls/reviews#update-a-review-for-a-pull-request
        """
        self._client.request("PUT", f"{self._pull}/reviews/{int(review_id)}", body={"body": body})

    def release_review(self, review_id: int, message: str) -> None:
        """Dismiss a review of our own, so that it no longer asks for changes.

        https://docs.github.com/en/rest/pulls/reviews#dismiss-a-review-for-a-pull-request
        """
        path = f"{self._pull}/reviews/{int(review_id)}/dismissals"
        self._client.request("PUT", path, body={"message": message, "event": "DISMISS"}, repeatable=False)

    def _review(self, found: Json) -> PostedReview:
        review_id = int(found["id"])
        commit = found.get("commit_id")
        return PostedReview(
            review_id=review_id,
            author_id=_author(found),
            commit_sha=commit if isinstance(commit, str) else None,
            body=_text(found.get("body")),
            url=f"{self._url}#pullrequestreview-{review_id}",
            blocks=str(found.get("state", "")).upper() == _BLOCKING,
        )


def _inline(comment: InlineComment) -> dict[str, object]:
    """A comment as the call takes it: GitHub refuses a first line that is also the last."""
    made: dict[str, object] = {"path": comment.path, "line": comment.line, "side": "RIGHT", "body": comment.body}
    if comment.start_line is not None and comment.start_line < comment.line:
        made |= {"start_line": comment.start_line, "start_side": "RIGHT"}
    return made


def _comment(found: Json) -> PostedComment:
    line = found.get("line")
    return PostedComment(
        author_id=_author(found),
        line=line if isinstance(line, int) else None,
        body=_text(found.get("body")),
    )


def _author(found: Json) -> int | None:
    account = _object(found.get("user")).get("id")
    return account if is_id(account) else None


def _by_id(review: PostedReview) -> int:
    return review.review_id


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_id(value: object) -> bool:
    """Whether JSON holds a number that can be an id; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
