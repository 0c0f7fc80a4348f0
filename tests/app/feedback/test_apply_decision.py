"""Decisions of the human queue: carried out once on our GitHub by the real steps, and after a kill at any call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from reviewbot.app.feedback.apply_decision import DecisionFollower, record_result
from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import Decider, HumanQueue, LeavingReview, Left, QueueItem
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.worker.work import End
from reviewbot.delivery.deliver import replay_delivery
from reviewbot.domain.contracts import Finding, HumanItem
from reviewbot.domain.contracts.ledger import Record
from reviewbot.domain.errors import HostError, HostInvalidError, HostUnknownError
from reviewbot.evaluate.feedback_fit import rates
from reviewbot.hosts.base import CodeHost, PostedComment, PullRequest
from reviewbot.publish.marker import Signer
from reviewbot.publish.post_review import LEASE_S
from reviewbot.replay.replay_review import recorded_review
from reviewbot.review.trace import read_trace
from tests.app.conftest import KilledError, Shelf, Straight
from tests.app.worker.shop import Shop
from tests.app.worker.talking import UNSURE, Talk
from tests.github_api.apps import AppGithub
from tests.publishing import HEAD, OWN, RecordingHost, a_pull
from tests.still_clock import Moment

DEV, STRANGER, OPERATOR = Decider("dev", "page"), Decider("stranger", "page"), Decider("root", "command line")


class Desk:
    """A pull request whose review left a finding to a person, and a worker that carries out decisions."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.stage = talk.shop.stage
        self.queue = HumanQueue(self.stage.database)

    @property
    def item(self) -> QueueItem:
        [item] = self.queue.list_items()
        return item

    def work(self, durable: Straight | None = None) -> list[End]:
        """Carry out what was decided, and the reviews that follow."""
        waiting = self.stage.shelf.waiting
        waiting.clear()
        self.stage.scheduler.carry_out_decisions()
        for name, (_, _, payload) in list(waiting.items()):
            self.stage.runner.decide(name, payload, durable or Straight())
        return [self.talk._do(name) for name, (kind, _, _) in list(waiting.items()) if kind == "review"]

    @property
    def posted(self) -> list[str]:
        """Our comments that carry the marker of the finding."""
        mark = f"finding={self.item.fingerprint}"
        return [each.body for each in (*self.talk.pull.comments, *self.talk.pull.conversation) if mark in each.body]


@pytest.fixture
def desk(tmp_path: Path, database: Any, pem: str) -> Iterator[Desk]:
    with AppGithub(pem) as github:
        yield Desk(Talk(Shop(github, tmp_path / "shop", database, pem), after=UNSURE))
    github.check()


@pytest.mark.slow
def test_an_unsure_critical_finding_appears_is_confirmed_is_posted_once_and_its_label_reaches_calibration(
    desk: Desk,
) -> None:
    assert (desk.item.status, desk.item.finding.severity, desk.posted) == ("waiting", "critical", [])
    assert rates(Labels(desk.stage.database).list_labels())[0].verdicts == 0

    desk.queue.confirm(desk.item.item, DEV, "`command` takes the name of the order <b>")
    desk.work()
    desk.work()

    [body] = desk.posted
    assert "**Confirmed by dev:**" in body
    assert "<b>" not in body
    [comment] = desk.talk.pull.comments
    assert (comment.path, comment.line) == ("pay.py", 7)
    assert [entry.action for entry in desk.queue.history(desk.item.item)] == ["queued", "confirmed", "posted"]
    assert desk.item.last.url.startswith("http")
    [rate] = [each for each in rates(Labels(desk.stage.database).list_labels()) if each.by == "rule"]
    assert (rate.name, rate.verdicts, rate.right, rate.wrong) == ("S605", 1, 1.0, 0.0)


