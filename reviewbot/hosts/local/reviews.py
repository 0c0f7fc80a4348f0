"""Reviews and threads of a local pull request."""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import HostInvalidError, HostMissingError, InputError
from reviewbot.hosts.base import CommentKind, PostedComment, PostedReview, PullRequest, Reaction, ReviewDraft, Thread
from reviewbot.hosts.local.change import branch_tips, is_shown, line_now, read_change
from reviewbot.hosts.local.records import (
    OWN,
    Activity,
    CommentRecord,
    ReviewRecord,
    ThreadRecord,
    account_id,
)
from reviewbot.hosts.local.store import PullFolder
from reviewbot.sources.git.repository import GitRepository


class LocalReviews:
    """A `ReviewHost`."""

    def __init__(self, repository: GitRepository, folder: PullFolder, pull: PullRequest) -> None:
        self._repository = repository
        self._folder = folder
        self._pull = pull

    def head_sha(self) -> str:
        """The tip of the head branch, read now."""
        return branch_tips(self._repository, self._pull.base_ref, self._pull.head_ref)[1]

    def own_id(self) -> int:
        """The account `OWN`."""
        return account_id(OWN)

    def reviews(self) -> tuple[PostedReview, ...]:
        """All reviews, oldest first."""
        return tuple(self._posted(each) for each in self._folder.activity(self._pull.number).reviews)

    def editors(self) -> dict[int, int]:
        """None: who writes into the folder is the account `OWN` to it."""
        return {}

    def threads(self) -> tuple[Thread, ...]:
        """All threads, oldest first, at the lines where their code is now."""
        found = self._folder.activity(self._pull.number).threads
        associations = self._folder.associations()
        head = self.head_sha()
        later = {commit: self._later(commit, head) for commit in {each.commit for each in found}}
        return tuple(
            Thread(
                thread_id=each.comments[0].id,
                path=each.path,
                line=None if (change := later[each.commit]) is None else line_now(change, each.path, each.line),
                resolved=each.resolved,
                comments=tuple(_comment(comment, associations) for comment in each.comments),
            )
            for each in found
        )

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        """Post a review with its comments, both or neither. Raises HostInvalidError for a line outside the change."""
        change = read_change(self._repository, self._pull.base_sha, draft.commit_sha).change
        for comment in draft.comments:
            if not is_shown(change, comment):
                raise HostInvalidError(f"line {comment.line} of {comment.path} must be part of the diff")
        with self._folder.editing(self._pull.number) as activity:
            review = ReviewRecord(
                id=activity.next_id(), author=OWN, commit=draft.commit_sha, state=draft.event, body=draft.body
            )
            activity.reviews.append(review)
            for comment in draft.comments:
                first = CommentRecord(id=activity.next_id(), author=OWN, body=comment.body)
                activity.threads.append(
                    ThreadRecord(
                        path=comment.path,
                        line=comment.line,
                        start_line=comment.start_line,
                        commit=draft.commit_sha,
                        review=review.id,
                        comments=[first],
                    )
                )
        return self._posted(review)

    def edit_review(self, review_id: int, body: str) -> None:
        """Replace the body of one of our own reviews."""
        with self._folder.editing(self._pull.number) as activity:
            _review_of(activity, review_id).body = body

    def release_review(self, review_id: int, message: str) -> None:
        """Let one of our own reviews no longer ask for changes."""
        with self._folder.editing(self._pull.number) as activity:
            review = _review_of(activity, review_id)
            if review.state != "REQUEST_CHANGES":
                raise HostInvalidError(f"review {review_id} asks for no changes and cannot be dismissed")
            review.state, review.message = "DISMISSED", message

    def reply(self, thread_id: int, body: str) -> PostedComment:
        """Add a reply to a thread."""
        with self._folder.editing(self._pull.number) as activity:
            reply = CommentRecord(id=activity.next_id(), author=OWN, body=body)
            _thread_of(activity, thread_id).comments.append(reply)
        return _comment(reply, self._folder.associations())

    def conversation(self) -> tuple[PostedComment, ...]:
        """The comments on the whole pull request, oldest first."""
        associations = self._folder.associations()
        return tuple(_comment(each, associations) for each in self._folder.activity(self._pull.number).comments)

    def say(self, body: str) -> PostedComment:
        """Add a comment on the whole pull request."""
        with self._folder.editing(self._pull.number) as activity:
            made = CommentRecord(id=activity.next_id(), author=OWN, body=body)
            activity.comments.append(made)
        return _comment(made, self._folder.associations())

    def resolve(self, thread_id: int, *, resolved: bool = True) -> None:
        """Mark a thread as resolved, or as open again."""
        with self._folder.editing(self._pull.number) as activity:
            _thread_of(activity, thread_id).resolved = resolved

    def reactions(self, comment_id: int) -> tuple[Reaction, ...]:
        """None: those that are kept do not say whose they are."""
        del comment_id
        return ()

    def react(self, kind: CommentKind, comment_id: int, reaction: str) -> None:
        """React to a comment."""
        with self._folder.editing(self._pull.number) as activity:
            listed = activity.comments if kind == "issue" else activity.all_comments()
            comment = next((each for each in listed if each.id == comment_id), None)
            if comment is None:
                raise HostMissingError(f"there is no comment {comment_id} on this pull request")
            comment.reactions = sorted({*comment.reactions, reaction})

    def _posted(self, review: ReviewRecord) -> PostedReview:
        return PostedReview(
            review_id=review.id,
            author_id=account_id(review.author),
            commit_sha=review.commit,
            body=review.body,
            url=f"{self._pull.url}#review-{review.id}",
            blocks=review.state == "REQUEST_CHANGES",
        )

    def _later(self, commit: str, head: str) -> ChangeSet | None:
        """What came between a commit and the head; None where the commit is gone."""
        if commit == head:
            return ChangeSet()
        try:
            return parse_diff(self._repository.range_diff(f"{commit}..{head}").diff)
        except InputError:
            return None


def _comment(found: CommentRecord, associations: Mapping[str, str]) -> PostedComment:
    association = associations.get(found.author, "NONE")
    return PostedComment(found.id, account_id(found.author), found.author, association, found.body)


def _review_of(activity: Activity, review_id: int) -> ReviewRecord:
    for each in activity.reviews:
        if each.id == review_id and each.author == OWN:
            return each
    raise HostMissingError(f"there is no review {review_id} by this account on this pull request")


def _thread_of(activity: Activity, thread_id: int) -> ThreadRecord:
    for each in activity.threads:
        if each.comments[0].id == thread_id:
            return each
    raise HostMissingError(f"there is no thread {thread_id} on this pull request")
