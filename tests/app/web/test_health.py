from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.inbox.counters import Counters, Tally
from reviewbot.app.store.inbox.store import InboxError, open_store
from reviewbot.app.web.app import NO_WORKER
from reviewbot.domain.errors import ConfigError
from tests.webhooks import Service, pull_event, service


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Service]:
    made = service(tmp_path)
    yield made
    made.inbox.close()


def samples(text: str) -> dict[str, float]:
    """Values by name and labels."""
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def broken() -> tuple[Tally, ...]:
    raise InboxError("the inbox cannot be used")


def test_it_lives_and_says_what_waits(target: Service) -> None:
    target.send(pull_event())

    assert target.get("/healthz").json == {"status": "ok"}
    ready = target.get("/readyz")
    assert ready.status_code == 200
    assert ready.json is not None
    assert ready.json["queue"]["waiting"] == 1
    assert (ready.json["status"], ready.json["database"], ready.json["configured"]) == ("ok", "ok", True)


def test_it_is_ready_for_its_setup_before_there_is_an_app_and_not_without_a_database(tmp_path: Path) -> None:
    bare = service(tmp_path, credentials=lambda: None)
    ready = bare.get("/readyz")
    assert ready.json is not None
    assert (ready.status_code, ready.json["status"], ready.json["configured"]) == (200, "ok", False)
    assert ready.json["setup"] == "there is no App yet: open /setup"
    bare.inbox.close()

    assert bare.get("/readyz").json == {"status": "unavailable", "database": "unavailable"}
    assert bare.get("/healthz").status_code == 200


@pytest.mark.parametrize(("workers", "note"), [(0, NO_WORKER), (2, None)])
def test_it_says_that_no_worker_runs_and_is_ready_all_the_same(workers: int, note: str | None, tmp_path: Path) -> None:
    target = service(tmp_path, workers=lambda: workers)
    ready = target.get("/readyz")
    target.inbox.close()

    assert ready.json is not None
    assert (ready.status_code, ready.json["workers"], ready.json.get("note")) == (200, workers, note)


def test_it_is_not_ready_where_the_runs_cannot_be_read(tmp_path: Path) -> None:
    target = service(tmp_path, workers=no_states)

    assert target.get("/readyz").json == {"status": "unavailable", "database": "unavailable"}
    target.inbox.close()


def test_a_queue_that_is_too_old_makes_it_unready_only_where_somebody_wants_that(tmp_path: Path) -> None:
    target = service(tmp_path, ready_max_age_s=-1.0)

    assert target.get("/readyz").status_code == 503
    target.inbox.close()


def test_deliveries_are_counted_by_what_became_of_them(target: Service) -> None:
    target.send(pull_event())
    target.send(pull_event())
    target.send(pull_event("assigned"))
    target.send({}, "brand_new_event")
    target.send(pull_event(), X_Hub_Signature_256=None)
    found = samples(target.get("/metrics").text)

    assert found['reviewbot_deliveries_total{event="pull_request",outcome="accepted"}'] == 1
    assert found['reviewbot_deliveries_total{event="pull_request",outcome="repeat"}'] == 1
    assert found['reviewbot_deliveries_total{event="other",outcome="ignored"}'] == 1
    assert found['reviewbot_http_errors_total{status="401"}'] == 1
    assert found["reviewbot_ack_seconds_count"] == 4
    assert (found["reviewbot_queue_deliveries"], found["reviewbot_database_up"]) == (1, 1)


def test_what_workers_counted_is_shown_from_the_database(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "inbox.sqlite"), durable=False)
    tallies = Counters(store)
    tallies.add_all([Tally("tokens", {"worker": "logic", "model": "m-1", "direction": "in"}, 1_200)])
    tallies.add_all([Tally("dollars", {"worker": "logic", "model": "m-1"}, 0.25)])
    tallies.observe_run(42.0)
    target = service(tmp_path, tallies=tallies.read, states=lambda: {"running": 2, "parked": 1})
    found = samples(target.get("/metrics").text)

    assert found['reviewbot_tokens_total{direction="in",model="m-1",worker="logic"}'] == 1_200
    assert found['reviewbot_dollars_total{model="m-1",worker="logic"}'] == 0.25
    assert found['reviewbot_runs_now{state="parked"}'] == 1
    assert found['reviewbot_run_seconds_bucket{le="60"}'] == 1
    assert found["reviewbot_run_seconds_sum"] == 42
    store.close()
    target.inbox.close()


def no_states() -> Mapping[str, int]:
    raise ConfigError("the database cannot be used")


@pytest.mark.parametrize("part", [{"tallies": broken}, {"states": no_states}])
def test_metrics_say_that_the_database_does_not_answer(part: dict[str, Any], tmp_path: Path) -> None:
    target = service(tmp_path, **part)
    found = samples(target.get("/metrics").text)

    assert found["reviewbot_database_up"] == 0
    assert "reviewbot_queue_deliveries" not in found
    target.inbox.close()


@pytest.mark.parametrize(
    ("peer", "host", "headers", "status"),
    [
        ("127.0.0.1", "localhost:8000", {}, 200),
        ("::1", "[::1]:8000", {}, 200),
        ("10.1.2.3", "web:8000", {}, 200),
        ("127.0.0.1", "evil.example", {}, 403),
        ("127.0.0.1", "localhost:8000", {"X_Forwarded_For": "8.8.8.8"}, 403),
        ("8.8.8.8", "localhost:8000", {}, 403),
        ("nowhere", "localhost:8000", {}, 403),
    ],
)
def test_metrics_are_for_this_machine_and_its_networks(
    peer: str, host: str, headers: dict[str, str], status: int, target: Service
) -> None:
    assert target.get("/metrics", peer, host, **headers).status_code == status


def test_with_a_token_metrics_are_for_who_shows_it(tmp_path: Path) -> None:
    target = service(tmp_path, metrics_token="a-token-for-metrics")

    assert target.get("/metrics").status_code == 403
    assert target.get("/metrics", Authorization="Bearer another").status_code == 403
    assert target.get("/metrics", "8.8.8.8", Authorization="Bearer a-token-for-metrics").status_code == 200
    target.inbox.close()


def test_two_applications_count_for_themselves(tmp_path: Path) -> None:
    one, two = service(tmp_path / "one"), service(tmp_path / "two")
    one.send(pull_event())

    assert 'outcome="accepted"' in one.get("/metrics").text
    assert 'outcome="accepted"' not in two.get("/metrics").text
    one.inbox.close()
    two.inbox.close()


def test_no_label_of_any_metric_names_a_repository_or_a_person(target: Service) -> None:
    target.send(pull_event())
    labels = set(re.findall(r'(\w+)="', target.get("/metrics").text))

    assert labels <= {"event", "outcome", "le", "status", "state"}
