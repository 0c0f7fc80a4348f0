"""`/setup`: from nothing to an App with stored credentials, for whoever holds the token that the server printed.

Where a request comes from lets nobody in: a proxy that ends TLS here may say nothing of whom it speaks for.
The manifest is posted to GitHub by the browser; GitHub sends the browser back with a code that is exchanged once. Who
began is who may finish: a state goes along, and the browser holds its other half.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

from flask import Blueprint, Response, redirect, request
from werkzeug.exceptions import Forbidden, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.errors import ConfigError, HostError
from reviewbot.service.credentials import Credentials
from reviewbot.service.environment import checked_url
from reviewbot.web.manifest import manifest
from reviewbot.web.pages import done_page, policy, problem_page, start_page
from reviewbot.web.parts import SetupParts
from reviewbot.web.peers import peer_of

COOKIE = "reviewbot_setup"
LIFETIME_S = 3_600
"""GitHub's codes live as long."""

MOST_BEGUN = 32
"""States that are remembered; of more, the oldest are dropped."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,33}")
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


class Begun(NamedTuple):
    """A setup under way."""

    browser: str
    """The other half, in a cookie."""
    until: float


class Desk:
    """Who may come in, and which states are open. One for each application."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._token: str | None = token
        self._admitted: set[str] = set()
        self._begun: dict[str, Begun] = {}

    def admit(self, token: str) -> str | None:
        """A pass for the browser that shows the token first; nobody gets a second one for it."""
        with self._lock:
            if self._token is None or not hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode()):
                return None
            self._token = None
            browser = secrets.token_urlsafe(32)
            self._admitted.add(browser)
            return browser

    def knows(self, browser: str) -> bool:
        """Whether this browser has a pass."""
        with self._lock:
            return browser in self._admitted

    def begin(self, browser: str) -> str:
        """A new state for this browser."""
        state = secrets.token_urlsafe(32)
        with self._lock:
            self._begun[state] = Begun(browser, self._clock() + LIFETIME_S)
            while len(self._begun) > MOST_BEGUN:
                del self._begun[next(iter(self._begun))]
        return state

    def finish(self, state: str, browser: str) -> bool:
        """Whether this browser began this state, and not too long ago. A state is good for one answer."""
        with self._lock:
            begun = self._begun.pop(state, None)
        if begun is None or self._clock() > begun.until:
            return False
        return hmac.compare_digest(begun.browser.encode(), browser.encode("utf-8", "replace"))


def setup_blueprint(parts: SetupParts, credentials: Callable[[], Credentials | None]) -> Blueprint:
    """`GET /setup` and where GitHub sends the browser back to."""
    blueprint = Blueprint("setup", __name__)
    desk = Desk(parts.token)

    @blueprint.before_request
    def only_once() -> None:
        if credentials() is not None:
            raise NotFound

    @blueprint.get("/setup", provide_automatic_options=False)
    def start() -> BaseResponse:
        if token := request.args.get("token", ""):
            return _let_in(desk, token)
        browser = _browser(desk)
        return _remembered(_started(parts, desk.begin(browser)), browser)

    @blueprint.get("/setup/callback", provide_automatic_options=False)
    def callback() -> Response:
        if not desk.finish(request.args.get("state", ""), request.cookies.get(COOKIE, "")):
            return _html(problem_page("This answer does not belong to a setup that was begun here."), parts, 403)
        try:
            made = parts.convert(request.args.get("code", ""))
            kept = parts.keep(made)
        except (HostError, ConfigError) as error:
            return _html(problem_page(str(error)), parts, 502)
        url = f"{parts.web_url}/apps/{made.slug}/installations/new"
        return _html(done_page(made.slug, kept, url), parts)

    return blueprint


def _let_in(desk: Desk, token: str) -> BaseResponse:
    """A pass for the token, and on to the page without it: addresses are kept and shown."""
    browser = desk.admit(token)
    if browser is None:
        raise Forbidden("this token is not the one, or was used before")
    return _remembered(redirect("/setup", 303), browser)


def _browser(desk: Desk) -> str:
    """Who asks. Raises Forbidden for who has no pass."""
    known = request.cookies.get(COOKIE, "")
    if not desk.knows(known):
        raise Forbidden("open it with the address that the server printed when it started; it is good once")
    return known


def _remembered(response: BaseResponse, browser: str) -> BaseResponse:
    """Lax: GitHub sends the browser back by a link, with which a strict cookie would not come along."""
    secure = peer_of(request) != "here" and request.headers.get("X-Forwarded-Proto", "") == "https"
    response.set_cookie(
        COOKIE, browser, max_age=LIFETIME_S, httponly=True, samesite="Lax", path="/setup", secure=secure
    )
    return response


def _started(parts: SetupParts, state: str) -> Response:
    values = {
        "public_url": request.args.get("public_url", parts.public_url or "")[:300],
        "name": request.args.get("name", f"reviewbot-{secrets.token_hex(3)}")[:34],
        "organisation": request.args.get("organisation", "")[:39],
    }
    asked = "public_url" in request.args
    try:
        made = _manifest(values) if asked or values["public_url"] else None
    except ConfigError as error:
        return _html(start_page(values, None, "", str(error)), parts, 400)
    owner = f"/organizations/{values['organisation']}" if values["organisation"] else ""
    target = f"{parts.web_url}{owner}/settings/apps/new?state={quote(state)}"
    return _html(start_page(values, made, target), parts)


def _manifest(values: dict[str, str]) -> dict[str, object]:
    """The manifest for what was entered. Raises ConfigError with words for whoever entered it."""
    public_url = checked_url("The address of this server", values["public_url"])
    if not _NAME.fullmatch(values["name"]):
        raise ConfigError("The name must have at most 34 letters, digits, blanks, dots and dashes")
    if values["organisation"] and not _OWNER.fullmatch(values["organisation"]):
        raise ConfigError("The organisation must be its name in addresses")
    # The browser comes back to where it is now: this machine, or the address that the host uses too.
    base = f"http://{request.host}" if peer_of(request) == "here" else public_url
    return manifest(values["name"], public_url, f"{base}/setup/callback")


def _html(text: str, parts: SetupParts, status: int = 200) -> Response:
    response = Response(text, status, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = policy(parts.web_url)
    # Without any referrer a browser says that a form comes from nowhere, which hosts refuse.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response
