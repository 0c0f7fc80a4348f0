"""Webhook endpoint: check a delivery, put it into the inbox, and only then answer 202.

Checks run in this order: media type, size, signature over the raw bytes, headers, JSON, payload. Each one trusts only
those before it.
"""

from __future__ import annotations

import json
import logging
import re
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
from reviewbot.app.web.body import JsonError, is_signed, read_object
from reviewbot.app.web.events import AppIdentity, PayloadError, decide_trigger
from reviewbot.app.web.metrics import WebMetrics
from reviewbot.app.web.parts import MAX_BODY_BYTES, WebParts

logger = logging.getLogger("reviewbot.app.web")

_EVENT = re.compile(r"[a-z][a-z_]{0,63}")
_DELIVERY_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
_JSON = re.compile(r"application/json(?: ?; ?charset=\"?utf-8\"?)?", re.IGNORECASE)


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
        event, delivery_id = _read_headers(request.headers)
        who = AppIdentity(credentials.app_id, credentials.slug, credentials.bot_id)
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


def _read_headers(headers: Headers) -> tuple[str, str]:
    """The event and the delivery's id. They are not signed, and what is odd about them is refused."""
    event, delivery_id = headers.get("X-GitHub-Event", ""), headers.get("X-GitHub-Delivery", "")
    if not _EVENT.fullmatch(event):
        raise BadRequest("X-GitHub-Event is not as it must be")
    if not _DELIVERY_ID.fullmatch(delivery_id):
        raise BadRequest("X-GitHub-Delivery is not as it must be")
    return event, delivery_id


def _received(parts: WebParts, who: AppIdentity, event: str, delivery_id: str, body: bytes) -> DeliveryAnswer:
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
