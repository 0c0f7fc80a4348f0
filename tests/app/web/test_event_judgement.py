"""What is decided of a signed payload: each refusal word for word, and the limits of each field that we use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.app.triggers.values import Refusal, Trigger
from reviewbot.app.web.events import GHOST, AppIdentity, PayloadError, decide_trigger
from reviewbot.app.web.payloads import MAX_TEXT
from reviewbot.config import Settings
from tests.webhooks import (
    APP_ID,
    BOT,
    BOT_ID,
    PERSON,
    check_event,
    comment_event,
    event,
    group_event,
    pull_event,
    sha,
    thread_event,
)

WHO = AppIdentity(APP_ID, "reviewbot", BOT_ID)
ANY_BOT = Settings(review_bots=True)
OWN_NAME = {"login": "ReviewBot[bot]", "type": "bot", "id": 5}
THROUGH_US = {"performed_via_github_app": {"id": APP_ID}}
THROUGH_ANOTHER = {"performed_via_github_app": {"id": APP_ID + 1}}
BIGGEST = 2**63 - 1


def judged(
    payload: dict[str, Any], name: str = "pull_request", settings: Settings | None = None, who: AppIdentity = WHO
) -> Trigger | Refusal:
    return decide_trigger(name, payload, "d-1", who, settings or Settings())


def taken(payload: dict[str, Any], name: str = "pull_request", settings: Settings | None = None) -> Trigger:
    found = judged(payload, name, settings)
    assert isinstance(found, Trigger)
    return found


def review_comment(body: str = "/reviewbot review", **comment: Any) -> dict[str, Any]:
    result = {**comment_event(body, comment=comment), "pull_request": {"number": 7}}
    del result["issue"]
    return result


ALL_SHAPES = {
    "pull_request": pull_event(),
    "issue_comment": comment_event(),
    "pull_request_review_comment": review_comment(),
    "pull_request_review_thread": thread_event(),
    "check_run": check_event(),
    "check_suite": check_event("check_suite"),
    "merge_group": group_event(),
}
NOT_THROUGH_US = "it does not come through an installation of the App"
ANOTHER_EVENT = "the body is of another event"


@pytest.mark.parametrize("name", ALL_SHAPES)
@pytest.mark.parametrize("part", ["installation", "repository", "sender"])
def test_every_event_must_come_through_an_installation(name: str, part: str) -> None:
    missing = {key: value for key, value in ALL_SHAPES[name].items() if key != part}

    assert judged(missing, name) == Refusal(NOT_THROUGH_US)
    assert judged({**ALL_SHAPES[name], part: None}, name) == Refusal(NOT_THROUGH_US)


@pytest.mark.parametrize("name", ALL_SHAPES)
def test_a_body_is_only_ever_of_one_event(name: str) -> None:
    """The header is not signed: whoever changes it gets a refusal, not another reading of the body."""
    fits = [other for other, body in ALL_SHAPES.items() if judged(body, name) != Refusal(ANOTHER_EVENT)]

    # A comment at a line has its pull request with it, and a conversation has an issue: neither passes for the other.
    assert fits == [name]


@pytest.mark.parametrize("part", ["comment", "review", "thread", "check_run"])
def test_what_else_has_a_pull_request_with_it_is_no_event_of_the_pull_request(part: str) -> None:
    assert judged({**pull_event(), part: None}) == Refusal(ANOTHER_EVENT)


@pytest.mark.parametrize(
    ("payload", "name", "settings", "reason"),
    [
        (pull_event(sender=OWN_NAME), "pull_request", ANY_BOT, "it is our own doing"),
        (pull_event(sender={**PERSON, "id": BOT_ID}), "pull_request", ANY_BOT, "it is our own doing"),
        (comment_event(comment=THROUGH_US), "issue_comment", ANY_BOT, "it is our own doing"),
        (
            review_comment(performed_via_github_app={"id": APP_ID}),
            "pull_request_review_comment",
            ANY_BOT,
            "it is our own doing",
        ),
        (check_event(sender=OWN_NAME), "check_run", ANY_BOT, "it is our own doing"),
        (pull_event(sender={**BOT, "type": "BOT"}), "pull_request", None, "a bot did it (review_bots)"),
        (check_event(app=APP_ID + 1, sender=BOT), "check_run", None, "a bot did it (review_bots)"),
        (check_event(app=APP_ID + 1), "check_run", None, "it is the check of another App"),
        (check_event("check_suite", app=APP_ID - 1), "check_suite", ANY_BOT, "it is the check of another App"),
        (comment_event(issue={"pull_request": None}), "issue_comment", None, "the comment is not on a pull request"),
        (comment_event(issue={"state": "closed"}), "issue_comment", None, "the pull request is closed"),
        (event("resolved"), "pull_request_review_thread", None, "the body is of another event"),
        (event("unsuspend", installation={"id": 1}), "installation", None, "nothing is done for this event"),
        (event("added", installation={"id": 1}), "installation_repositories", None, "nothing is done for this event"),
    ],
)
def test_what_is_not_answered_says_why(
    payload: dict[str, Any], name: str, settings: Settings | None, reason: str
) -> None:
    assert judged(payload, name, settings) == Refusal(reason)


def test_a_check_whose_app_nobody_names_is_not_ours() -> None:
    payload = check_event()
    payload["check_run"]["app"] = None

    assert judged(payload, "check_run") == Refusal("it is the check of another App")


@pytest.mark.parametrize(
    "sender",
    [
        {"login": "reviewbot[bot]", "type": "User", "id": 5},
        {"login": "reviewbot", "type": "User", "id": 5},
        {"login": "reviewbot2[bot]", "type": "Bot", "id": 5},
        {"login": "dev", "type": "User"},
    ],
)
def test_whoever_is_only_named_like_us_is_not_us(sender: dict[str, Any]) -> None:
    assert taken(pull_event(sender=sender), settings=ANY_BOT).kind == "head"


def test_as_long_as_nobody_knows_our_account_no_account_is_ours() -> None:
    unknown = replace(WHO, bot_id=None)

    assert isinstance(judged(pull_event(sender={"login": "dev", "type": "User"}), who=unknown), Trigger)
    assert isinstance(judged(pull_event(sender={**PERSON, "id": BOT_ID}), who=unknown), Trigger)


def test_a_command_that_was_written_through_another_app_is_its_writers() -> None:
    assert taken(comment_event(comment=THROUGH_ANOTHER), "issue_comment").actor == "dev"


def test_an_association_is_read_in_any_case() -> None:
    assert taken(comment_event(association="member"), "issue_comment").kind == "command"


def test_a_pull_request_of_an_account_that_is_gone_is_the_ghosts() -> None:
    found = judged(pull_event(user=None), settings=Settings(skip_authors=(GHOST,)))

    assert isinstance(found, Refusal)
    assert found.reason == "its author is not reviewed (skip_authors)"
    assert taken(pull_event(user=None)).kind == "head"


def test_what_was_changed_is_told_by_its_names() -> None:
    assert taken(pull_event("edited", changes={"title": {"from": "x"}, "body": {}})).lifts
    assert judged(pull_event("edited", changes={"body": {}})) == Refusal("nothing is done for pull_request edited")
    assert judged(pull_event("edited")) == Refusal("nothing is done for pull_request edited")


def test_the_state_of_a_pull_request_is_read_in_any_case() -> None:
    assert taken(pull_event(state="OPEN")).kind == "head"


@pytest.mark.parametrize(
    ("number", "good"), [(1, True), (BIGGEST, True), (0, False), (BIGGEST + 1, False), (1.0, False)]
)
def test_an_id_is_a_whole_number_that_every_database_takes(number: float, *, good: bool) -> None:
    payload = pull_event(repository={"id": number, "full_name": "octo/repo"})

    if good:
        assert taken(payload).repository_id == number
    else:
        with pytest.raises(PayloadError, match=r"^repository\.id is not as it must be$"):
            judged(payload)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("o" * 100 + "/" + "r" * 100, True),
        ("octo/.github", True),
        ("octo/...", True),
        ("o" * 101 + "/r", False),
        ("o/" + "r" * 101, False),
        ("./r", False),
        ("../r", False),
        ("o/.", False),
        ("/r", False),
        ("o/", False),
        ("o", False),
        ("o/r?x", False),
        ("o/r%2e", False),
        ("o\\r/r", False),
        ("\u00f6/r", False),
    ],
)
def test_a_repository_has_a_name_that_is_safe_in_an_address(name: str, *, good: bool) -> None:
    payload = pull_event(repository={"id": 1, "full_name": name})

    if good:
        assert taken(payload).repository == name
    else:
        with pytest.raises(PayloadError, match=r"^repository\.full_name is not as it must be$"):
            judged(payload)


OTHER = [{"id": 2, "full_name": "octo/repo"}, {"id": 1, "full_name": "octo/other"}, {"id": 2}, {"full_name": "o/r"}]
SAME = [{"id": 1, "full_name": "octo/repo"}, {"id": 1, "full_name": "Octo/REPO"}, {"id": 1}, {}, None]
"""Of the repository octo/repo, whose id is 1."""


@pytest.mark.parametrize("result", OTHER)
def test_a_pull_request_of_another_repository_is_refused(result: dict[str, Any]) -> None:
    payload = pull_event()
    payload["pull_request"]["base"]["repo"] = result
    comment = review_comment()
    comment["pull_request"]["base"] = {"repo": result}

    for body, name in ((payload, "pull_request"), (comment, "pull_request_review_comment")):
        with pytest.raises(PayloadError, match=r"^pull_request\.base\.repo is not as it must be$"):
            judged(body, name)


@pytest.mark.parametrize("result", SAME)
def test_a_pull_request_names_its_repository_by_id_and_in_any_case(
    result: dict[str, Any] | None,
) -> None:
    payload = pull_event()
    payload["pull_request"]["base"]["repo"] = result
    comment = review_comment()
    comment["pull_request"]["base"] = {"repo": result}

    assert (taken(payload).number, taken(comment, "pull_request_review_comment").number) == (7, 7)


@pytest.mark.parametrize("kind", ["check_run", "check_suite"])
def test_a_check_in_a_fork_does_not_ask_for_the_pull_request_of_that_number_in_the_fork(kind: str) -> None:
    """The checks of a fork's branch list what it was opened as where the fork comes from."""
    payload = check_event(kind)
    payload[kind]["pull_requests"] = [{"number": 7, "base": {"repo": {"id": 99, "name": "repo"}}}]
    assert taken(payload, kind).number is None

    payload[kind]["pull_requests"].append({"number": 8, "base": {"repo": {"id": 1, "name": "repo"}}})
    assert taken(payload, kind).number == 8


