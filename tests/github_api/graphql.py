"""GraphQL, as far as we ask it: who we are, and the texts of files."""

from __future__ import annotations

import re

from tests.github_api import objects
from tests.github_api.routes import Call, Refused, Reply, not_found, route
from tests.github_api.state import Json

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
    aliases = _OBJECTS.findall(call.body["query"])
    there = objects.blobs(found.folder, [given[variable] for _, variable in aliases])
    texts = {alias: _blob(call, there.get(given[variable])) for alias, variable in aliases}
    return Reply(200, {"data": {"repository": texts}})


def _blob(call: Call, data: bytes | None) -> Json | None:
    """https://docs.github.com/en/graphql/reference/objects#blob: text in UTF-8, whatever it was; null if binary."""
    if data is None or b"\0" in data:
        return None if data is None else {"text": None}
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return {"text": text[: call.state.max_blob_text]}
