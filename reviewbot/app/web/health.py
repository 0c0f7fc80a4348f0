"""Endpoints that programs look at: `/healthz`, `/readyz`, and `/metrics`."""

from __future__ import annotations

import hmac

from flask import Blueprint, Response, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST
from werkzeug.exceptions import Forbidden

from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.web.metrics import WebMetrics
from reviewbot.app.web.parts import WebParts, peer_of
from reviewbot.domain.errors import ConfigError

NO_APP = "there is no App yet: open /setup"
NO_WORKER = "no worker runs: what comes in is kept, and waits for one"


def health_blueprint(parts: WebParts, metrics: WebMetrics) -> Blueprint:
    """The three pages that programs look at."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/healthz", provide_automatic_options=False)
    def healthz() -> Response:
        return jsonify(status="ok")

    @blueprint.get("/readyz", provide_automatic_options=False)
    def readyz() -> tuple[Response, int]:
        try:
            count, age = parts.inbox.lag()
            workers = None if parts.workers is None else parts.workers()
        except (InboxError, ConfigError):
            return jsonify(status="unavailable", database="unavailable"), 503
        configured = parts.credentials() is not None
        late = parts.ready_max_age_s is not None and age > parts.ready_max_age_s
        facts = {"database": "ok", "configured": configured, "queue": {"waiting": count, "oldest_s": round(age, 3)}}
        if workers is not None:
            # Without one this process is ready all the same: what it turned away would be lost, and not wait.
            facts |= {"workers": workers} if workers else {"workers": 0, "note": NO_WORKER}
        if not configured:
            # Ready all the same: behind a load balancer, /setup could not be reached otherwise.
            facts["setup"] = NO_APP
        return jsonify(status="unavailable" if late else "ok", **facts), 503 if late else 200

    @blueprint.get("/metrics", provide_automatic_options=False)
    def numbers() -> Response:
        if not _may_read(parts.metrics_token):
            raise Forbidden("metrics are for this machine and its networks, or for who has REVIEWBOT_METRICS_TOKEN")
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    return blueprint


def _may_read(token: str | None) -> bool:
    """With a token, only who shows it."""
    if token is None:
        return peer_of(request) != "elsewhere"
    given = request.headers.get("Authorization", "").encode("utf-8", "replace")
    return hmac.compare_digest(given, b"Bearer " + token.encode())