@pytest.mark.parametrize(
    ("head", "good"),
    [("0" * 40, True), ("f" * 64, True), ("f" * 39, False), ("f" * 63, False), ("F" * 40, False), ("g" * 40, False)],
)
def test_a_commit_has_a_name_of_either_length(head: str, *, good: bool) -> None:
    if good:
        assert taken(pull_event(head=head)).head_sha == head
    else:
        with pytest.raises(PayloadError, match=r"^pull_request\.head\.sha is not as it must be$"):
            judged(pull_event(head=head))


@pytest.mark.parametrize(
    ("login", "good"),
    [("a" * 100, True), ("a_b.c-d", True), ("a[bot]", True), ("a" * 101, False), ("a[bot]b", False), ("[bot]", False)],
)
def test_a_login_is_one_that_a_line_can_hold(login: str, *, good: bool) -> None:
    payload = comment_event(sender={"login": login, "type": "User"})

    if good:
        assert taken(payload, "issue_comment").actor == login
    else:
        with pytest.raises(PayloadError, match=r"^sender\.login is not as it must be$"):
            judged(payload, "issue_comment")


@pytest.mark.parametrize(("action", "good"), [("a" * 50, True), ("a" * 51, False), ("", False), ("a b", False)])
def test_an_action_is_one_short_word(action: str, *, good: bool) -> None:
    if good:
        assert judged(pull_event(action)) == Refusal(f"nothing is done for pull_request {action}")
    else:
        with pytest.raises(PayloadError, match=r"^action is not as it must be$"):
            judged(pull_event(action))


