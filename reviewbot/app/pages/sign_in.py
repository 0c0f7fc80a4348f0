"""Sign in and out: through GitHub with state and PKCE, or with the read-only token.

One cookie of a browser that signs in binds everything: the state that GitHub hands back, the verifier of the exchange
and the token of the form are derived from it. It ends with the sign-in, and the session has a cookie of its own.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import re
from typing import Final
from urllib.parse import quote

from flask import Blueprint, Request, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.limits import AttemptLimit
from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.pages.render import page, problem
from reviewbot.app.pages.sessions import LIFETIME_S, Sessions, derive, is_equal, new_cookie
from reviewbot.domain.errors import HostAccessError

logger = logging.getLogger("reviewbot.app.pages")

SESSION: Final = "__Host-reviewbot_session"
VISIT: Final = "__Host-reviewbot_visit"
"""Of a browser that signs in. The prefix: no other host, no plain HTTP and no other path can set it."""

_UNFINISHED: Final = "Sign-in did not finish"
VISIT_S: Final = 600
MAX_FORM_BYTES: Final = 8 * 1024
_PATH = re.compile(r"/(?:[A-Za-z0-9._~:?&=%+-][A-Za-z0-9._~:/?&=%+-]{0,500})?")
"""A path on this server. The second character is no slash: `//host` would be another one."""


def sign_in_blueprint(parts: PagesParts, sessions: Sessions) -> Blueprint:
    """`/sign-in` with its ways, and `/sign-out`."""
    blueprint = Blueprint("sign_in", __name__)
    limit = AttemptLimit()

    @blueprint.get("/sign-in", provide_automatic_options=False)
    def choose() -> BaseResponse:
        return _choose(parts, "")

    @blueprint.get("/sign-in/github", provide_automatic_options=False)
    def leave() -> BaseResponse:
        sign_in = parts.sign_in()
        if sign_in is None:
            return _choose(parts, "Sign-in with GitHub is not set up on this server.", 404)
        visit = request.cookies.get(VISIT) or new_cookie()
        challenge = hashlib.sha256(derive(visit, "verifier").encode()).digest()
        address = sign_in.address(
            _state(visit, safe_path(request.args.get("next", ""))),
            base64.urlsafe_b64encode(challenge).decode().rstrip("="),
        )
        return _remember(redirect(address, 303), VISIT, visit, VISIT_S)

    @blueprint.get("/sign-in/callback", provide_automatic_options=False)
    def callback() -> BaseResponse:
        return _finish(parts, sessions, limit)

    @blueprint.post("/sign-in/token", provide_automatic_options=False)
    def token() -> BaseResponse:
        return _take_token(parts, sessions, limit)

    @blueprint.post("/sign-out", provide_automatic_options=False)
    def leave_session() -> BaseResponse:
        request.max_content_length = MAX_FORM_BYTES
        cookie = request.cookies.get(SESSION, "")
        if not cookie or not is_equal(request.form.get("form_token", ""), derive(cookie, "form")):
            return problem("Not signed out", "The form does not belong to this session.", 403, way_out="/")
        sessions.end(cookie)
        return _forget(redirect("/sign-in", 303), SESSION)

    return blueprint


def _finish(parts: PagesParts, sessions: Sessions, limit: AttemptLimit) -> BaseResponse:
    """A session for the person whom GitHub sent back with a code. Raises HostError."""
    visit, state = request.cookies.get(VISIT, ""), request.args.get("state", "")
    target = safe_path(state.partition(".")[2])
    if not visit or not is_equal(state, _state(visit, target)):
        return problem(_UNFINISHED, "It was not begun in this browser.", 403, way_out="/sign-in")
    if not limit.take(address_of(request, parts.proxies)):
        return _too_many()
    sign_in = parts.sign_in()
    if sign_in is None or "error" in request.args:
        return problem(_UNFINISHED, "GitHub did not confirm it.", 403, way_out="/sign-in")
    try:
        person = sign_in.exchange(request.args.get("code", ""), derive(visit, "verifier"))
        cookie = sessions.begin(person, sign_in.repositories(person.token))
    except HostAccessError as error:
        return problem(_UNFINISHED, f"{error}.", 403, way_out="/sign-in")
    logger.info("a person signed in")
    return _enter(sessions, cookie, target)


def _take_token(parts: PagesParts, sessions: Sessions, limit: AttemptLimit) -> BaseResponse:
    """A session for a reader who has the read-only token."""
    request.max_content_length = MAX_FORM_BYTES
    visit = request.cookies.get(VISIT, "")
    if not visit or not is_equal(request.form.get("form_token", ""), derive(visit, "form")):
        return _choose(parts, "This form was open for too long. Try again.", 403)
    if not limit.take(address_of(request, parts.proxies)):
        return _too_many()
    cookie = sessions.begin_with_token(request.form.get("token", ""))
    if cookie is None:
        return _choose(parts, "This is not the read-only token of this server.", 403)
    logger.info("a reader signed in with the read-only token")
    return _enter(sessions, cookie, safe_path(request.form.get("next", "")))


def safe_path(text: str) -> str:
    """The path of the App's page to go to after the sign-in; `/` for any other, so that no link leads elsewhere."""
    return text if _PATH.fullmatch(text) else "/"


def to_sign_in() -> BaseResponse:
    """On to the sign-in, and back to the page that was asked for."""
    wanted = request.full_path.rstrip("?") if request.method == "GET" else "/"
    return redirect(f"/sign-in?next={quote(safe_path(wanted), safe='')}", 303)


def address_of(asked: Request, proxies: int) -> str:
    """The client, for counting: what the outermost of the operator's proxies says; a client can write what is before.

    Where fewer have said something, the request has gone around them, and its own address counts.
    """
    said = asked.headers.get("X-Forwarded-For", "").split(",")
    found = said[-proxies].strip() if 0 < proxies <= len(said) else ""
    return (found or asked.remote_addr or "")[:64]


def _state(visit: str, target: str) -> str:
    return f"{derive(visit, 'state', target)}.{target}"


def _choose(parts: PagesParts, wrong: str, status: int = 200) -> BaseResponse:
    visit = request.cookies.get(VISIT) or new_cookie()
    made = page(
        "sign_in",
        None,
        status,
        github=parts.sign_in() is not None,
        token=parts.token is not None,
        target=safe_path(request.values.get("next", "")),
        form_token=derive(visit, "form"),
        wrong=wrong,
    )
    return _remember(made, VISIT, visit, VISIT_S)


def _enter(sessions: Sessions, cookie: str, target: str) -> BaseResponse:
    """A new session in place of the one that this browser may have had."""
    if before := request.cookies.get(SESSION, ""):
        sessions.end(before)
    response = _forget(redirect(target, 303), VISIT)
    return _remember(response, SESSION, cookie, int(LIFETIME_S))


def _too_many() -> BaseResponse:
    response = problem("Too many attempts", "Wait a minute, then sign in again.", 429, way_out="/sign-in")
    response.headers["Retry-After"] = "60"
    return response


def _remember(response: BaseResponse, name: str, value: str, seconds: int) -> BaseResponse:
    """Lax: GitHub sends the browser back by a link, with which a strict cookie would not come along."""
    response.set_cookie(name, value, max_age=seconds, secure=True, httponly=True, samesite="Lax", path="/")
    return response


def _forget(response: BaseResponse, name: str) -> BaseResponse:
    response.delete_cookie(name, secure=True, httponly=True, samesite="Lax", path="/")
    return response
