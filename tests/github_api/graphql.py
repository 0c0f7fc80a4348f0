"""GraphQL, as far as we ask it: who we are, and the texts of files."""

from __future__ import annotations

import re

from tests.github_api import objects
from tests.github_api.routes import Call, Refused, Reply, not_found, route
from tests.github_api.state import Json, Pull

_OBJECTS = re.compile(r"(\w+): object\(oid: \$(\w+)\)")


@route("POST", "/graphql")
def graphql(call: Call) -> Reply:
    """https://docs.github.com/en/graphql/guides/forming-calls-with-graphql; errors come with a status of 200."""
    if not call.state.graphql:
        raise Refused(not_found())
    if "viewer" in call.body["query"]:
        account = call.token.account
        return Reply(200, {"data": {"viewer": {"databaseId": account.account_id, "login": account.login}}})
    given = call.body["variables"]
    if "esolveReviewThread" in call.body["query"]:
        return _resolve(call, given["thread"], resolved="unresolve" not in call.body["query"])
    found = call.state.repositories.get(f"{given['owner']}/{given['name']}".lower())
    if found is None:
        errors = [{"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository"}]
        return Reply(200, {"data": {"repository": None}, "errors": errors})
    if "reviews(last" in call.body["query"]:
        return _editors(found.pulls.get(given["number"]))
    if "reviewThreads" in call.body["query"]:
        return _threads(call, found.pulls.get(given["number"]), int(given["after"] or 0))
    aliases = _OBJECTS.findall(call.body["query"])
    there = objects.blobs(found.folder, [given[variable] for _, variable in aliases])
    texts = {alias: _blob(call, there.get(given[variable])) for alias, variable in aliases}
    return Reply(200, {"data": {"repository": texts}})


def _threads(call: Call, pull: Pull | None, start: int) -> Reply:
    """https://docs.github.com/en/graphql/reference/objects#pullrequestreviewthread."""
    firsts = [each for each in (pull.comments if pull else ()) if each.in_reply_to_id is None]
    end = start + call.state.max_threads
    nodes = [
        {"id": f"thread-{each.comment_id}", "isResolved": each.resolved,
         "comments": {"nodes": [{"databaseId": each.comment_id}]}}
        for each in firsts[start:end]
    ]  # fmt: skip
    page = {"hasNextPage": end < len(firsts), "endCursor": str(end)}
    found = {"pullRequest": {"reviewThreads": {"nodes": nodes, "pageInfo": page}}}
    return Reply(200, {"data": {"repository": found}})


def _editors(pull: Pull | None) -> Reply:
    """https://docs.github.com/en/graphql/reference/objects#pullrequestreview."""
    nodes = [
        {"databaseId": each.review_id, "editor": None if each.editor is None else {"databaseId": each.editor}}
        for each in (pull.reviews if pull else ())
    ]
    return Reply(200, {"data": {"repository": {"pullRequest": {"reviews": {"nodes": nodes}}}}})


def _resolve(call: Call, thread: str, *, resolved: bool) -> Reply:
    for repository in call.state.repositories.values():
        for comment in (each for pull in repository.pulls.values() for each in pull.comments):
            if f"thread-{comment.comment_id}" == thread:
                comment.resolved = resolved
    return Reply(200, {"data": {"resolveReviewThread": {"thread": {"id": thread}}}})


def _blob(call: Call, data: bytes | None) -> Json | None:
    """https://docs.github.com/en/graphql/reference/objects#blob: text in UTF-8, whatever it was; null if binary."""
    if data is None or b"\0" in data:
        return None if data is None else {"text": None}
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return {"text": text[: call.state.max_blob_text]}
