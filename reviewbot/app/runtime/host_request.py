"""Send one HTTP request to the configured code host, with bounds of time and size."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing

from reviewbot.domain.errors import HostError
from reviewbot.hosts.github.transport import BrokenError, HttpSession

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
        timeout_s: for all of it, to the last byte of the body.
        max_bytes: of the answer; a longer one is none.
    """
    end = time.monotonic() + timeout_s
    known = {"Accept": "application/vnd.github+json", "User-Agent": "reviewbot", **headers}
    try:
        with closing(HttpSession(base_url, max_bytes)) as session:
            answer = session.send(
                method, base_url + path, known, body or None, lambda: end - time.monotonic(), follow=False
            )
    except BrokenError as error:
        raise HostError(f"GitHub cannot be reached ({error})") from None
    return answer.status, answer.content
