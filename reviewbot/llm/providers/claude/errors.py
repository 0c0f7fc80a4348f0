"""Map the API's errors to ours. Each message is our own line: an answer's body is never shown, nor is a key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import AccountError, CallRejectedError, EngineError, TooLongError, TransientError
from reviewbot.llm.providers.claude.access import Access

PAUSE_S = 1.0
"""Seconds to wait after a rate limit or an overload that does not say for how long."""

OVERLOADED = 529
"""Anthropic's own status: https://platform.claude.com/docs/en/api/errors."""

PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses below 500 that another try may not meet."""

THROTTLING = frozenset({HTTPStatus.TOO_MANY_REQUESTS, OVERLOADED})
"""Statuses of a provider that is there and wants fewer requests."""

STATUS_OF = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": OVERLOADED,
}
"""An error that comes after its answer began has only a type: https://platform.claude.com/docs/en/api/errors."""

SPENT = frozenset({"contract_spend_limit_reached", "enforced_spend_limit_reached"})
"""Codes of a 429 that waiting does not help against."""


_PASSING_WORDS = {
    429: "the model API has no room for more requests now (429)",
    OVERLOADED: f"the model API is overloaded ({OVERLOADED})",
}


@dataclass(frozen=True)
class Refusal:
    """What an `APIStatusError` of the SDK holds."""

    status: int
    type: str
    code: str
    message: str
    headers: Mapping[str, str]
    """Those that say when to ask again."""


def from_status(refusal: Refusal, access: Access, tier: Tier, model: str) -> EngineError:
    """Our error for a request that the API refused."""
    status = refusal.status
    if status == HTTPStatus.OK:
        status = STATUS_OF.get(refusal.type, 500)
    if refusal.code in SPENT:
        return AccountError(f"the account's limit of spending is reached ({status})")
    if status in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _passing(status, retry_after_s(refusal.headers))
    return _final(status, refusal.message.casefold(), access, (tier, model))


def from_body(body: object, access: Access, tier: Tier, model: str) -> EngineError | None:
    """Our error for an error object in a successful answer; None where there is no such object."""
    if not isinstance(body, dict) or not isinstance(found := body.get("error"), dict):
        return None
    status = STATUS_OF.get(str(found.get("type")), 500)
    if status in PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _passing(status, None)
    return _final(status, str(found.get("message", "")).casefold(), access, (tier, model))


def _passing(status: int, wait_s: float | None) -> TransientError:
    """What another try may not meet. `wait_s`: what the answer asks for, where it does."""
    throttled = status in THROTTLING or wait_s is not None
    if wait_s is None and throttled:
        wait_s = PAUSE_S
    message = _PASSING_WORDS.get(status, f"the model API failed ({status})")
    return TransientError(message, wait_s, throttled=throttled)


def _final(status: int, said: str, access: Access, asked: tuple[Tier, str]) -> EngineError:
    """What no further try will change. `said` only chooses among our own words."""
    tier, model = asked
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        # A provider may allow an account one model and not another: that is a 403 as well.
        only = model if status == HTTPStatus.FORBIDDEN else None
        said_of = f"the model API does not accept the credentials ({status}): check {access.credentials}"
        return AccountError(said_of, only)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return AccountError(f"the model API points elsewhere ({status}), which is not followed: check the base URL")
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or "prompt is too long" in said:
        return TooLongError(f"the request is larger than the model reads ({status})")
    if status == HTTPStatus.PAYMENT_REQUIRED or "credit balance" in said:
        return AccountError(f"the account has no credit left ({status})")
    if status == HTTPStatus.NOT_FOUND:
        known = f"the model {model} of tier {tier} ({status}): check model_{tier}"
        return AccountError(f"the model API does not know {known}", model)
    return CallRejectedError(f"the model API refused the request ({status})")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that an answer asks for, in seconds: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if (wait := _number(headers.get(name))) is not None:
            return wait / unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    aware = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
