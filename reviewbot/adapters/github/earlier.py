"""What reviewers wrote about a file in earlier pull requests that were merged: data for whoever reviews it now.

Only people who may write to the repository are listened to: what a stranger wrote under an old pull request is of no
weight, and would be a way to speak to a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reviewbot.adapters.github.client import GithubClient
from reviewbot.host import EarlierComment, PullRequest

MAX_PATHS = 12
"""Files of one pull request that are asked about. Each takes a request of one point of the hourly 5,000."""

MAX_BODY = 500
"""Characters of a comment. Longer ones are about their own change."""

DOCUMENT = """\
query Earlier($owner: String!, $name: String!, $sha: GitObjectID!, $path: String!) {
  repository(owner: $owner, name: $name) {
    object(oid: $sha) {
      ... on Commit {
        history(path: $path, first: 20) {
          nodes {
            associatedPullRequests(first: 1) {
              nodes {
                number
                merged
                reviewThreads(first: 40) {
                  nodes {
                    path
                    comments(first: 1) {
                      nodes {
                        author { __typename login }
                        authorAssociation
                        body
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
"""
"""The last commits of a file, the pull requests that they came with, and how each discussion at a line began."""

_LISTENED_TO = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})


def earlier_comments(
    client: GithubClient, pull: PullRequest, paths: Iterable[str], limit: int
) -> tuple[EarlierComment, ...]:
    """At most `limit` comments on each of the first files, of the newest change first.

    `paths` are names of the base side. Raises HostError and its kinds, also where a server has no GraphQL.
    """
    found: list[EarlierComment] = []
    for path in list(dict.fromkeys(paths))[:MAX_PATHS]:
        owner, _, name = pull.repository.partition("/")
        variables = {"owner": owner, "name": name, "sha": pull.base_sha, "path": path}
        data = client.graphql(DOCUMENT, variables)
        of_path = {(each.pull, each.body): each for each in _comments(data, path, pull)}
        found += list(of_path.values())[:limit]
    return tuple(found)


def _comments(data: dict[str, Any], path: str, pull: PullRequest) -> Iterator[EarlierComment]:
    """Yield what counts, of any data."""
    site = pull.url.rpartition("/")[0]
    for commit in _nodes(data, "repository", "object", "history"):
        for merged in _nodes(commit, "associatedPullRequests"):
            number = merged.get("number")
            if merged.get("merged") is not True or not isinstance(number, int) or number == pull.number:
                continue
            threads = [each for each in _nodes(merged, "reviewThreads") if each.get("path") == path]
            for comment in (comment for thread in threads for comment in _nodes(thread, "comments")):
                if body := _body(comment):
                    yield EarlierComment(path, _at(comment, "author")["login"], body, number, f"{site}/{number}")


def _body(comment: dict[str, Any]) -> str:
    """The words of a comment on one line; empty where its author is not listened to."""
    author, body = _at(comment, "author"), comment.get("body")
    heard = author.get("__typename") == "User" and comment.get("authorAssociation") in _LISTENED_TO
    if not heard or not isinstance(author.get("login"), str) or not isinstance(body, str):
        return ""
    return " ".join(body.encode("utf-8", "replace").decode("utf-8").split())[:MAX_BODY]


def _nodes(value: object, *names: str) -> list[dict[str, Any]]:
    for name in names:
        value = _at(value, name)
    nodes = value.get("nodes") if isinstance(value, dict) else None
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []


def _at(value: object, name: str) -> dict[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