def test_of_a_title_its_beginning_is_looked_at() -> None:
    ends = Settings(skip_titles=("*skip",))

    assert isinstance(judged(pull_event(title="x" * (MAX_TEXT - 4) + "skip"), settings=ends), Refusal)
    assert isinstance(judged(pull_event(title="x" * (MAX_TEXT - 3) + "skip"), settings=ends), Trigger)


def test_half_of_a_surrogate_pair_is_no_reason_to_lose_a_delivery() -> None:
    assert taken(pull_event(title="\ud83d", labels=[{"name": "\udc00"}])).kind == "head"
    assert isinstance(judged(pull_event(title="a\ud83db"), settings=Settings(skip_titles=("a?b",))), Refusal)


def test_two_numbers_of_one_pull_request_are_one_too_many() -> None:
    with pytest.raises(PayloadError, match=r"^number is not as it must be$"):
        judged(pull_event(number=8))
    without = pull_event()
    del without["number"]
    assert taken(without).number == 7


def test_a_command_without_the_id_of_its_comment_is_named() -> None:
    with pytest.raises(PayloadError, match=r"^comment\.id is not as it must be$"):
        judged(review_comment(id=None), "pull_request_review_comment")


@given(st.text(min_size=1))
def test_what_is_wrong_is_never_quoted(text: str) -> None:
    canary = f"canary {text}"
    payload = pull_event(labels=[{"name": "good"}, {"name": [canary]}])

    with pytest.raises(PayloadError, match=r"^pull_request\.labels\.1\.name is not as it must be$"):
        judged(payload)


@pytest.mark.parametrize(
    ("installation", "reason"),
    [
        ({"id": 42, "app_id": APP_ID}, ANOTHER_EVENT),
        ({"id": 42, "account": {}}, ANOTHER_EVENT),
        ([42], ANOTHER_EVENT),
        ({"id": 42, "app_id": APP_ID + 1, "account": {}}, "it is the installation of another App"),
        (None, "nothing is done for this event"),
    ],
)
def test_only_what_is_about_a_whole_installation_of_ours_ends_it(installation: object, reason: str) -> None:
    assert judged(event("deleted", installation=installation), "installation") == Refusal(reason)


