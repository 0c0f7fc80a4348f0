"""Read, post and edit the reviews and threads of one pull request on GitHub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from reviewbot.domain.errors import HostAccessError, HostError, HostMissingError, HostUnknownError
from reviewbot.hosts.base import (
    CommentKind,
    InlineComment,
    PostedComment,
    PostedReview,
    PullRequest,
    Reaction,
    ReviewDraft,
    Thread,
)
from reviewbot.hosts.github.client import MAX_PAGES, GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.strict_json import a_dict

_VIEWER = "query { viewer { databaseId } }"
"""Who we are, for a token that may not ask `/user`: one of an App's installation, or of a workflow."""

_THREADS = """query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) {
    nodes { id isResolved comments(first: 1) { nodes { databaseId } } } pageInfo { hasNextPage endCursor }
  } } }
}"""
_EDITORS = """query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviews(last: 100) {
    nodes { databaseId editor { ... on User { databaseId } ... on Bot { databaseId } } }
  } } }
}"""
"""Who edited a review last: people with write access may edit ours. REST does not tell it."""

_RESOLVE = "mutation ($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id } } }"
_UNRESOLVE = _RESOLVE.replace("resolveReviewThread", "unresolveReviewThread")

_PENDING, _BLOCKING = "PENDING", "CHANGES_REQUESTED"
"""The states of a review that is not submitted yet, which only its author sees, and of one that asks for changes."""

Json = Mapping[str, Any]


