"""Merge groups on our GitHub: the check run on the commit of a group, from the review that stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.worker.merge_group import group_check
from reviewbot.domain.contracts import Conclusion
from reviewbot.publish.existing_reviews import Own
from reviewbot.publish.marker import ReviewMarker
from tests.app.worker.shop import AFTER, Shop
from tests.github_api.apps import AppGithub
from tests.publishing import HEAD, POLICY, RecordingHost, a_pull


@pytest.fixture
def shop(tmp_path: Path, database: Any, pem: str) -> Iterator[Shop]:
    with AppGithub(pem) as github:
        yield Shop(github, tmp_path / "shop", database, pem)
    github.check()


def ask(shop: Shop, pull: Any, head: str, **more: Any) -> list[tuple[str, str | None, str | None]]:
    """Deliver a merge group; the check runs on its commit."""
    trigger = {"kind": "group", "head_sha": head}
    shop.run(shop.order(pull, head_sha="", trigger=trigger, **more))
    return [(each.name, each.status, each.conclusion) for each in pull.repository.checks if each.head_sha == head]


def queued(shop: Shop) -> str:
    """The commit of a merge group: main with the feature."""
    shop.repo.git("checkout", "--quiet", "-B", "queue", "main")
    shop.repo.git("merge", "--quiet", "--no-ff", "-m", "queue", "feature")
    head = shop.repo.git("rev-parse", "HEAD")
    shop.repo.git("checkout", "--quiet", "feature")
    return head


@pytest.mark.slow
def test_a_group_gets_the_colour_of_the_review_of_its_pull_request(shop: Shop) -> None:
    pull = shop.open()
    group = queued(shop)
    assert ask(shop, pull, group) == [("reviewbot", "completed", "neutral")]
    assert "has no review by reviewbot" in pull.repository.checks[-1].summary
    reviews = len(pull.reviews)

    shop.run(shop.order(pull))
    own = pull.repository.checks[-1].conclusion
    assert ask(shop, pull, group)[-1] == ("reviewbot", "completed", own)
    assert "pull request 1 at" in pull.repository.checks[-1].summary
    assert len(pull.reviews) == reviews + 1


@pytest.mark.slow
def test_a_closed_gate_closes_the_group_and_a_push_since_makes_it_unreviewed(shop: Shop) -> None:
    pull = shop.open(settings='fail_on = "info"\n')
    shop.run(shop.order(pull))
    group = queued(shop)
    assert ask(shop, pull, group) == [("reviewbot", "completed", "failure")]

    shop.github.push("acme/shop", pull.number, shop.commit("feature", pay__py=AFTER + "\n\nX = 1\n"))
    assert ask(shop, pull, group)[-1] == ("reviewbot", "completed", "neutral")


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 99])
def test_a_group_of_no_pull_request_is_answered_and_never_green(shop: Shop, number: int) -> None:
    pull = shop.open()
    assert ask(shop, pull, queued(shop), number=number) == [("reviewbot", "completed", "neutral")]


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("success", "success"),
        ("neutral", "neutral"),
        ("failure", "failure"),
        ("cancelled", "neutral"),
        (None, "neutral"),
    ],
)
def test_a_group_is_green_only_where_the_review_was(stored: Conclusion | None, shown: Conclusion) -> None:
    review = RecordingHost().stand("body")
    own = Own(review, ReviewMarker(4242, 7, HEAD, POLICY, conclusion=stored))

    assert group_check(a_pull(), own).conclusion == shown
    assert group_check(a_pull(), None).conclusion == group_check(None, None).conclusion == "neutral"
