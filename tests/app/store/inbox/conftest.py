from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.store.inbox.store import Store, open_store
from reviewbot.app.triggers.values import Delivery, Trigger, TriggerKind
from tests.still_clock import Moment


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an inbox can be: each test runs on both kinds of database, and finds it empty."""
    if request.param == "file":
        return str(tmp_path / "state" / "inbox.sqlite")
    given: str = request.getfixturevalue("server")
    name = f"t{uuid4().hex}"
    with psycopg.connect(given, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{given}?options=-csearch_path%3D{name}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url, durable=False)
    yield opened
    opened.close()


@pytest.fixture
def inbox(store: Store, moment: Moment) -> Inbox:
    return Inbox(store, moment)


def _delivery(
    body: str, head: str | None = "a", number: int | None = 7, kind: TriggerKind = "head", **fields: object
) -> Delivery:
    values: dict[str, object] = {
        "kind": kind,
        "installation_id": 42,
        "repository_id": 1,
        "repository": "octo/repo",
        "number": number,
        "head_sha": None if head is None else head * 40,
        "reason": "opened",
        "delivery_id": f"id-{body}",
        **fields,
    }
    return Delivery(f"id-{body}", "pull_request", body, Trigger(**values))  # type: ignore[arg-type] # as written above


@pytest.fixture(scope="session")
def a_delivery() -> Callable[..., Delivery]:
    """A delivery of these bytes; `fields` are its trigger's."""
    return _delivery
