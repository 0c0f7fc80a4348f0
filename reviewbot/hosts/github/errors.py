"""Map an unsuccessful answer to an error that a person can act on, and say whether to try again.

What GitHub wrote is data of another machine: of it only short words in plain characters reach a message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostUnknownError,
)
from reviewbot.hosts.github.rate_limits import RetryableError, limit_pause_s
from reviewbot.strict_json import a_dict, a_list

MESSAGE_CHARS = 200

GRAPHQL = "GraphQL"
"""Our name for a call that is one of GraphQL."""

_ODD = re.compile(r"[^\x20-\x7e]+")
_NOT_YET = frozenset({202, 408})
_INVALID = frozenset({400, 405, 406, 409, 412, 413, 415, 422})
_PERMISSION = re.compile(r"[a-z_]+=(?:read|write|admin)(?:[,;] ?[a-z_]+=(?:read|write|admin))*")


class Failed(NamedTuple):
    """An answer with a status of 300 or more. `about` is our own name for the call, such as "GET /repos/o/n"."""

    about: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    data: object
    """The body as JSON; None where it is not JSON."""
    now: float
    """Seconds since 1970."""


def fault(failed: Failed, *, repeatable: bool) -> HostError | RetryableError:
    """The error that an answer stands for; RetryableError where a later try may fare better."""
    message, status = message_of(failed.data), failed.status
    pause = limit_pause_s(status, failed.headers, message, failed.now)
    if pause is not None:
        limit = HostLimitError(f"GitHub's limit of requests is reached ({failed.about})", pause)
        # A caller that writes has just looked at the head, and holds an intent for a while: the wait is left to it.
        return RetryableError(limit, pause) if repeatable else limit
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _NOT_YET:
        if not repeatable:
            return HostUnknownError(f"GitHub answered {status} to {failed.about}: it may or may not have been done")
        return RetryableError(HostError(f"GitHub answers {status} to {failed.about}; try again later"))
    if status in {401, 403, 451}:
        return HostAccessError(_permission_advice(failed, message))
    if status in {404, 410}:
        return HostMissingError(_missing(failed.about))
    if status in _INVALID:
        return HostInvalidError(f"GitHub takes {failed.about} for invalid ({status}): {message}", code_of(failed.data))
    return HostError(f"GitHub answers {status} to {failed.about}: {message}")


def graphql_fault(data: object) -> HostError | RetryableError:
    """The error that the `errors` of a GraphQL answer stand for."""
    first = a_dict(next(iter(a_list(data)), None))
    kind, message = _plain(first.get("type")), message_of(first)
    if kind in {"RATE_LIMITED", "RATE_LIMIT"}:
        return HostLimitError("GitHub's limit of GraphQL points is reached")
    if kind in {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return HostAccessError(f"GitHub does not let this token ask by GraphQL: {message}")
    if kind == "NOT_FOUND":
        return HostMissingError(f"GitHub does not show what GraphQL asked for: {message}")
    return HostInvalidError(f"GitHub takes a GraphQL request for invalid: {message}", kind)


def message_of(data: object) -> str:
    """GitHub's own words, for one line; "no reason given" where there are none."""
    words = [_plain(a_dict(data).get("message"))]
    listed = a_list(a_dict(data).get("errors"))[:3]
    words += [_plain((e.get("message") or e.get("code")) if isinstance(e, dict) else e) for e in listed]
    return "; ".join(word for word in words if word)[:MESSAGE_CHARS] or "no reason given"


def code_of(data: object) -> str:
    """The first `code` among the errors of an answer; empty where there is none."""
    known = [*a_list(a_dict(data).get("errors")), data]
    return next((_plain(code) for each in known if isinstance(code := a_dict(each).get("code"), str)), "")


def _missing(about: str) -> str:
    """What there is not. An Enterprise server, or what stands in for one, may have REST alone."""
    if about == GRAPHQL:
        return "GitHub does not show GraphQL: this server has none, or this token may not see it"
    thing = about.partition(" ")[2].strip() or about or "it"
    return f"GitHub does not show {thing}: it does not exist, or this token may not see it"


def _permission_advice(failed: Failed, message: str) -> str:
    """What to do where GitHub does not let us."""
    if failed.status == HTTPStatus.UNAUTHORIZED:
        return f"GitHub does not accept the token ({message}): it may have expired or belong to another host"
    needed = failed.headers.get("x-accepted-github-permissions", "").strip()
    wanted = f"; the token needs {needed}" if _PERMISSION.fullmatch(needed) else ""
    return f"GitHub refuses {failed.about} ({message}){wanted}"


def _plain(value: object) -> str:
    return _ODD.sub(" ", value).strip()[:MESSAGE_CHARS] if isinstance(value, str) else ""