class GithubReviews:
    """A `ReviewHost`. Blocking; raises HostError and its kinds alone."""

    def __init__(self, client: GithubClient, pull: PullRequest, own_id: int | None = None) -> None:
        """`own_id`: the account of our reviews, where it is known; else GitHub is asked."""
        self._client = client
        self._repository = f"/repos/{check_repository(pull.repository)}"
        self._pull = f"{self._repository}/pulls/{pull.number}"
        self._named = dict(zip(("owner", "name"), pull.repository.split("/"), strict=True)) | {"number": pull.number}
        self._url = pull.url
        self._own_id = own_id

    def head_sha(self) -> str:
        """The head, read now."""
        head = a_dict(a_dict(self._client.request("GET", self._pull).data).get("head"))
        return check_sha(_text(head.get("sha")))

    def own_id(self) -> int:
        """The id of the account that writes our reviews; requested once.

        A token of an App's installation or of a workflow may not read `/user`, and GraphQL's viewer tells it all the
        same: https://docs.github.com/en/graphql/reference/queries#user
        """
        if self._own_id is None:
            try:
                found = a_dict(self._client.request("GET", "/user").data).get("id")
            except (HostAccessError, HostMissingError):
                found = a_dict(self._client.graphql(_VIEWER, {}).get("viewer")).get("databaseId")
            if not is_id(found):
                raise HostAccessError("GitHub does not tell whose token this is, so that no own review is known")
            self._own_id = found
        return self._own_id

    def reviews(self) -> tuple[PostedReview, ...]:
        """All reviews, of all pages, oldest first. One that was not submitted is left out."""
        listed = self._client.items(f"{self._pull}/reviews")
        shown = [each for each in listed if str(each.get("state", "")).upper() != _PENDING]
        posted = (self._review(each) for each in shown if is_id(each.get("id")))
        return tuple(sorted(posted, key=lambda each: each.review_id))

    def editors(self) -> dict[int, int]:
        """The account that last edited each of the last 100 reviews; empty where GraphQL does not answer.

        https://docs.github.com/en/graphql/reference/objects#pullrequestreview
        """
        try:
            found = self._client.graphql(_EDITORS, self._named)
        except HostError:  # a server may have REST alone
            return {}
        page = a_dict(a_dict(a_dict(found.get("repository")).get("pullRequest")).get("reviews"))
        nodes = [a_dict(each) for each in page.get("nodes") or ()]
        rows = [(each.get("databaseId"), a_dict(each.get("editor")).get("databaseId")) for each in nodes]
        return {review: account for review, account in rows if is_id(review) and is_id(account)}

    def threads(self) -> tuple[Thread, ...]:
        """All threads at lines, of all pages, oldest first. Which are resolved is known where GraphQL answers.

        Sources: https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request, which does not
        say what is resolved, and https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread.
        """
        by_root: dict[int, list[Json]] = {}
        for each in self._client.items(f"{self._pull}/comments"):
            if is_id(each.get("id")):
                root = each.get("in_reply_to_id")  # the first comment of a thread, which may be deleted by now
                by_root.setdefault(root if is_id(root) else each["id"], []).append(each)
        try:
            states = self._list_states() if by_root else {}
        except HostError:  # a server may have REST alone
            states = {}
        return tuple(_thread(rows, states) for rows in by_root.values())

    def reply(self, thread_id: int, body: str) -> PostedComment:
        """Add a reply, never repeated.

        https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
        """
        return _comment(self._post("reply", f"{self._pull}/comments/{int(thread_id)}/replies", {"body": body}))

    def conversation(self) -> tuple[PostedComment, ...]:
        """The comments on the whole pull request, of all pages, oldest first."""
        listed = self._client.items(f"{self._repository}/issues/{self._named['number']}/comments")
        return tuple(_comment(each) for each in listed if is_id(each.get("id")))

    def say(self, body: str) -> PostedComment:
        """Add a comment on the whole pull request, never repeated.

        https://docs.github.com/en/rest/issues/comments#create-an-issue-comment
        """
        path = f"{self._repository}/issues/{self._named['number']}/comments"
        return _comment(self._post("comment", path, {"body": body}))

    def resolve(self, thread_id: int, *, resolved: bool = True) -> None:
        """Mark a thread as resolved, or as open again. Raises HostMissingError where GraphQL does not list it."""
        node, is_resolved = self._list_states().get(thread_id, ("", False))
        if not node:
            raise HostMissingError(f"GitHub lists no thread that begins with comment {int(thread_id)}")
        if is_resolved != resolved:
            self._client.graphql(_RESOLVE if resolved else _UNRESOLVE, {"thread": node})

    def reactions(self, comment_id: int) -> tuple[Reaction, ...]:
        """The reactions to a comment at a line, of all pages.

        https://docs.github.com/en/rest/reactions/reactions#list-reactions-for-a-pull-request-review-comment
        """
        found = self._client.items(f"{self._repository}/pulls/comments/{int(comment_id)}/reactions")
        return tuple(
            Reaction(_author(each), _text(a_dict(each.get("user")).get("login")), _text(each.get("content")))
            for each in found
        )

    def react(self, kind: CommentKind, comment_id: int, reaction: str) -> None:
        """React to a comment; GitHub keeps one reaction of a kind from each account."""
        folder = {"issue": "issues", "review": "pulls"}[kind]
        path = f"{self._repository}/{folder}/comments/{int(comment_id)}/reactions"
        self._client.request("POST", path, body={"content": reaction}, repeatable=True)

    def _list_states(self) -> dict[int, tuple[str, bool]]:
        """By the id of its first comment, the node of each thread and whether it is resolved. Raises HostError."""
        states: dict[int, tuple[str, bool]] = {}
        after: str | None = None
        for _ in range(MAX_PAGES):
            found = self._client.graphql(_THREADS, {**self._named, "after": after})
            page = a_dict(a_dict(a_dict(found.get("repository")).get("pullRequest")).get("reviewThreads"))
            for node in page.get("nodes") or ():
                comments = a_dict(a_dict(node).get("comments")).get("nodes") or ()
                first = a_dict(comments[0]).get("databaseId") if comments else None
                if is_id(first):
                    states[first] = (_text(node.get("id")), node.get("isResolved") is True)
            following = a_dict(page.get("pageInfo"))
            after = following.get("endCursor") if following.get("hasNextPage") else None
            if not isinstance(after, str):
                break
        return states

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        """Post in one call, never repeated. Raises HostInvalidError where GitHub rejects the draft, or a line of it.

        https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
        """
        body: dict[str, object] = {"commit_id": draft.commit_sha, "body": draft.body, "event": draft.event}
        if draft.comments:
            body["comments"] = [_inline(comment) for comment in draft.comments]
        return self._review(self._post("review", f"{self._pull}/reviews", body))

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

    def _post(self, what: str, path: str, body: Json) -> Json:
        """Send what must not be sent twice; the answer, which has an id."""
        answer = a_dict(self._client.request("POST", path, body=body, repeatable=False).data)
        if not is_id(answer.get("id")):
            raise HostUnknownError(f"GitHub took the {what} and names no id for it")
        return answer

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


def _thread(rows: Sequence[Json], states: Mapping[int, tuple[str, bool]]) -> Thread:
    first = rows[0]
    line = first.get("line")
    return Thread(
        thread_id=int(first["id"]),
        path=_text(first.get("path")),
        line=line if isinstance(line, int) else None,
        resolved=states[first["id"]][1] if first["id"] in states else None,
        comments=tuple(_comment(each) for each in rows),
    )


def _comment(found: Json) -> PostedComment:
    return PostedComment(
        comment_id=int(found["id"]),
        author_id=_author(found),
        author=_text(a_dict(found.get("user")).get("login")),
        association=_text(found.get("author_association")) or "NONE",
        body=_text(found.get("body")),
        reactions=count if is_id(count := a_dict(found.get("reactions")).get("total_count")) else 0,
    )


def _author(found: Json) -> int | None:
    account = a_dict(found.get("user")).get("id")
    return account if is_id(account) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def is_id(value: object) -> TypeGuard[int]:
    """Whether JSON holds a number that can be an id; true and false cannot."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
