"""Sessions: begin, find, check again and end them.

The cookie is the only thing that opens a session. The database holds its hash, and the host's token sealed with a key
that is derived from it. What a person may read is asked of the host every few minutes; where it does not answer,
nothing is shown.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import zlib
from collections.abc import Mapping
from typing import Final, Literal

from cryptography.fernet import Fernet, InvalidToken

from reviewbot.app.pages.github_sign_in import Repository, SignedInUser
from reviewbot.app.pages.parts import PagesParts, Viewer
from reviewbot.app.store.durable.sessions import SessionRow, SessionTable
from reviewbot.domain.errors import HostAccessError

LIFETIME_S: Final = 8 * 3_600.0
"""Of a session; GitHub's tokens live as long."""

CHECKED_S: Final = 300.0
"""How long the host's answer to what a person may read counts."""

Purpose = Literal["name", "seal", "form", "state", "verifier"]


def new_cookie() -> str:
    """A value that cannot be guessed."""
    return secrets.token_urlsafe(32)


def derive(cookie: str, purpose: Purpose, text: str = "") -> str:
    """A value of a cookie for one purpose, 43 characters of base64url; it does not lead back to the cookie."""
    made = hmac.digest(cookie.encode("utf-8", "replace"), f"{purpose}\0{text}".encode("utf-8", "replace"), "sha256")
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def is_equal(given: str, known: str) -> bool:
    """Compare in constant time, whatever was given."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


class Sessions:
    """The sessions of the pages. What cannot be done raises ConfigError (database) or HostError."""

    def __init__(self, parts: PagesParts) -> None:
        self._parts = parts
        self._table = SessionTable(parts.database)

    def begin(self, person: SignedInUser, repositories: Mapping[int, Repository]) -> str:
        """A session of a person; its cookie, which is always a new one."""
        cookie = new_cookie()
        self._add(cookie, "github", person.login, person.token, _packed(repositories))
        return cookie

    def begin_with_token(self, given: str) -> str | None:
        """A session of a reader who has the read-only token; None for every other text."""
        if self._parts.token is None or not is_equal(given, self._parts.token):
            return None
        cookie = new_cookie()
        self._add(cookie, "token", "", _digest(self._parts.token), b"")
        return cookie

    def find(self, cookie: str) -> Viewer | None:
        """Who a cookie stands for; None where its session has ended. Raises HostError where rights cannot be read."""
        row = self._table.find(derive(cookie, "name")) if cookie else None
        secret = _opened(cookie, row.sealed) if row is not None else None
        if row is None or secret is None:
            return None
        form_token = derive(cookie, "form")
        if row.kind == "token":
            known = self._parts.token
            return Viewer("", None, form_token) if known is not None and is_equal(secret, _digest(known)) else None
        packed = row.repositories
        if self._table.now() > row.checked + CHECKED_S:
            sign_in = self._parts.sign_in()
            if sign_in is None:
                return None
            try:
                packed = _packed(sign_in.repositories(secret))
            except HostAccessError:
                self._table.end(row.name)
                return None
            self._table.refresh(row.name, packed)
        return Viewer(row.login, _unpacked(packed), form_token)

    def end(self, cookie: str) -> None:
        """End the session of a cookie, if there is one."""
        self._table.end(derive(cookie, "name"))

    def _add(self, cookie: str, kind: str, login: str, secret: str, repositories: bytes) -> None:
        now = self._table.now()
        sealed = _seal(cookie).encrypt(secret.encode())
        self._table.add(SessionRow(derive(cookie, "name"), kind, login, sealed, repositories, now, now + LIFETIME_S))


def _seal(cookie: str) -> Fernet:
    return Fernet(derive(cookie, "seal") + "=")


def _opened(cookie: str, sealed: bytes) -> str | None:
    try:
        return _seal(cookie).decrypt(sealed).decode()
    except InvalidToken:
        return None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _packed(repositories: Mapping[int, Repository]) -> bytes:
    return zlib.compress(json.dumps(list(repositories.items())).encode())


def _unpacked(data: bytes) -> dict[int, Repository]:
    return {number: Repository(*fields) for number, fields in json.loads(zlib.decompress(data))}
