from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.logs import LineFormatter
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.triggers.values import Delivery
from reviewbot.app.web.body import is_signed
from reviewbot.config import Settings
from reviewbot.domain.errors import ConfigError
from tests.webhooks import (
    APP_ID,
    BOT,
    CREDENTIALS,
    Service,
    body_of,
    check_event,
    comment_event,
    event,
    pull_event,
    service,
    sha,
    signature,
)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Service]:
    made = service(tmp_path)
    yield made
    made.inbox.close()


def test_a_delivery_is_in_the_inbox_when_it_is_answered(target: Service) -> None:
    answer = target.send(pull_event("opened"))

    assert (answer.status_code, answer.json) == (202, {"status": "accepted", "reason": "opened"})
    (taken,) = target.inbox.claim(10, 60.0, "w")
    trigger = taken.trigger
    assert (trigger.kind, trigger.number, trigger.head_sha) == ("head", 7, sha("a"))
    assert (trigger.installation_id, trigger.repository_id, trigger.repository) == (42, 1, "octo/repo")


def test_a_repeat_is_said_to_be_one(target: Service) -> None:
    target.send(pull_event("opened"))

    assert target.send(pull_event("opened"), delivery="d-2").json == {
        "status": "repeat",
        "reason": "it was here before",
    }
    assert target.send(pull_event("synchronize")).json == {"status": "repeat", "reason": "it was here before"}


def test_a_refusal_goes_on_to_the_check_and_is_no_review(target: Service) -> None:
    answer = target.send(pull_event("opened", draft=True))

    assert answer.json == {"status": "refused", "reason": "it is a draft (review_drafts)"}
    (taken,) = target.inbox.claim(10, 0.0, "w")
    assert taken.trigger.refusal == "it is a draft (review_drafts)"
    assert target.reviews() == 0


def test_the_operators_settings_count(tmp_path: Path) -> None:
    target = service(tmp_path, Settings(review_drafts=True, review_bots=True, skip_labels=("no",)))

    assert target.send(pull_event(draft=True, sender=BOT)).json["status"] == "accepted"  # type: ignore[index] # it is JSON
    assert target.send(pull_event(labels=[{"name": "no"}])).json["status"] == "refused"  # type: ignore[index] # as above
    target.inbox.close()


@pytest.mark.parametrize("kind", ["check_run", "check_suite"])
def test_a_check_is_run_again_for_one_pull_request_or_for_those_of_its_head(kind: str, target: Service) -> None:
    target.send(check_event(kind), kind)
    target.send(check_event(kind, pulls=()), kind)
    target.send(check_event(kind, pulls=(7, 8)), kind)

    found = [each.trigger for each in target.inbox.claim(10, 60.0, "w")]
    assert [(each.kind, each.number, each.head_sha, each.target_id) for each in found] == [
        ("rerun", 7, sha("c"), 500),
        ("rerun", None, sha("c"), 500),
        ("rerun", None, sha("c"), 500),
    ]


def test_a_command_is_taken_from_both_kinds_of_comments(target: Service) -> None:
    target.send(comment_event("@reviewbot review"), "issue_comment")
    review = comment_event("/reviewbot review", comment={"id": 901})
    target.send({**review, "pull_request": {"number": 7}}, "pull_request_review_comment")

    found = [each.trigger for each in target.inbox.claim(10, 60.0, "w")]
    assert [(each.comment_id, each.comment_kind, each.actor, each.number) for each in found] == [
        (900, "issue", "dev", 7),
        (901, "review", "dev", 7),
    ]


def test_an_app_that_was_removed_is_told_to_the_workers(target: Service) -> None:
    removed = event("deleted", installation={"id": 42, "app_id": APP_ID, "account": {}})
    del removed["repository"]

    assert target.send(removed, "installation").json == {"status": "accepted", "reason": "the App was removed"}
    assert target.send(event("created"), "installation").json["status"] == "ignored"  # type: ignore[index] # it is JSON
    assert [each.trigger.kind for each in target.inbox.claim(10, 60.0, "w")] == ["uninstalled"]


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("installation", "suspend"),
        ("installation", "new_permissions_accepted"),
        ("installation_repositories", "removed"),
    ],
)
def test_workers_are_told_that_an_installation_is_another_one_now(name: str, action: str, target: Service) -> None:
    result = event(action, installation={"id": 42, "app_id": APP_ID, "account": {}})
    del result["repository"]

    assert target.send(result, name).json == {"status": "accepted", "reason": f"{name} {action}"}
    (taken,) = target.inbox.claim(10, 60.0, "w")
    assert (taken.trigger.kind, taken.trigger.installation_id) == ("narrowed", 42)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (comment_event(action="deleted"), "the body is of another event"),
        (event("deleted", installation=42), "the body is of another event"),
        (event("deleted", installation={"id": 42, "app_id": 78, "account": {}}), "of another App"),
    ],
)
def test_what_else_was_deleted_under_the_name_of_an_installation_ends_none(
    payload: dict[str, Any], reason: str, target: Service
) -> None:
    """The name of an event is not signed."""
    answer = target.send(payload, "installation")

    assert (answer.status_code, target.inbox.lag()[0]) == (202, 0)
    assert reason in answer.text


