from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.app.triggers.commands import command_in
from reviewbot.app.triggers.decide import decide, refusal_of
from reviewbot.app.triggers.values import (
    Comment,
    Delivery,
    Refusal,
    Trigger,
    WebhookEvent,
    trigger_values,
)
from reviewbot.config import Settings
from reviewbot.hosts.base import PullFacts, PullRequest

FACTS = PullFacts(
    title="Add a thing",
    author="dev",
    author_is_bot=False,
    draft=False,
    is_open=True,
    labels=("area/api", "review"),
    base_ref="main",
    head_ref="feature/thing",
)


def an_event(action: str = "opened", name: str = "pull_request", **fields: Any) -> WebhookEvent:
    known: dict[str, Any] = {
        "installation_id": 42,
        "repository_id": 1,
        "repository": "octo/repo",
        "number": 7,
        "head_sha": "a" * 40,
        "delivery_id": "d-1",
        "sender": "dev",
        "pull": FACTS,
    }
    return WebhookEvent(name, action, **{**known, **fields})


def a_comment(body: str = "/reviewbot review", association: str = "MEMBER", **fields: Any) -> WebhookEvent:
    comment = Comment(900, "issue", body, association)
    return an_event(
        fields.pop("action", "created"), "issue_comment", pull=None, head_sha=None, comment=comment, **fields
    )


@pytest.mark.parametrize("action", ["opened", "reopened", "ready_for_review", "synchronize"])
def test_a_head_without_a_review_gets_one(action: str) -> None:
    found = decide(an_event(action), Settings())

    assert isinstance(found, Trigger)
    assert (found.kind, found.reason, found.head_sha, found.number) == ("head", action, "a" * 40, 7)
    assert (found.installation_id, found.repository_id, found.repository) == (42, 1, "octo/repo")


@pytest.mark.parametrize("action", ["assigned", "edited", "locked", "converted_to_draft", "anything_new"])
def test_other_actions_are_ignored_by_name(action: str) -> None:
    found = decide(an_event(action), Settings())

    assert found == Refusal(f"nothing is done for pull_request {action}")


def test_a_closed_pull_request_needs_nothing_more() -> None:
    found = decide(an_event("closed", pull=replace(FACTS, is_open=False)), Settings())

    assert isinstance(found, Trigger)
    assert found.kind == "closed"


@pytest.mark.parametrize(
    ("facts", "settings", "word"),
    [
        ({"draft": True}, {}, "draft"),
        ({"author_is_bot": True}, {}, "bot"),
        ({}, {"skip_authors": ("de*",)}, "author"),
        ({}, {"skip_authors": ("DEV",)}, "author"),
        ({}, {"skip_labels": ("area/*",)}, "label"),
        ({}, {"skip_labels": ("AREA/*",)}, "label"),
        ({}, {"only_labels": ("ship-it",)}, "labels"),
        ({"labels": ()}, {"only_labels": ("*",)}, "labels"),
        ({"title": "[WIP] x"}, {"skip_titles": ("[[]WIP]*",)}, "title"),
        ({}, {"only_branches": ("release/*",)}, "base branch"),
        ({}, {"skip_branches": ("feature/*",)}, "head branch"),
    ],
)
def test_a_refusal_says_why_and_what_would_have_been_done(
    facts: dict[str, Any], settings: dict[str, Any], word: str
) -> None:
    found = decide(an_event(pull=replace(FACTS, **facts)), Settings(**settings))

    assert isinstance(found, Refusal)
    assert word in found.reason
    assert found.trigger is not None
    assert found.trigger.refusal == found.reason


@pytest.mark.parametrize(
    ("facts", "settings"),
    [
        ({"draft": True}, {"review_drafts": True}),
        ({"author_is_bot": True}, {"review_bots": True}),
        ({}, {"only_labels": ("nothing", "review")}),
        ({}, {"only_labels": ("Review",)}),
        ({}, {"only_branches": ("main",)}),
        ({}, {"skip_titles": ("[WIP]*", "t*"), "skip_branches": ("Feature*",)}),
    ],
)
def test_what_the_settings_allow_is_reviewed(facts: dict[str, Any], settings: dict[str, Any]) -> None:
    assert isinstance(decide(an_event(pull=replace(FACTS, **facts)), Settings(**settings)), Trigger)


def test_of_what_is_closed_nobody_is_told() -> None:
    found = decide(an_event("synchronize", pull=replace(FACTS, is_open=False)), Settings())

    assert found == Refusal("the pull request is closed")


@pytest.mark.parametrize(
    ("action", "changed", "looked_at"),
    [
        ("labeled", (), True),
        ("unlabeled", (), True),
        ("edited", ("title",), True),
        ("edited", ("base", "body"), True),
        ("edited", ("body",), False),
        ("edited", (), False),
    ],
)
def test_a_change_that_may_change_the_answer_is_looked_at_whoever_refused(
    action: str, changed: tuple[str, ...], *, looked_at: bool
) -> None:
    """The repository may have settings that the operator's know nothing of."""
    found = decide(an_event(action, changed=changed), Settings())

    assert isinstance(found, Trigger) == looked_at
    assert not isinstance(found, Trigger) or (found.lifts, found.reason) == (True, action)


