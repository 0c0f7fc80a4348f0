"""Prometheus metrics: what this process counts itself, and what the workers have left in the database.

Each application has a registry of its own. No label names a repository, a person or an installation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from reviewbot.app.store.inbox.counters import COUNTERS, Tally
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.web.pages import EVENTS
from reviewbot.app.web.parts import WebParts
from reviewbot.domain.errors import ConfigError

SUBSCRIBED = frozenset({*EVENTS, "pull_request_review", "ping"})
"""Names that may be a label; every other one counts as "other"."""

ACK_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds. GitHub gives up after ten."""

_RUN_SECONDS = "run_seconds"
_SUM = "run_seconds_sum"


class WebMetrics:
    """The metrics of one application."""

    def __init__(self, parts: WebParts) -> None:
        self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "reviewbot_deliveries",
            "Signed deliveries, by outcome.",
            ["event", "outcome"],
            registry=self._registry,
        )
        self._refusals = Counter(
            "reviewbot_http_errors", "Requests that were answered with an error.", ["status"], registry=self._registry
        )
        self._seconds = Histogram(
            "reviewbot_ack_seconds",
            "From a delivery's last byte to its answer.",
            buckets=ACK_BUCKETS,
            registry=self._registry,
        )
        self._registry.register(_Database(parts))

    def count_delivery(self, event: str, outcome: str, seconds: float) -> None:
        """Count an answered delivery."""
        self._deliveries.labels(event if event in SUBSCRIBED else "other", outcome).inc()
        self._seconds.observe(seconds)

    def count_error(self, status: int) -> None:
        """Count a request that was answered with an error."""
        self._refusals.labels(str(status)).inc()

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class _Database:
    """What the database knows, read with each scrape."""

    def __init__(self, parts: WebParts) -> None:
        self._parts = parts

    def describe(self) -> list[Metric]:
        """Nothing: asking the database once more would only tell names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Everything, or only that the database does not answer."""
        try:
            found = [*self._queue(), *self._states(), *_tallied(self._parts.tallies)]
        except (InboxError, ConfigError):
            found = []
        up = GaugeMetricFamily("reviewbot_database_up", "Whether the database answered this scrape.")
        up.add_metric([], 1.0 if found else 0.0)
        yield up
        yield from found

    def _queue(self) -> Iterator[Metric]:
        count, age = self._parts.inbox.lag()
        yield GaugeMetricFamily("reviewbot_queue_deliveries", "Deliveries that no worker has taken up.", value=count)
        yield GaugeMetricFamily("reviewbot_queue_age_seconds", "How long the oldest of them has waited.", value=age)

    def _states(self) -> Iterator[Metric]:
        states = GaugeMetricFamily("reviewbot_runs_now", "Runs by the state that they are in.", labels=["state"])
        for state, count in sorted(self._parts.states().items()):
            states.add_metric([state], count)
        yield states


def _tallied(tallies: Callable[[], tuple[Tally, ...]]) -> Iterator[Metric]:
    by_name: dict[str, list[Tally]] = defaultdict(list)
    for tally in tallies():
        by_name[tally.name].append(tally)
    for name, (meaning, labels) in COUNTERS.items():
        if name in {_RUN_SECONDS, _SUM}:
            continue
        family = CounterMetricFamily(f"reviewbot_{name}", meaning, labels=labels)
        for tally in by_name[name]:
            family.add_metric([tally.labels[label] for label in labels], tally.value)
        yield family
    yield _run_seconds({tally.labels["le"]: tally.value for tally in by_name[_RUN_SECONDS]}, by_name[_SUM])


def _run_seconds(counted: Mapping[str, float], total: list[Tally]) -> Metric:
    family = HistogramMetricFamily("reviewbot_run_seconds", COUNTERS[_RUN_SECONDS][0])
    if counted:
        buckets = sorted(((end, counted[end]) for end in counted), key=lambda pair: float(pair[0]))
        family.add_metric([], buckets, sum_value=sum(tally.value for tally in total))
    return family