IGNORED = [
    ("ping", {"zen": "Keep it simple."}),
    ("push", event("pushed")),
    ("installation", {"action": "deleted"}),
    ("pull_request_review_thread", event("edited", thread={}, pull_request={"number": 7})),
    ("pull_request", pull_event("assigned")),
    ("pull_request", comment_event()),
    ("issue_comment", pull_event()),
    ("issue_comment", comment_event(issue={"pull_request": None})),
    ("issue_comment", comment_event(association="NONE")),
    ("issue_comment", comment_event(action="edited")),
    ("issue_comment", comment_event("nice", comment={"performed_via_github_app": {"id": 77}})),
    ("pull_request", pull_event(sender={"login": "reviewbot[bot]", "type": "Bot"})),
    ("pull_request", pull_event(sender={"login": "renamed[bot]", "type": "User", "id": 4_077})),
    ("pull_request", pull_event(sender=BOT)),
    ("pull_request", pull_event(installation=None)),
    ("pull_request", pull_event("synchronize", state="closed")),
    ("check_run", check_event(app=78)),
    ("check_run", check_event(action="completed")),
    ("check_suite", check_event("check_suite", sender=BOT)),
]


@pytest.mark.parametrize(("name", "payload"), IGNORED)
def test_what_is_not_for_us_is_ignored_by_name(name: str, payload: object, target: Service) -> None:
    answer = target.send(payload, name)

    assert answer.status_code == 202
    assert answer.json is not None
    assert answer.json["status"] == "ignored"
    assert answer.json["reason"]
    assert target.inbox.lag() == (0, 0.0)


def test_our_own_doing_is_ignored_also_where_bots_are_not(tmp_path: Path) -> None:
    target = service(tmp_path, Settings(review_bots=True))
    own = {"login": "reviewbot[bot]", "type": "Bot"}

    assert target.send(pull_event(sender=own)).json == {"status": "ignored", "reason": "it is our own doing"}
    assert target.send(pull_event(sender=BOT)).json["status"] == "accepted"  # type: ignore[index] # it is JSON
    target.inbox.close()


def test_a_login_that_ends_like_a_bots_is_a_persons_all_the_same(target: Service) -> None:
    person = {"login": "sneaky[bot]", "type": "User", "id": 5}

    assert target.send(pull_event(sender=person)).json["status"] == "accepted"  # type: ignore[index] # it is JSON


WRONG = [
    pull_event(number="7"),
    pull_event(number=True),
    pull_event(number=8),
    pull_event(number=0),
    pull_event(head="A"),
    pull_event(head="-" * 40),
    pull_event(head="a" * 41),
    pull_event(title=5),
    pull_event(draft="no"),
    pull_event(labels=[{"name": None}]),
    pull_event(user={"login": "a b", "type": "User"}),
    pull_event(installation={"id": "42"}),
    pull_event(installation={"id": 2**64}),
    pull_event(repository={"id": 1, "full_name": "octo/repo\n"}),
    pull_event(repository={"id": 1, "full_name": "octo/.."}),
    pull_event(repository={"id": 1, "full_name": "octo/repo/more"}),
    pull_event(sender={"login": "dev"}),
    pull_event("Opened Now"),
    {**pull_event(), "pull_request": [1]},
]


@pytest.mark.parametrize("payload", WRONG)
def test_a_field_that_we_use_must_be_what_it_is(payload: object, target: Service) -> None:
    answer = target.send(payload)

    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["reason"].endswith("is not as it must be")
    assert target.inbox.lag() == (0, 0.0)


