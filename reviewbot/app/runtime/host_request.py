"""Send one HTTP request to the configured code host, with bounds of time and size."""

from __future__ import annotations

import http.client
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from reviewbot.domain.errors import HostError

TIMEOUT_S = 15.0
MAX_ANSWER_BYTES = 256 * 1024


def send_request(  # noqa: PLR0913 - the parts of a request, by name
    method: str,
    base_url: str,
    path: str,
    headers: Mapping[str, str],
    body: str = "",
    *,
    timeout_s: float = TIMEOUT_S,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> tuple[int, bytes]:
    """Status and body of the answer; a redirect is an answer like any other. Raises HostError where there is none.

    Args:
        method: "GET" or "POST".
        base_url: scheme, host and a plain path; from the configuration, never from a request.
        path: what follows it, with its query.
        headers: besides those of the connection.
        body: ASCII.
        timeout_s: for each wait on the network, and for the whole body, which may come byte by byte.
        max_bytes: of the answer that are read; the rest is cut off.
    """
    parts = urlsplit(base_url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=timeout_s)
    known = {"Accept": "application/vnd.github+json", "User-Agent": "reviewbot"}
    length = {"Content-Length": str(len(body))} if method == "POST" else {}
    try:
        connection.request(method, parts.path + path, body=body or None, headers={**known, **length, **headers})
        answer = connection.getresponse()
        return answer.status, _read_body(answer, max_bytes, time.monotonic() + timeout_s)
    except (OSError, http.client.HTTPException) as error:
        raise HostError(f"GitHub cannot be reached ({type(error).__name__})") from None
    finally:
        connection.close()


def _read_body(answer: http.client.HTTPResponse, max_bytes: int, until: float) -> bytes:
    data = b""
    while len(data) < max_bytes and (part := answer.read1(max_bytes - len(data))):
        data += part
        if time.monotonic() > until:
            raise TimeoutError
    return data
