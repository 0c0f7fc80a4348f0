"""HTTP transport to one host: capped in size and time, with no redirect to another host.

`RequestCall` stands where PyGithub expects a connection. It tells PyGithub that all went well and keeps what really
came, so that PyGithub neither waits nor follows anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ConnectTimeoutError, HTTPError, MaxRetryError, NewConnectionError

MAX_BYTES = 32 * 2**20
"""Of one answer. A diff of GitHub's has about one; a page of a hundred files with their patches may have some ten."""

CONNECT_S = 10.0
READ_S = 30.0
"""Seconds without a byte. GitHub itself ends a request after ten."""

CONNECTIONS = 8

REDIRECTS = 3
"""A renamed repository takes one: https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api."""

_PIECE = 64 * 1024
MOVED = frozenset({301, 302, 307, 308})
_SAFE = frozenset({"GET", "HEAD"})
_NEVER_SENT = (NewConnectionError, ConnectTimeoutError)


class Raw(NamedTuple):
    """An answer as it came; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class BrokenError(Exception):
    """No whole answer came. `sent`: the request may have arrived. `final`: to repeat it is of no use."""

    def __init__(self, why: str, *, sent: bool, final: bool = False) -> None:
        super().__init__(why)
        self.sent = sent
        self.final = final


class HttpSession:
    """Connections to one host; safe to use from several threads. Proxies and certificates as the environment says."""

    def __init__(self, url: str, max_bytes: int = MAX_BYTES) -> None:
        """`max_bytes`: of one answer that is not streamed."""
        self.origin = origin_of(url)
        self._max_bytes = max_bytes
        self._session = requests.Session()
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.auth = _no_netrc
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(pool_connections=1, pool_maxsize=CONNECTIONS, max_retries=0))

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: str | None,
        left: Callable[[], float],
        *,
        follow: bool = True,
    ) -> Raw:
        """Send one request; a redirect is followed where only something is read, and only on this host.

        `left` tells the seconds until the deadline. Without `follow` a redirect is an answer like any other. Raises
        BrokenError.
        """
        for _ in range(REDIRECTS + 1):
            raw = self._once(method, url, headers, body, left)
            if raw.status not in MOVED or not follow:
                return raw
            if method not in _SAFE:
                raise BrokenError(
                    "it has moved, and nothing is written to where a redirect leads", sent=False, final=True
                )
            url = urljoin(url, raw.headers.get("location", ""))
            if origin_of(url) != self.origin:
                raise BrokenError("it redirects to another host", sent=False, final=True)
        raise BrokenError("it redirects again and again", sent=False, final=True)

    def stream(self, url: str, left: Callable[[], float], limit: int) -> Iterator[bytes]:
        """Yield the body of an address on this host, which is asked for without a token; no redirect is followed.

        Raises BrokenError, also behind `limit` bytes.
        """
        timeout = _timeout(left())
        try:
            with self._session.get(url, timeout=timeout, allow_redirects=False, stream=True) as response:
                if response.status_code != HTTPStatus.OK:
                    raise BrokenError(f"the answer is {response.status_code}", sent=True, final=True)
                # As it comes: what is packed is for the caller to unpack, within bounds.
                yield from _pieces(response, left, limit, unpack=False)
        except (requests.RequestException, HTTPError) as error:
            raise BrokenError(type(error).__name__, sent=True) from None

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None, left: Callable[[], float]
    ) -> Raw:
        timeout = _timeout(left())
        data = None if body is None else body.encode("utf-8")
        try:
            with self._session.request(
                method,
                url,
                headers={**headers},
                data=data,
                timeout=timeout,
                allow_redirects=False,
                stream=True,
            ) as response:
                content = b"".join(_pieces(response, left, self._max_bytes, unpack=True))
                names = {name.lower(): value for name, value in response.headers.items()}
                return Raw(response.status_code, names, content)
        except (requests.RequestException, HTTPError) as error:
            raise BrokenError(type(error).__name__, sent=not _never_sent(error)) from None


class RequestCall:
    """One request in the shape of PyGithub's connections."""

    def __init__(self, session: HttpSession, left: Callable[[], float], *, follow: bool = True) -> None:
        self._session = session
        self._left = left
        self._follow = follow
        self._asked: tuple[str, str, str | None, Mapping[str, str]] = ("GET", "/", None, {})
        self.raw: Raw | None = None

    def request(self, verb: str, url: str, body: str | None, headers: Mapping[str, str], stream: object = None) -> None:
        """Take over what PyGithub has made; `url` is a path with its query."""
        del stream
        self._asked = (verb, url, body, headers)

    def getresponse(self) -> Seen:
        """Send it. Raises BrokenError."""
        verb, url, body, headers = self._asked
        place = self._session.origin + url
        self.raw = self._session.send(verb, place, headers, body, self._left, follow=self._follow)
        return Seen()


class Seen:
    """The response that PyGithub is shown for every answer."""

    status = 200

    def getheaders(self) -> list[tuple[str, str]]:
        """No headers, so that PyGithub acts on none."""
        return []

    def read(self) -> str:
        """Nothing: the bytes are kept in the call."""
        return ""


def origin_of(url: str) -> str:
    """Scheme, host and port of an address; empty where it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return ""
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}" if host and parts.username is None else ""


def _timeout(left_s: float) -> tuple[float, float]:
    """Seconds to connect, and without a byte. Raises BrokenError where there is no time left."""
    if left_s <= 0:
        raise BrokenError("there is no time left", sent=False, final=True)
    return min(CONNECT_S, left_s), min(READ_S, left_s)


def _pieces(response: requests.Response, left: Callable[[], float], limit: int, *, unpack: bool) -> Iterator[bytes]:
    """Yield the body as it arrives. Raises BrokenError where it is longer than `limit` or comes too slowly."""
    size = 0
    # `read1` waits for the network once: `stream` waits until a piece is full, and a host may send it byte by byte.
    while piece := response.raw.read1(_PIECE, decode_content=unpack):
        size += len(piece)
        if size > limit:
            raise BrokenError(f"its answer is longer than {limit >> 10:,} KiB", sent=True, final=True)
        if left() <= 0:
            raise BrokenError("there is no time left", sent=True, final=True)
        yield piece


def _never_sent(error: Exception) -> bool:
    """Whether no connection was made, so that no data can have arrived."""
    inner = error.args[0] if error.args else None
    reason = inner.reason if isinstance(inner, MaxRetryError) else inner
    return isinstance(error, requests.exceptions.SSLError | requests.exceptions.ConnectTimeout) or isinstance(
        reason, _NEVER_SENT
    )


def _no_netrc(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep requests from looking for a password of its own."""
    return request