def test_a_command_needs_the_id_of_its_comment(target: Service) -> None:
    assert target.send(comment_event(comment={"id": None}), "issue_comment").status_code == 400
    assert target.send(comment_event(association="NONE", comment={"id": None}), "issue_comment").status_code == 202


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X_GitHub_Event": None}, 400),
        ({"X_GitHub_Event": "pull_request, push"}, 400),
        ({"X_GitHub_Event": "Pull_Request"}, 400),
        ({"X_GitHub_Event": "\u00e9"}, 400),
        ({"X_GitHub_Delivery": None}, 400),
        ({"X_GitHub_Delivery": "a b"}, 400),
        ({"X_GitHub_Delivery": "x" * 65}, 400),
        ({"Content_Type": None}, 415),
        ({"Content_Type": "application/json; charset=utf-16"}, 415),
        ({"Content_Type": "application/json; charset=UTF-8"}, 202),
        ({"Content_Type": "application/jsonp"}, 415),
        ({"Content_Encoding": "gzip"}, 415),
        ({"Content_Encoding": "identity"}, 202),
        ({"X_Hub_Signature_256": None, "X_Hub_Signature": "sha1=" + "0" * 40}, 401),
        ({"X_Hub_Signature_256": "sha256=" + "0" * 64}, 401),
        ({"X_Hub_Signature_256": signature(body_of(pull_event())).upper()}, 401),
        ({"X_Hub_Signature_256": signature(body_of(pull_event())) + "," + signature(body_of(pull_event()))}, 401),
        ({"X_Hub_Signature_256": signature(body_of(pull_event()), "another secret of ours")}, 401),
        ({"X_Hub_Signature_256": "sha256=\u20ac"}, 401),
    ],
)
def test_headers_are_taken_as_they_must_be_or_not_at_all(
    headers: dict[str, str | None], status: int, target: Service
) -> None:
    if "\u20ac" in (headers.get("X_Hub_Signature_256") or ""):
        assert not is_signed(b"x", headers["X_Hub_Signature_256"], [b"secret"])
        return
    assert target.send(pull_event(), "pull_request", "d-1", **headers).status_code == status


def test_while_a_secret_is_exchanged_both_are_good(tmp_path: Path) -> None:
    both = replace(CREDENTIALS, webhook_secrets=(b"the-new-secret-of-ours", *CREDENTIALS.webhook_secrets))
    target = service(tmp_path, credentials=lambda: both)
    new = signature(body_of(pull_event(head="d")), "the-new-secret-of-ours")

    assert target.send(pull_event()).status_code == 202
    assert target.send(pull_event(head="d"), X_Hub_Signature_256=new).status_code == 202
    target.inbox.close()


def test_before_there_is_an_app_nothing_is_taken(tmp_path: Path) -> None:
    target = service(tmp_path, credentials=lambda: None)

    assert target.send(pull_event()).status_code == 503
    target.inbox.close()


def test_only_this_method_and_this_path_are_a_delivery(target: Service) -> None:
    client = target.app.test_client()

    assert client.get("/webhook").status_code == 405
    assert client.options("/webhook").status_code == 405
    assert client.post("/webhook/").status_code == 404
    assert client.get("/").status_code == 404


class Trouble:
    """An inbox that cannot be used, or that is broken."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def put(self, delivery: Delivery) -> str:
        raise self.error

    def lag(self) -> tuple[int, float]:
        raise self.error


def test_without_its_database_it_asks_to_come_back(tmp_path: Path) -> None:
    target = service(tmp_path, inbox=Trouble(InboxError("the inbox cannot be used")))
    answer = target.send(pull_event())

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert answer.json == {"error": "Service Unavailable"}
    target.inbox.close()


def test_a_fault_of_ours_says_nothing_but_that(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    target = service(tmp_path, inbox=Trouble(RuntimeError("secret of a customer")))
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter())
    logging.getLogger("reviewbot.app.web").addHandler(handler)
    answer = target.send(pull_event())
    logging.getLogger("reviewbot.app.web").removeHandler(handler)

    assert (answer.status_code, answer.json) == (500, {"error": "Internal Server Error"})
    line = json.loads(stream.getvalue())
    assert (line["error"], line["message"]) == ("RuntimeError", "internal fault")
    assert "customer" not in stream.getvalue()
    target.inbox.close()


def test_credentials_that_went_wrong_stop_nothing_else(tmp_path: Path) -> None:
    def wrong() -> Credentials | None:
        raise ConfigError("others may read it")

    target = service(tmp_path, credentials=wrong)

    assert target.send(pull_event()).status_code == 503
    assert target.get("/healthz").status_code == 200
    target.inbox.close()


def test_every_answer_is_closed_to_other_sites_and_keeps_our_name_to_itself(target: Service) -> None:
    for answer in (target.send(pull_event()), target.get("/healthz"), target.get("/nothing")):
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Werkzeug" not in str(answer.headers)


def test_what_is_logged_of_a_delivery_is_one_line_and_nothing_of_its_texts(
    target: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "reviewbot.app.web"):
        target.send(pull_event(title="canary-title\r\n forged"))

    (record,) = caplog.records
    line = json.loads(LineFormatter().format(record))
    assert (line["event"], line["delivery"], line["reason"]) == ("pull_request", "d-1", "opened")
    assert "canary" not in json.dumps(line)
