"""The human queue from an unsure review to calibration: pages, a worker with the real engine, the pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest

from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.human_queue import HumanQueue, QueueItem
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.runner import RetryTimings
from reviewbot.app.worker.worker import Chore, Parts, Worker
from tests.app.pages.conftest import Site, form_token
from tests.app.worker.shop import Shop
from tests.app.worker.talking import UNSURE, Talk
from tests.app_runs import TestInbox, until
from tests.command_line import Run
from tests.github_api.apps import AppGithub

pytestmark = pytest.mark.slow


@dataclass
class Office:
    """A reviewed pull request, its App's pages with a person who may write, and a worker to be started."""

    talk: Talk
    site: Site
    options: JobOptions

    @property
    def item(self) -> QueueItem:
        [item] = HumanQueue(self.talk.shop.stage.database).list_items()
        return item

    @property
    def history(self) -> list[str]:
        return [row.action for row in HumanQueue(self.talk.shop.stage.database).history(self.item.item)]

    @property
    def posted(self) -> list[str]:
        """Our comments on the pull request that carry the marker of the finding."""
        mark = f"finding={self.item.fingerprint}"
        return [each.body for each in (*self.talk.pull.comments, *self.talk.pull.conversation) if mark in each.body]

    def decide(self, decision: str, reason: str) -> None:
        """Follow the queue's link to the item, and send its form."""
        link = re.search(r'href="(/queue/[0-9a-f]{32})"', self.site.get("/queue").text)
        assert link is not None
        shown = self.site.get(link[1])
        seen = re.search(r'name="seen" value="(\d+)"', shown.text)
        assert seen is not None
        answer = self.site.post(link[1], decision=decision, reason=reason, seen=seen[1], form_token=form_token(shown))
        assert answer.status_code == 303, answer.text

    @contextmanager
    def worker(self) -> Iterator[list[None]]:
        """A worker with the real steps that looks for decisions all the time; how often it has looked."""
        looks: list[None] = []

        def look(scheduler: Scheduler, _: object) -> None:
            scheduler.carry_out_decisions()
            looks.append(None)

        inbox, stop, worker = TestInbox(self.options.state), Event(), Worker(self.options)
        chores = (Chore("decisions", 0.1, look),)
        quick = RetryTimings(first_wait_s=0.05, longest_wait_s=0.1, look_s=0.05)
        parts = Parts(self.talk.shop.steps(), inbox.real, chores, quick)
        thread = Thread(target=lambda: worker.run(stop, parts))
        thread.start()
        try:
            yield looks
        finally:
            stop.set()
            thread.join(60)
            inbox.real.close()


@pytest.fixture
def options(tmp_path: Path) -> JobOptions:
    return JobOptions(tmp_path / "state", stop_s=5.0)


@pytest.fixture
def database(options: JobOptions) -> Iterator[Database]:
    """That of the worker."""
    options.state.mkdir(exist_ok=True)
    opened = open_database(options.database)
    yield opened
    opened.close()


@pytest.fixture
def office(tmp_path: Path, database: Database, options: JobOptions, pem: str, site: Site) -> Iterator[Office]:
    with AppGithub(pem) as github:
        talk = Talk(Shop(github, tmp_path / "shop", database, pem), after=UNSURE)
        github.app.may["octocat"] = "write"
        site.host.account.installations = {1: {talk.pull.repository.repository_id: ("acme/shop", True)}}
        site.sign_in()
        yield Office(talk, site, options)
    github.check()


def test_a_finding_that_is_confirmed_on_its_page_is_posted_once_and_counted_by_the_calibration_command(
    office: Office, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (office.item.finding.severity, office.posted) == ("critical", [])
    assert "acme/shop" in office.site.get("/queue").text

    office.decide("confirm", "the name of the order is typed by a customer")
    with office.worker():
        until(lambda: office.history[-1] == "posted")
    with office.worker() as looks:  # a second one finds nothing left to do
        until(lambda: len(looks) > 2)

    assert office.history == ["queued", "confirmed", "posted"]
    [body] = office.posted
    assert "**Confirmed by octocat:** the name of the order is typed by a customer" in body
    assert "acme/shop" not in office.site.get("/queue").text
    assert "acme/shop" in office.site.get("/queue?status=confirmed").text
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(office.options.state))
    found = run("calibration")
    assert found.code == 0, found.err
    assert [line.split()[:5] for line in found.out.splitlines() if "S605" in line] == [["rule", "S605", "1", "1", "1"]]


def test_a_finding_that_is_dismissed_on_its_page_is_withheld_listed_and_counted_as_wrong(
    office: Office, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.decide("dismiss", "false positive: the name is ours")
    with office.worker():
        until(lambda: "the name is ours (a comment) (octocat)" in office.talk.pull.reviews[-1].body)

    assert office.history == ["queued", "dismissed", "recorded"]
    assert office.posted == []
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(office.options.state))
    found = run("calibration")
    assert found.code == 0, found.err
    assert [line.split()[:5] for line in found.out.splitlines() if "S605" in line] == [["rule", "S605", "1", "1", "0"]]


def test_a_finding_that_is_asked_about_again_on_its_page_is_reviewed_again_and_waits_again(office: Office) -> None:
    office.decide("ask-again", "I cannot tell")
    with office.worker():
        until(lambda: office.history == ["queued", "asked_again", "ordered", "queued"])

    assert office.posted == []
    assert "acme/shop" in office.site.get("/queue").text
