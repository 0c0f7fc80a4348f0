"""What is written: reviews with their comments at lines, and check runs. Each refusal names the page that states it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.github_api import hunks
from tests.github_api.reads import account_json
from tests.github_api.refusals import invalid
from tests.github_api.routes import Call, Refused, Reply, not_found, route
from tests.github_api.state import CheckRun, Comment, Json, Pull, Review

MAX_BODY = 65_536
"""https://github.com/renovatebot/renovate/issues/2032, as of reviews https://github.com/reviewdog/reviewdog/issues/1065."""

MAX_ANNOTATIONS = 50
"""https://docs.github.com/en/rest/checks/runs#update-a-check-run: "a maximum of 50 per API request"."""

MAX_OUTPUT = 65_535
"""https://docs.github.com/en/rest/checks/runs#create-a-check-run: of `summary` and of `text`."""

_REVIEWS = "/repos/{owner}/{repo}/pulls/{number}/reviews"
_CHECKS = "/repos/{owner}/{repo}/check-runs"
_STATES = {"COMMENT": "COMMENTED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "APPROVE": "APPROVED", "": "PENDING"}


@route("GET", _REVIEWS, needs=("pull_requests", "read"))
def list_reviews(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#list-reviews-for-a-pull-request: "in chronological order"."""
    pull = call.pull()
    shown = [each for each in pull.reviews if each.state != "PENDING" or each.account == call.token.account]
    return call.page([review_json(each, pull) for each in shown])


@route("POST", _REVIEWS, needs=("pull_requests", "write"))
def create_review(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request: all of it, or none."""
    pull, sent = call.pull(), call.body or {}
    event, body = sent.get("event", ""), sent.get("body") or ""
    commit = sent.get("commit_id", pull.head_sha)
    comments = sent.get("comments") or []
    _check_review(call, pull, event, body)
    if commit not in hunks.commits(pull.repository.folder, pull.base_sha, pull.head_sha):
        # https://github.com/reviewdog/reviewdog/issues/434
        raise Refused(invalid("Unprocessable Entity", "The commitOID is not part of the pull request"))
    lines = hunks.shown(pull.repository.folder, pull.base_sha, commit)
    for comment in comments:
        _check_comment(comment, lines)
    review = Review(call.state.next_id(), call.token.account, body, _STATES[event], commit, call.state.now())
    pull.reviews.append(review)
    pull.comments += [_comment(call, review, each) for each in comments]
    return Reply(200, review_json(review, pull))


@route("GET", _REVIEWS + "/{review_id}", needs=("pull_requests", "read"))
def read_review(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#get-a-review-for-a-pull-request."""
    return Reply(200, review_json(_review(call), call.pull()))


@route("PUT", _REVIEWS + "/{review_id}", needs=("pull_requests", "write"))
def edit_review(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#update-a-review-for-a-pull-request."""
    review, body = _review(call), call.body["body"]
    if review.account != call.token.account:
        return Reply(403, {"message": "Resource not accessible by integration", "status": "403"})
    _check_length(body)
    if not body.strip():
        # https://docs.github.com/en/rest/pulls/reviews: a comment needs a body
        raise Refused(invalid("Unprocessable Entity", "Body can't be blank"))
    review.body = body
    review.editor = call.token.account.account_id
    return Reply(200, review_json(review, call.pull()))


@route("PUT", _REVIEWS + "/{review_id}/dismissals", needs=("pull_requests", "write"))
def dismiss_review(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#dismiss-a-review-for-a-pull-request."""
    review = _review(call)
    if review.state not in {"CHANGES_REQUESTED", "APPROVED"}:
        # https://github.com/cpp-linter/cpp-linter-action/issues/290 and https://github.com/defenseunicorns/lula/issues/207
        message = f"Can not dismiss a {review.state.lower()} pull request review"
        raise Refused(invalid("Validation Failed", message))
    review.state = "DISMISSED"
    return Reply(200, review_json(review, call.pull()))


@route("GET", _REVIEWS + "/{review_id}/comments", needs=("pull_requests", "read"))
def comments_of_review(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/reviews#list-comments-for-a-pull-request-review."""
    review = _review(call)
    return call.page([comment_json(each) for each in call.pull().comments if each.review_id == review.review_id])


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/comments", needs=("pull_requests", "read"))
def list_comments(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/comments#list-review-comments-on-a-pull-request."""
    return call.page([comment_json(each) for each in call.pull().comments])


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/comments/{comment_id}/replies", needs=("pull_requests", "write"))
def reply_to_comment(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment: of a thread's first one."""
    wanted = int(call.parts["comment_id"])
    first = next((each for each in call.pull().comments if each.comment_id == wanted), None)
    if first is None or first.in_reply_to_id is not None:
        raise Refused(not_found())
    now = call.state.now()
    made = replace(first, comment_id=call.state.next_id(), account=call.token.account, body=call.body["body"])
    made = replace(made, created_at=now, in_reply_to_id=wanted)
    call.pull().comments.append(made)
    return Reply(201, comment_json(made))


@route("GET", "/repos/{owner}/{repo}/issues/{number}/comments", needs=("pull_requests", "read"))
def list_conversation(call: Call) -> Reply:
    """https://docs.github.com/en/rest/issues/comments#list-issue-comments: of a pull request as well."""
    return call.page([comment_json(each) for each in call.pull().conversation])


@route("POST", "/repos/{owner}/{repo}/issues/{number}/comments", needs=("pull_requests", "write"))
def comment_on_pull(call: Call) -> Reply:
    """https://docs.github.com/en/rest/issues/comments#create-an-issue-comment."""
    body = call.body["body"]
    _check_length(body)
    made = Comment(call.state.next_id(), None, call.token.account, "", body, None, call.state.now())
    call.pull().conversation.append(made)
    return Reply(201, comment_json(made))


@route("POST", _CHECKS, needs=("checks", "write"))
def create_check(call: Call) -> Reply:
    """https://docs.github.com/en/rest/checks/runs#create-a-check-run: "you must use a GitHub App"."""
    if call.token.app_id is None:
        return Reply(403, {"message": "You must authenticate via a GitHub App.", "status": "403"})
    sent = call.body
    check = CheckRun(call.state.next_id(), sent["name"], sent["head_sha"], call.token.app_id)
    check.external_id = sent.get("external_id", "")
    _update(check, sent)
    call.repository().checks.append(check)
    return Reply(201, check_json(check))


@route("PATCH", _CHECKS + "/{check_id}", needs=("checks", "write"))
def update_check(call: Call) -> Reply:
    """https://docs.github.com/en/rest/checks/runs#update-a-check-run: by the App that made it; annotations add up."""
    check = _check(call)
    if check.app_id != call.token.app_id:
        # https://github.com/int128/argocd-commenter/pull/631
        message = "check run can only be modified by the GitHub App that created it."
        return Reply(403, {"message": f"Invalid app_id `{call.token.app_id}` - {message}", "status": "403"})
    _update(check, call.body)
    return Reply(200, check_json(check))


@route("GET", _CHECKS + "/{check_id}", needs=("checks", "read"))
def read_check(call: Call) -> Reply:
    """https://docs.github.com/en/rest/checks/runs#get-a-check-run."""
    return Reply(200, check_json(_check(call)))


@route("GET", "/repos/{owner}/{repo}/commits/{sha}/check-runs", needs=("checks", "read"))
def list_checks(call: Call) -> Reply:
    """https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference."""
    wanted = {"name": call.query.get("check_name"), "status": call.query.get("status"), "head_sha": call.parts["sha"]}
    kept = {key: value for key, value in wanted.items() if value is not None}
    found = [each for each in call.repository().checks if all(getattr(each, key) == kept[key] for key in kept)]
    page = call.page([check_json(each) for each in found])
    return Reply(200, {"total_count": len(found), "check_runs": page.body}, page.headers)


def review_json(review: Review, pull: Pull) -> Json:
    """A review."""
    url = f"https://github.example/{pull.repository.name}/pull/{pull.number}#pullrequestreview-{review.review_id}"
    return {
        "id": review.review_id,
        "user": account_json(review.account),
        "body": review.body,
        "state": review.state,
        "commit_id": review.commit_id,
        "html_url": url,
        "submitted_at": review.submitted_at,
    }


def comment_json(comment: Comment) -> Json:
    """A comment at a line."""
    return {
        "id": comment.comment_id,
        "pull_request_review_id": comment.review_id,
        "user": account_json(comment.account),
        "path": comment.path,
        "body": comment.body,
        "line": comment.line,
        "start_line": comment.start_line,
        "side": comment.side,
        "commit_id": comment.commit_id,
        "created_at": comment.created_at,
        "in_reply_to_id": comment.in_reply_to_id,
        "author_association": comment.author_association,
        "reactions": {"total_count": len(comment.reactions)},
    }


def check_json(check: CheckRun) -> Json:
    """A check run."""
    return {
        "id": check.check_id,
        "name": check.name,
        "head_sha": check.head_sha,
        "external_id": check.external_id,
        "status": check.status,
        "conclusion": check.conclusion,
        "html_url": f"https://github.example/runs/{check.check_id}",
        "app": {"id": check.app_id},
        "output": {
            "title": check.title,
            "summary": check.summary,
            "text": check.text,
            "annotations_count": len(check.annotations),
        },
    }


def _review(call: Call) -> Review:
    wanted = int(call.parts["review_id"])
    for review in call.pull().reviews:
        if review.review_id == wanted:
            return review
    raise Refused(not_found())


def _check(call: Call) -> CheckRun:
    wanted = int(call.parts["check_id"])
    for check in call.repository().checks:
        if check.check_id == wanted:
            return check
    raise Refused(not_found())


def _check_review(call: Call, pull: Pull, event: str, body: str) -> None:
    _check_length(body)
    if event in {"COMMENT", "REQUEST_CHANGES"} and not body.strip():
        # https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request, `body`: "Required when"
        raise Refused(invalid("Unprocessable Entity", "Body can't be blank"))
    if event == "REQUEST_CHANGES" and pull.author == call.token.account:
        # https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests
        raise Refused(invalid("Unprocessable Entity", "Can not request changes on your own pull request"))
    if any(each.state == "PENDING" and each.account == call.token.account for each in pull.reviews):
        # https://github.com/max-sixty/tend/pull/1171: also where the new one is submitted at once
        raise Refused(invalid("Unprocessable Entity", "User can only have one pending review per pull request"))


def _check_length(body: str) -> None:
    if len(body) > MAX_BODY:
        message = f"Body is too long (maximum is {MAX_BODY} characters)"
        raise Refused(invalid("Unprocessable Entity", message))


def _check_comment(sent: Json, shown: dict[str, list[range]]) -> None:
    """https://github.com/parkerbxyz/suggest-changes/issues/48, and of the order https://github.com/ubuntu/WSL/pull/244."""
    _check_length(sent["body"])
    last, first = sent.get("line"), sent.get("start_line")
    hunk = next((lines for lines in shown.get(sent["path"], []) if last in lines), None)
    faults = []
    if sent.get("side", "RIGHT") != "RIGHT" or hunk is None:
        faults.append("Pull request review thread line must be part of the diff")
    if first is not None and last is not None and first >= last:
        faults.append("Pull request review thread start line must precede the end line.")
    if first is not None and (hunk is None or first not in hunk):
        faults.append("Pull request review thread start line must be part of the same hunk as the line.")
    if faults:
        raise Refused(invalid("Unprocessable Entity", ", ".join(faults)))


def _comment(call: Call, review: Review, sent: Json) -> Comment:
    return Comment(
        comment_id=call.state.next_id(),
        review_id=review.review_id,
        account=review.account,
        path=sent["path"],
        body=sent["body"],
        line=sent["line"],
        created_at=call.state.now(),
        commit_id=review.commit_id or "",
        start_line=sent.get("start_line"),
    )


def _update(check: CheckRun, sent: Any) -> None:
    output = sent.get("output") or {}
    if len(output.get("annotations", ())) > MAX_ANNOTATIONS:
        # https://github.com/qiniu/reviewbot/issues/258
        many = len(output["annotations"])
        raise Refused(
            invalid(f"Invalid request.\n\nNo more than {MAX_ANNOTATIONS} items are allowed; {many} were supplied.")
        )
    if any(len(output.get(name, "")) > MAX_OUTPUT for name in ("summary", "text")):
        raise Refused(invalid("Invalid request.", f"Only {MAX_OUTPUT} characters are allowed"))
    check.annotations += output.get("annotations", [])
    check.title, check.summary = output.get("title", check.title), output.get("summary", check.summary)
    check.text = output.get("text", check.text)
    check.external_id = sent.get("external_id", check.external_id)
    check.conclusion = sent.get("conclusion", check.conclusion)
    check.status = "completed" if check.conclusion else sent.get("status", check.status)
