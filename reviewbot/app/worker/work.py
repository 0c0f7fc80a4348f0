"""Values of a run: the review request, the three coarse steps, and each step's input and result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from reviewbot.app.store.durable.human_queue import QueueItem
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import WorkerCost
from reviewbot.domain.errors import HostError
from reviewbot.domain.ports import Journal
from reviewbot.publish.intents import Intents

Json = dict[str, Any]
"""An object of JSON: what stands between two steps must outlive the process."""

REFUSED = "refused"
"""How the name ends of a run that only says why there is no review: it is not in the way of one."""

Ending = Literal["posted", "refused", "moved", "superseded", "failed", "parked"]


class UnwantedError(HostError):
    """The run is superseded, or another worker's: it must not write any more."""

    def __init__(self) -> None:
        super().__init__("the run is superseded, or was taken over by another worker; nothing more is written")


@dataclass(frozen=True)
class ReviewRequest:
    """A request for a review of one head of one pull request."""

    installation: int
    repository: str
    """As "owner/name"; only for the host and for people, ids tell apart."""
    repository_id: int
    number: int
    """0 where the request does not say, as for the check of a fork: see `RunSteps.resolve`."""
    head_sha: str
    """Empty where the request does not say, such as a comment."""
    cause: str = "push"
    """Why: "push", "command", "rerun", "catch-up" ... One of a fixed set of words."""
    again: str = ""
    """Where another run of this head is asked for: the key of what asked, so that it also counts once."""
    as_of: int = 0
    """Grows with what the host reports; 0: it is not known when this was reported."""
    refusal: str = ""
    """Why there is to be none, where that is decided already and only has to be said on the host."""
    trigger: Json = field(default_factory=dict)
    """What led to it, as JSON values; for the steps."""

    @property
    def pull(self) -> tuple[int, int]:
        """The id of the repository, and the number of the pull request."""
        return self.repository_id, self.number

    def run_id(self, policy: str) -> str:
        """The name of its run. Two deliveries of one head, opened and synchronize say, have one run."""
        name = f"review:{self.repository_id}:{self.number}:{self.head_sha}:{policy}"
        more = self.again or (REFUSED if self.refusal else "")
        return f"{name}:{more}" if more else name

    def as_json(self) -> Json:
        """The request as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> ReviewRequest:
        """Read a request from JSON, also one that an earlier version has written."""
        return cls(**{name: value for name, value in data.items() if name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class RunContext:
    """The context of a step. Everything in it belongs to one run, repository and installation."""

    run_id: str
    request: ReviewRequest
    owner: str
    """This execution: the holder of its intents."""
    journal: Journal
    intents: Intents
    wanted: Callable[[], bool]
    """Whether this execution may still write; to be asked right before every write. Blocking, about a millisecond."""
    keep: Callable[[str], None]
    """Store the trace, masked, of a review that is under way, or broke off. Blocking."""
    rate: Callable[[str, int | None, int | None], SharedRate]
    """The bucket that all workers share: of a provider, with its requests and tokens a minute."""


@dataclass(frozen=True)
class End:
    """A step's other answer: the run ends here, and why."""

    state: Ending
    reason: str = ""
    head_sha: str = ""
    """Of "moved": the head as the host tells it now."""
    url: str = ""
    """Of "posted": the review that stands there already."""


@dataclass(frozen=True)
class StoredReview:
    """The result of the review step. `trace` is masked already, for it is stored."""

    value: Json
    dollars: float = 0.0
    tokens: int = 0
    trace: str = ""
    workers: tuple[WorkerCost, ...] = ()


@dataclass(frozen=True)
class Posted:
    """The review that stands on the host."""

    review_id: int
    url: str = ""


@dataclass(frozen=True)
class RunSteps:
    """The coarse steps. Each may be carried out again after a crash, and must come to the same end.

    HostError and its kinds are tried again where that may help, HostMovedError is like `End("moved")`; any other error
    ends the run as failed.
    """

    policy: str
    """Names the operator's settings, in letters and digits: another policy makes another run of the same head."""
    fetch: Callable[[RunContext], Json | End]
    """Blocking. "refused" where the configuration wants no review (said on the host already), "moved"."""
    review: Callable[[RunContext, Json], Awaitable[StoredReview | End]]
    """Cancelled where its head is superseded meanwhile."""
    post: Callable[[RunContext, Json], Posted | End]
    """Blocking. Exactly one review: looks first, and takes the intent."""
    resolve: Callable[[ReviewRequest], ReviewRequest | None] | None = None
    """Blocking. Complete a request without number or head from the host; None where it is refused.
    Idempotent: a reaction, say, stands once."""
    conclude: Callable[[RunContext, End], None] | None = None
    """Blocking. Says on the host that a run failed or was parked. Idempotent."""
    close: Callable[[ReviewRequest], None] | None = None
    """Blocking. Ends the check run that a run left in progress on a head of which none will come any more, and says
    why (`Order.refusal`). Idempotent."""
    decide: Callable[[QueueItem], Json] | None = None
    """Blocking. Carry out the last decision about an item of the human queue, see `DecisionFollower.follow`."""
    forget: Callable[[int], None] | None = None
    """Let go of what is kept in memory for an installation that has ended. Raises nothing."""
    count: Callable[[str, float], None] | None = None
    """Blocking. A run has ended: in which state, and seconds after it was ordered. Raises nothing."""
