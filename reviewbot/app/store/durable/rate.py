"""The token bucket of all workers together: so many requests and tokens a minute, kept in the database."""

from __future__ import annotations

from reviewbot.app.store.durable.database import Database

MINUTE_S = 60.0

BURST_S = 1.0
"""How much of the rate may go out at once after a pause: little, since providers count in shorter windows too."""

_TAKE = """
INSERT INTO reviewbot_rates (name, requests_free, tokens_free, closed_until) VALUES (?, ?, ?, 0)
ON CONFLICT (name) DO UPDATE SET
  requests_free = ? + CASE WHEN reviewbot_rates.requests_free > ? THEN reviewbot_rates.requests_free ELSE ? END,
  tokens_free = ? + CASE WHEN reviewbot_rates.tokens_free > ? THEN reviewbot_rates.tokens_free ELSE ? END
RETURNING requests_free, tokens_free, closed_until
"""


class SharedRate:
    """As the bucket of one process, for all who share a database and a `name`, such as the provider's address.

    A rate is kept as the moment at which everything that was taken so far will have flowed off.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._database = database
        self._name = name
        self._request_s = MINUTE_S / requests_per_minute if requests_per_minute else 0.0
        self._token_s = MINUTE_S / tokens_per_minute if tokens_per_minute else 0.0

    def take(self, tokens: int) -> float:
        """Claim room for one request that sends so many tokens; gives the seconds to wait before it may go out."""
        if not self._request_s and not self._token_s:
            return self.closed_s()
        now = self._database.now()
        start, request_s, tokens_s = now - BURST_S, self._request_s, tokens * self._token_s
        row = self._database.run(
            _TAKE,
            self._name,
            start + request_s,
            start + tokens_s,
            request_s,
            start,
            start,
            tokens_s,
            start,
            start,
        )[0]
        waits = (float(row[0]) - request_s - now, float(row[1]) - tokens_s - now, float(row[2]) - now)
        return max(0.0, *waits)

    def close(self, seconds: float) -> None:
        """Stop all workers' requests for so long: the far end asked for it."""
        now = self._database.now()
        self._database.run(
            "INSERT INTO reviewbot_rates (name, requests_free, tokens_free, closed_until) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET closed_until = CASE WHEN excluded.closed_until > "
            "reviewbot_rates.closed_until THEN excluded.closed_until ELSE reviewbot_rates.closed_until END",
            self._name,
            now - BURST_S,
            now - BURST_S,
            now + seconds,
        )

    def closed_s(self) -> float:
        """Seconds for which requests are still stopped."""
        rows = self._database.run("SELECT closed_until FROM reviewbot_rates WHERE name = ?", self._name)
        return max(0.0, float(rows[0][0]) - self._database.now()) if rows else 0.0