@pytest.mark.slow
def test_a_confirmed_finding_is_one_like_the_others_and_not_posted_again_on_the_next_push(desk: Desk) -> None:
    assert "Needs a person" in desk.talk.pull.reviews[-1].body
    desk.talk.shop.environ["REVIEWBOT_FAIL_ON"] = "critical"
    desk.queue.confirm(desk.item.item, DEV, "true")
    desk.work()
    head = desk.talk.shop.commit("feature", pay__py="# a shop\n" + UNSURE)
    desk.talk.shop.github.push("acme/shop", desk.talk.pull.number, head)
    assert desk.talk.carry_out(desk.talk.shop.order(desk.talk.pull)).state == "posted"
    desk.work()

    assert desk.item.status == "confirmed"
    assert len(desk.posted) == 1
    body = desk.talk.pull.reviews[0].body
    assert "Needs a person" not in body
    assert "confirmed by dev in the human queue: true" in body
    assert [check.conclusion for check in desk.talk.pull.repository.checks if check.head_sha == head] == ["failure"]
    [run] = [name for (name,) in desk.stage.database.run("SELECT run FROM reviewbot_traces") if head in str(name)]
    events = read_trace(Runs(desk.stage.database).trace(str(run)) or "")
    assert replay_delivery(events, recorded_review(events)).review.findings[0].confidence == 100


@pytest.mark.slow
def test_a_finding_that_is_confirmed_after_a_push_stands_in_the_conversation_with_both_commits(desk: Desk) -> None:
    before = desk.item.head
    head = desk.talk.shop.commit("feature", pay__py="# a shop\n" + UNSURE)
    desk.talk.shop.github.push("acme/shop", desk.talk.pull.number, head)
    desk.queue.confirm(desk.item.item, DEV, "true")
    desk.work()

    [body] = desk.posted
    assert desk.talk.pull.comments == []
    assert before[:10] in body.splitlines()[0]
    assert head[:10] in body.splitlines()[0]


@pytest.mark.slow
def test_a_dismissal_orders_a_review_that_withholds_the_finding_and_still_lists_it(desk: Desk) -> None:
    desk.queue.dismiss(desk.item.item, DEV, "false positive: the name is ours")
    ends = desk.work()

    assert [end.state for end in ends] == ["posted"]
    assert "false positive: the name is ours (a comment) (dev)" in desk.talk.pull.reviews[0].body
    assert (desk.item.status, desk.posted) == ("dismissed", [])
    [label] = Labels(desk.stage.database).list_labels()
    assert (label.queue, label.state, label.dismissed_as) == ("dismissed", "dismissed", "wrong")


@pytest.mark.slow
def test_asked_again_the_head_is_reviewed_with_the_highest_effort_and_the_item_waits_again(desk: Desk) -> None:
    desk.queue.ask_again(desk.item.item, DEV, "not sure")
    ends = desk.work()

    assert [end.state for end in ends] == ["posted"]
    assert [entry.action for entry in desk.queue.history(desk.item.item)] == [
        "queued",
        "asked_again",
        "ordered",
        "queued",
    ]
    desk.queue.ask_again(desk.item.item, DEV, "still not sure")
    assert [(end.state, end.reason) for end in desk.work()] == [("posted", "")]
    assert desk.item.status == "waiting"


@pytest.mark.slow
def test_an_account_without_write_access_decides_nothing_and_the_operator_may(desk: Desk) -> None:
    writes = len(desk.talk.shop.writes())
    desk.queue.confirm(desk.item.item, STRANGER, "true")
    desk.work()

    assert (desk.posted, len(desk.talk.shop.writes())) == ([], writes)
    assert (desk.item.status, desk.item.last.action) == ("waiting", "failed")
    assert desk.item.last.reason == "stranger has no write access to acme/shop"

    desk.queue.confirm(desk.item.item, OPERATOR, "true")
    desk.work()
    assert len(desk.posted) == 1


