from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.inbox.inbox import MAX_TRIES, Inbox, open_inbox
from reviewbot.app.store.inbox.store import InboxError, Store, open_store
from reviewbot.app.triggers.values import Delivery
from reviewbot.domain.errors import ConfigError
from tests.inbox_rows import counts, failed

Maker = Callable[..., Delivery]


def heads(taken: tuple[Delivery, ...]) -> list[str]:
    return [(each.trigger.head_sha or "")[:1] for each in taken]


def test_what_was_put_comes_out_once_and_as_it_was(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    given = a_delivery("one", comment_id=None, actor="dev", refusal="it is a draft")

    assert inbox.put(given) == "new"
    (taken,) = inbox.claim(10, 60.0, "w")

    assert (taken.trigger, taken.delivery_id, taken.event) == (given.trigger, "id-one", "pull_request")
    assert (taken.body_sha256, taken.received_at, taken.tries) == ("one", moment.now, 1)
    assert inbox.claim(10, 60.0, "w") == ()


def test_the_same_body_is_a_repeat_whatever_its_id(inbox: Inbox, a_delivery: Maker) -> None:
    first = a_delivery("one")
    inbox.put(first)

    assert inbox.put(Delivery("another", "pull_request", "one", first.trigger)) == "repeat"
    assert inbox.lag()[0] == 1


def test_the_same_head_said_in_other_words_is_a_repeat(inbox: Inbox, a_delivery: Maker) -> None:
    assert inbox.put(a_delivery("one", "a")) == "new"
    assert inbox.put(a_delivery("two", "a")) == "repeat"
    assert inbox.put(a_delivery("three", "a", number=8)) == "new"
    assert inbox.put(a_delivery("four", "a", repository_id=2)) == "new"


def test_an_id_that_comes_with_another_body_decides_nothing(inbox: Inbox, a_delivery: Maker) -> None:
    for body in ("one", "two"):
        trigger = a_delivery(body, body[0]).trigger
        assert inbox.put(Delivery("same-id", "pull_request", body, trigger)) == "new"


def test_a_head_that_comes_back_is_news(inbox: Inbox, a_delivery: Maker) -> None:
    outcomes = [inbox.put(a_delivery(f"{n}", head)) for n, head in enumerate("ababa")]

    assert outcomes == ["new"] * 5


def test_a_pull_request_that_was_closed_may_be_reopened_at_the_same_head(inbox: Inbox, a_delivery: Maker) -> None:
    outcomes = [
        inbox.put(a_delivery(body, kind=kind)) for body, kind in (("1", "head"), ("2", "closed"), ("3", "head"))
    ]

    assert outcomes == ["new"] * 3
    assert [each.trigger.kind for each in inbox.claim(10, 60.0, "w")] == ["head"]


def test_a_draft_that_becomes_ready_is_news(inbox: Inbox, a_delivery: Maker) -> None:
    assert inbox.put(a_delivery("one", refusal="it is a draft")) == "new"
    assert inbox.put(a_delivery("two")) == "new"


@pytest.mark.parametrize("reason", ["labeled", "unlabeled", "edited", "ready_for_review"])
def test_what_may_lift_a_refusal_is_a_repeat_of_nothing_but_itself(
    reason: str, inbox: Inbox, a_delivery: Maker
) -> None:
    """The repository's own settings may have refused this head, and one label is not another."""
    bodies = ["one", "two", "three", "two"]
    outcomes = [inbox.put(a_delivery("zero")), *(inbox.put(a_delivery(each, reason=reason)) for each in bodies)]

    assert outcomes == ["new", "new", "new", "new", "repeat"]
    assert [each.body_sha256 for each in inbox.claim(10, 60.0, "w")] == ["three"]


def test_a_command_counts_once_for_ever(inbox: Inbox, a_delivery: Maker) -> None:
    command = {"kind": "command", "head": None, "comment_id": 900, "comment_kind": "issue"}

    assert inbox.put(a_delivery("one", **command)) == "new"
    assert inbox.put(a_delivery("two", **{**command, "comment_id": 901})) == "new"
    assert inbox.put(a_delivery("three", **command)) == "repeat"
    assert inbox.put(a_delivery("four", **{**command, "comment_kind": "review"})) == "new"


def test_a_check_may_be_asked_for_again_and_again(inbox: Inbox, a_delivery: Maker) -> None:
    outcomes = [inbox.put(a_delivery(body, kind="rerun", target_id=5)) for body in ("one", "two", "one")]

    assert outcomes == ["new", "new", "repeat"]


def test_of_the_heads_of_one_pull_request_only_the_newest_waits(inbox: Inbox, a_delivery: Maker) -> None:
    for number, head in enumerate("abc"):
        inbox.put(a_delivery(f"{number}", head))
    inbox.put(a_delivery("other", "d", number=8))
    inbox.put(a_delivery("command", None, kind="command", comment_id=1))

    taken = inbox.claim(10, 60.0, "w")

    assert heads(taken) == ["c", "d", ""]
    assert counts(inbox) == {"waiting": 0, "claimed": 3, "done": 0, "failed": 0, "superseded": 2}


def test_what_is_under_way_is_not_superseded(inbox: Inbox, a_delivery: Maker) -> None:
    inbox.put(a_delivery("one", "a"))
    (running,) = inbox.claim(1, 60.0, "w")
    inbox.put(a_delivery("two", "b"))

    assert heads(inbox.claim(10, 60.0, "w")) == ["b"]
    inbox.mark_done(running.id)
    assert counts(inbox)["done"] == 1


def test_what_nobody_finishes_in_time_goes_to_another(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    inbox.put(a_delivery("one"))
    inbox.claim(1, 60.0, "dies")
    moment.now += 59

    assert inbox.claim(1, 60.0, "other") == ()
    moment.now += 2
    (taken,) = inbox.claim(1, 60.0, "other")

    assert taken.tries == 2


def test_what_kills_every_worker_is_parked_and_shown(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    inbox.put(a_delivery("poison"))
    for _ in range(MAX_TRIES):
        assert inbox.claim(1, 60.0, "dies")
        moment.now += 61

    assert inbox.claim(1, 60.0, "w") == ()
    (parked,) = failed(inbox)
    assert (parked.delivery_id, parked.event) == ("id-poison", "pull_request")
    assert "never finished" in parked.reason
    assert inbox.lag() == (0, 0.0)


def test_what_failed_says_why_in_words_that_every_database_takes(inbox: Inbox, a_delivery: Maker) -> None:
    inbox.put(a_delivery("one"))
    (taken,) = inbox.claim(1, 60.0, "w")
    inbox.mark_failed(taken.id, "no\x00 such \ud800 repository" + "!" * 1_000)

    (parked,) = failed(inbox)

    assert parked.reason.startswith("no such \\ud800 repository!")
    assert len(parked.reason) == 500
    inbox.mark_done(taken.id)
    assert counts(inbox)["failed"] == 1


def test_who_stops_in_good_order_gives_back_what_was_claimed(inbox: Inbox, a_delivery: Maker) -> None:
    inbox.put(a_delivery("one"))
    (taken,) = inbox.claim(1, 60.0, "w")
    inbox.release(taken.id)

    (again,) = inbox.claim(1, 60.0, "other")

    assert again.tries == 1


def test_the_lag_is_that_of_the_oldest_that_waits(inbox: Inbox, a_delivery: Maker, moment: Any) -> None:
    assert inbox.lag() == (0, 0.0)
    inbox.put(a_delivery("one", number=1))
    moment.now += 10
    inbox.put(a_delivery("two", number=2))
    moment.now += 5

    assert inbox.lag() == (2, 15.0)
    inbox.claim(1, 60.0, "w")
    assert inbox.lag() == (1, 5.0)


def test_what_ended_is_forgotten_after_a_while_and_what_waits_is_not(
    inbox: Inbox, a_delivery: Maker, moment: Any
) -> None:
    inbox.put(a_delivery("done", number=1))
    inbox.put(a_delivery("waits", number=2))
    (taken,) = inbox.claim(1, 60.0, "w")
    inbox.mark_done(taken.id)
    moment.now += 100

    assert inbox.forget(200) == 0
    assert inbox.forget(50) == 1
    assert inbox.put(a_delivery("done", number=1)) == "new"
    assert inbox.lag()[0] == 2


def test_from_many_threads_each_delivery_is_there_once(url: str, a_delivery: Maker) -> None:
    inbox = open_inbox(url, durable=False)
    deliveries = [a_delivery(f"body-{n % 20}", f"{n % 10}", number=n % 20) for n in range(80)]
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(inbox.put, deliveries))

    assert outcomes.count("new") == 20
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda n: inbox.claim(5, 60.0, f"w{n}"), range(6)))
    ids = [each.id for batch in taken for each in batch]
    assert (len(ids), len(set(ids))) == (20, 20)
    inbox.close()


