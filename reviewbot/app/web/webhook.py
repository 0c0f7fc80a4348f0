"""Webhook endpoint: check a delivery, put it into the inbox, and only then answer 202.

Checks run in this order: media type, size, signature over the raw bytes, headers, JSON, payload. Each one trusts only
those before it.

Of the signature bytes alone are compared: a header may hold anything. JSON is parsed only where it can be read in one
way, and within bounds.
"""

from __future__ import annotations

import hmac
import json
import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter

from flask import Blueprint, Request, Response, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import (
    BadRequest,
    RequestEntityTooLarge,
    ServiceUnavailable,
    Unauthorized,
    UnsupportedMediaType,
)

from reviewbot.app.triggers.values import Delivery, Refusal, Trigger
from reviewbot.app.web.events import Identity, PayloadError, decide_trigger
from reviewbot.app.web.health import WebMetrics
from reviewbot.app.web.parts import MAX_BODY_BYTES, WebParts
from reviewbot.strict_json import strictly

logger = logging.getLogger("reviewbot.app.web")

_EVENT = re.compile(r"[a-z][a-z_]{0,63}")
_DELIVERY_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_JSON = re.compile(r"application/json(?: ?; ?charset=\"?utf-8\"?)?", re.IGNORECASE)
_SIGNATURE = re.compile(rb"sha256=([0-9a-f]{64})")

MAX_DEPTH = 64
"""Levels. GitHub's payloads have at most a dozen."""

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)


def is_signed(body: bytes, header: str | None, secrets: Iterable[bytes]) -> bool:
    """Whether `X-Hub-Signature-256` fits the raw body, by one of the secrets (two while one is exchanged).

    All secrets are tried, so that the time says nothing about which one it was.
    https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    """
    # A WSGI server hands over headers as Latin-1; what is not even that fits no signature.
    given = _SIGNATURE.fullmatch((header or "").encode("latin-1", "replace"))
    digest = given.group(1) if given else b""
    fits = False
    for secret in secrets:
        fits |= hmac.compare_digest(hmac.new(secret, body, sha256).hexdigest().encode(), digest)
    return fits


class JsonError(ValueError):
    """The bytes are no JSON object that can be read in one way only."""


def read_object(body: bytes) -> dict[str, object]:
    """The object that is all of `body`.

    Raises JsonError for other encodings than UTF-8, a byte order mark, a key that stands twice, numbers that are none,
    too many levels, and anything at the top but an object.
    """
    try:
        text = body.decode("utf-8")
        # Few brackets cannot be nested deeply; only where there are many is it looked at where they stand.
        if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _too_deep(text):
            raise JsonError("too many levels")
        value = strictly(text)
    except ValueError:
        raise JsonError("no JSON that can be read") from None
    if not isinstance(value, dict):
        raise JsonError("no object")
    return value


def _too_deep(text: str) -> bool:
    depth = 0
    for found in _TOKENS.finditer(text):
        mark = found.group()
        if mark in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif mark in "]}":
            depth -= 1
    return False


@dataclass(frozen=True)
class DeliveryAnswer:
    """The answer to a delivery."""

    status: str
    """accepted, refused (the check reports it), repeat or ignored."""
    reason: str


def webhook_blueprint(parts: WebParts, metrics: WebMetrics) -> Blueprint:
    """`POST /webhook`."""
    blueprint = Blueprint("webhook", __name__)

    @blueprint.post("/webhook", provide_automatic_options=False)
    def webhook() -> Response:
        began = perf_counter()
        credentials = parts.credentials()
        if credentials is None:
            raise ServiceUnavailable("no App is set up")
        body = read_signed_body(request, credentials.webhook_secrets)
        event, delivery_id = _names(request.headers)
        who = Identity(credentials.app_id, credentials.slug, credentials.bot_id)
        answer = _received(parts, who, event, delivery_id, body)
        metrics.count_delivery(event, answer.status, perf_counter() - began)
        fields = {"event": event, "delivery": delivery_id, "reason": answer.reason}
        logger.info("delivery %s", answer.status, extra=fields)
        text = json.dumps({"status": answer.status, "reason": answer.reason})
        return Response(text, 202, content_type="application/json")

    return blueprint


def read_signed_body(asked: Request, secrets: tuple[bytes, ...]) -> bytes:
    """The raw body, once it is known to be the host's. Raises HTTP errors."""
    if asked.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("send the body as it is, without Content-Encoding")
    if not _JSON.fullmatch(asked.headers.get("Content-Type", "")):
        raise UnsupportedMediaType("set the webhook's content type to application/json")
    if asked.content_length is not None and asked.content_length > MAX_BODY_BYTES:
        raise RequestEntityTooLarge
    body = asked.get_data(cache=False)
    if not is_signed(body, asked.headers.get("X-Hub-Signature-256"), secrets):
        raise Unauthorized("the signature does not fit the body")
    return body


def _names(headers: Headers) -> tuple[str, str]:
    """The event and the delivery's id. They are not signed, and what is odd about them is refused."""
    event, delivery_id = headers.get("X-GitHub-Event", ""), headers.get("X-GitHub-Delivery", "")
    if not _EVENT.fullmatch(event):
        raise BadRequest("X-GitHub-Event is not as it must be")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise BadRequest("X-GitHub-Delivery is not as it must be")
    return event, delivery_id


def _received(parts: WebParts, who: Identity, event: str, delivery_id: str, body: bytes) -> DeliveryAnswer:
    try:
        decision = decide_trigger(event, read_object(body), delivery_id, who, parts.settings)
    except (JsonError, PayloadError) as error:
        raise BadRequest(str(error)) from None
    trigger = decision if isinstance(decision, Trigger) else decision.trigger
    if trigger is None:
        return DeliveryAnswer("ignored", decision.reason)
    outcome = parts.inbox.put(Delivery(delivery_id, event, sha256(body).hexdigest(), trigger))
    if outcome == "repeat":
        return DeliveryAnswer("repeat", "it was here before")
    return DeliveryAnswer("refused" if isinstance(decision, Refusal) else "accepted", decision.reason)
