from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewbot.app.scheduling.catchup import MAX_ORDERS, CatchUp
from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.auth.app import AppKeys, AppTokens
from reviewbot.hosts.github.host import github_host
from tests.app.conftest import A, Stage, order
from tests.git_repo import GitRepo, commit_of
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub, a_key
from tests.github_api.refusals import not_found
from tests.still_clock import Moment

YEAR_S = 365 * 86_400.0


@pytest.fixture
def github(pem: str, tmp_path: Path) -> Iterator[AppGithub]:
    GitRepo(tmp_path).commit()
    with AppGithub(pem) as api:
        for name in ("acme/shop", "acme/other"):
            api.add_repository(name, tmp_path)
        api.install(1, "acme/shop", "acme/other")
        yield api
    api.check()


def open_pull(github: AppGithub, number: int, name: str = "acme/shop") -> Pull:
    """All have the same head, as far as git is concerned; runs are told apart by the number."""
    repository = github.state.repositories[name]
    sha = commit_of(repository.folder, "HEAD")
    author = github.state.account("contributor")
    made = Pull(number, repository, "main", sha, "feature", sha, repository, "A change", "", author)
    repository.pulls[number] = made
    return made


def catch_up(github: AppGithub, *pems: str) -> CatchUp:
    """With a window that our GitHub's own calendar lies in."""
    return CatchUp(AppTokens(lambda: AppKeys(APP_ID, pems), github.url), window_s=10 * YEAR_S)


def failed(github: AppGithub, number: int, guid: str, code: int, day: int = 1) -> None:
    result = {"id": number, "guid": guid, "status_code": code, "delivered_at": f"2026-02-{day:02}T00:00:00Z"}
    github.app.deliveries.append(result)


@pytest.fixture
def now(moment: Moment) -> Moment:
    moment.now = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
    return moment


def test_deliveries_that_failed_are_asked_for_again(github: AppGithub, pem: str, stage: Stage, now: Moment) -> None:
    failed(github, 1, "lost", 502)
    failed(github, 2, "well", 202)
    failed(github, 3, "better", 500)
    failed(github, 4, "better", 202, day=2)
    for number in range(5, 8):
        failed(github, number, "hopeless", 500)
    catch_up(github, pem).deliveries(stage.scheduler, stage.database)

    assert github.app.asked == [("delivery", {"id": 1})]


def test_deliveries_of_long_ago_are_left_alone(github: AppGithub, pem: str, stage: Stage, now: Moment) -> None:
    failed(github, 1, "lost", 502)
    now.now += 11 * YEAR_S
    catch_up(github, pem).deliveries(stage.scheduler, stage.database)

    assert github.app.asked == []


def test_a_list_of_a_moment_ago_takes_nobodys_place(github: AppGithub, pem: str, stage: Stage, now: Moment) -> None:
    """What was pushed since is under way already."""
    pull = open_pull(github, 7)
    newer = order(A, repository_id=pull.repository.repository_id)
    run = stage.submit(newer)
    catch_up(github, pem).heads(stage.scheduler, stage.database)
    assert list(stage.shelf.waiting) == [run]
    stage.runs.end(run, "failed")
    catch_up(github, pem).heads(stage.scheduler, stage.database)

    assert [each.head for each in stage.runs.latest(9) if each.state == "waiting"] == [pull.head_sha]


def test_open_pull_requests_without_a_run_are_ordered_once(
    github: AppGithub, pem: str, stage: Stage, now: Moment
) -> None:
    head = open_pull(github, 7).head_sha
    open_pull(github, 8).state = "closed"
    open_pull(github, 9, "acme/other")
    for _ in range(2):
        catch_up(github, pem).heads(stage.scheduler, stage.database)

    assert sorted((each.name, each.number, each.head) for each in stage.runs.latest(9)) == [
        ("acme/other", 9, head),
        ("acme/shop", 7, head),
    ]


def test_a_round_orders_only_so_many(github: AppGithub, pem: str, stage: Stage, now: Moment) -> None:
    for number in range(1, MAX_ORDERS + 20):
        open_pull(github, number)
    catch_up(github, pem).heads(stage.scheduler, stage.database)
    assert len(stage.runs.latest(99)) == MAX_ORDERS
    catch_up(github, pem).heads(stage.scheduler, stage.database)

    assert len(stage.runs.latest(99)) == MAX_ORDERS + 19


def test_an_installation_that_is_suspended_or_refuses_is_in_no_others_way(
    github: AppGithub, pem: str, stage: Stage, now: Moment
) -> None:
    open_pull(github, 7)
    github.install(2, "acme/shop", suspended_at="2026-01-01T00:00:00Z")
    github.install(3, "acme/shop", created_at="no time")
    github.app.installations = {number: github.app.installations[number] for number in (3, 2, 1)}
    github.refuse("POST", "/app/installations/3/", not_found())
    catch_up(github, pem).heads(stage.scheduler, stage.database)

    assert [each.installation for each in stage.runs.latest(9)] == [1]


@pytest.mark.parametrize("suspended", [True, False])
def test_tokens_that_are_no_longer_good_are_not_given_out_again(
    github: AppGithub, pem: str, stage: Stage, now: Moment, *, suspended: bool
) -> None:
    round_of = catch_up(github, pem)
    round_of.heads(stage.scheduler, stage.database)
    if suspended:
        github.app.installations[1].suspended_at = "2026-02-28T00:00:00Z"
    else:
        github.refuse("GET", "/installation/repositories", not_found())
    round_of.heads(stage.scheduler, stage.database)
    github.app.installations[1].suspended_at = None
    round_of.heads(stage.scheduler, stage.database)

    assert len(github.app.given) == 2


def test_what_was_opened_before_the_app_came_is_nobodys_order(
    github: AppGithub, pem: str, stage: Stage, now: Moment
) -> None:
    open_pull(github, 7)
    github.app.installations[1].created_at = "2026-12-31T00:00:00Z"
    catch_up(github, pem).heads(stage.scheduler, stage.database)

    assert stage.runs.latest(9) == ()


def test_a_revoked_key_is_passed_over(github: AppGithub, pem: str, stage: Stage, now: Moment) -> None:
    failed(github, 1, "lost", 502)
    catch_up(github, a_key(), pem).deliveries(stage.scheduler, stage.database)

    assert github.app.asked == [("delivery", {"id": 1})]
    with pytest.raises(HostAccessError):
        catch_up(github, a_key()).deliveries(stage.scheduler, stage.database)
    with pytest.raises(HostAccessError, match="no private key"):
        catch_up(github).heads(stage.scheduler, stage.database)


# --- a person ---


def test_a_person_is_called_by_a_label_and_a_wish_for_a_review(github: AppGithub) -> None:
    open_pull(github, 7)
    people = ["octocat", "team:security", "contributor", "a/b"]
    with github_host(GithubAccess(github.token, github.url)) as host:
        notes = host.request_people("acme/shop", 7, "needs a person", people)

    assert github.app.asked == [
        ("label", {"labels": ["needs a person"]}),
        ("reviewers", {"reviewers": ["octocat"]}),
        ("reviewers", {"team_reviewers": ["security"]}),
    ]
    assert [note.partition(":")[0] for note in notes] == [
        "a reviewer to ask is no login and no team",
        "a person could not be called",
    ]


def test_nobody_is_called_where_nobody_is_named(github: AppGithub) -> None:
    with github_host(GithubAccess(github.token, github.url)) as host:
        assert host.request_people("acme/shop", 7, None, []) == ()
    assert github.recorded == []
