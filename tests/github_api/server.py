"""The server, and what tests do with it."""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.git_repo import commit_of
from tests.github_api import contracts, graphql, reads, writes
from tests.github_api.refusals import bad_token, missing_permission, not_found, primary_limit
from tests.github_api.routes import ROUTES, Call, Refused, Reply, Route
from tests.github_api.state import Account, GithubState, Ordered, Pull, Repository, Token

HANDLERS = (graphql, reads, writes)
"""The modules with routes: to be imported is enough."""

RESET = 4_000_000_000
"""When the hourly limits begin anew, in seconds since 1970: never while a test runs."""

EVERYTHING = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
"""What the first token may."""


@dataclass(frozen=True)
class Recorded:
    """One request as it came in, and what was answered. Names of headers are in lower case."""

    method: str
    path: str
    """Without the mount and the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    status: int


class FakeGitHub:
    """The server; a context manager. `mount` is "/api/v3" for an Enterprise server."""

    def __init__(self, mount: str = "") -> None:
        self.state = GithubState()
        self.recorded: list[Recorded] = []
        self.problems: list[str] = []
        self.token = "ghs_" + "t" * 36
        self.own = self.state.account("reviewbot[bot]")
        self.state.tokens[self.token] = Token(self.own, dict(EVERYTHING), app_id=4_711)
        self._mount = mount
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.state.base_url = self.url

    @property
    def url(self) -> str:
        """The REST API's address."""
        return f"http://127.0.0.1:{self._server.server_port}{self._mount}"

    def add_token(self, token: str, login: str, permissions: Mapping[str, str]) -> None:
        """Another token, of an account that may be new."""
        self.state.tokens[token] = Token(self.state.account(login), dict(permissions))

    def add_repository(self, name: str, git_folder: Path, *, private: bool = False) -> Repository:
        """A repository; what is committed in the folder is there at once."""
        repository = Repository(self.state.next_id(), name, git_folder, private)
        self.state.repositories[name.lower()] = repository
        owner = name.partition("/")[0]
        self.state.accounts.setdefault(owner, Account(self.state.next_id(), owner, "Organization"))
        return repository

    def open_pull(
        self,
        name: str,
        base_ref: str,
        head_ref: str,
        *,
        title: str = "A change",
        body: str | None = "",
        author: str = "contributor",
        draft: bool = False,
        fork: str | None = None,
        labels: Sequence[str] = (),
    ) -> Pull:
        """A pull request between two branches; `fork` names the repository of the head where it is another one.

        GitHub shows a fork's commits in the base repository too, and so the git folder of that one must hold them.
        """
        repository = self.state.repositories[name.lower()]
        head = self.state.repositories[fork.lower()] if fork else repository
        pull = Pull(
            number=len(repository.pulls) + 1,
            repository=repository,
            base_ref=base_ref,
            base_sha=commit_of(repository.folder, base_ref),
            head_ref=head_ref,
            head_sha=commit_of(head.folder, head_ref),
            head_repository=head,
            title=title,
            body=body,
            author=self.state.account(author),
            draft=draft,
            labels=tuple(labels),
        )
        repository.pulls[pull.number] = pull
        return pull

    def push(self, name: str, number: int, commit: str) -> None:
        """Move the head of a pull request to a commit."""
        pull = self.state.repositories[name.lower()].pulls[number]
        with self.state.lock:
            pull.head_sha = commit_of((pull.head_repository or pull.repository).folder, commit)

    def refuse(
        self,
        method: str,
        pattern: str,
        reply: Reply | Callable[[], Reply],
        *,
        times: int = 1,
        carried_out: bool = False,
    ) -> None:
        """Answer the next requests whose path holds a pattern with this; a function is asked for each."""
        make = reply if callable(reply) else lambda: reply
        self.state.ordered.append(Ordered(method, pattern, make, times, carried_out))

    def paths(self, method: str) -> list[str]:
        """The paths that were asked for by one method, in order."""
        return [each.path for each in self.recorded if each.method == method]

    def check(self) -> None:
        """Fail where a request was not as GitHub takes them."""
        assert not self.problems, "\n".join(self.problems)

    def answer(self, method: str, target: str, headers: Mapping[str, str], data: bytes) -> Reply:
        """The answer to a request, which is recorded and judged."""
        address = urlsplit(target)
        path = address.path.removeprefix(self._mount) if address.path != "/api/graphql" else "/graphql"
        query = dict(parse_qsl(address.query, keep_blank_values=True))
        body = json.loads(data) if data else None
        with self.state.lock:
            self.problems += contracts.problems_of(method, path, query, data)
            call = Call(method, path, {}, query, headers, body, self.state, Token(self.own, {}))
            try:
                reply = self._counted(call) or self._told(call, self._reply(call))
            except Exception:  # noqa: BLE001 - a fault of this fake must fail the test, and not look like a lost answer
                self.problems.append(f"{method} {path}: {traceback.format_exc()}")
                reply = Reply(500, {"message": "a fault of the fake"})
            self.recorded.append(Recorded(method, path, query, headers, body, reply.status))
        return reply

    def _counted(self, call: Call) -> Reply | None:
        """Count it, and refuse it where nothing is left."""
        limit = _limit_of(call)
        if limit not in self.state.left:
            return None
        if self.state.left[limit] <= 0:
            return primary_limit(RESET)
        self.state.left[limit] -= 1
        return None

    def _told(self, call: Call, reply: Reply) -> Reply:
        """https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit."""
        limit = _limit_of(call)
        if limit not in self.state.left:
            return reply
        told = {"x-ratelimit-remaining": f"{self.state.left[limit]}", "x-ratelimit-reset": f"{RESET}"}
        return replace(reply, headers={**told, "x-ratelimit-resource": limit, **reply.headers})

    def _reply(self, call: Call) -> Reply:
        for ordered in self.state.ordered:
            if ordered.left and ordered.method == call.method and re.search(ordered.pattern, call.path):
                ordered.left -= 1
                if ordered.carried_out:
                    _routed(call)
                reply: Reply = ordered.make()
                return reply
        return _routed(call)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _limit_of(call: Call) -> str:
    return "graphql" if call.path == "/graphql" else "core"


def _routed(call: Call) -> Reply:
    try:
        route, parts = _found(call)
        if route.anonymous:
            assert "authorization" not in call.headers, "a token was sent where none belongs"
            return route.handler(Call(**{**vars(call), "parts": parts}))
        token = _token(call)
        if route.needs and not token.may(*route.needs):
            return missing_permission(*route.needs)
        return route.handler(Call(**{**vars(call), "parts": parts, "token": token}))
    except Refused as refused:
        return refused.reply


def _found(call: Call) -> tuple[Route, dict[str, str]]:
    for route in ROUTES:
        match = route.pattern.fullmatch(call.path)
        if match and route.method == call.method:
            return route, {name: unquote(value) for name, value in match.groupdict().items()}
    raise Refused(not_found())


def _token(call: Call) -> Token:
    given = call.headers.get("authorization", "").partition(" ")[2]
    token = call.state.tokens.get(given)
    if token is None:
        raise Refused(bad_token())
    return token


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: FakeGitHub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _serve(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.api.answer(self.command, self.path, headers, data)
        self.close_connection = True
        if reply.lost:
            return
        try:
            self._send(reply)
        except ConnectionError:
            return  # whoever asked has gone away, as clients with a deadline do

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        kind = "text/plain; charset=utf-8" if isinstance(reply.body, bytes) else "application/json; charset=utf-8"
        sent = {"content-type": kind, **reply.headers, "content-length": str(len(reply.data)), "connection": "close"}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.data)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815 - the library's names

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""
