"""What stands between the three steps of a pull request's review: small values that outlive the process as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import SCHEMA_VERSION, Contract, Count
from reviewbot.domain.contracts.change import ChangeSet
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.contracts.review import Review

Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$")]
"""As "owner/name"."""
Sha = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
HostId = Annotated[int, Field(ge=1)]


class PullRef(Contract):
    """Which pull request, and at which commits it was found: all that a later step needs to find it again."""

    repository: Repository
    repository_id: HostId
    number: HostId
    base_sha: Sha
    head_sha: Sha


class PullReview(Contract):
    """A review that may be shown, masked, and what posting it takes."""

    schema_version: str = SCHEMA_VERSION
    pull: PullRef
    review: Review
    fingerprints: tuple[str, ...]
    """Of each finding that the review has anywhere, each once, in the order of `reviewbot.memory.fingerprints.all_of`;
    empty for one that came to it later and has none."""
    ledger: Ledger | None = None
    """What is remembered of this head and the earlier ones."""
    change: ChangeSet
    """The files that have findings: where the host takes comments."""
    policy: str
    """What decided the review, see `reviewbot.publish.options.policy_of`."""
    exit_code: Count
    """How a run ends by it: the gate, what is missing, or neither."""
    gate_closed: bool
    suggestions: dict[str, str] = Field(default_factory=dict)
    """By fingerprint: proven lines that may be offered in the place of a finding's."""
    inline: Count = 0
    """The most comments at lines."""
    request_changes: bool = False
    check_id: HostId | None = None
    """The check run that is in progress; None where there is none."""
    notes: tuple[str, ...] = ()
    """What did not go as it should, one line each."""


class PullPosted(Contract):
    """The outcome of posting."""

    outcome: Literal["posted", "already_posted", "head_moved", "busy"]
    """Posted now; it stands there already; its head is no longer the newest, and nothing was written; or another run is
    posting it and has not finished within our patience."""
    url: str = ""
    review_id: HostId | None = None
    inline: Count = 0
    """Comments at lines that were posted now."""
    check_url: str = ""
    notes: tuple[str, ...] = ()
