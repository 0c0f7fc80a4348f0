"""The resolution rate at the merge, from a history of webhooks through the App's own way, on our GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.scheduling.inbox_consumer import requested_review
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.app.web.events import AppIdentity, decide_trigger
from reviewbot.config import Settings
from reviewbot.domain.contracts.feedback import Label
from reviewbot.evaluate.feedback_fit import GroupRates, rates
from reviewbot.publish.marker import Signer
from tests.app.conftest import Straight
from tests.app.worker.shop import Shop
from tests.app.worker.talking import Talk
from tests.github_api.apps import APP_ID, AppGithub
from tests.github_api.state import Comment
from tests.webhooks import comment_event, pull_event, thread_event

pytestmark = pytest.mark.slow

REAL = Path(__file__).parents[4] / "shared" / "contracts" / "webhooks"
"""Payloads that GitHub has published; where they are not at hand, payloads of the same form take their place."""

SIX = "".join(f"def part_{n}(order):\n    return order is {n}\n\n\n" for n in range(3, 9))
"""Six findings."""


def real(name: str, made: dict[str, Any]) -> dict[str, Any]:
    path = REAL / name
    return json.loads(path.read_bytes()) if path.exists() else made


class History:
    """Webhooks of one pull request in the order in which they come, each followed by what the App does."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.shop, self.pull = talk, talk.shop, talk.pull
        self.count = 0

    def send(self, name: str, payload: dict[str, Any], **parts: Any) -> None:
        """One delivery: a payload that is of this pull request, and otherwise as GitHub wrote it."""
        self.count += 1
        repository = {"id": self.pull.repository.repository_id, "full_name": "acme/shop"}
        payload = {**payload, **parts, "repository": {**payload["repository"], **repository}}
        payload |= {"installation": {"id": 1}, "sender": {"login": "dev", "type": "User", "id": 11}}
        if "issue" in payload:
            payload["issue"] = {**payload["issue"], "number": self.pull.number}
        else:
            of_pull = payload["pull_request"]
            base = {**of_pull.get("base", {}), "repo": repository}
            head = {**of_pull.get("head", {}), "sha": self.pull.head_sha}
            payload["pull_request"] = {**of_pull, "number": self.pull.number, "base": base, "head": head}
            payload.pop("number", None)
        trigger = decide_trigger(name, payload, f"d-{self.count}", AppIdentity(APP_ID, "reviewbot"), Settings())
        assert isinstance(trigger, Trigger), trigger
        request = requested_review(Delivery(f"d-{self.count}", name, f"{self.count}", trigger, id=self.count))
        waiting = self.shop.stage.shelf.waiting
        waiting.clear()
        scheduler = self.shop.stage.scheduler
        (scheduler.cancel if trigger.kind == "closed" else scheduler.submit)(request)
        while waiting:
            key = next(iter(waiting))
            self.shop.stage.durable = Straight()
            self.shop.stage.carry_out(key)
            del waiting[key]

    def push(self, code: str) -> None:
        head = self.shop.commit("feature", pay__py=code)
        self.shop.github.push("acme/shop", self.pull.number, head)
        self.send("pull_request", real("pull_request.synchronize.22.json", pull_event("synchronize")))

    def at(self, number: int) -> Comment:
        """Our comment at the finding of this part."""
        line = 4 * (number - 3) + 2
        return next(each for each in self.pull.comments if each.line == line and each.in_reply_to_id is None)

    def resolve(self, number: int, name: str = "pull_request_review_thread.resolved.00.json") -> None:
        self.at(number).resolved = True
        self.send("pull_request_review_thread", real(name, thread_event()))

    def close(self, *, merged: bool) -> None:
        self.pull.state = "closed"
        payload = real("pull_request.closed.03.json", pull_event("closed", state="closed"))
        payload["pull_request"]["merged"] = merged
        self.send("pull_request", payload)

    @property
    def labels(self) -> dict[str, Label]:
        return {each.finding: each for each in Labels(self.shop.stage.database).list_labels()}

    @property
    def overall(self) -> GroupRates:
        return rates(self.labels.values())[0]


@pytest.fixture
def history(tmp_path: Path, database: Any, pem: str) -> Iterator[History]:
    with AppGithub(pem) as github:
        yield History(Talk(Shop(github, tmp_path / "shop", database, pem), after=SIX))
    github.check()


def test_the_resolution_rate_follows_from_a_history_of_webhooks(history: History) -> None:
    account = history.shop.github.state.account
    assert (history.overall.reported, history.overall.merged) == (6, 0)
    signer, number = Signer((b"k" * 32,)), history.pull.repository.repository_id
    names = [signer.read_finding(history.at(n).body, number, 1) for n in range(3, 9)]

    history.resolve(5)
    words = f"/reviewbot dismiss {names[3]} false positive, it is an enum"
    history.send("issue_comment", real("issue_comment.created.00.json", comment_event()) | {
        "issue": {"number": 1, "state": "open", "pull_request": {}},
        "comment": {"id": 9_000, "body": words, "author_association": "MEMBER"},
    })  # fmt: skip
    history.push(SIX.replace("order is 3", "order == 3").replace("order is 4", "order == 4"))
    history.at(7).reactions = [("-1", account("stranger")), ("+1", account("dev")), ("eyes", account("dev"))]
    history.at(8).reactions = [("-1", account("dev")), ("confused", account("dev"))]
    assert history.overall.resolution is None, "nothing is merged yet"
    history.close(merged=True)

    by_part = [history.labels[str(name)] for name in names]
    assert [label.state for label in by_part] == ["fixed", "fixed", "open", "dismissed", "open", "open"]
    assert [label.resolved for label in by_part] == [False, False, True, False, False, False]
    assert [(label.up, label.down) for label in by_part][4:] == [(1, 0), (0, 1)]
    assert {label.outcome for label in by_part} == {"merged"}
    overall = history.overall
    assert (overall.merged, overall.acted) == (6, 2)
    assert overall.resolution is not None
    assert round(overall.resolution.share, 3) == 0.333
    assert (overall.verdicts, overall.right, overall.wrong) == (5, 2.5, 1.5)


def test_a_pull_request_that_is_closed_unmerged_counts_for_no_rate(history: History) -> None:
    history.close(merged=False)

    assert {label.outcome for label in history.labels.values()} == {"closed"}
    assert history.overall.merged == 0


def test_the_end_of_a_pull_request_whose_head_is_forgotten_reaches_its_labels(history: History) -> None:
    history.shop.stage.database.run("DELETE FROM reviewbot_heads")
    history.close(merged=True)

    assert {label.outcome for label in history.labels.values()} == {"merged"}


def test_a_pull_request_that_is_opened_again_is_open(history: History) -> None:
    history.close(merged=False)
    history.pull.state = "open"
    history.push(SIX.replace("order is 3", "order == 3"))

    assert {label.outcome for label in history.labels.values()} == {"open"}


def test_a_thread_that_we_have_resolved_is_not_a_persons_word(history: History) -> None:
    history.push(SIX.replace("order is 3", "order == 3"))
    history.send("pull_request_review_thread", real("pull_request_review_thread.unresolved.02.json", thread_event()))

    assert any(comment.resolved for comment in history.pull.comments)
    assert not any(label.resolved for label in history.labels.values())


def test_reactions_of_strangers_are_read_and_count_nothing(history: History) -> None:
    for number in range(3, 9):
        history.at(number).reactions = [("-1", history.shop.github.state.account(f"stranger-{number}"))] * 2
    history.close(merged=True)

    assert all((label.up, label.down) == (0, 0) for label in history.labels.values())
