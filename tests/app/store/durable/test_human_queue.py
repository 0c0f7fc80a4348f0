from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.human_queue import (
    PENDING,
    STATUS_AFTER,
    DecidedError,
    Decider,
    HumanQueue,
    LeavingReview,
    Left,
)
from reviewbot.app.store.durable.journal import forget_installation
from reviewbot.domain.contracts import Finding, HumanItem
from reviewbot.domain.errors import InputError
from tests.still_clock import Moment

REVIEW = LeavingReview(1, 5, 7, "o/n", "a" * 40, "run-1")
ANN, BOB = Decider("ann", "page"), Decider("bob", "command line")

MakeFinding = Callable[..., Finding]


def a_left(a_finding: MakeFinding, name: str = "1", **fields: Any) -> Left:
    finding = a_finding(severity="critical", **fields)
    human = HumanItem(path=finding.path, line=finding.line, reason="critical if true", finding=finding)
    return Left((name * 32,), human)


@pytest.fixture(params=["file", "server"])
def queue(request: pytest.FixtureRequest, tmp_path: Path, moment: Moment) -> Iterator[HumanQueue]:
    """A queue in each kind of database."""
    if request.param == "server":
        opened: Database = open_database(request.getfixturevalue("server"))
        for table in ("items", "log"):
            opened.run(f"DELETE FROM reviewbot_queue_{table}")
    else:
        opened = open_database(str(tmp_path / "queue.sqlite"), moment)
    yield HumanQueue(opened)
    opened.close()


def test_a_finding_waits_with_its_reason_until_a_person_confirms_it(queue: HumanQueue, a_finding: MakeFinding) -> None:
    left = a_left(a_finding)
    queue.put(REVIEW, [left])
    [item] = queue.list_items(status="waiting")

    assert (item.status, item.finding, item.human.reason) == ("waiting", left.human.finding, "critical if true")

    queue.confirm(item.item, ANN, "seen  it\nfail", seen=item.last.position)

    assert queue.list_items(status="waiting") == ()
    [pending] = queue.find_pending()
    assert (pending.status, pending.last.actor, pending.last.reason) == ("confirmed", "ann", "seen it fail")
    assert queue.record(pending, "posted", "posted once", "https://host.test/1")
    assert not queue.record(pending, "posted", "posted once", "https://host.test/1")
    assert queue.find_pending() == ()
    assert [entry.action for entry in queue.history(item.item)] == ["queued", "confirmed", "posted"]
    assert [(row.entry.action, row.item.status) for row in queue.audit()][-1] == ("queued", "confirmed")


@pytest.mark.parametrize("seen", [0, 2])
def test_a_decision_on_another_state_than_the_one_that_was_seen_is_refused(
    seen: int, queue: HumanQueue, a_finding: MakeFinding
) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    [item] = queue.list_items()

    with pytest.raises(DecidedError):
        queue.confirm(item.item, ANN, "true", seen=seen)


def test_the_same_review_again_changes_nothing(queue: HumanQueue, a_finding: MakeFinding) -> None:
    for _ in range(2):
        queue.put(REVIEW, [a_left(a_finding)])

    [item] = queue.list_items()
    assert len(queue.history(item.item)) == 1


def test_a_finding_under_a_new_fingerprint_is_the_same_item_at_its_new_place(
    queue: HumanQueue, a_finding: MakeFinding
) -> None:
    queue.put(REVIEW, [a_left(a_finding, line=3, end_line=3)])
    moved = a_left(a_finding, line=30, end_line=30)._replace(fingerprints=("2" * 32, "1" * 32))
    queue.put(REVIEW._replace(head="b" * 40, run="run-2"), [moved])

    [item] = queue.list_items()
    assert (item.fingerprint, item.head, item.run, item.finding.line) == ("2" * 32, "b" * 40, "run-2", 30)
    assert item.status == "waiting"


def test_what_a_later_review_does_not_leave_to_a_person_is_settled_and_comes_back_with_it(
    queue: HumanQueue, a_finding: MakeFinding
) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    queue.put(REVIEW._replace(head="b" * 40), [])
    [item] = queue.list_items()

    assert item.status == "settled"
    with pytest.raises(DecidedError, match="settled already"):
        queue.confirm(item.item, ANN, "true")

    queue.put(REVIEW._replace(head="c" * 40), [a_left(a_finding)])

    assert [each.status for each in queue.list_items()] == ["waiting"]


def test_a_decision_outlasts_later_reviews(queue: HumanQueue, a_finding: MakeFinding) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    [item] = queue.list_items()
    queue.dismiss(item.item, BOB, "the input is ours")
    queue.put(REVIEW._replace(head="b" * 40), [a_left(a_finding)])
    queue.put(REVIEW._replace(head="c" * 40), [])

    [item] = queue.list_items()
    assert (item.status, item.last.actor) == ("dismissed", "bob")


