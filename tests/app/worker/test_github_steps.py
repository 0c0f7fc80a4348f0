"""Runs against our GitHub, as an App, with the real steps and the analyzers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.durable.database import Database
from reviewbot.app.worker.github_steps import LOOKING, POSTING, policy_name
from reviewbot.app.worker.work import ReviewRequest
from tests.app.conftest import KilledError
from tests.app.worker.shop import AFTER, ENVIRON, Shop, nothing_found
from tests.github_api import Pull
from tests.github_api.apps import AppGithub
from tests.messages_api import MessagesApi

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path: Path, database: Database, pem: str) -> Iterator[Shop]:
    with AppGithub(pem) as github:
        yield Shop(github, tmp_path / "shop", database, pem)
    github.check()


def test_a_head_gets_one_review_a_check_and_a_trace(shop: Shop) -> None:
    pull = shop.open()
    end = shop.run(shop.order(pull))
    record = shop.stage.runs.latest(1)[0]
    trace = json.loads(shop.stage.runs.trace(record.run) or "")

    assert (end.state, len(pull.reviews), pull.reviews[0].commit_id) == ("posted", 1, pull.head_sha)
    assert "is" in pull.reviews[0].body
    assert [check.conclusion for check in pull.repository.checks] != [None]
    assert (record.state, record.url.startswith("http")) == ("posted", True)
    assert {event["event"] for event in trace["events"]} >= {"change", "rules"}
    assert {tally.name for tally in shop.tallies.read()} >= {"findings", "tasks", "runs", "run_seconds"}


def test_each_token_may_do_what_its_step_needs(shop: Shop) -> None:
    shop.run(shop.order(shop.open()))

    assert [each.permissions for each in shop.github.app.given] == [dict(LOOKING), dict(POSTING)]
    asked = [each.body["repository_ids"] for each in shop.github.recorded if "access_tokens" in each.path]
    assert asked == [[shop.github.state.repositories["acme/shop"].repository_id]] * 2


def test_a_run_carried_out_twice_posts_once(shop: Shop) -> None:
    """As after a kill right behind the POST, before it was recorded."""
    pull = shop.open()
    order = shop.order(pull)
    shop.run(order)
    shop.stage.database.run("UPDATE reviewbot_runs SET state = 'running'")
    shop.stage.durable.recorded.pop()
    shop.stage.durable.again()

    assert (shop.run(order).state, len(pull.reviews)) == ("posted", 1)


def test_a_head_that_moved_on_gets_nothing_and_is_followed(shop: Shop) -> None:
    pull = shop.open()
    order = shop.order(pull)
    head = shop.commit("feature", pay__py=AFTER + "\n")
    shop.github.push("acme/shop", pull.number, head)

    assert (shop.run(order).state, pull.reviews, shop.writes()) == ("moved", [], [])
    assert [each.head for each in shop.stage.runs.latest(9) if each.state == "waiting"] == [head]


def test_a_push_during_the_review_leaves_no_review_on_the_old_head(shop: Shop) -> None:
    pull = shop.open()
    order = shop.order(pull)
    head = shop.commit("feature", pay__py=AFTER + "\n")
    step = shop.stage.durable.step

    def pushed(name: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name == "post":
            shop.github.push("acme/shop", pull.number, head)
        return step(name, act)

    shop.stage.durable.step = pushed  # type: ignore[method-assign] # the push comes between two steps
    assert (shop.run(order).state, pull.reviews) == ("moved", [])


def test_nothing_is_written_of_a_run_that_is_superseded(shop: Shop) -> None:
    pull = shop.open()
    order = shop.order(pull)
    step = shop.stage.durable.step

    def superseded(name: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name == "post":
            before = len(shop.writes())
            shop.stage.submit(shop.order(pull, head_sha="f" * 40))
            found = step(name, act)
            assert len(shop.writes()) == before
            return found
        return step(name, act)

    shop.stage.durable.step = superseded  # type: ignore[method-assign] # the new head comes between two steps
    assert (shop.run(order).state, pull.reviews) == ("superseded", [])


def test_a_zombie_writes_nothing_at_the_last_moment(shop: Shop) -> None:
    """It was frozen amid posting; another worker has taken the run over."""
    pull = shop.open()
    order = shop.order(pull)
    answer = shop.github.answer

    def frozen(method: str, target: str, *rest: Any) -> Any:
        if method == "GET" and target.partition("?")[0].endswith("/reviews"):
            shop.stage.database.run("UPDATE reviewbot_runs SET owner = 'another'")
        return answer(method, target, *rest)

    shop.github.answer = frozen  # type: ignore[method-assign,assignment] # the freeze lies between looking and posting
    assert (shop.run(order).state, pull.reviews) == ("superseded", [])


def test_why_there_is_no_review_is_said_in_the_check_and_not_in_a_comment(shop: Shop) -> None:
    pull = shop.open(draft=True)
    end = shop.run(shop.order(pull, refusal="it is a draft (review_drafts)"))
    check = pull.repository.checks[0]

    assert (end.state, pull.reviews, check.conclusion) == ("refused", [], "neutral")
    assert "it is a draft" in check.summary


def test_the_repository_may_be_against_it_and_a_person_for_it(shop: Shop) -> None:
    pull = shop.open('skip_titles = ["WIP*"]', title="WIP: pay")

    assert shop.run(shop.order(pull)).reason == "its title says not to (skip_titles)"
    shop.stage.durable = type(shop.stage.durable)()
    assert shop.run(shop.order(pull, again="d3", trigger={"kind": "command"})).state == "posted"


def test_a_closed_pull_request_gets_nothing(shop: Shop) -> None:
    pull = shop.open()
    pull.state = "closed"

    assert (shop.run(shop.order(pull)).state, shop.writes()) == ("refused", [])


def test_a_name_that_now_means_another_repository_is_refused(shop: Shop) -> None:
    pull = shop.open()
    order = shop.order(pull)
    other = shop.github.add_repository("acme/shop", shop.folder)
    other.pulls[1] = pull
    shop.github.add_repository("acme/old", shop.folder).repository_id = order.repository_id
    shop.github.app.installations[1].repositories = ("acme/old", "acme/shop")
    pull.repository = other

    assert (shop.run(order).state, pull.reviews) == ("failed", [])


def test_a_permission_that_is_missing_fails_with_its_name_and_is_said(shop: Shop) -> None:
    pull = shop.open()
    shop.github.app.installations[1].repositories = ()
    end = shop.run(shop.order(pull))

    assert (end.state, pull.reviews) == ("failed", [])


def test_a_failed_run_concludes_its_check(shop: Shop) -> None:
    pull = shop.open('deadline_s = "soon"')
    end = shop.run(shop.order(pull))

    assert end.state == "failed"
    assert "must be a whole number" in pull.repository.checks[-1].summary
    assert pull.repository.checks[-1].conclusion == "neutral"


def test_a_person_is_called_where_the_review_asks_for_one(shop: Shop) -> None:
    shop.environ |= {"REVIEWBOT_PERSON_LABEL": "look here", "REVIEWBOT_PERSON_REVIEWERS": "octocat"}
    pull = shop.open()
    step = shop.stage.durable.step

    def doubtful(name: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        found = step(name, act)
        if name == "review":
            found["reviewed"]["review"]["review"]["human"] = [{"path": "pay.py", "reason": "two readings"}]
        return found

    shop.stage.durable.step = doubtful  # type: ignore[method-assign] # analyzers alone are never in doubt
    assert shop.run(shop.order(pull)).state == "posted"
    assert shop.github.app.asked == [("label", {"labels": ["look here"]}), ("reviewers", {"reviewers": ["octocat"]})]


def test_a_trace_is_kept_of_what_breaks_off(shop: Shop) -> None:
    pull = shop.open()
    order = shop.order(pull)
    answer = shop.github.answer

    def superseded(method: str, target: str, *rest: Any) -> Any:
        if method == "POST" and target.endswith("/check-runs"):
            shop.stage.submit(shop.order(pull, head_sha="f" * 40))
        return answer(method, target, *rest)

    shop.github.answer = superseded  # type: ignore[method-assign,assignment] # amid the review
    shop.run(order)

    assert pull.reviews == []


# --- models ---


def test_no_answer_of_a_model_is_paid_twice_when_a_run_goes_on(shop: Shop) -> None:
    """Killed behind the review, before that was recorded; the journal in the database has the answers."""
    with MessagesApi(nothing_found) as models:
        keys = {"ANTHROPIC_API_KEY": "sk-ant-canary", "ANTHROPIC_BASE_URL": models.url}
        shop.environ |= {"REVIEWBOT_ENGINE": "models", "REVIEWBOT_REQUESTS_PER_MINUTE": "60000", **keys}
        pull = shop.open(after="def pay(order, rate):\n    return order / rate\n")
        order = shop.order(pull)
        shop.stage.durable.dies_after = "review"
        with pytest.raises(KilledError):
            shop.run(order)
        asked = len(models.bodies)
        shop.stage.durable.again()
        end = shop.run(order)
        rates = shop.stage.database.run("SELECT name FROM reviewbot_rates")
    models.check()

    assert (end.state, len(pull.reviews)) == ("posted", 1)
    assert asked > 0
    assert len(models.bodies) == asked
    assert rates == [(models.url,)]
    assert "canary" not in (shop.stage.runs.trace(order.run_id("p")) or "")


# --- commands ---


def command(shop: Shop, pull: Pull, **more: Any) -> ReviewRequest:
    trigger = {"kind": "command", "actor": "maintainer", "comment_id": 55, "comment_kind": "issue", **more}
    return shop.order(pull, head_sha="", again="d3", trigger=trigger)


@pytest.mark.parametrize(("level", "state"), [("write", "posted"), ("read", "refused"), ("none", "refused")])
def test_commands_are_for_those_who_may_write_by_the_hosts_own_word(shop: Shop, level: str, state: str) -> None:
    shop.github.app.may["maintainer"] = level

    assert shop.run(command(shop, shop.open())).state == state
    assert bool(shop.github.app.asked) == (level == "write")


def test_a_command_is_acknowledged_and_its_head_is_that_of_now(shop: Shop) -> None:
    shop.github.app.may["maintainer"] = "admin"
    pull = shop.open()
    shop.run(command(shop, pull, comment_kind="review"))

    assert shop.github.app.asked == [("reaction to 55", {"content": "eyes"})]
    assert [each.head for each in shop.stage.runs.latest(1)] == [pull.head_sha]


@pytest.mark.parametrize("actor", [None, "../../x", "a b", ""])
def test_a_login_that_is_none_may_nothing(shop: Shop, actor: str | None) -> None:
    assert shop.run(command(shop, shop.open(), actor=actor)).state == "refused"
    assert shop.writes() == []


def test_the_check_of_a_fork_is_found_by_its_commit(shop: Shop) -> None:
    pull = shop.open()
    trigger = {"kind": "rerun", "head_sha": pull.head_sha}
    shop.run(shop.order(pull, number=0, again="d4", trigger=trigger))

    assert [each.number for each in shop.stage.runs.latest(1)] == [pull.number]


def test_a_commit_of_no_open_pull_request_orders_nothing(shop: Shop) -> None:
    pull = shop.open()
    pull.state = "closed"

    assert shop.run(shop.order(pull, number=0, again="d4", trigger={"kind": "rerun"})).state == "refused"


def test_the_policy_is_another_one_with_other_settings() -> None:
    assert policy_name(ENVIRON) == policy_name(dict(ENVIRON))
    assert policy_name(ENVIRON) != policy_name({**ENVIRON, "REVIEWBOT_MIN_CONFIDENCE": "90"})
    assert policy_name(ENVIRON).isalnum()