def test_the_same_head_from_many_threads_and_bodies_is_there_once(url: str, a_delivery: Maker) -> None:
    inbox = open_inbox(url, durable=False)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda n: inbox.put(a_delivery(f"{n}", "a")), range(24)))

    assert outcomes.count("new") == 1
    inbox.close()


def test_two_who_open_it_at_once_find_the_same_inbox(url: str, a_delivery: Maker) -> None:
    with ThreadPoolExecutor(4) as pool:
        one, two, *others = pool.map(lambda _: open_inbox(url), range(4))
    one.put(a_delivery("one"))

    assert len(two.claim(1, 60.0, "w")) == 1
    for each in (one, two, *others):
        each.close()


def test_a_newer_database_is_left_alone(url: str) -> None:
    opened = open_store(url)
    with opened.transaction() as execute:
        execute("UPDATE reviewbot_inbox_schema SET version = 99")
    opened.close()

    with pytest.raises(ConfigError, match="newer version"):
        open_store(url)


def test_a_transaction_that_breaks_leaves_nothing(store: Store) -> None:
    class BrokenError(Exception):
        pass

    def breaks() -> None:
        with store.transaction() as execute:
            execute("INSERT INTO reviewbot_tallies (name, labels, value) VALUES ('a', 'b', ?)", 1.0)
            raise BrokenError

    with pytest.raises(BrokenError):
        breaks()
    assert store.read("SELECT count(*) FROM reviewbot_tallies") == [(0,)]


