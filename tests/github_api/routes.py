"""The table of routes, and what a handler is given and gives back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tests.github_api.state import GithubState, Json, Pull, Repository, Token

_WIDE = frozenset({"path", "ref", "basehead"})


@dataclass(frozen=True)
class Reply:
    """An answer. `body` is JSON unless it is bytes; `lost`: the connection is closed without any answer."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    lost: bool = False

    @property
    def data(self) -> bytes:
        """The body as it is sent."""
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


class Refused(Exception):  # noqa: N818 - GitHub's word for no, and no fault of ours
    """Ends a handler with an answer."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


@dataclass(frozen=True)
class Call:
    """One request, as a handler sees it. Names of headers are in lower case."""

    method: str
    path: str
    parts: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    state: GithubState
    token: Token

    def repository(self) -> Repository:
        """The repository of the path."""
        found = self.state.repositories.get(f"{self.parts['owner']}/{self.parts['repo']}".lower())
        if found is None or not self.token.sees(found):
            raise Refused(not_found())
        return found

    def pull(self) -> Pull:
        """The pull request of the path."""
        found = self.repository().pulls.get(int(self.parts["number"]))
        if found is None:
            raise Refused(not_found())
        return found

    def page(self, items: Sequence[Any]) -> Reply:
        """One page of a list, with a link to the next one.

        https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
        """
        size = min(100, max(1, int(self.query.get("per_page", "30"))))
        number = max(1, int(self.query.get("page", "1")))
        headers = {}
        if number * size < len(items):
            query = urlencode({**self.query, "per_page": size, "page": number + 1})
            headers["link"] = f'<{self.state.base_url}{self.path}?{query}>; rel="next"'
        return Reply(200, list(items[(number - 1) * size : number * size]), headers)


def not_found() -> Reply:
    """https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api."""
    body: Json = {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}
    return Reply(404, body)


Handler = Callable[[Call], Reply]


@dataclass(frozen=True)
class Route:
    """One line of the table."""

    method: str
    template: str
    pattern: re.Pattern[str]
    handler: Handler
    needs: tuple[str, str] | None
    anonymous: bool = False
    """No token is asked for, and none must come."""


ROUTES: list[Route] = []
"""All routes, in the order in which they are looked at."""


def route(
    method: str, template: str, *, needs: tuple[str, str] | None = None, anonymous: bool = False
) -> Callable[[Handler], Handler]:
    """Put a handler into the table. `needs`: the permission without which GitHub answers 403, and its level."""

    def enter(handler: Handler) -> Handler:
        pattern = re.sub(r"\{(\w+)\}", lambda match: f"(?P<{match[1]}>{_segment(match[1])})", template)
        ROUTES.append(Route(method, template, re.compile(pattern), handler, needs, anonymous))
        return handler

    return enter


def _segment(name: str) -> str:
    if name == "number" or name.endswith("_id"):
        return r"[0-9]+"
    return r".+" if name in _WIDE else r"[^/]+"
