"""The side of our GitHub that an App sees: its own word, tokens of installations, deliveries, commands, people.

`AppGithub` is a `FakeGitHub` with an App that is installed. Refusals are GitHub's:
https://docs.github.com/en/rest/apps/apps and, beside it, .../rest/apps/webhooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github_api.reads import account_json, pull_json
from tests.github_api.refusals import not_found
from tests.github_api.routes import Call, Refused, Reply, route
from tests.github_api.server import FakeGitHub
from tests.github_api.state import Json, Token

APP_ID = 4_711
MAX_S = 600
"""Between the times in a word: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app."""

MAY = {"checks": "write", "contents": "read", "metadata": "read", "pull_requests": "write"}
"""What the App was given when it was installed."""


@dataclass
class Installation:
    """One account that has the App."""

    installation_id: int
    repositories: tuple[str, ...]
    created_at: str = "2026-01-01T00:00:00Z"
    suspended_at: str | None = None


@dataclass
class Keyring(dict[str, Token]):
    """The tokens, and the App whose signed words count as one."""

    api: FakeGitHub
    public: tuple[rsa.RSAPublicKey, ...]
    installations: dict[int, Installation] = field(default_factory=dict)
    deliveries: list[Json] = field(default_factory=list)
    may: dict[str, str] = field(default_factory=dict)
    """By login: admin, write, read or none."""
    asked: list[tuple[str, Json]] = field(default_factory=list)
    """Labels, reactions and reviewers, with what was asked."""
    given: list[Token] = field(default_factory=list)
    life_s: float = 3_600.0

    def get(self, given: str, default: Any = None) -> Any:
        """A known token, or the App by its word."""
        return super().get(given) or (self._app(given) if given.count(".") == 2 else default)

    def _app(self, word: str) -> Token | None:
        for key in self.public:
            try:
                told = jwt.decode(word, key, algorithms=["RS256"], options={"require": ["exp", "iat", "iss"]})
            except jwt.PyJWTError:
                continue
            if told["iss"] == str(APP_ID) and told["exp"] - told["iat"] <= MAX_S:
                return Token(self.api.own, {"app": "write"}, APP_ID)
        return None


class AppGithub(FakeGitHub):
    """With an App whose private keys are `pems`."""

    def __init__(self, *pems: str) -> None:
        super().__init__()
        keys = tuple(_public(pem) for pem in pems)
        self.app = Keyring(self, keys)
        self.app.update(self.state.tokens)
        self.state.tokens = self.app

    def install(self, installation: int, *repositories: str, **more: Any) -> Installation:
        """Have the App on some repositories."""
        made = self.app.installations[installation] = Installation(installation, repositories, **more)
        return made


def a_key() -> str:
    """A private key as GitHub gives it."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


def _public(pem: str) -> rsa.RSAPublicKey:
    key = serialization.load_pem_private_key(pem.encode(), None)
    return cast("rsa.RSAPrivateKey", key).public_key()


def _app(call: Call) -> Keyring:
    return cast("Keyring", call.state.tokens)


@route("GET", "/app", needs=("app", "write"))
def the_app(call: Call) -> Reply:
    return Reply(200, {"id": APP_ID, "slug": "reviewbot"})


@route("POST", "/app/installations/{installation_id}/access_tokens", needs=("app", "write"))
def a_token(call: Call) -> Reply:
    app = _app(call)
    installation = app.installations.get(int(call.parts["installation_id"]))
    if installation is None:
        raise Refused(not_found())
    wanted: Mapping[str, str] = call.body.get("permissions") or MAY
    known = {call.state.repositories[name.lower()].repository_id for name in installation.repositories}
    too_much = any(MAY.get(name) not in ("write", level) for name, level in wanted.items())
    if too_much or not set(call.body.get("repository_ids", ())) <= known:
        return Reply(422, {"message": "There is at least one repository or permission that is not granted."})
    token = Token(app.api.own, dict(wanted), APP_ID, frozenset(call.body.get("repository_ids") or known))
    name = f"ghs_{len(app.given):036}"
    app[name] = token
    app.given.append(token)
    ends = datetime.now(UTC) + timedelta(seconds=app.life_s)
    return Reply(201, {"token": name, "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ"), "permissions": wanted})


@route("GET", "/app/installations", needs=("app", "write"))
def installations(call: Call) -> Reply:
    found = _app(call).installations.values()
    return call.page([{"id": each.installation_id, "created_at": each.created_at, "suspended_at": each.suspended_at}
                      for each in found])  # fmt: skip


@route("GET", "/installation/repositories", needs=("metadata", "read"))
def repositories(call: Call) -> Reply:
    known = call.token.repositories or frozenset()
    found = [each for each in call.state.repositories.values() if each.repository_id in known]
    pushed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    listed = [{"id": each.repository_id, "full_name": each.name, "pushed_at": pushed} for each in found]
    return Reply(200, {"total_count": len(listed), "repositories": listed})


@route("GET", "/app/hook/deliveries", needs=("app", "write"))
def deliveries(call: Call) -> Reply:
    return Reply(200, sorted(_app(call).deliveries, key=lambda each: str(each["delivered_at"]), reverse=True))


@route("POST", "/app/hook/deliveries/{delivery_id}/attempts", needs=("app", "write"))
def deliver_again(call: Call) -> Reply:
    _app(call).asked.append(("delivery", {"id": int(call.parts["delivery_id"])}))
    return Reply(202, {})


@route("GET", "/repos/{owner}/{repo}/collaborators/{username}/permission", needs=("metadata", "read"))
def permission(call: Call) -> Reply:
    call.repository()
    return Reply(200, {"permission": _app(call).may.get(call.parts["username"], "none")})


@route("GET", "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", needs=("pull_requests", "read"))
def list_reactions(call: Call) -> Reply:
    found = [each for pull in call.repository().pulls.values() for each in pull.comments]
    comment = next((each for each in found if each.comment_id == int(call.parts["comment_id"])), None)
    if comment is None:
        return Reply(404, {"message": "Not Found"})
    rows = enumerate(comment.reactions, 1)
    return call.page([{"id": n, "content": what, "user": account_json(who)} for n, (what, who) in rows])


@route("POST", "/repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", needs=("pull_requests", "write"))
@route("POST", "/repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions", needs=("pull_requests", "write"))
def react(call: Call) -> Reply:
    _app(call).asked.append((f"reaction to {call.parts['comment_id']}", call.body))
    return Reply(201, {})


@route("POST", "/repos/{owner}/{repo}/issues/{number}/labels", needs=("pull_requests", "write"))
def label(call: Call) -> Reply:
    call.pull()
    _app(call).asked.append(("label", call.body))
    return Reply(200, [])


@route("POST", "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", needs=("pull_requests", "write"))
def ask_reviewers(call: Call) -> Reply:
    author = call.pull().author
    if author is not None and author.login in call.body.get("reviewers", ()):
        return Reply(422, {"message": "Review cannot be requested from pull request author."})
    _app(call).asked.append(("reviewers", call.body))
    return Reply(201, {})


@route("GET", "/repos/{owner}/{repo}/commits/{sha}/pulls", needs=("pull_requests", "read"))
def pulls_of_commit(call: Call) -> Reply:
    found = [each for each in call.repository().pulls.values() if each.head_sha == call.parts["sha"]]
    return call.page([pull_json(each) for each in found])
