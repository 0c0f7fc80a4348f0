"""What became known of a finding that was reported: names, numbers and states, no code and no text of a person."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from reviewbot.domain.contracts.base import Confidence, Contract, Count, Severity
from reviewbot.domain.contracts.ledger import FindingState, Fingerprint, Origin

DismissedAs = Literal["", "wrong", "unwanted", "unclear"]
"""What the reason of a dismissal says: the finding is wrong; it is right and not wanted; neither of these."""

Outcome = Literal["open", "merged", "closed"]

Word = Annotated[str, Field(max_length=200)]


class Label(Contract):
    """One finding of one pull request, or of one branch, with everything that people and later pushes said of it."""

    repository: Count = 0
    """The host's id; 0: of a local branch."""
    pull: Word = ""
    """The number of the pull request, or a digest of the branch's name."""
    finding: Fingerprint
    worker: Word = ""
    """The type of the task that found it."""
    rule: Word = ""
    """Of a program."""
    kind: Word = ""
    """Of a model's claim: its cause, from a closed list."""
    source: Word = ""
    """The model, or the programs joined by "+"."""
    by_model: bool = True
    severity: Severity = "warning"
    stated: Confidence | None = None
    """Its confidence before any feedback was counted; None: not known, as of a finding that a thread alone knows."""
    state: FindingState = "new"
    origin: Origin = "review"
    dismissed_as: DismissedAs = ""
    queue: Literal["", "confirmed", "dismissed"] = ""
    """What a person decided in the human queue."""
    up: Count = 0
    """Reactions of people who may write to the repository: thumbs up, hearts, hoorays, rockets."""
    down: Count = 0
    """The same: thumbs down, confused."""
    resolved: bool = False
    """Whether a person has resolved its thread."""
    outcome: Outcome = "open"
    """Of the pull request."""
