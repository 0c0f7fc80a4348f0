"""From a signed delivery to the posted review in one process: web, inbox, desk and the real steps, on our GitHub."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.scheduling.inbox_consumer import InboxConsumer
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.inbox.counters import Counters
from reviewbot.app.store.inbox.store import open_store
from reviewbot.app.worker.github_steps import POSTING, App, github_steps
from reviewbot.app.worker.runner import Runner
from reviewbot.config import Settings
from reviewbot.hosts.github.auth.app import AppKeys, AppTokens
from reviewbot.publish.marker import Signer
from tests.app.conftest import Stage, Straight
from tests.git_repo import GitRepo
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub
from tests.webhooks import PERSON, SECRET, Service, body_of, comment_event, pull_event, service

BEFORE = "def pay(order):\n    return order\n"
AFTER = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"


class Place:
    """The App on our GitHub, without processes: who takes a step is the test."""

    def __init__(self, github: AppGithub, folder: Path, database: Database, pem: str) -> None:
        self.github = github
        self.folder = folder / "shop"
        self.stage = Stage(database)
        who = Credentials(APP_ID, "reviewbot", (pem,), (SECRET.encode(),), github.own.account_id)
        self.web: Service = service(folder, Settings(skip_labels=("wip",)), credentials=lambda: who)
        tokens = AppTokens(lambda: AppKeys(APP_ID, (pem,)), github.url)
        environ = {"REVIEWBOT_ENGINE": "analyzers", "REVIEWBOT_SKIP_LABELS": "wip", "HOME": str(folder)}
        tallies = Counters(open_store(str(folder / "tallies.sqlite"), durable=False))
        app = App(
            tokens, lambda: Signer((b"k" * 32,)), environ, lambda: github.own.account_id, tallies, lambda: database
        )
        self.stage.runner = Runner(database, github_steps(app), self.stage.scheduler, "worker")
        self.intake = InboxConsumer(self.web.inbox, "worker", self.stage.scheduler)
        self.pull = self._open()

    def _open(self) -> Pull:
        self.repo = GitRepo(self.folder)
        self.commit(BEFORE)
        self.repo.commit({"pay.py": AFTER}, branch="feature")
        self.github.add_repository("acme/shop", self.folder)
        self.github.install(1, "acme/shop")
        return self.github.open_pull("acme/shop", "main", "feature")

    def commit(self, text: str) -> str:
        return self.repo.commit({"pay.py": text})

    def settle(self, settings: str) -> None:
        """Have settings on the base side."""
        self.repo.git("checkout", "--quiet", "main")
        self.pull.base_sha = self.repo.commit({".reviewbot.toml": settings})
        self.repo.git("checkout", "--quiet", "feature")

    def push(self, text: str) -> str:
        """Another head, and the event of it."""
        head = self.commit(text)
        self.github.push("acme/shop", self.pull.number, head)
        assert self.deliver("synchronize") == "accepted"
        return head

    def deliver(self, action: str, **more: Any) -> str:
        """Deliver an event of the pull request; what became of it."""
        event = pull_event(action, head=self.pull.head_sha, **self._about(), **more)
        event["pull_request"]["number"] = self.pull.number
        return self.sent(event)

    def sent(self, payload: dict[str, Any], name: str = "pull_request") -> str:
        answer = self.web.send(payload, name)
        assert (answer.status_code, answer.is_json) == (202, True)
        return str(answer.get_json()["status"])

    def comment(self, sender: dict[str, Any]) -> str:
        about = self._about()
        number = {"number": about.pop("number")}
        return self.sent(comment_event("/reviewbot review", sender=sender, issue=number, **about), "issue_comment")

    def _about(self) -> dict[str, Any]:
        repository = {"id": self.pull.repository.repository_id, "full_name": "acme/shop", "private": True}
        return {"repository": repository, "installation": {"id": 1}, "number": self.pull.number}

    def work(self) -> list[str]:
        """Take what was accepted, and carry out what waits, oldest first; how each run ended."""
        while self.intake.once():
            pass
        ends: list[str] = []
        while self.stage.shelf.waiting:
            self.stage.durable = Straight()
            run = next(iter(self.stage.shelf.waiting))
            ends.append(self.stage.carry_out(run).state)
            del self.stage.shelf.waiting[run]
        return ends

    def reviewed(self) -> list[str | None]:
        """The heads that have a review."""
        return [each.commit_id for each in self.pull.reviews]

    def written(self) -> list[str]:
        """All that was written, as text."""
        sent = [each for each in self.github.recorded if each.method not in ("GET", "HEAD")]
        return [f"{each.path} {each.body}" for each in sent if "access_tokens" not in each.path]


@pytest.fixture
def place(tmp_path: Path, database: Database, pem: str) -> Iterator[Place]:
    with AppGithub(pem) as github:
        made = Place(github, tmp_path, database, pem)
        yield made
        made.web.inbox.close()
    github.check()


def test_a_signed_delivery_becomes_one_review(place: Place) -> None:
    assert (place.deliver("opened"), place.deliver("reopened"), place.work()) == ("accepted", "repeat", ["posted"])
    record = place.stage.runs.latest(1)[0]

    assert place.reviewed() == [place.pull.head_sha]
    assert (record.state, record.head, record.url != "") == ("posted", place.pull.head_sha, True)
    assert [each.status for each in place.pull.repository.checks] == ["completed"]


@pytest.mark.slow
def test_another_push_gets_a_review_of_its_own(place: Place) -> None:
    first = place.pull.head_sha
    place.deliver("opened")
    place.work()
    second = place.push(AFTER + "\n\ndef owe(order):\n    return order is 4\n")

    assert place.work() == ["posted"]
    assert place.reviewed() == [first, second]


@pytest.mark.slow
def test_ten_pushes_end_in_one_review_of_the_last_and_no_write_about_the_others(place: Place) -> None:
    """Each is ordered before the next one comes, so that the inbox alone cannot be what makes one of them."""
    heads = []
    for number in range(10):
        heads.append(place.push(f"{AFTER}\n\ndef owe(order):\n    return order is {number}\n"))
        place.intake.once()

    assert place.work() == ["superseded"] * 9 + ["posted"]
    assert place.reviewed() == heads[-1:]
    assert not [text for text in place.written() for head in heads[:-1] if head in text]


@pytest.mark.slow
def test_a_push_amid_a_review_leaves_that_one_unposted(place: Place) -> None:
    place.deliver("opened")
    step, old = place.github.answer, place.pull.head_sha
    pushed: list[str] = []

    def answer(method: str, target: str, *rest: Any) -> Any:
        if method == "POST" and target.endswith("/check-runs") and not pushed:
            pushed.append(place.commit(AFTER + "\n"))
            place.github.push("acme/shop", place.pull.number, pushed[0])
            place.deliver("synchronize")
            place.intake.once()
        return step(method, target, *rest)

    place.github.answer = answer  # type: ignore[method-assign,assignment] # somebody pushes while the check is begun
    assert place.work() == ["superseded", "superseded", "posted", "superseded"]  # two of them end its check
    assert place.reviewed() == pushed
    assert sum(old in text for text in place.written()) == 1  # the check, which was asked for before
    checks = [(each.head_sha, each.status, each.conclusion) for each in place.pull.repository.checks]
    assert checks == [(old, "completed", "cancelled"), (pushed[0], "completed", "neutral")]


@pytest.mark.slow
def test_a_label_lifts_what_the_repository_alone_refuses(place: Place) -> None:
    """The operator's settings know nothing of labels, so that the web process cannot tell."""
    place.settle('only_labels = ["review"]')
    place.deliver("opened")
    assert place.work() == ["refused"]
    assert (place.deliver("labeled", labels=[{"name": "other"}]), place.work()) == ("accepted", ["refused"])
    place.pull.labels = ("review",)

    assert (place.deliver("labeled", labels=[{"name": "review"}]), place.work()) == ("accepted", ["posted"])
    assert place.deliver("labeled", labels=[{"name": "more"}]) == "accepted"
    assert "posted" not in place.work()
    assert place.reviewed() == [place.pull.head_sha]


