"""One circuit breaker for all calls of a run, so that a provider that is down is not asked again for each task."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.contracts import Tier
from reviewbot.domain.errors import ProviderError
from reviewbot.domain.ports import Clock


@dataclass(frozen=True)
class Attempt:
    """A call in flight: what had happened when it began, and whether it is the one that tests a failing provider."""

    begun: int
    probe: bool


class CircuitBreaker:
    """Opens when the provider failed several times in a row, or refused the account.

    Calls that fail together are one failure: a call counts only where, since it began, no other call was answered and
    no other failure was counted. After a failure that counts, one new call at a time goes out until one is answered.

    After failures it is open for a cool-down; then one call goes out (half-open). Its answer closes the breaker, its
    failure opens it for twice as long. While it is open, calls are refused; only where the provider had answered in
    this run they wait for the first of these calls, since most outages are short, and a provider that never answered
    is rather not there. A refused account stays refused for the rest of the run.
    """

    def __init__(self, clock: Clock, cool_down_s: float) -> None:
        self._clock = clock
        self._cool_down_s = cool_down_s
        self._failures = 0
        self._events = 0
        self._probing = False
        self._answered = False
        self._openings = 0
        """Since the last answer."""
        self._open_until = 0.0
        self._cause = ""
        self._final: dict[Tier | None, str] = {}

    def wait_s(self, tier: Tier, remaining_s: float) -> float:
        """Seconds until a call of this tier may ask for its turn; 0: it may now.

        `remaining_s` are the seconds until the deadline. Raises ProviderError where the call is refused.
        """
        final = self._final.get(None, self._final.get(tier))
        if final is not None:
            raise ProviderError(final)
        wait = self.open_s()
        if wait and not (self._answered and self._openings == 1 and wait < remaining_s):
            raise ProviderError(self._cause)
        return wait

    def open_s(self) -> float:
        """Seconds that are left of a cool-down."""
        return max(0.0, self._open_until - self._clock.monotonic()) if self._openings else 0.0

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
        self._answered = True
        self._failures = self._openings = 0
        self._events += 1

    def fail(self, attempt: Attempt, cause: str, allowed: int) -> int:
        """A call failed in a way that says something of the provider. Opens from failure number `allowed` in a row on.

        Returns how many failures in a row there are now; 0 where this one does not count.
        """
        if attempt.begun != self._events:
            return 0
        self._failures += 1
        self._events += 1
        if self._failures >= allowed:
            self._open_until = self._clock.monotonic() + self._cool_down_s * 2.0**self._openings
            self._openings += 1
            self._cause = f"{cause} ({self._failures} tries in a row)"
        return self._failures

    def refuse(self, cause: str, tier: Tier | None = None) -> None:
        """Let no call of a tier through for the rest of the run; None: no call at all. The first cause is kept."""
        self._final.setdefault(tier, cause)
