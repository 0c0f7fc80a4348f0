"""Failed runs with their retry, costs, settings and decisions."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from reviewbot.app.pages.operator import MAX_ROWS
from reviewbot.app.scheduling.inbox_consumer import requested_review
from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.runs import State, WorkerCost
from reviewbot.config.source import settings_of
from tests.app.pages.conftest import HOSTILE, A, B, Site, form_token
from tests.still_clock import Moment


def retry(site: Site, run: str) -> int:
    return site.post(f"/runs/{run}/retry", form_token=form_token(site.get("/failed"))).status_code


def test_a_retry_puts_one_order_into_the_inbox_however_often_it_is_clicked(site: Site) -> None:
    run = site.add_run(state="failed", reason="the model did not answer")
    site.sign_in()

    assert "the model did not answer" in site.get("/failed").text
    assert [retry(site, run), retry(site, run)] == [303, 303]

    [order] = site.inbox.claim(10, 30.0, "test")
    request = requested_review(order)
    assert (request.repository_id, request.number, request.trigger["head_sha"]) == (A, 7, "a" * 40)
    assert (request.trigger["kind"], request.trigger["actor"]) == ("rerun", "octocat")
    assert request.again
    assert site.get("/decisions").text.count('<td data-name="What">retry</td>') == 1


@pytest.mark.parametrize("state", ["posted", "superseded", "waiting"])
def test_only_what_failed_can_be_retried(state: State, site: Site) -> None:
    run = site.add_run(state=state)
    site.add_run(8, state="failed")
    site.sign_in()

    assert retry(site, run) == 409
    assert site.inbox.lag()[0] == 0


def test_a_retry_needs_the_form_and_write_access(site: Site) -> None:
    run, hidden = site.add_run(state="parked"), site.add_run(repository=B, state="parked")
    site.sign_in()
    token = form_token(site.get("/failed"))

    assert site.post(f"/runs/{run}/retry").status_code == 403
    assert site.post(f"/runs/{run}/retry", form_token="guess").status_code == 403
    assert site.post(f"/runs/{hidden}/retry", form_token=token).status_code == 404
    assert site.inbox.lag()[0] == 0


def test_a_reader_retries_nothing(site: Site) -> None:
    run = site.add_run(state="failed")
    site.host.account.installations = {1: {A: ("octo/one", False)}}
    site.sign_in()
    assert "Retry</button>" not in site.get("/failed").text + site.get(f"/runs/{run}").text
    assert retry(site, run) == 403

    site.sign_in_with_token()
    assert "Retry</button>" not in site.get("/failed").text
    assert retry(site, run) == 403
    assert site.inbox.lag()[0] == 0


def test_costs_are_summed_by_repository_and_worker_of_what_a_person_may_read(site: Site) -> None:
    one, two, hidden = site.add_run(1), site.add_run(2), site.add_run(repository=B)
    for run, dollars in ((one, 0.5), (two, 0.25), (hidden, 99.0)):
        site.runs.cost(run, dollars, 10, "", [WorkerCost("reader", dollars, 10), WorkerCost("judge", 0.0, 5)])
        site.runs.cost(run, dollars, 10, "", [WorkerCost("reader", dollars, 10)])  # a second attempt says it again
    site.sign_in()

    page = site.get("/costs").text

    assert "$0.75" in page
    assert "$99" not in page  # without the sign it may stand in a random token
    assert page.index("reader") < page.index("judge")
    row, total = (re.findall(r'data-name="([^"]+)">(?:<b>)?([^<]+)', part) for part in re.split(r"<tfoot>", page))
    assert row == [("Runs", "2"), ("A run", "$0.38"), ("reader", "$0.75"), ("judge", "-"), ("All", "$0.75")]
    assert total[-3:] == [("reader", "20"), ("judge", "10"), ("All", "30")]

    site.runs.forget(one)
    site.runs.forget(two)
    assert "no run in these days" in site.get("/costs").text
    site.add_run(3)
    assert "No model was used" in site.get("/costs").text


def test_settings_are_shown_with_their_source_to_those_who_may_read_anything(make_site: Callable[..., Site]) -> None:
    site = make_site(settings=settings_of(None, {"REVIEWBOT_ENGINE": "analyzers"}, {}))
    site.sign_in()

    page = site.get("/settings").text

    assert "<code>engine</code>" in page
    assert "REVIEWBOT_ENGINE" in page
    site.host.account.installations = {}
    site.sign_in()
    assert site.get("/settings").status_code == 404


def test_commands_of_people_are_listed_as_decisions(site: Site, database: Database) -> None:
    for repository, reason in ((A, HOSTILE), (B, "hidden reason")):
        record = CommandRecord(f"c{repository}", 1, (repository, 7), "dismiss", "hubot", "0123456789abcdef", reason)
        Commands(database).add(record)
    site.sign_in()

    page = site.get("/decisions").text

    assert "dismiss 01234567" in page
    assert "hubot" in page
    assert "<script" not in page
    assert "hidden reason" not in page


def test_all_decisions_can_be_reached_each_once_with_its_time(site: Site, database: Database, moment: Moment) -> None:
    for number in range(MAX_ROWS * 2 + 5):
        moment.now += number % 2  # two at a time are of one moment
        Commands(database).add(CommandRecord(f"c{number}", 1, (A, 7), "dismiss", "hubot", f"{number:08x}", "why"))
    site.sign_in()
    seen: list[str] = []
    path, page = "/decisions", ""
    while path:
        page = site.get(path).text
        seen += re.findall(r"dismiss ([0-9a-f]{8})", page)
        older = re.search(r'href="([^"]+)">Older', page)
        path = older[1] if older else ""

    assert len(seen) == len(set(seen)) == MAX_ROWS * 2 + 5
    assert "1970-01-12 13:4" in page
    assert "Newest" in page


@pytest.mark.parametrize("path", ["/failed", "/costs", "/decisions", "/queue"])
def test_empty_pages_say_that_there_is_nothing(path: str, site: Site) -> None:
    site.sign_in()

    assert 'class="empty"' in site.get(path).text
