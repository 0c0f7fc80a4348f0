"""What a host sends to the App: payloads of our own making, signed; and the parts of an application that takes them."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.store.inbox.inbox import Inbox, open_inbox
from reviewbot.app.web.app import create_app
from reviewbot.app.web.parts import WebParts
from reviewbot.config import Settings

SECRET = "test-webhook-secret-not-real"
APP_ID, BOT_ID = 77, 4_077
REPOSITORY = {"id": 1, "full_name": "octo/repo", "private": True}
PERSON = {"login": "dev", "type": "User", "id": 11}
BOT = {"login": "dependabot[bot]", "type": "Bot", "id": 12}
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'A' * 64}\n{'b' * 64}\n-----END RSA PRIVATE KEY-----\n"

CREDENTIALS = Credentials(
    app_id=APP_ID, slug="reviewbot", private_keys=(KEY,), webhook_secrets=(SECRET.encode(),), bot_id=BOT_ID
)


def sha(letter: str = "a") -> str:
    """A commit's name."""
    return letter * 40


def pull(**fields: Any) -> dict[str, Any]:
    """An open pull request of a fork."""
    known = {
        "number": 7,
        "title": "T",
        "draft": False,
        "state": "open",
        "user": PERSON,
        "author_association": "CONTRIBUTOR",
        "labels": [],
        "head": {"sha": sha("a"), "ref": "feature", "repo": None},
        "base": {"sha": sha("b"), "ref": "main", "repo": REPOSITORY},
        "somebody": {"added": ["this", {"later": 1.5}]},
    }
    return {**known, **fields}


def event(action: str = "opened", **fields: Any) -> dict[str, Any]:
    """What every event has. A pull request in it goes into the repository of the event."""
    told = {"action": action, "repository": REPOSITORY, "installation": {"id": 42}, "sender": PERSON, **fields}
    found = told.get("pull_request")
    if isinstance(found, dict) and "base" in found:
        told["pull_request"] = {**found, "base": {**found["base"], "repo": told["repository"]}}
    return told


def pull_event(action: str = "opened", *, head: str = "a", **fields: Any) -> dict[str, Any]:
    """`pull_request`; fields named like those of a pull request are its own."""
    outer = {
        key: fields.pop(key) for key in ("sender", "installation", "repository", "number", "changes") if key in fields
    }
    side = {"sha": sha(head) if len(head) == 1 else head, "ref": fields.pop("head_ref", "feature"), "repo": None}
    return event(action, pull_request=pull(head=side, **fields), **{"number": 7, **outer})


def comment_event(body: str = "/reviewbot review", association: str = "MEMBER", **fields: Any) -> dict[str, Any]:
    """`issue_comment` on a pull request."""
    comment = {"id": 900, "body": body, "author_association": association, "user": PERSON, **fields.pop("comment", {})}
    issue = {"number": 7, "state": "open", "pull_request": {}, **fields.pop("issue", {})}
    return event(fields.pop("action", "created"), comment=comment, issue=issue, **fields)


def check_event(
    kind: str = "check_run", app: int = APP_ID, pulls: tuple[int, ...] = (7,), **fields: Any
) -> dict[str, Any]:
    """`check_run` or `check_suite`, rerequested."""
    part = {"id": 500, "head_sha": sha("c"), "app": {"id": app}, "pull_requests": [{"number": each} for each in pulls]}
    return event(fields.pop("action", "rerequested"), **{kind: part}, **fields)


def thread_event(action: str = "resolved", **fields: Any) -> dict[str, Any]:
    """`pull_request_review_thread`."""
    comment = {"id": 900, "body": "a finding", "author_association": "MEMBER", "user": PERSON}
    thread = {"node_id": "T_1", "comments": [comment]}
    return event(action, pull_request=pull(), thread=thread, **fields)


def group_event(ref: str = f"refs/heads/gh-readonly-queue/main/pr-7-{'b' * 40}", **fields: Any) -> dict[str, Any]:
    """`merge_group`, checks requested."""
    group = {"head_sha": sha("d"), "head_ref": ref, "base_ref": "refs/heads/main", "base_sha": sha("b")}
    return event(fields.pop("action", "checks_requested"), merge_group=group, **fields)


def body_of(payload: object) -> bytes:
    """As it goes over the wire."""
    return json.dumps(payload).encode()


def signature(body: bytes, secret: str = SECRET) -> str:
    """`X-Hub-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers_of(body: bytes, name: str = "pull_request", delivery: str = "d-1", **changed: str | None) -> dict[str, str]:
    """All headers of a delivery; `changed` by name with "_" for "-", None leaves one out."""
    known = {
        "Content-Type": "application/json",
        "X-GitHub-Event": name,
        "X-GitHub-Delivery": delivery,
        "X-Hub-Signature-256": signature(body),
    }
    given = {key.replace("_", "-"): value for key, value in changed.items()}
    return {key: value for key, value in {**known, **given}.items() if value is not None}


@dataclass
class Service:
    """An application and its inbox."""

    app: Flask
    inbox: Inbox
    parts: WebParts

    def send(
        self, payload: object, name: str = "pull_request", delivery: str = "d-1", **changed: str | None
    ) -> TestResponse:
        """Deliver a payload."""
        return self.send_bytes(body_of(payload), name, delivery, **changed)

    def send_bytes(
        self, body: bytes, name: str = "pull_request", delivery: str = "d-1", **changed: str | None
    ) -> TestResponse:
        """Deliver these bytes."""
        return self.app.test_client().post("/webhook", data=body, headers=headers_of(body, name, delivery, **changed))

    def get(self, path: str, peer: str = "127.0.0.1", host: str = "localhost:8000", **headers: str) -> TestResponse:
        """Ask for a page."""
        given = {"Host": host, **{key.replace("_", "-"): value for key, value in headers.items()}}
        return self.app.test_client().get(path, headers=given, environ_overrides={"REMOTE_ADDR": peer})

    def reviews(self) -> int:
        """How many deliveries that ask for a review wait or are under way."""
        waiting = self.inbox.claim(10_000, 0.0, "test")
        return sum(not each.trigger.refusal and each.trigger.kind in {"head", "command", "rerun"} for each in waiting)


def service(folder: Path, settings: Settings | None = None, **fields: Any) -> Service:
    """An application with an inbox in this folder; it does not wait for the disk."""
    inbox = open_inbox(str(folder / "inbox.sqlite"), durable=False)
    parts = replace(WebParts(inbox, lambda: CREDENTIALS, settings or Settings()), **fields)
    return Service(create_app(parts), inbox, parts)
