from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.journal import forget_installation
from reviewbot.app.store.durable.labels import Labels
from reviewbot.domain.contracts.ledger import Record
from tests.still_clock import Moment

ONE, TWO = "1" * 32, "2" * 32


def a_record(*names: str, **fields: Any) -> Record:
    known: dict[str, Any] = {"path": "a.py", "type": "logic", "kind": "race", "source": "model-x", "stated": 80}
    known |= {"state": "open", "reason": "found again", "who": "reviewbot", "at": "", "head": "a" * 40, "since": ""}
    return Record(names=names or (ONE,), **{**known, **fields})


@pytest.fixture(params=["file", "server"])
def labels(request: pytest.FixtureRequest, tmp_path: Path, moment: Moment) -> Iterator[Labels]:
    """Labels in each kind of database."""
    if request.param == "server":
        opened: Database = open_database(request.getfixturevalue("server"))
        opened.run("DELETE FROM reviewbot_labels")
    else:
        opened = open_database(str(tmp_path / "labels.sqlite"), moment)
    yield Labels(opened)
    opened.close()


def test_each_hand_writes_its_own_columns_in_any_order(labels: Labels) -> None:
    labels.put(1, 5, 7, [a_record()])
    labels.observe(5, 7, ONE, (2, 1, True))
    labels.decide(5, 7, ONE, "confirmed")
    labels.close(5, 7, "merged")
    labels.put(1, 5, 7, [a_record(state="fixed", stated=99)])

    [label] = labels.list_labels(1)
    assert (label.state, label.stated, label.queue, label.outcome) == ("fixed", 80, "confirmed", "merged")
    assert (label.up, label.down, label.resolved, label.by_model) == (2, 1, True, True)
    assert (label.repository, label.pull, label.finding, label.kind) == (5, "7", ONE, "race")


def test_a_finding_with_a_new_fingerprint_keeps_its_label(labels: Labels) -> None:
    labels.put(1, 5, 7, [a_record(ONE)])
    labels.put(1, 5, 7, [a_record(TWO, ONE, state="fixed")])
    labels.observe(5, 7, TWO, (0, 1, False))

    [label] = labels.list_labels()
    assert (label.finding, label.state, label.down) == (ONE, "fixed", 1)


def test_the_confidence_of_a_finding_that_a_thread_alone_knew_comes_with_its_review(labels: Labels) -> None:
    labels.put(1, 5, 7, [a_record(stated=None)])
    labels.put(1, 5, 7, [a_record(stated=70)])

    assert [label.stated for label in labels.list_labels()] == [70]


def test_installations_and_pull_requests_are_apart(labels: Labels) -> None:
    labels.put(1, 5, 7, [a_record()])
    labels.put(2, 6, 7, [a_record()])
    labels.put(1, 5, 8, [a_record()])
    labels.close(5, 8, "merged")

    assert {(each.repository, each.pull, each.outcome) for each in labels.list_labels(1)} == {
        (5, "7", "open"),
        (5, "8", "merged"),
    }
    assert len(labels.list_labels()) == 3


def test_labels_go_with_their_installation_and_after_their_time(database: Database, moment: Moment) -> None:
    labels = Labels(database)
    labels.put(1, 5, 7, [a_record()])
    labels.put(2, 6, 7, [a_record()])
    forget_installation(database, 1)

    assert [each.repository for each in labels.list_labels()] == [6]
    moment.now += 100
    labels.forget(50)
    assert labels.list_labels() == ()


def test_nothing_that_a_ledger_says_in_words_comes_into_the_database(database: Database) -> None:
    Labels(database).put(1, 5, 7, [a_record(title="word", symbol="word", path="word", reason="word", who="word")])

    assert "word" not in str(database.run("SELECT * FROM reviewbot_labels"))