@pytest.mark.slow
def test_a_closed_pull_request_gets_no_comment_and_the_log_says_so(desk: Desk) -> None:
    desk.talk.pull.state = "closed"
    desk.queue.confirm(desk.item.item, DEV, "true")
    desk.work()

    assert (desk.posted, desk.item.last.reason, desk.item.status) == ([], "the pull request is closed", "waiting")


@pytest.mark.slow
@pytest.mark.parametrize("dies", ["dies_before", "dies_after"])
def test_a_worker_that_dies_around_the_step_posts_once(desk: Desk, dies: str) -> None:
    desk.queue.confirm(desk.item.item, DEV, "true")
    durable = Straight()
    setattr(durable, dies, "decide")
    with pytest.raises(KilledError):
        desk.work(durable)
    desk.stage.shelf.waiting.clear()
    desk.work(durable.again())

    assert len(desk.posted) == 1
    assert desk.item.last.action == "posted"


# --- a kill at any call ---


@dataclass
class TalkingHost(RecordingHost):
    """A host with a conversation."""

    comments: list[PostedComment] = field(default_factory=list)

    def conversation(self) -> tuple[PostedComment, ...]:
        self._called("conversation")
        return tuple(self.comments)

    def say(self, body: str) -> PostedComment:
        self._called("say")
        self.comments.append(PostedComment(len(self.comments) + 1, OWN, "reviewbot", "NONE", body))
        return self.comments[-1]


@dataclass
class OneHost:
    """A `CodeHost` of one pull request."""

    at: PullRequest
    inner: TalkingHost

    def pull_request(self, repository: str, number: int) -> PullRequest:
        return self.at

    def reviews(self, pull: PullRequest) -> TalkingHost:
        return self.inner

    def may_write(self, repository: str, account: str) -> bool:
        return True


def an_item(database: Database, finding: Finding, head: str = HEAD) -> QueueItem:
    queue = HumanQueue(database)
    human = HumanItem(path=finding.path, line=finding.line, reason="critical if true", finding=finding)
    queue.put(LeavingReview(1, 4242, 7, "acme/shop", head, "run"), [Left(("1" * 32,), human)])
    queue.confirm(queue.list_items()[0].item, DEV, "true")
    return queue.list_items()[0]


CALLS = ("own_id", "threads", "conversation", "post_review", "say")


@pytest.mark.parametrize("head", [HEAD, "e" * 40])
@pytest.mark.parametrize("carried_out", [True, False])
@pytest.mark.parametrize("call", range(1, 5))
def test_a_worker_that_is_killed_at_any_call_posts_one_comment(
    database: Database, moment: Moment, a_finding: Callable[..., Finding], call: int, head: str, *, carried_out: bool
) -> None:
    item = an_item(database, a_finding(severity="critical"), head)
    inner = TalkingHost()
    plain = {name: getattr(inner, name) for name in CALLS}
    count = 0

    def killing(name: str) -> Callable[..., object]:
        def called(*given: object, **named: object) -> object:
            nonlocal count
            count += 1
            if count == call and not carried_out:
                raise KilledError
            found = plain[name](*given, **named)
            if count == call:
                raise KilledError
            return found

        return called

    for name in CALLS:
        setattr(inner, name, killing(name))
    follower = DecisionFollower(cast("CodeHost", OneHost(a_pull(), inner)), database, Signer((b"k" * 32,)))
    with pytest.raises(KilledError):
        follower.follow(item)
    for name in CALLS:
        setattr(inner, name, plain[name])
    with pytest.raises(HostError, match="another worker"):
        follower.follow(item)
    moment.now += LEASE_S + 1
    result = follower.follow(item)
    again = follower.follow(item)

    assert result["url"] in (again["url"], "https://github.example/acme/shop/pull/7#pullrequestreview-1")
    assert len(inner.at_lines) + len(inner.comments) == 1


