"""The Flask application. HTTP errors are answered by name and reason; the details of other errors are only logged."""

from __future__ import annotations

import logging

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException

from reviewbot.app.pages.blueprint import pages_blueprint
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.web.health import health_blueprint
from reviewbot.app.web.metrics import WebMetrics
from reviewbot.app.web.parts import MAX_BODY_BYTES, WebParts
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
