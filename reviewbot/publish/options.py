"""Values of publishing: the request, its options, its context and its outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot import __version__
from reviewbot.config import Settings
from reviewbot.config.settings import KEYS
from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import ChangeSet, Finding
from reviewbot.domain.ports import Clock, WorkerSet
from reviewbot.hosts.registry import links_of
from reviewbot.report.findings.links import SourceLinks

if TYPE_CHECKING:
    # A review that is not published needs `policy_of` alone.
    from reviewbot.hosts.base import PullRequest, ReviewHost
    from reviewbot.publish.intents import Intents
    from reviewbot.publish.marker import Signer

Suggest = Callable[[Finding], str | None]
"""The lines to propose in place of those of a finding, proven to work; None where there is no such proposal."""

_POLICY_DIGITS = 32


@dataclass(frozen=True)
class PublishRequest:
    """A review on its way to a pull request."""

    pull: PullRequest
    """As it was when the change was read: its head is the one that was reviewed."""
    delivered: DeliveredReview
    change: ChangeSet
    """What was reviewed; it says at which lines the host takes comments."""
    policy: str
    """What decided the review, see `policy_of`."""
    gate_closed: bool = False
    code: int | None = None
    """The run's exit code, kept in the review's marker: a later run that finds it there may end the same way."""

    @property
    def links(self) -> SourceLinks | None:
        """Where the host shows the lines of the pull request; None where its addresses have another form."""
        return links_of(self.pull.url, self.pull.head_sha, self.pull.base_sha)

    @property
    def key(self) -> str:
        """The key under which there is one review: a head of a pull request under a policy."""
        pull = self.pull
        return f"review:{pull.repository_id}:{pull.number}:{pull.head_sha}:{self.policy}"


@dataclass(frozen=True)
class PublishOptions:
    """How a review is published: what the operator decides."""

    signer: Signer
    suggest: Suggest
    inline: int = 10
    """The most comments at lines; 0: none."""
    request_changes: bool = False
    """Whether a closed gate asks for changes in place of commenting."""


@dataclass(frozen=True)
class PublishContext:
    """The host, intents and clock that publishing works with."""

    host: ReviewHost
    intents: Intents
    clock: Clock
    holder: str
    """The id of the posting attempt; unique per attempt, so that a crashed one is not mistaken for this one."""


def policy_of(settings: Settings, worker_set: WorkerSet, engine: str, start: str = "") -> str:
    """Digest of what decides the review of a head (settings, workers, engine, version): 32 hexadecimal digits.

    `start` is the commit from which the change starts: under another base branch a head is another change.
    """
    chosen = {name: key.kind.write(getattr(settings, name)) for name, key in KEYS.items() if key.affects != "run"}
    cards = sorted((card.model_dump_json(), worker_set.prompts[card.name]) for card in worker_set.cards)
    data = json.dumps([__version__, engine, chosen, cards, start], sort_keys=True)
    return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()[:_POLICY_DIGITS]