def test_a_comment_of_which_no_answer_came_is_looked_for_before_the_next_try(
    database: Database, a_finding: Callable[..., Finding]
) -> None:
    item = an_item(database, a_finding(severity="critical"))
    inner, slept = TalkingHost(), list[float]()

    def lose(_: object) -> None:
        raise HostUnknownError("no answer came")

    inner.after_post = lose
    one = cast("CodeHost", OneHost(a_pull(), inner))
    follower = DecisionFollower(one, database, Signer((b"k" * 32,)), slept.append)

    assert follower.follow(item)["url"].endswith("#discussion_r1")
    assert (len(slept), len(inner.at_lines)) == (1, 1)


def test_a_line_that_the_host_refuses_leads_to_the_conversation(
    database: Database, a_finding: Callable[..., Finding]
) -> None:
    item = an_item(database, a_finding(severity="critical"))
    inner = TalkingHost()
    inner.faults["post"] = [HostInvalidError("line must be part of the diff")]
    follower = DecisionFollower(cast("CodeHost", OneHost(a_pull(), inner)), database, Signer((b"k" * 32,)))

    assert follower.follow(item)["url"].endswith("#issuecomment-1")
    assert "src/app.py:1" in inner.comments[0].body


def test_a_repository_of_the_same_name_gets_nothing(database: Database, a_finding: Callable[..., Finding]) -> None:
    item = an_item(database, a_finding(severity="critical"))
    inner = TalkingHost()
    other = replace(a_pull(), repository_id=1)
    result = DecisionFollower(cast("CodeHost", OneHost(other, inner)), database, Signer((b"k" * 32,))).follow(item)

    assert (result["action"], inner.calls) == ("failed", [])


def test_the_label_of_a_finding_that_was_renamed_gets_the_decision(
    database: Database, a_finding: Callable[..., Finding]
) -> None:
    record: dict[str, Any] = {
        "path": "a.py",
        "state": "open",
        "reason": "r",
        "who": "w",
        "at": "",
        "head": "",
        "since": "",
    }
    Labels(database).put(1, 4242, 7, [Record(names=("2" * 32,), **record)])
    Labels(database).put(1, 4242, 7, [Record(names=("1" * 32, "2" * 32), **record)])
    item = an_item(database, a_finding(severity="critical"))
    record_result(database, item, {"action": "posted", "reason": "posted", "url": "https://host.test"})

    assert [label.queue for label in Labels(database).list_labels()] == ["confirmed"]


def test_decisions_that_wait_are_put_into_the_queue_by_their_place_in_the_log(
    database: Database, a_finding: Callable[..., Finding]
) -> None:

    item, shelf = an_item(database, a_finding(severity="critical")), Shelf()
    scheduler = Scheduler(database, shelf, "p")
    scheduler.carry_out_decisions()
    scheduler.carry_out_decisions()

    assert shelf.waiting == {f"decide:{item.item}:2": ("decide", "1", {"item": item.item, "position": 2})}


@pytest.mark.parametrize("head", [HEAD, "e" * 40])
def test_a_reason_cannot_mention_give_a_command_or_bring_a_marker(
    database: Database, a_finding: Callable[..., Finding], head: str
) -> None:
    item = an_item(database, a_finding(severity="critical"), head)
    hostile = (
        "@octocat/team\n/reviewbot dismiss <!-- reviewbot:finding v=1 --> <b>x</b> `a` | \u202e [l](https://e.test)"
    )
    item = item._replace(last=item.last._replace(reason=hostile, actor="dev@team <i>"))
    inner = TalkingHost()
    DecisionFollower(cast("CodeHost", OneHost(a_pull(), inner)), database, Signer((b"k" * 32,))).follow(item)

    [body] = [thread.comments[0].body for thread in inner.at_lines] or [each.body for each in inner.comments]
    said = body.split("**Confirmed by", 1)[1]
    assert "@" not in re.sub(r"`[^`]*`", "", said), "an account is named in a code span, which mentions none"
    assert not any(bad in said for bad in ("\n/reviewbot", "<b>", "<i>", "\u202e", "[l](", "v=1 -->"))
    assert body.count("<!-- reviewbot:") == 1
