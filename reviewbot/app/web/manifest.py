"""The App's permissions and events: the content of `app.yaml`, and the manifest that GitHub is sent.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

PERMISSIONS: Final[Mapping[str, str]] = {
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "metadata": "read",
}
"""Reactions and labels of pull requests come with `pull_requests`, so that `issues` is not asked for."""

EVENTS: Final = (
    "pull_request",
    "issue_comment",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
)

SENT_ANYWAY: Final = frozenset({"installation", "installation_repositories"})
"""Every App gets these. GitHub refuses a manifest that names them: "Default events unsupported: installation"."""

DESCRIPTION: Final = "Reviews pull requests: one review, what it looked at, and what it did not."


class Hook(TypedDict):
    """Where events go."""

    url: str
    active: bool


class Manifest(TypedDict):
    """What the host is sent, as JSON values."""

    name: str
    url: str
    description: str
    hook_attributes: Hook
    redirect_url: str
    public: bool
    default_permissions: dict[str, str]
    default_events: list[str]


def manifest(name: str, public_url: str, callback_url: str) -> Manifest:
    """The manifest of one installation's App.

    Args:
        name: unique on the whole host; at most 34 characters.
        public_url: where the host reaches this server.
        callback_url: where the browser comes back to with the code.
    """
    return {
        "name": name,
        "url": public_url,
        "description": DESCRIPTION,
        "hook_attributes": {"url": f"{public_url}/webhook", "active": True},
        "redirect_url": callback_url,
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": [event for event in EVENTS if event not in SENT_ANYWAY],
    }