def test_what_we_and_strangers_do_leads_to_nothing(place: Place) -> None:
    own = {"login": "reviewbot[bot]", "type": "Bot", "id": place.github.own.account_id}
    assert (place.deliver("synchronize", sender=own), place.comment(own)) == ("ignored", "ignored")
    assert place.work() == []
    assert place.comment(PERSON) == "accepted"  # the payload says that they may; GitHub says that they may not
    assert place.work() == ["refused"]

    assert (place.written(), place.reviewed()) == ([], [])


@pytest.mark.slow
def test_a_command_reviews_the_head_of_now(place: Place) -> None:
    place.github.app.may[PERSON["login"]] = "write"  # type: ignore[index] # it is a text

    assert (place.comment(PERSON), place.work()) == ("accepted", ["posted", "posted"])
    assert place.reviewed() == [place.pull.head_sha]


@pytest.mark.slow
def test_a_permission_that_is_not_granted_is_a_state_and_stands_in_the_check(place: Place) -> None:
    place.deliver("opened")
    refused = place.github.answer

    def answer(method: str, target: str, headers: Any, data: bytes) -> Any:
        if "access_tokens" in target and POSTING["pull_requests"].encode() in data.partition(b'"pull_requests"')[2]:
            data = data.replace(b'"pull_requests"', b'"administration"')
        return refused(method, target, headers, data)

    place.github.answer = answer  # type: ignore[method-assign] # GitHub knows better than we what was granted
    assert place.work() == ["failed"]
    record = place.stage.runs.latest(1)[0]

    assert (record.state, place.reviewed()) == ("failed", [])
    assert "not granted" in record.reason
    assert "not granted" in place.pull.repository.checks[-1].summary