def test_the_end_of_an_installation_names_it_and_no_repository() -> None:
    found = taken(event("deleted", installation={"id": 42, "app_id": APP_ID, "account": {}}), "installation")

    assert (found.kind, found.installation_id, found.reason) == ("uninstalled", 42, "the App was removed")
    assert (found.repository_id, found.repository, found.number, found.head_sha) == (0, "", None, None)
    assert found.delivery_id == "d-1"
    with pytest.raises(PayloadError, match=r"^installation\.id is not as it must be$"):
        judged(event("deleted", installation={"id": 0, "app_id": APP_ID, "account": {}}), "installation")


def test_a_check_of_several_pull_requests_is_told_by_its_head() -> None:
    many, one = check_event(pulls=(7, 8)), check_event(pulls=(8,))

    assert (taken(many, "check_run").number, taken(many, "check_run").head_sha) == (None, sha("c"))
    assert taken(one, "check_run").number == 8


@pytest.mark.parametrize("action", [[], {}, None, 1, ["deleted"]], ids=repr)
@pytest.mark.parametrize("name", ["installation", "installation_repositories", "push"])
def test_an_action_that_is_no_word_asks_for_nothing(name: str, action: object) -> None:
    payload = {"action": action, "installation": {"id": 1, "account": {}, "app_id": APP_ID}}

    assert judged(payload, name) == Refusal("nothing is done for this event")


@pytest.mark.parametrize("settings", [None, ANY_BOT])
def test_a_bot_gives_no_commands_also_where_bots_are_reviewed(settings: Settings | None) -> None:
    for payload, name in (
        (comment_event(sender=BOT), "issue_comment"),
        ({**review_comment(), "sender": BOT}, "pull_request_review_comment"),
    ):
        assert judged(payload, name, settings) == Refusal("a bot gives no commands")


# --- merge queues


def test_a_merge_group_asks_for_a_check_also_where_the_queue_is_a_program() -> None:
    queue = {"login": "github-merge-queue[bot]", "type": "Bot", "id": 13}
    for found in (taken(group_event(), "merge_group"), taken(group_event(sender=queue), "merge_group")):
        assert (found.kind, found.number, found.head_sha) == ("group", 7, sha("d"))


def test_a_merge_group_that_is_gone_needs_nothing() -> None:
    assert judged(group_event(action="destroyed"), "merge_group") == Refusal(
        "nothing is done for merge_group destroyed"
    )


@pytest.mark.parametrize(
    "ref",
    [
        *("refs/heads/main", f"refs/heads/gh-readonly-queue/main/pr-0-{sha()}", "", "x" * 9_000),
        *(f"refs/heads/gh-readonly-queue/main/pr-{'9' * 11}-{sha()}", f"gh-readonly-queue/main/pr-7-{sha()}"),
        f"refs/heads/gh-readonly-queue/main/pr-7-{sha()}\n",
    ],
)
def test_a_branch_that_no_merge_queue_made_names_no_pull_request(ref: str) -> None:
    assert taken(group_event(ref), "merge_group").number is None


@pytest.mark.parametrize("branch", ["main", "release/1.0", "pr-9-" + "b" * 40, "pr-9"])
def test_the_number_is_that_behind_the_branch(branch: str) -> None:
    assert taken(group_event(f"refs/heads/gh-readonly-queue/{branch}/pr-7-{sha()}"), "merge_group").number == 7


# --- feedback


@pytest.mark.parametrize("action", ["resolved", "unresolved"])
def test_a_thread_that_a_person_resolves_or_opens_again_is_feedback(action: str) -> None:
    found = taken(thread_event(action), "pull_request_review_thread")

    assert (found.kind, found.number, found.reason) == ("feedback", 7, f"pull_request_review_thread {action}")


def test_a_thread_that_we_resolve_or_that_is_of_another_repository_is_none() -> None:
    own = {"login": "reviewbot[bot]", "type": "Bot", "id": BOT_ID}
    assert judged(thread_event(sender=own), "pull_request_review_thread") == Refusal("it is our own doing")
    other = thread_event()
    other["pull_request"]["base"]["repo"] = {"id": 9, "full_name": "other/one"}
    with pytest.raises(PayloadError):
        judged(other, "pull_request_review_thread")


@pytest.mark.parametrize(("merged", "reason"), [(True, "merged"), (False, "closed"), (None, "closed")])
def test_the_end_of_a_pull_request_says_whether_it_was_merged(merged: object, reason: str) -> None:
    assert taken(pull_event("closed", state="closed", merged=merged)).reason == reason
