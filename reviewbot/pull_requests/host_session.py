"""The host session that the three steps share: host, signer, and the options of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.config.source import BaseSide
from reviewbot.domain.ports import Clock, Journal
from reviewbot.hosts.base import CodeHost
from reviewbot.memory.decisions import Decision
from reviewbot.publish.intents import Intents, MemoryIntents
from reviewbot.publish.marker import Signer
from reviewbot.review.trace import Event
from reviewbot.sources.memory import SystemClock

READING_S = 300.0
"""Seconds for each step's own calls of the host, waits for its limits included."""

POSTING_S = 900.0
"""The same for posting: twice the patience with other posters and lost answers, a host's pause, and the calls."""


@dataclass(frozen=True)
class HostSession:
    """The host of a run, and how it is written to."""

    host: CodeHost
    signer: Signer
    intents: Intents = field(default_factory=MemoryIntents)
    clock: Clock = field(default_factory=SystemClock)
    holder: str = field(default_factory=lambda: uuid4().hex)
    """The id of the posting attempt; unique per attempt."""


@dataclass(frozen=True)
class RunOptions:
    """Flags, inputs, journal and earlier decisions of one run, and the listener of its trace."""

    flags: Mapping[str, object] = field(default_factory=dict)
    """What the operator said, by the keys of `Settings`; it counts before the repository's own file."""
    inputs: wiring.RunInputs = field(default_factory=wiring.RunInputs)
    """With the environment in which settings, keys and prices are looked for."""
    journal: Journal | None = None
    listener: Callable[[Event], None] | None = None
    settings: Callable[[BaseSide | None], Settings] | None = None
    """Reads the settings off the base side, where it is not `wiring.settings_for` with the flags."""
    decisions: tuple[Decision, ...] = ()
    """About findings, beside those of the base branch."""
    confirmed: tuple[Decision, ...] = ()
    """Findings that a person holds to be true."""
    unposted: tuple[str, ...] = ()
    """Heads whose reviews were begun and not posted, oldest first."""
    anew: str = ""
    """Where the whole change is to be reviewed as if for the first time: the name of that request."""
    to_post: bool = True
    """Whether it is going to be posted: only then is a check run begun, are suggestions tried, and does a review
    without models read what earlier ones said."""
