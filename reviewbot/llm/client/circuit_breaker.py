"""One circuit breaker for all calls of a run, so that a provider that is down is not asked again for each task."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.contracts import Tier
from reviewbot.errors import ProviderError


@dataclass(frozen=True)
class Attempt:
    """A call in flight: what had happened when it began, and whether it is the one that tests a failing provider."""

    begun: int
    probe: bool


class CircuitBreaker:
    """Opens for the rest of a run when the provider failed several times in a row, or refused the account.

    Calls that fail together are one failure: a call counts only where, since it began, no other call was answered and
    no other failure was counted. After a failure that counts, one new call at a time goes out until one is answered.
    """

    def __init__(self) -> None:
        self._failures = 0
        self._events = 0
        self._probing = False
        self._causes: dict[Tier | None, str] = {}

    def check(self, tier: Tier) -> None:
        """Raises ProviderError where no call of this tier will be answered any more."""
        cause = self._causes.get(None, self._causes.get(tier))
        if cause is not None:
            raise ProviderError(cause)

    def has_room(self) -> bool:
        """Whether another call may begin now."""
        return not (self._failures and self._probing)

    def begin(self) -> Attempt:
        """A call begins. Each call ends in `end`, whatever else is said of it."""
        attempt = Attempt(self._events, probe=self._failures > 0)
        self._probing = self._probing or attempt.probe
        return attempt

    def end(self, attempt: Attempt) -> None:
        """A call is no longer in flight."""
        if attempt.probe:
            self._probing = False

    def succeed(self) -> None:
        """A call was answered."""
        self._failures = 0
        self._events += 1

    def fail(self, attempt: Attempt, cause: str, allowed: int) -> int:
        """A call failed in a way that says something of the provider. Opens at failure number `allowed` in a row.

        Returns how many failures in a row there are now; 0 where this one does not count.
        """
        if attempt.begun != self._events:
            return 0
        self._failures += 1
        self._events += 1
        if self._failures >= allowed:
            self.open(f"{cause} ({self._failures} tries in a row)")
        return self._failures

    def open(self, cause: str, tier: Tier | None = None) -> None:
        """Let no call of a tier through any more; None: no call at all. The first cause is kept."""
        self._causes.setdefault(tier, cause)
