"""`/setup`: create an App and store its credentials, for the person who has the token that the server printed.

The address that a request comes from lets no one in: a proxy that ends TLS here may say nothing of the client it
speaks for. What the manifest will carry is the operator's configuration, or what was entered in the page's own form:
it is posted with a token of that page, so that a link cannot change where the App's events and its key go.
The manifest is posted to GitHub by the browser; GitHub sends the browser back with a code that is exchanged once. The
browser that began is the one that may finish: a state goes along, and the browser holds its other half.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

from flask import Blueprint, Response, redirect, request
from werkzeug.exceptions import Forbidden, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.sessions import is_equal
from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.environment import check_url
from reviewbot.app.web.pages import Manifest, StartPage, final_page, manifest, policy, problem_page, start_page
from reviewbot.app.web.parts import SetupParts, peer_of
from reviewbot.domain.errors import ConfigError, HostError

COOKIE = "reviewbot_setup"
LIFETIME_S = 3_600
"""GitHub's codes live as long."""

MAX_STATES = 32
"""States that are remembered; of more, the oldest are dropped."""

MAX_FORM_BYTES = 8 * 1024
"""Of the page's own form: three short texts and a token."""

_LENGTHS = {"public_url": 300, "name": 34, "organisation": 39}
"""The fields of the form, and how much of each is read."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,33}")
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


class State(NamedTuple):
    """A setup under way."""

    browser: str
    """The other half, in a cookie."""
    until: float


@dataclass(frozen=True)
class Session:
    """A browser that showed the server's token."""

    form_token: str
    """Stands in the page's form: a page of another site cannot read it."""
    name: str
    """Proposed for the App."""
    entered: Mapping[str, str] = field(default_factory=dict)
    """What was posted, by the names of `_LENGTHS`; empty before."""


class SetupSessions:
    """The browsers that were let in, and the states that are open. One for each application."""

    def __init__(self, token: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._token: str | None = token
        self._sessions: dict[str, Session] = {}
        self._states: dict[str, State] = {}

    def admit(self, token: str) -> str | None:
        """The cookie of a new session for the browser that shows the token first; None for every other."""
        with self._lock:
            if self._token is None or not is_equal(token, self._token):
                return None
            self._token = None
            browser = secrets.token_urlsafe(32)
            self._sessions[browser] = Session(secrets.token_urlsafe(32), f"reviewbot-{secrets.token_hex(3)}")
            return browser

    def find(self, browser: str) -> Session | None:
        """The session of a cookie."""
        with self._lock:
            return self._sessions.get(browser)

    def enter(self, browser: str, entered: Mapping[str, str]) -> None:
        """Keep what a session's form was posted with."""
        with self._lock:
            self._sessions[browser] = replace(self._sessions[browser], entered=dict(entered))

    def begin(self, browser: str) -> str:
        """A new state for this browser."""
        state = secrets.token_urlsafe(32)
        with self._lock:
            self._states[state] = State(browser, self._clock() + LIFETIME_S)
            while len(self._states) > MAX_STATES:
                del self._states[next(iter(self._states))]
        return state

    def finish(self, state: str, browser: str) -> bool:
        """Whether this browser began this state, and not too long ago. A state is good for one answer."""
        with self._lock:
            begun = self._states.pop(state, None)
        return begun is not None and self._clock() <= begun.until and is_equal(browser, begun.browser)


def setup_blueprint(parts: SetupParts, credentials: Callable[[], Credentials | None]) -> Blueprint:
    """`GET /setup`, its form, and where GitHub sends the browser back to."""
    blueprint = Blueprint("setup", __name__)
    sessions = SetupSessions(parts.token)

    @blueprint.before_request
    def only_once() -> None:
        if credentials() is not None:
            raise NotFound

    @blueprint.get("/setup", provide_automatic_options=False)
    def start() -> BaseResponse:
        if token := request.args.get("token", ""):
            return _let_in(sessions, token)
        browser, session = _session(sessions)
        return _set_cookie(_start(parts, session, sessions.begin(browser)), browser)

    @blueprint.post("/setup", provide_automatic_options=False)
    def enter() -> BaseResponse:
        return _enter(parts, sessions)

    @blueprint.get("/setup/callback", provide_automatic_options=False)
    def callback() -> Response:
        if not sessions.finish(request.args.get("state", ""), request.cookies.get(COOKIE, "")):
            return _html(problem_page("This answer does not belong to a setup that was begun here."), parts, 403)
        try:
            made = parts.convert(request.args.get("code", ""))
            kept = parts.keep(made)
        except (HostError, ConfigError) as error:
            return _html(problem_page(str(error)), parts, 502)
        url = f"{parts.web_url}/apps/{made.slug}/installations/new"
        return _html(final_page(made.slug, kept, url), parts)

    return blueprint


def _let_in(sessions: SetupSessions, token: str) -> BaseResponse:
    """A cookie for the token, and on to the page without it: addresses are kept and shown."""
    browser = sessions.admit(token)
    if browser is None:
        raise Forbidden("this token is not the one, or was used before")
    return _set_cookie(redirect("/setup", 303), browser)


def _session(sessions: SetupSessions) -> tuple[str, Session]:
    """The cookie of the request and its session. Raises Forbidden where there is none."""
    browser = request.cookies.get(COOKIE, "")
    session = sessions.find(browser)
    if session is None:
        raise Forbidden("open it with the address that the server printed when it started; it is good once")
    return browser, session


def _enter(parts: SetupParts, sessions: SetupSessions) -> BaseResponse:
    """Keep what the page's form was posted with, or say what is wrong with it. Raises Forbidden for another form."""
    browser, session = _session(sessions)
    request.max_content_length = MAX_FORM_BYTES
    if not is_equal(request.form.get("form_token", ""), session.form_token):
        raise Forbidden("this form does not come from a page that was opened here; open /setup again")
    entered = {name: request.form.get(name, "")[:length] for name, length in _LENGTHS.items()}
    try:
        _manifest(entered)
    except ConfigError as error:
        page = StartPage(entered, session.form_token, parts.public_url, problem=str(error))
        return _set_cookie(_html(start_page(page), parts, 400), browser)
    sessions.enter(browser, entered)
    return _set_cookie(redirect("/setup", 303), browser)


def _set_cookie(response: BaseResponse, browser: str) -> BaseResponse:
    """Lax: GitHub sends the browser back by a link, with which a strict cookie would not come along."""
    secure = peer_of(request) != "here" and request.headers.get("X-Forwarded-Proto", "") == "https"
    response.set_cookie(
        COOKIE, browser, max_age=LIFETIME_S, httponly=True, samesite="Lax", path="/setup", secure=secure
    )
    return response


def _start(parts: SetupParts, session: Session, state: str) -> Response:
    """The first page, with what was entered or else configured. Nothing of the request's query counts."""
    values = session.entered or {"public_url": parts.public_url or "", "name": session.name, "organisation": ""}
    made = _manifest(values) if values["public_url"] else None
    owner = f"/organizations/{values['organisation']}" if values["organisation"] else ""
    target = f"{parts.web_url}{owner}/settings/apps/new?state={quote(state)}"
    return _html(start_page(StartPage(values, session.form_token, parts.public_url, made, target)), parts)


def _manifest(values: Mapping[str, str]) -> Manifest:
    """The manifest for what was entered. Raises ConfigError with words for the person who entered it."""
    public_url = check_url("The address of this server", values["public_url"])
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
