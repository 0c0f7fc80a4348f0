"""HTTP client of one GitHub, over PyGithub's requester: the only file that knows PyGithub.

PyGithub builds the request: address, token, version, JSON. What it would do on its own is taken from it: its retries,
its pauses, its redirects, its unbounded reading. `rate_limits.py` says when something is repeated, `errors.py` what an
answer means, `transport.py` reads it.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self, cast
from urllib.parse import parse_qsl, urljoin, urlsplit

from github import Auth
from github.Requester import HTTPSRequestsConnectionClass, Requester

from reviewbot import __version__
from reviewbot.domain.errors import HostError, HostUnknownError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.errors import GRAPHQL, Failed, fault, graphql_fault
from reviewbot.hosts.github.rate_limits import (
    DEADLINE_S,
    BlockingClock,
    RemainingRequests,
    RetryableError,
    RetryPolicy,
)
from reviewbot.hosts.github.transport import MOVED, BrokenError, HttpSession, Raw, RequestCall, origin_of

JSON = Any
"""What a JSON text holds."""

API_VERSION = "2022-11-28"
"""Of REST: https://docs.github.com/en/rest/about-the-rest-api/api-versions; every supported server has it."""

ACCEPT = "application/vnd.github+json"

PER_PAGE = 100
"""The most that GitHub lists at once."""

MAX_PAGES = 200
"""Of one list; the longest that GitHub gives are shorter."""

READING = frozenset({"GET", "HEAD"})
REPEATABLE = frozenset({*READING, "PUT"})
"""Methods of which two do what one does."""

_PATH = re.compile(r"(?:/[A-Za-z0-9._~%:@+,=-]+)+")
_SUCCESS = range(HTTPStatus.OK, HTTPStatus.MULTIPLE_CHOICES)
_NEXT = re.compile(r'<([^<>"\s]{1,4096})>\s*;\s*rel="next"')


