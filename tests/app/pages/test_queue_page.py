"""The pages of the human queue."""

from __future__ import annotations

import re

import pytest

from reviewbot.app.pages.runs import PER_PAGE
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue, LeavingReview, Left
from reviewbot.domain.contracts import HumanItem
from tests.app.pages.conftest import HOSTILE, A, B, Site, form_token
from tests.make import MakeFinding


@pytest.fixture
def queue(database: Database, a_finding: MakeFinding) -> HumanQueue:
    """One finding of each repository."""
    made = HumanQueue(database)
    for repository, name in ((A, "octo/one"), (B, "other/two")):
        finding = a_finding(severity="critical", title=f"Lost update in {name}", message=HOSTILE, confidence=60)
        left = Left((f"{repository:032x}",), HumanItem(path="a.py", line=1, reason="not proven", finding=finding))
        made.put(LeavingReview(1, repository, 7, name, "a" * 40, f"review:{repository}:7:{'a' * 40}:p"), [left])
    return made


def item_of(queue: HumanQueue, repository: int = A) -> str:
    [found] = queue.list_items((repository,))
    return found.item


def decide(site: Site, item: str, decision: str, reason: str = "reproduced it", **form: str) -> tuple[int, str]:
    shown = site.get(f"/queue/{item}")
    seen = re.search(r'name="seen" value="(\d+)"', shown.text)
    fields = {"seen": seen[1] if seen else "1", "form_token": form_token(site.get("/queue")), "reason": reason}
    answer = site.post(f"/queue/{item}", **{"decision": decision, **fields, **form})
    return answer.status_code, answer.text


@pytest.mark.parametrize(
    ("decision", "action"), [("confirm", "confirmed"), ("dismiss", "dismissed"), ("ask-again", "asked_again")]
)
def test_a_decision_goes_into_the_queue_with_its_person_and_reason(
    decision: str, action: str, site: Site, queue: HumanQueue
) -> None:
    site.sign_in()
    item = item_of(queue)
    assert "Lost update in octo/one" in site.get("/queue").text

    assert decide(site, item, decision)[0] == 303

    last = queue.history(item)[-1]
    assert (last.action, last.actor, last.channel, last.reason) == (action, "octocat", "page", "reproduced it")
    assert "reproduced it" in site.get("/decisions").text
    assert "Lost update" not in site.get("/queue").text


def test_two_people_do_not_both_decide(site: Site, queue: HumanQueue) -> None:
    site.sign_in()
    item = item_of(queue)
    assert decide(site, item, "confirm")[0] == 303

    code, page = decide(site, item, "dismiss", seen="1")

    assert code == 409
    assert "octocat" in page
    assert len(queue.history(item)) == 2


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"form_token": "guess"}, 403),
        ({"decision": "delete"}, 400),
        ({"seen": "x"}, 400),
        ({"seen": "9" * 30}, 400),
        ({"reason": " "}, 409),
    ],
)
def test_what_is_no_decision_changes_nothing(form: dict[str, str], code: int, site: Site, queue: HumanQueue) -> None:
    site.sign_in()
    item = item_of(queue)

    assert decide(site, item, **{"decision": "confirm", **form})[0] == code
    assert len(queue.history(item)) == 1


def test_items_of_other_repositories_do_not_exist(site: Site, queue: HumanQueue) -> None:
    site.sign_in()
    hidden, absent = site.get(f"/queue/{item_of(queue, B)}"), site.get("/queue/00000000000000000000000000000000")

    assert hidden.status_code == absent.status_code == 404
    assert hidden.text == absent.text
    assert "other/two" not in site.get("/queue").text
    assert decide(site, item_of(queue, B), "confirm")[0] == 404


def test_a_reader_sees_an_item_and_decides_nothing(site: Site, queue: HumanQueue) -> None:
    site.sign_in_with_token()
    item = item_of(queue)

    assert "need write access" in site.get(f"/queue/{item}").text
    assert decide(site, item, "confirm")[0] == 403
    assert len(queue.history(item)) == 1


def test_hostile_findings_become_no_markup(site: Site, queue: HumanQueue) -> None:
    site.sign_in()

    for path in ("/queue", f"/queue/{item_of(queue)}"):
        page = site.get(path).text
        assert "<script" not in page
        assert "\u202e" not in page


@pytest.mark.parametrize("status", ["confirmed", "dismissed", "asked again", "settled"])
def test_a_status_without_items_says_so(status: str, site: Site) -> None:
    site.sign_in()

    assert f"No finding is {status}" in site.get(f"/queue?status={status.replace(' ', '+')}").text
    assert site.get("/queue?status=other").status_code == 400


def test_the_queue_is_listed_page_by_page_each_item_once(site: Site, queue: HumanQueue, a_finding: MakeFinding) -> None:
    for number in range(2 * PER_PAGE + 5):
        human = HumanItem(path="a.py", reason="critical", finding=a_finding(severity="critical"))
        left = Left((f"{number:032x}",), human)
        queue.put(LeavingReview(1, A, 100 + number, "octo/one", "c" * 40, "run"), [left])
    site.sign_in()
    seen, path = [], "/queue?status=waiting"
    while path:
        page = site.get(path).text
        seen += re.findall(r'href="/queue/([0-9a-f]+)"', page)
        older = re.search(r'href="([^"]+)">Older', page)
        path = older[1].replace("&amp;", "&") if older else ""

    assert len(seen) == len(set(seen)) == len(queue.list_items((A,), "waiting")) == 2 * PER_PAGE + 6
    assert "No finding before that" in site.get(f"/queue?status=waiting&before=0.5~{'f' * 32}").text
    assert site.get("/queue?before=nowhere").status_code == 400
