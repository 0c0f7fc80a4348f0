"""The Flask application. HTTP errors are answered by name and reason; the details of other errors are only logged."""

from __future__ import annotations

import hmac
import logging

from flask import Blueprint, Flask, Response, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST
from werkzeug.exceptions import Forbidden, HTTPException

from reviewbot.app.pages.blueprint import pages_blueprint
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.web.metrics import WebMetrics
from reviewbot.app.web.parts import MAX_BODY_BYTES, WebParts, peer_of
from reviewbot.app.web.setup import setup_blueprint
from reviewbot.app.web.webhook import webhook_blueprint
from reviewbot.domain.errors import ConfigError

logger = logging.getLogger("reviewbot.app.web")

RETRY_AFTER_S = 30
"""For clients that ask while the database does not answer."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer that does not say otherwise: nothing here is for other sites, or for a browser to run."""


NO_APP = "there is no App yet: open /setup"
NO_WORKER = "no worker runs: what comes in is kept, and waits for one"


def create_app(parts: WebParts) -> Flask:
    """The application of these parts."""
    app = Flask("reviewbot", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["PROPAGATE_EXCEPTIONS"] = False
    metrics = WebMetrics(parts)
    app.register_blueprint(webhook_blueprint(parts, metrics))
    app.register_blueprint(health_blueprint(parts, metrics))
    if parts.setup is not None:
        app.register_blueprint(setup_blueprint(parts.setup, parts.credentials))
    if parts.pages is not None:
        app.register_blueprint(pages_blueprint(parts.pages))
    _answer_errors(app, metrics)

    @app.after_request
    def add_headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return app


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


def _answer_errors(app: Flask, metrics: WebMetrics) -> None:
    @app.errorhandler(HTTPException)
    def known(error: HTTPException) -> tuple[Response, int]:
        code = error.code or 500
        metrics.count_error(code)
        logger.info("refused with %d", code, extra={"reason": error.description})
        return jsonify(error=error.name, reason=error.description), code

    @app.errorhandler(InboxError)
    @app.errorhandler(ConfigError)
    def unavailable(error: InboxError | ConfigError) -> tuple[Response, int, dict[str, str]]:
        metrics.count_error(503)
        logger.error("cannot answer now", extra={"reason": str(error)})
        return jsonify(error="Service Unavailable"), 503, {"Retry-After": str(RETRY_AFTER_S)}

    @app.errorhandler(Exception)
    def fault(error: Exception) -> tuple[Response, int]:
        metrics.count_error(500)
        logger.error("internal fault", exc_info=error)
        return jsonify(error="Internal Server Error"), 500