@dataclass(frozen=True)
class ApiAnswer:
    """A successful answer. `data` is its JSON, or its bytes where another media type was asked for."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    data: JSON


class GithubClient(AbstractContextManager["GithubClient"]):
    """One GitHub under one token; a context manager. Blocking, and safe to use from several threads.

    Raises HostAccessError, HostMissingError, HostInvalidError, HostLimitError, HostUnknownError and plain HostError.
    """

    def __init__(
        self,
        access: GithubAccess,
        clock: BlockingClock = time,
        deadline_s: float = DEADLINE_S,
        before_write: Callable[[], None] = lambda: None,
    ) -> None:
        """`deadline_s`: seconds from now after which nothing is sent or waited for.

        `before_write` is called right before every request that changes something; what it raises stops the request.
        """
        self.access = access
        self._before_write = before_write
        self._session = HttpSession(access.api_url)
        self._clock = clock
        self._retry_policy = RetryPolicy(self._clock, deadline_s)
        self._left = RemainingRequests()
        self._requester = Requester(
            auth=Auth.Token(access.token),
            base_url=access.api_url,
            timeout=1,  # never in force: the connections are ours
            user_agent=f"reviewbot/{__version__}",
            per_page=PER_PAGE,
            verify=True,
            retry=0,
            pool_size=1,
            api_version=API_VERSION,
        )

    def within(self, deadline_s: float) -> Self:
        """Begin a new deadline, so many seconds from now: a review may take longer than reading and posting do."""
        self._retry_policy = RetryPolicy(self._clock, deadline_s)
        return self

    def wait(self, seconds: float) -> None:
        """Wait as a HostLimitError asked. Raises HostLimitError at once where the deadline comes first."""
        self._retry_policy.wait(seconds)

    def remaining(self, limit: str = "core") -> int | None:
        """Requests that GitHub leaves this token in this hour ("core": of REST; "graphql"); None: not known."""
        return self._left.of(limit, self._clock.time())

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: JSON = None,
        accept: str | None = None,
        repeatable: bool | None = None,
    ) -> ApiAnswer:
        """Send a request; a repeatable one is sent again where GitHub is busy or cannot be reached.

        What is not repeatable arrives once at most: HostUnknownError says that it may or may not have been carried out,
        and any other error that it was not; after a HostLimitError it is the caller who waits (see `wait`). `path` is
        our own, its parts checked and quoted.
        """
        _check_path(path)
        if method not in READING:
            self._before_write()
        again = method in REPEATABLE if repeatable is None else repeatable
        asked = _Asked(method, path, dict(query or {}), body, accept or ACCEPT)
        raw = self._retry_policy.carry_out(lambda: self._once(asked, repeatable=again))
        return ApiAnswer(raw.status, raw.headers, raw.content if accept else _json(raw, asked.about, repeatable=again))

    def redirection(self, path: str) -> str:
        """The address that GitHub redirects `path` to, without following it. Raises HostError and its kinds."""
        _check_path(path)
        asked = _Asked("GET", path, {}, None, ACCEPT)
        raw = self._retry_policy.carry_out(lambda: self._once(asked, repeatable=True, follow=False))
        if raw.status not in MOVED:
            raise HostError(f"GitHub answers {asked.about} with {raw.status} and not with another address")
        return urljoin(self.access.api_url, raw.headers.get("location", ""))

    def remaining_s(self) -> float:
        """Seconds until the deadline; below zero after it."""
        return self._retry_policy.remaining_s()

    def pages(self, path: str, *, query: Mapping[str, str | int] | None = None) -> Iterator[JSON]:
        """Yield the data of each page of a list, by the links to the next one, which stay on this host."""
        asked: dict[str, str | int] = {"per_page": PER_PAGE, **(query or {})}
        for _ in range(MAX_PAGES):
            answer = self.request("GET", path, query=asked)
            yield answer.data
            following = _NEXT.search(answer.headers.get("link", ""))
            if following is None:
                return
            path, asked = self._place_of(following[1])
        raise HostError(f"GitHub lists more than {MAX_PAGES} pages of {path}")

    def items(
        self, path: str, *, query: Mapping[str, str | int] | None = None, key: str = ""
    ) -> Iterator[dict[str, JSON]]:
        """Yield each object of all pages of a list; `key` is where they stand in an answer that is no list itself."""
        for page in self.pages(path, query=query):
            listed = page.get(key) if key and isinstance(page, dict) else page
            if not isinstance(listed, list):
                raise HostError(f"GitHub answers no list to GET {path}")
            yield from (item for item in listed if isinstance(item, dict))

    def graphql(self, document: str, variables: Mapping[str, JSON]) -> dict[str, JSON]:
        """The `data` of a GraphQL answer without any error. A query is repeatable; a mutation is not."""
        again = not document.lstrip().startswith("mutation")
        if not again:
            self._before_write()
        body = {"query": document, "variables": dict(variables)}
        asked = _Asked("POST", self._requester.graphql_url, {}, body, ACCEPT)

        def once() -> dict[str, JSON]:
            data = _json(self._once(asked, repeatable=again), GRAPHQL, repeatable=again)
            if not isinstance(data, dict) or data.get("errors") or not isinstance(data.get("data"), dict):
                raise graphql_fault(data.get("errors") if isinstance(data, dict) else None)
            found: dict[str, JSON] = data["data"]
            return found

        return self._retry_policy.carry_out(once)

    def _once(self, asked: _Asked, *, repeatable: bool, follow: bool = True) -> Raw:
        """One try. Raises RetryableError where another one may fare better, else HostError and its kinds."""
        call = RequestCall(self._session, self._retry_policy.remaining_s, follow=follow)
        try:
            self._requester.requestJson(
                asked.method,
                asked.path,
                asked.query,
                {"Accept": asked.accept},
                asked.body,
                cast("HTTPSRequestsConnectionClass", call),
            )
        except BrokenError as error:
            raise _connection_error(self._session.origin, asked.about, error, repeatable=repeatable) from None
        raw = cast("Raw", call.raw)
        self._left.note(raw.headers, "graphql" if asked.about == GRAPHQL else "core")
        # A 202 to a question says that the answer is still being made.
        if raw.status in MOVED and not follow:
            return raw
        if raw.status in _SUCCESS and not (raw.status == HTTPStatus.ACCEPTED and asked.method == "GET"):
            return raw
        failed = Failed(asked.about, raw.status, raw.headers, _json_or_none(raw.content), self._clock.time())
        raise fault(failed, repeatable=repeatable)

    def _place_of(self, url: str) -> tuple[str, dict[str, str | int]]:
        """The path and the query of a link, which must lie on this host and below the same mount."""
        parts, base = urlsplit(url), urlsplit(self.access.api_url)
        path = parts.path.removeprefix(base.path)
        if origin_of(url) != self._session.origin or not parts.path.startswith(f"{base.path}/"):
            raise HostError("GitHub's list goes on at another host; nothing is sent there")
        return path, dict(parse_qsl(parts.query, keep_blank_values=True))


@dataclass(frozen=True)
class _Asked:
    """One request, before PyGithub makes it."""

    method: str
    path: str
    query: dict[str, str | int]
    body: JSON
    accept: str

    @property
    def about(self) -> str:
        """Its name in messages."""
        return GRAPHQL if "://" in self.path else f"{self.method} {self.path}"


def _check_path(path: str) -> None:
    """Raise HostError for what is no path of our own making."""
    if not _PATH.fullmatch(path) or "/../" in f"{path}/" or "/./" in f"{path}/":
        raise HostError(f"no path of GitHub's API: {path[:100]!r}")


def _connection_error(origin: str, about: str, error: BrokenError, *, repeatable: bool) -> Exception:
    """What it means that no whole answer came."""
    if error.sent and not repeatable:
        return HostUnknownError(f"GitHub did not answer {about} ({error}): it may or may not have been done")
    failure = HostError(
        f"GitHub cannot be reached at {origin} for {about}: {error}; is this machine online, and does it need a proxy?"
    )
    return failure if error.final else RetryableError(failure)


def _json(raw: Raw, about: str, *, repeatable: bool) -> JSON:
    """The JSON of a successful answer; None where there is none. What is written may be done, whatever came back."""
    if not raw.content:
        return None
    data = _json_or_none(raw.content)
    if data is None and raw.content.strip() != b"null":
        message = f"GitHub answers what is no JSON to {about}; is the address of its API right?"
        raise HostError(message) if repeatable else HostUnknownError(f"{message} It may or may not have been done")
    return data


def _json_or_none(content: bytes) -> JSON:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