def test_of_two_people_one_decides_and_the_other_one_is_shown_what_was_decided(
    queue: HumanQueue, a_finding: MakeFinding
) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    [item] = queue.list_items()

    def decide(number: int) -> str:
        act = (queue.confirm, queue.dismiss, queue.ask_again)[number % 3]
        try:
            act(item.item, Decider(f"p{number}", "page"), "because", seen=item.last.position)
        except DecidedError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(decide, range(6)))

    assert answers.count("") == 1
    assert all("because" in answer for answer in answers if answer)
    assert len(queue.history(item.item)) == 2


def test_a_decision_on_an_outdated_page_is_refused(queue: HumanQueue, a_finding: MakeFinding) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    [item] = queue.list_items()
    queue.ask_again(item.item, ANN, "not sure")
    queue.record(queue.find_pending()[0], "ordered", "a review was ordered")
    queue.put(REVIEW, [a_left(a_finding)])

    with pytest.raises(DecidedError):
        queue.confirm(item.item, BOB, "true", seen=item.last.position)
    assert queue.list_items()[0].status == "waiting"


@pytest.mark.parametrize(("login", "reason"), [("", "true"), ("ann", ""), ("ann", " \n ")])
def test_a_decision_has_an_author_and_a_reason(
    queue: HumanQueue, a_finding: MakeFinding, login: str, reason: str
) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    [item] = queue.list_items()

    with pytest.raises(InputError, match="needs a reason"):
        queue.confirm(item.item, Decider(login, "page"), reason)
    with pytest.raises(InputError, match="no such item"):
        queue.confirm("0" * 32, ANN, "true")


def test_repositories_see_their_own_items_alone(queue: HumanQueue, a_finding: MakeFinding) -> None:
    queue.put(REVIEW, [a_left(a_finding)])
    queue.put(REVIEW._replace(repository=6), [a_left(a_finding)])

    assert [each.repository for each in queue.list_items(repositories=[6])] == [6]
    assert [row.item.repository for row in queue.audit(repositories=[5])] == [5]
    assert queue.list_items(repositories=[]) == ()
    assert queue.audit(repositories=[]) == ()
    assert len({each.item for each in queue.list_items()}) == 2


def test_an_item_without_news_is_forgotten_after_a_while(
    database: Database, moment: Moment, a_finding: MakeFinding
) -> None:
    queue = HumanQueue(database)
    queue.put(REVIEW, [a_left(a_finding, "1")])
    moment.now += 100
    queue.put(REVIEW._replace(pull=8), [a_left(a_finding, "2")])
    queue.forget(50)

    assert [each.pull for each in queue.list_items()] == [8]
    assert database.run("SELECT count(*) FROM reviewbot_queue_log") == [(1,)]


def test_nothing_of_an_installation_that_has_ended_is_left(database: Database, a_finding: MakeFinding) -> None:
    HumanQueue(database).put(REVIEW, [a_left(a_finding)])
    forget_installation(database, REVIEW.installation)

    for table in ("items", "log"):
        assert database.run(f"SELECT count(*) FROM reviewbot_queue_{table}") == [(0,)]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(moves=st.lists(st.sampled_from(["found", "gone", "confirm", "dismiss", "ask", "done", "failed"]), max_size=12))
def test_whatever_happens_each_row_follows_the_last_one_and_names_its_author_and_reason(
    tmp_path_factory: pytest.TempPathFactory, a_finding: MakeFinding, moves: list[str]
) -> None:
    opened = open_database(str(tmp_path_factory.mktemp("moves") / "app.sqlite"))
    queue = HumanQueue(opened)
    queue.put(REVIEW, [a_left(a_finding)])
    [first] = queue.list_items()
    for number, move in enumerate(moves):
        review = REVIEW._replace(head=f"{number:040x}")
        decide = {"confirm": queue.confirm, "dismiss": queue.dismiss, "ask": queue.ask_again}.get(move)
        before = queue.list_items()[0]
        if decide is None and move in ("found", "gone"):
            queue.put(review, [a_left(a_finding)] if move == "found" else [])
        elif decide is not None:
            try:
                decide(first.item, ANN, "because")
            except DecidedError:
                assert before.status not in ("waiting", "asked again")
        for pending in queue.find_pending() if move in ("done", "failed") else ():
            done = {"confirmed": "posted", "dismissed": "recorded", "asked_again": "ordered"}[pending.last.action]
            queue.record(pending, done if move == "done" else "failed", "as said")  # type: ignore[arg-type]

    rows = queue.history(first.item)
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert all(row.actor and row.reason and row.action in STATUS_AFTER for row in rows)
    for one, two in pairwise(rows):
        if one.action in PENDING and two.action in PENDING:
            assert one.action == "asked_again", "nothing but a question is decided again before it is carried out"
    opened.close()