# --- order and replay ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_close_that_comes_late_does_not_cost_the_review(place: Place) -> None:
    """It was closed and opened again, and the host delivered the two the other way round."""
    place.deliver("reopened")
    place.intake.once()
    place.deliver("closed", state="closed")

    assert "posted" in place.work()
    assert place.reviewed() == [place.pull.head_sha]


def test_a_pull_request_that_is_closed_is_not_reviewed(place: Place) -> None:
    place.deliver("opened")
    place.intake.once()
    place.pull.state = "closed"
    place.deliver("closed", state="closed")

    assert "posted" not in place.work()
    assert place.reviewed() == []


@pytest.mark.slow
@pytest.mark.parametrize("lifted", [True, False])
def test_a_refusal_is_that_of_now_and_not_that_of_the_delivery(place: Place, *, lifted: bool) -> None:
    """The label was set and taken away, and the host delivered the two the other way round, or only one of them."""
    place.pull.labels = () if lifted else ("wip",)
    assert place.deliver("labeled", labels=[{"name": "wip"}]) == "refused"

    assert place.work() == (["posted"] if lifted else ["refused"])
    assert place.reviewed() == ([place.pull.head_sha] if lifted else [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_in_any_order_and_said_again_the_events_of_a_pull_request_end_in_one_review(place: Place, seed: int) -> None:
    """Some are taken up between two deliveries, and what was taken up may be forgotten before it is said again."""
    dice, first = random.Random(seed), place.pull.head_sha
    bodies: list[bytes] = []
    last = place.commit(AFTER + "\n\ndef owe(order):\n    return order is 4\n")
    for action, head, more in (
        ("opened", first, {}),
        ("synchronize", last, {}),
        ("closed", last, {"state": "closed"}),
        ("reopened", last, {}),
        ("labeled", last, {"labels": [{"name": "wip"}]}),
        ("unlabeled", last, {}),
        ("closed", last, {"state": "closed"}),
        ("reopened", last, {}),
    ):
        event = pull_event(action, head=head, **place._about(), **more)
        event["pull_request"]["number"] = place.pull.number
        bodies.append(body_of({**event, "at": len(bodies)}))
    place.github.push("acme/shop", place.pull.number, last)
    result = [*bodies, *dice.choices(bodies, k=4)]
    dice.shuffle(result)
    for body in result:
        assert place.web.send_bytes(body).status_code == 202
        if dice.random() < 0.4:
            place.work()
        if dice.random() < 0.2:
            place.web.inbox.forget(0.0)
    place.work()

    assert place.reviewed() == [last]
