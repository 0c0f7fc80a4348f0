"""The dependencies of the web application, passed in by its caller; and where the client of a request is.

`peer_of` distinguishes this machine, its private networks, and all other addresses.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from flask import Request

from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.environment import WEB_URL
from reviewbot.app.store.inbox.counters import Tally
from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.config.settings import Settings

MAX_BODY_BYTES = 25 * 1024 * 1024
"""GitHub's own limit. https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap"""

Peer = Literal["here", "near", "elsewhere"]

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via")
"""What a proxy adds. It stands on this machine, and speaks for a client that does not."""

_HERE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
"""A name in `Host` that no other site can make a browser send here: others can be made to point at this machine."""


@dataclass(frozen=True)
class SetupParts:
    """The further dependencies of the setup pages."""

    convert: Callable[[str], Credentials]
    """The credentials of a new App for the code that GitHub gave. Raises HostError or ConfigError."""
    keep: Callable[[Credentials], str]
    """Put them where they belong; where that is, in words. Raises ConfigError."""
    token: str
    """Lets one browser in, once; printed where the server was started."""
    web_url: str = WEB_URL
    public_url: str | None = None


@dataclass(frozen=True)
class WebParts:
    """Dependencies of the whole application."""

    inbox: Inbox
    credentials: Callable[[], Credentials | None]
    """Asked with each request, so that keys can be exchanged while we run. Raises ConfigError."""
    settings: Settings
    tallies: Callable[[], tuple[Tally, ...]] = tuple
    """What workers have counted. Raises InboxError."""
    states: Callable[[], Mapping[Any, int]] = dict
    """How many runs there are in each state, by its name. Raises InboxError or ConfigError."""
    workers: Callable[[], int] | None = None
    """How many give signs of life; None where that is not known. Raises ConfigError."""
    metrics_token: str | None = None
    """A client that sends it may read the metrics from anywhere. None: only this machine and private networks may."""
    ready_max_age_s: float | None = None
    """Of the oldest delivery; beyond it, we say that we are not ready. None: whatever waits, more is taken."""
    setup: SetupParts | None = field(default=None)
    pages: PagesParts | None = None
    """None: there are no pages."""


def peer_of(asked: Request) -> Peer:
    """Where a request comes from. An unknown address counts as elsewhere."""
    if any(asked.headers.get(name) for name in _FORWARDED):
        return "elsewhere"
    try:
        address = ipaddress.ip_address((asked.remote_addr or "").partition("%")[0])
    except ValueError:
        return "elsewhere"
    if address.is_loopback:
        return "here" if _HERE.fullmatch(asked.headers.get("Host", "")) else "elsewhere"
    return "near" if address.is_private else "elsewhere"