def test_a_statement_that_cannot_be_is_an_error_without_its_words(store: Store) -> None:
    for ask in (store.read, lambda statement: store.alone("x", statement)):
        with pytest.raises(InboxError) as caught:
            ask("SELECT secret FROM nowhere")
        assert "secret" not in str(caught.value)


class TestOnAFile:
    def test_it_is_ours_alone_and_waits_for_the_disk(self, tmp_path: Path) -> None:
        path = tmp_path / "state" / "inbox.sqlite"
        opened = open_store(str(path))

        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert opened.read("PRAGMA journal_mode") == [("wal",)]
        assert opened.read("PRAGMA synchronous") == [(2,)]
        opened.close()

    def test_what_is_no_database_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

        with pytest.raises(ConfigError, match="cannot be used"):
            open_store(str(tmp_path / "link"))
        (tmp_path / "text").write_text("no database " * 100)
        with pytest.raises(ConfigError, match="cannot be used"):
            open_store(str(tmp_path / "text"))

    def test_what_another_connection_wrote_is_there(self, tmp_path: Path, a_delivery: Maker) -> None:
        inbox = open_inbox(str(tmp_path / "inbox.sqlite"))
        inbox.put(a_delivery("one"))

        with sqlite3.connect(tmp_path / "inbox.sqlite") as other:
            assert other.execute("SELECT state FROM reviewbot_inbox").fetchall() == [("waiting",)]
        other.close()
        inbox.close()

    def test_a_closed_one_says_so(self, tmp_path: Path) -> None:
        inbox = open_inbox(str(tmp_path / "inbox.sqlite"))
        inbox.close()

        with pytest.raises(InboxError):
            inbox.lag()

    def test_a_delivery_to_a_closed_one_is_refused_as_one_that_may_come_again(
        self, tmp_path: Path, a_delivery: Maker
    ) -> None:
        inbox = open_inbox(str(tmp_path / "inbox.sqlite"))
        inbox.close()

        with pytest.raises(InboxError):
            inbox.put(a_delivery("1"))


class TestOnAServer:
    def test_one_that_is_not_there_can_be_asked_again_later(self) -> None:
        with pytest.raises(InboxError, match="cannot be used") as caught:
            open_store("postgresql://someone:hunter2secret@127.0.0.1:9/none")

        assert "hunter2secret" not in str(caught.value)

    def test_an_address_that_is_none_is_a_mistake(self) -> None:
        with pytest.raises(ConfigError, match="no address"):
            open_store("postgresql://host:port:more/?nonsense=1")

    def test_a_connection_that_the_server_ended_is_replaced(self, server: str) -> None:
        opened = open_store(server)
        (own,) = opened.read("SELECT pg_backend_pid()")
        other = open_store(server)
        other.read("SELECT pg_terminate_backend(?)", own[0])

        assert opened.read("SELECT 1") == [(1,)]
        opened.close()
        other.close()
