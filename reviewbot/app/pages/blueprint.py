"""The pages of the App as one Flask blueprint: who is let in, how many at a time, and what errors look like.

The pages share the process that takes GitHub's deliveries. They use a part of its threads only, so that a delivery is
answered while pages wait for a database or for GitHub.
"""

from __future__ import annotations

import logging
from threading import BoundedSemaphore
from typing import Final

from flask import Blueprint, g, request
from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.operator import operator_blueprint
from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.pages.queue import queue_blueprint
from reviewbot.app.pages.render import STYLE_PATH, problem, style
from reviewbot.app.pages.runs import runs_blueprint
from reviewbot.app.pages.sessions import Sessions, is_equal
from reviewbot.app.pages.sign_in import MAX_FORM_BYTES, SESSION, sign_in_blueprint, to_sign_in
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.domain.errors import ConfigError, HostError

logger = logging.getLogger("reviewbot.app.pages")

PAGES_AT_ONCE: Final = 4
"""Half of the server's threads."""

SLOT_WAIT_S: Final = 2.0
RETRY_AFTER_S: Final = 30

_TITLES = {400: "That cannot be read", 403: "Not allowed", 404: "Not found", 405: "Not found", 413: "Too large"}


def pages_blueprint(parts: PagesParts) -> Blueprint:
    """All pages."""
    whole = Blueprint("pages", __name__)
    sessions = Sessions(parts)
    slots = BoundedSemaphore(PAGES_AT_ONCE)

    @whole.get(STYLE_PATH, provide_automatic_options=False)
    def style_sheet() -> BaseResponse:
        return style()

    @whole.before_request
    def take_slot() -> BaseResponse | None:
        if slots.acquire(timeout=SLOT_WAIT_S):
            g.slot = True
            return None
        return _later(problem("Too busy", "Too many pages are being made at the moment.", 503))

    @whole.teardown_request
    def give_slot(_: BaseException | None) -> None:
        if g.pop("slot", False):
            slots.release()

    whole.register_blueprint(sign_in_blueprint(parts, sessions))
    whole.register_blueprint(_private_pages(parts, sessions))
    _answer_errors(whole)
    return whole


def _private_pages(parts: PagesParts, sessions: Sessions) -> Blueprint:
    """The pages for people who signed in. A form must carry the token of the session."""
    private = Blueprint("private", __name__)

    @private.before_request
    def admit() -> BaseResponse | None:
        viewer = sessions.find(request.cookies.get(SESSION, ""))
        if viewer is None:
            return to_sign_in()
        g.viewer = viewer
        if "\0" in request.path:  # no id has one, and Postgres refuses to look for it
            raise NotFound
        if request.method != "POST":
            return None
        request.max_content_length = MAX_FORM_BYTES
        if is_equal(request.form.get("form_token", ""), viewer.form_token):
            return None
        return problem("Nothing was changed", "The form does not belong to this session. Open its page again.", 403)

    for made in (runs_blueprint, queue_blueprint, operator_blueprint):
        private.register_blueprint(made(parts))
    return private


def _answer_errors(whole: Blueprint) -> None:
    @whole.errorhandler(HTTPException)
    def refused(error: HTTPException) -> BaseResponse:
        code = error.code or 500
        text = "There is no such page, or it is not for you." if code in (404, 405) else (error.description or "")
        return problem(_TITLES.get(code, error.name), text, code, g.get("viewer"), "/")

    @whole.errorhandler(ConfigError)
    @whole.errorhandler(InboxError)
    def no_database(error: ConfigError | InboxError) -> BaseResponse:
        logger.error("a page cannot be made now", extra={"reason": str(error)})
        return _later(problem("The database does not answer", "Nothing can be shown until it does.", 503))

    @whole.errorhandler(HostError)
    def no_host(error: HostError) -> BaseResponse:
        logger.warning("what a person may read cannot be checked", extra={"reason": str(error)})
        text = "What you may read cannot be checked at the moment, so nothing is shown."
        return _later(problem("GitHub does not answer", text, 503))

    @whole.errorhandler(Exception)
    def fault(error: Exception) -> BaseResponse:
        logger.error("internal fault", exc_info=error)
        return problem("Something went wrong", "The log of the server has the reason.", 500, way_out="/")


def _later(response: BaseResponse) -> BaseResponse:
    response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return response
