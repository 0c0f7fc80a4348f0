"""GraphQL, as far as we ask it: who we are, the texts of files, and what was said of them in merged pull requests."""

from __future__ import annotations

import re
from typing import Any

from tests.github_api import objects
from tests.github_api.routes import Call, Refused, Reply, not_found, route
from tests.github_api.state import Comment, Json, Pull

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
    found = call.state.repositories.get(f"{given['owner']}/{given['name']}".lower())
    if found is None:
        errors = [{"type": "NOT_FOUND", "path": ["repository"], "message": "Could not resolve to a Repository"}]
        return Reply(200, {"data": {"repository": None}, "errors": errors})
    if aliases := _OBJECTS.findall(call.body["query"]):
        there = objects.blobs(found.folder, [given[variable] for _, variable in aliases])
        told = {alias: _blob(call, there.get(given[variable])) for alias, variable in aliases}
        return Reply(200, {"data": {"repository": told}})
    merged = [pull for pull in found.pulls.values() if pull.merged_at and _touches(pull, given["path"])]
    commits = [{"associatedPullRequests": {"nodes": [_pull(pull)]}} for pull in reversed(merged)]
    return Reply(200, {"data": {"repository": {"object": {"history": {"nodes": commits}}}}})


def _blob(call: Call, data: bytes | None) -> Json | None:
    """https://docs.github.com/en/graphql/reference/objects#blob: text in UTF-8, whatever it was; null if binary."""
    if data is None or b"\0" in data:
        return None if data is None else {"text": None}
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return {"text": text[: call.state.max_blob_text]}


def _touches(pull: Pull, path: str) -> bool:
    changed = objects.changed(pull.repository.folder, pull.base_sha, pull.head_sha)
    return any(path in {each.path, each.old_path} for each in changed)


def _pull(pull: Pull) -> Json:
    first = [comment for comment in pull.comments if comment.in_reply_to_id is None]
    threads = [{"path": comment.path, "comments": {"nodes": [_comment(comment)]}} for comment in first]
    return {"number": pull.number, "merged": True, "reviewThreads": {"nodes": threads}}


def _comment(comment: Comment) -> dict[str, Any]:
    account = comment.account
    author = None if account is None else {"__typename": account.kind, "login": account.login}
    return {"author": author, "authorAssociation": comment.author_association, "body": comment.body}
