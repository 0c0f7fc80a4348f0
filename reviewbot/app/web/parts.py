"""The dependencies of the web application, passed in by its caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.environment import WEB_URL
from reviewbot.app.store.inbox.counters import Tally
from reviewbot.app.triggers.values import Delivery
from reviewbot.config.settings import Settings

MAX_BODY_BYTES = 25 * 1024 * 1024
"""GitHub's own limit. https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap"""


class Deliveries(Protocol):
    """The inbox, as the web side needs it."""

    def put(self, delivery: Delivery) -> str:
        """Accept durably; "new" or "repeat"."""

    def lag(self) -> tuple[int, float]:
        """How many wait, and how long the oldest has, in seconds."""


@dataclass(frozen=True)
class SetupParts:
    """What the setup pages need besides."""

    convert: Callable[[str], Credentials]
    """The credentials of a new App for the code that GitHub gave. Raises HostError or ConfigError."""
    keep: Callable[[Credentials], str]
    """Put them where they belong; where that is, in words. Raises ConfigError."""
    token: str
    """Lets one browser in, once; printed where the server was started."""
    web_url: str = WEB_URL
    public_url: str | None = None


def _nothing() -> tuple[Tally, ...]:
    return ()


def _no_states() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True)
class WebParts:
    """Dependencies of the whole application."""

    inbox: Deliveries
    credentials: Callable[[], Credentials | None]
    """Asked with each request, so that keys can be exchanged while we run. Raises ConfigError."""
    settings: Settings
    tallies: Callable[[], tuple[Tally, ...]] = _nothing
    """What workers have counted. Raises InboxError."""
    states: Callable[[], Mapping[Any, int]] = _no_states
    """How many runs there are in each state, by its name. Raises InboxError or ConfigError."""
    workers: Callable[[], int] | None = None
    """How many give signs of life; None where that is not known. Raises ConfigError."""
    metrics_token: str | None = None
    """A client that sends it may read the metrics from anywhere. None: only this machine and private networks may."""
    ready_max_age_s: float | None = None
    """Of the oldest delivery; beyond it, we say that we are not ready. None: whatever waits, more is taken."""
    setup: SetupParts | None = field(default=None)
