"""HTTP transport to one host: capped in size and time, with no redirect to another host.

`RequestCall` stands where PyGithub expects a connection. It tells PyGithub that all went well and keeps what really
came, so that PyGithub neither waits nor follows anything.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from socket import socket
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool
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

_LEFT: ContextVar[Callable[[], float]] = ContextVar("left")
"""The seconds until the deadline of the request that is being sent."""


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


class _Received(io.RawIOBase):
    """The bytes that a connection receives, until the deadline. It is looked at before each wait for the network.

    Only here: a head, the sizes of chunks, and what unpacks to nothing may all come byte by byte, and those who read
    them wait until they have all of it.
    """

    def __init__(self, raw: io.RawIOBase, connection: socket) -> None:
        self._raw = raw
        self._connection = connection
        self._left = _LEFT.get()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - a buffer of any kind
        self._connection.settimeout(min(READ_S, self._time_left()))
        try:
            return self._raw.readinto(buffer)
        except TimeoutError:
            self._time_left()
            raise

    def _time_left(self) -> float:
        if (left_s := self._left()) > 0:
            return left_s
        raise BrokenError("there is no time left", sent=True, final=True)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket, *args: Any, **options: Any) -> None:  # noqa: ANN401 - as they come
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Received(self.fp.detach(), sock))


class _PlainConnection(HTTPConnection):
    response_class = _Answer


class _TlsConnection(HTTPSConnection):
    response_class = _Answer


class _Adapter(HTTPAdapter):
    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> HTTPConnectionPool:  # noqa: ANN401 - as they come
        pool = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = _TlsConnection if pool.scheme == "https" else _PlainConnection
        return pool


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
            self._session.mount(scheme, _Adapter(pool_connections=1, pool_maxsize=CONNECTIONS, max_retries=0))

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
        try:
            with self._open("GET", url, left) as response:
                if response.status_code != HTTPStatus.OK:
                    raise BrokenError(f"the answer is {response.status_code}", sent=True, final=True)
                # As it comes: what is packed is for the caller to unpack, within bounds.
                yield from _pieces(response, limit, unpack=False)
        except (requests.RequestException, HTTPError) as error:
            raise BrokenError(type(error).__name__, sent=True) from None

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None, left: Callable[[], float]
    ) -> Raw:
        data = None if body is None else body.encode("utf-8")
        try:
            with self._open(method, url, left, headers, data) as response:
                content = b"".join(_pieces(response, self._max_bytes, unpack=True))
                names = {name.lower(): value for name, value in response.headers.items()}
                return Raw(response.status_code, names, content)
        except (requests.RequestException, HTTPError) as error:
            raise BrokenError(type(error).__name__, sent=not _never_sent(error)) from None

    def _open(
        self,
        method: str,
        url: str,
        left: Callable[[], float],
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> requests.Response:
        """The head of an answer; its body is still to be read, until the same deadline."""
        timeout = _timeout(left())
        token = _LEFT.set(left)
        try:
            return self._session.request(
                method, url, headers=headers, data=data, timeout=timeout, allow_redirects=False, stream=True
            )
        finally:
            _LEFT.reset(token)


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


def _pieces(response: requests.Response, limit: int, *, unpack: bool) -> Iterator[bytes]:
    """Yield the body as it arrives. Raises BrokenError where it is longer than `limit`."""
    size = 0
    while piece := response.raw.read1(_PIECE, decode_content=unpack):
        size += len(piece)
        if size > limit:
            raise BrokenError(f"its answer is longer than {limit >> 10:,} KiB", sent=True, final=True)
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
