"""Our GitHub on loopback: real git folders behind it, state in memory, refusals like GitHub's.

    with FakeGitHub() as github:
        github.add_repository("acme/shop", folder)              # a folder with a git repository, worked on by tests
        pull = github.open_pull("acme/shop", "main", "feature", title="Add a shop")
        client = GithubClient(Access(github.token, github.url))
        github.push("acme/shop", pull.number, commit)           # the head moves
        assert github.paths("POST") == [...]                    # what was asked; `recorded` has all of it

Use the fixture `github_api` of tests/conftest.py, or call `check()` at the end: a request that GitHub's own
description does not allow (see `contracts.py`) fails the test.

**To add a route**: a module beside this one, imported in `server.py`, with functions like

    @route("POST", "/repos/{owner}/{repo}/pulls/{number}/reviews", needs=("pull_requests", "write"))
    def create_review(call: Call) -> Reply:
        pull = call.pull()              # refuses with 404 where there is none
        ...
        return Reply(200, {...})

`{number}` and names that end in `_id` match digits, `{path}`, `{ref}` and `{basehead}` match slashes too, all others
one segment; `call.parts` has them decoded. `call.body` is the JSON that was sent, `call.query` the query's last
values. State is plain dataclasses (`state.py`); ids come from `call.state.next_id()`, times from `call.state.now()`.
A handler runs under the state's lock. `call.page(items)` cuts a list into pages with a `Link` header.

**To refuse**: `raise Refused(reply)`, the replies being those of `refusals.py`, each with the page that states it.
A test orders a refusal with `github.refuse("GET", "/pulls/7$", secondary_limit(1), times=2)`: the pattern is searched
in the path, the queue is looked at before any route. `carried_out=True` lets the route do its work first, so that only
the answer is lost; `dropped()` closes the connection without any answer.
"""

from __future__ import annotations

from tests.github_api.refusals import dropped
from tests.github_api.routes import Call, Refused, Reply, route
from tests.github_api.server import FakeGitHub
from tests.github_api.state import Account, CheckRun, Comment, GithubState, Pull, Repository, Review, Token

__all__ = [
    "Account",
    "Call",
    "CheckRun",
    "Comment",
    "FakeGitHub",
    "GithubState",
    "Pull",
    "Refused",
    "Reply",
    "Repository",
    "Review",
    "Token",
    "dropped",
    "route",
]
