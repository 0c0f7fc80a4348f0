"""What runs leave behind on the host, in the database and in memory, with the real steps on our GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.durable.database import Database
from reviewbot.app.worker.github_steps import LOOKING, STANDS, STOPPED
from tests.app.conftest import Straight
from tests.app.worker.shop import Shop, nothing_found
from tests.github_api.apps import AppGithub
from tests.github_api.routes import Reply
from tests.messages_api import MessagesApi

pytestmark = pytest.mark.slow

SECRETS = ("ghp_" + "aB3xQ9" * 6, "tr0ub4dor&3xKq9Zp")
LEAKING = f"""KEY = "{SECRETS[0]}"
password = "{SECRETS[1]}"


def pay(order, canary):
    return order
"""


@pytest.fixture
def shop(tmp_path: Path, database: Database, pem: str) -> Iterator[Shop]:
    with AppGithub(pem) as github:
        yield Shop(github, tmp_path / "shop", database, pem)
    github.check()


def test_the_check_of_a_head_that_was_superseded_does_not_go_on_for_ever(shop: Shop) -> None:
    """The one write about an older head: the end of what was begun when it was the newest."""
    pull = shop.open()
    order, newer = shop.order(pull), "f" * 40
    step = shop.stage.durable.step

    def superseded(name: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name == "post":
            shop.stage.submit(shop.order(pull, head_sha=newer))
        return step(name, act)

    shop.stage.durable.step = superseded  # type: ignore[method-assign] # the new head comes between two steps
    shop.run(order)
    assert [check.status for check in pull.repository.checks] == ["in_progress"]
    begun = len(shop.github.recorded)
    for name in shop.stage.closings() * 2:
        shop.stage.close(name)
    writes = [each for each in shop.github.recorded[begun:] if each.method == "PATCH"]
    (check,) = pull.repository.checks

    assert (check.status, check.conclusion, check.title) == ("completed", "cancelled", STOPPED)
    assert f"superseded by `{newer}`" in check.summary
    assert [each.body["status"] for each in writes] == ["completed"]  # and it is not begun once more before that
    assert pull.reviews == []


@pytest.mark.parametrize("again", ["", "d3"])
def test_of_a_review_that_stands_already_no_model_is_asked(shop: Shop, again: str) -> None:
    """As with an empty database, which knows nothing of the reviews that were made."""
    with MessagesApi(nothing_found) as models:
        keys = {"ANTHROPIC_API_KEY": "sk-ant-canary", "ANTHROPIC_BASE_URL": models.url}
        shop.environ |= {"REVIEWBOT_ENGINE": "models", "REVIEWBOT_REQUESTS_PER_MINUTE": "60000", **keys}
        pull = shop.open(after="def pay(order, rate):\n    return order / rate\n")
        shop.run(shop.order(pull))
        asked = len(models.bodies)
        for table in ("runs", "journal", "heads", "intents"):
            shop.stage.database.run(f"DELETE FROM reviewbot_{table}")
        shop.stage.durable = Straight()
        trigger = {"kind": "command"} if again else {"kind": "head"}
        end = shop.run(shop.order(pull, again=again, trigger=trigger))
    models.check()
    titles = [check.title for check in pull.repository.checks]

    assert (end.state, end.reason, len(pull.reviews)) == ("posted", STANDS, 1)
    assert asked > 0
    assert len(models.bodies) == asked
    assert shop.stage.runs.latest(1)[0].url != ""
    assert titles[1:] == (["Reviewed before"] if again else [])  # whoever asked looks there


def test_a_label_that_comes_while_it_is_refused_is_not_overlooked(shop: Shop) -> None:
    pull = shop.open('only_labels = ["review"]')
    answer = shop.github.answer

    def labelled(method: str, target: str, *rest: Any) -> Any:
        if method == "PATCH" and "/check-runs/" in target:
            pull.labels = ("review",)
        return answer(method, target, *rest)

    shop.github.answer = labelled  # type: ignore[method-assign,assignment] # while the refusal is told
    assert (shop.run(shop.order(pull)).state, shop.stage.durable.slept) == ("posted", [5.0])


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_is_no_longer_taken_is_not_given_out_again(shop: Shop, status: int) -> None:
    """The App was suspended for a while, or a repository taken from it: what was valid before is not after it."""
    pull = shop.open()
    answer = shop.github.answer

    def refused(method: str, target: str, *rest: Any) -> Any:
        if target.startswith("/repos/"):
            shop.github.answer = answer  # type: ignore[method-assign] # once
            return Reply(status, {"message": "no"})
        return answer(method, target, *rest)

    shop.github.answer = refused  # type: ignore[method-assign,assignment] # GitHub alone knows when it ends
    shop.run(shop.order(pull))

    assert [each.permissions for each in shop.github.app.given] == [dict(LOOKING), dict(LOOKING)]


def test_nothing_that_is_kept_of_a_run_has_a_secret_or_the_code(shop: Shop) -> None:
    """Neither the engine's records of the steps nor the journal; the review is the same as without that."""
    shop.stage.submit(shop.order(pull := shop.open(after=LEAKING)))
    assert shop.run(shop.order(pull)).state == "posted"
    kept = json.dumps(shop.stage.durable.recorded)
    rows = shop.stage.database.run("SELECT value FROM reviewbot_journal")
    kept += " ".join(bytes(row[0]).decode() for row in rows)
    posted = repr((pull.reviews, pull.comments, pull.repository.checks))

    assert rows
    assert not any(secret in kept + posted for secret in SECRETS)
    assert "def pay(order, canary)" not in kept
    assert "ghp_****" in posted
    assert {comment.line for comment in pull.comments} == {1}
    assert {mark["start_line"] for check in pull.repository.checks for mark in check.annotations} == {1, 2}


def test_the_check_of_an_older_head_that_is_asked_for_again_stops_nothing(shop: Shop) -> None:
    pull = shop.open()
    trigger = {"kind": "rerun", "head_sha": pull.head_sha}
    again = shop.order(pull, head_sha="", again="d4", trigger=trigger)
    older = shop.order(pull, head_sha="", again="d5", trigger={**trigger, "head_sha": "e" * 40})
    current = shop.stage.submit(shop.order(pull))

    assert shop.run(older).state == "refused"
    assert shop.stage.state(current) == "waiting"
    shop.stage.durable = Straight()
    assert shop.run(again).state == "posted"
