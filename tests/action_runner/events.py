"""Payloads of events, made by us in the form that GitHub documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Payload = dict[str, Any]

REPOSITORY = "acme/shop"
zeros = "0" * 40


def _repository(name: str) -> Payload:
    owner, _, short = name.partition("/")
    return {"id": 7, "name": short, "full_name": name, "owner": {"login": owner, "id": 8}, "default_branch": "main"}


def pull_request(
    number: int = 1,
    action: str = "opened",
    *,
    repository: str = REPOSITORY,
    fork: str | None = None,
    title: str = "A change",
    branch: str = "feature",
    body: str | None = "",
) -> Payload:
    """A pull request's event."""
    head = _repository(fork or repository)
    return {
        "action": action,
        "number": number,
        "pull_request": {
            "number": number,
            "title": title,
            "body": body,
            "draft": False,
            "head": {"ref": branch, "label": f"acme:{branch}", "sha": "a" * 40, "repo": head},
            "base": {"ref": "main", "sha": "b" * 40, "repo": _repository(repository)},
            "user": {"login": "contributor", "id": 9},
        },
        "repository": _repository(repository),
        "sender": {"login": "contributor", "id": 9},
    }


def pushed(
    before: str,
    after: str,
    commits: Sequence[str] = (),
    *,
    forced: bool = False,
    repository: str = REPOSITORY,
    branch: str = "main",
    message: str = "a commit",
) -> Payload:
    """A push's event. All zeros before: the branch is new; after: it was deleted."""
    listed = [{"id": sha, "message": message, "distinct": True} for sha in commits]
    return {
        "ref": f"refs/heads/{branch}",
        "before": before,
        "after": after,
        "created": before == zeros,
        "deleted": after == zeros,
        "forced": forced,
        "base_ref": None,
        "commits": listed,
        "head_commit": listed[-1] if listed else None,
        "repository": _repository(repository),
        "sender": {"login": "contributor", "id": 9},
    }


def dispatched(repository: str = REPOSITORY, **inputs: str) -> Payload:
    """The event of a manual run."""
    return {
        "inputs": inputs or None,
        "ref": "refs/heads/main",
        "repository": _repository(repository),
        "sender": {"login": "contributor", "id": 9},
        "workflow": ".github/workflows/review.yml",
    }