@pytest.mark.parametrize(("action", "lifts"), [("ready_for_review", True), ("opened", False), ("synchronize", False)])
def test_only_what_may_lift_a_refusal_is_never_a_repeat(action: str, *, lifts: bool) -> None:
    found = decide(an_event(action), Settings())

    assert isinstance(found, Trigger)
    assert found.lifts == lifts


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "COLLABORATOR"])
def test_a_member_gives_a_command_also_for_a_draft(association: str) -> None:
    found = decide(a_comment(association=association), Settings(skip_authors=("*",)))

    assert isinstance(found, Trigger)
    assert (found.kind, found.comment_id, found.comment_kind, found.actor) == ("command", 900, "issue", "dev")
    assert found.head_sha is None


@pytest.mark.parametrize("association", ["NONE", "CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "", "member"])
def test_a_stranger_gets_no_answer_at_all(association: str) -> None:
    assert decide(a_comment(association=association), Settings()) == Refusal(
        "only members and collaborators give commands"
    )


@pytest.mark.parametrize("action", ["edited", "deleted"])
def test_only_a_new_comment_gives_a_command(action: str) -> None:
    assert isinstance(decide(a_comment(action=action), Settings()), Refusal)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (a_comment("thanks"), "no command"),
        (a_comment("/reviewbot merge"), "no such command"),
        (a_comment(closed=True), "closed"),
    ],
)
def test_other_comments_are_refused_by_name(event: WebhookEvent, reason: str) -> None:
    found = decide(event, Settings())

    assert isinstance(found, Refusal)
    assert reason in found.reason
    assert found.trigger is None


@pytest.mark.parametrize(
    "body",
    [
        "/reviewbot review",
        "@my-bot review",
        "@My-Bot[bot]  REVIEW",
        "\n\n  /reviewbot review please\nthe rest",
        "/reviewbot\treview",
    ],
)
def test_a_command_stands_at_the_start_of_the_first_line(body: str) -> None:
    found = command_in(body, "my-bot")
    assert found is not None
    assert found.verb == "review"


@pytest.mark.parametrize(
    "body",
    [
        *("", "> /reviewbot review", "please /reviewbot review", "```\n/reviewbot review\n```", "@my-bot2 review"),
        *("@other review", "/reviewbotreview", "/reviewbot", "/reviewbot review-all", "hello\n/reviewbot review"),
        "@reviewbot x",
    ],
)
def test_everything_else_is_none(body: str) -> None:
    assert command_in(body, "my-bot") is None


@given(st.text())
def test_no_comment_breaks_the_reading(body: str) -> None:
    assert command_in(body, "my-bot") is None or body.lower().lstrip()[0] in "/@"


@pytest.mark.parametrize("name", ["check_run", "check_suite"])
def test_a_check_is_done_again_when_somebody_asks(name: str) -> None:
    found = decide(an_event("rerequested", name, pull=None, target_id=5), Settings())

    assert isinstance(found, Trigger)
    assert (found.kind, found.target_id, found.reason) == ("rerun", 5, f"{name} rerequested")
    assert isinstance(decide(an_event("completed", name, pull=None), Settings()), Refusal)


def test_an_event_without_a_pull_request_leads_to_nothing() -> None:
    assert decide(an_event("opened", "something", pull=None), Settings()) == Refusal(
        "nothing is done for something opened"
    )


@pytest.mark.parametrize(
    ("paths", "refused"), [(("docs/a.md",), True), ((), True), (("docs/a.md", "src/a.py"), False), (None, False)]
)
def test_the_changed_files_count_where_they_are_known(paths: tuple[str, ...] | None, *, refused: bool) -> None:
    assert ("changed file" in refusal_of(FACTS, Settings(paths=("src/*",)), paths)) is refused
    assert refusal_of(FACTS, Settings(), paths) == ""


def test_the_same_is_decided_of_what_the_api_says() -> None:
    pull = PullRequest(
        repository="octo/repo",
        repository_id=1,
        number=7,
        title="Add a thing",
        description="",
        author="dev",
        author_is_bot=False,
        base_ref="main",
        base_sha="b" * 40,
        head_ref="feature/thing",
        head_sha="a" * 40,
        is_open=True,
        draft=False,
        labels=("area/api", "review"),
        url="https://github.com/octo/repo/pull/7",
    )

    assert refusal_of(pull, Settings(paths=("src/*",)), ("docs/a.md",)) != ""
    assert refusal_of(pull, Settings(paths=("src/*",))) == refusal_of(pull, Settings()) == ""
    assert refusal_of(replace(pull, draft=True), Settings()) != ""


def test_two_triggers_for_the_same_thing_have_one_key() -> None:
    first = decide(an_event("opened"), Settings())
    second = decide(an_event("synchronize", delivery_id="d-2"), Settings())
    other = decide(an_event("synchronize", head_sha="b" * 40), Settings())
    refused = decide(an_event(pull=replace(FACTS, draft=True)), Settings())

    assert isinstance(first, Trigger)
    assert isinstance(second, Trigger)
    assert isinstance(other, Trigger)
    assert isinstance(refused, Refusal)
    assert refused.trigger is not None
    assert first.key == second.key
    assert first.place == other.place == "1:7"
    assert len({first.key, other.key, refused.trigger.key}) == 3


def test_a_trigger_outlives_its_process_as_json_values() -> None:
    found = decide(a_comment(), Settings())

    assert isinstance(found, Trigger)
    assert Trigger(**trigger_values(found)) == found  # type: ignore[arg-type] # they are what it was made of
    assert Delivery("d-1", "issue_comment", "0" * 64, found).id == 0
