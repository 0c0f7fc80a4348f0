"""Tests of what is read of a finished run's event, and of the search for the pull request of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from reviewbot.action.event import MOVED, ForkRun, find_number, read_fork_run
from reviewbot.domain.errors import EmptyChangeError, HostError, InputError
from reviewbot.hosts.base import CodeHost
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import MAX_PULLS, GithubHost
from tests.fork_cases import BASE, FORK_ID, HEAD, NUMBER, REPOSITORY_ID, run_event

RUN = ForkRun("acme/shop", REPOSITORY_ID, HEAD, FORK_ID, "mallory", "patch-1")
PAYLOADS = Path(__file__).parents[3] / "shared" / "contracts" / "webhooks"


def finished(event: object, name: str = "workflow_run", repository: str = "acme/shop") -> ForkRun:
    return read_fork_run(name, json.dumps(event).encode(), repository)


def test_ids_and_checked_names_are_taken_of_the_event() -> None:
    assert finished(run_event()) == RUN
    assert finished(run_event({"head_commit": {"message": "\ud83d"}})) == RUN


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"event": "pull_request_target"}, "workflow_run.event"),
        ({"event": "push"}, "workflow_run.event"),
        ({"head_sha": "main"}, "workflow_run.head_sha"),
        ({"head_sha": "--upload-pack=x"}, "workflow_run.head_sha"),
        ({"head_branch": None}, "workflow_run.head_branch"),
        ({"head_branch": "a b"}, "workflow_run.head_branch"),
        ({"head_branch": "a\nb"}, "workflow_run.head_branch"),
        ({"head_branch": "a:b"}, "workflow_run.head_branch"),
        ({"head_branch": "x" * 256}, "workflow_run.head_branch"),
        ({"head_repository": None}, "workflow_run.head_repository"),
        ({"head_repository": {"id": "502", "owner": {"login": "a"}}}, "workflow_run.head_repository.id"),
        ({"head_repository": {"id": 2**63, "owner": {"login": "a"}}}, "workflow_run.head_repository.id"),
        ({"head_repository": {"id": 1, "owner": {"login": "a/../b"}}}, "workflow_run.head_repository.owner.login"),
    ],
)
def test_a_run_of_another_form_is_refused(change: Mapping[str, Any], place: str) -> None:
    with pytest.raises(InputError, match=rf"no workflow_run event that can be read \(at {place}\)$"):
        finished(run_event(change))


def test_a_run_that_goes_on_is_refused() -> None:
    with pytest.raises(InputError, match=r"at action\)$"):
        finished(run_event(action="requested"))


def test_an_event_of_another_repository_is_refused() -> None:
    with pytest.raises(InputError, match="another repository"):
        finished(run_event(repository={"id": 1, "full_name": "mallory/shop"}))


def test_the_name_of_a_repository_counts_in_any_case() -> None:
    event = run_event(repository={"id": REPOSITORY_ID, "full_name": "Acme/SHOP"})

    assert finished(event).head_sha == finished(run_event(), repository="ACME/Shop").head_sha == HEAD


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target", "push"])
def test_a_fork_is_reviewed_on_workflow_run_alone(name: str) -> None:
    with pytest.raises(InputError, match="for the event workflow_run alone"):
        finished(run_event(), name)


@pytest.mark.parametrize("data", [b"", b"[]", b"{" * 100_000, b"\xff", b'{"repository": 1}'])
def test_an_event_that_cannot_be_read_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="can be read"):
        read_fork_run("workflow_run", data, "acme/shop")


def test_a_refusal_names_a_place_and_never_a_value() -> None:
    with pytest.raises(InputError) as caught:
        finished(run_event({"head_branch": "::set-output name=x::y"}))
    assert "set-output" not in str(caught.value)


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the collected payloads are not beside this checkout")
def test_real_payloads_are_read_whatever_else_is_in_them() -> None:
    read = 0
    for path in sorted(PAYLOADS.rglob("workflow_run.completed.*.json")):
        event = json.loads(path.read_text("utf-8"))
        event["workflow_run"]["event"] = "pull_request"  # those that were collected have other causes
        read += finished(event, repository=event["repository"]["full_name"]).head_sha in path.read_text("utf-8")
    assert read


class Listing:
    """The API's list of pull requests; records what it is asked for."""

    def __init__(self, *pulls: object) -> None:
        self.pulls = pulls
        self.asked: list[tuple[str, dict[str, str | int]]] = []
        self.given = 0
        self.within = None

    def items(self, path: str, *, query: Mapping[str, str | int] | None = None) -> Iterator[object]:
        self.asked.append((path, dict(query or {})))
        for pull in self.pulls:
            self.given += 1
            yield pull


def host_of(listing: Listing) -> CodeHost:
    return GithubHost(cast("GithubClient", listing))


def a_pull(number: int = NUMBER, sha: str = HEAD, head: int | None = FORK_ID, base: int = REPOSITORY_ID) -> object:
    repo = None if head is None else {"id": head, "full_name": "mallory/shop"}
    sides = {"head": {"sha": sha, "ref": "patch-1", "repo": repo}}
    sides |= {"base": {"sha": BASE, "ref": "main", "repo": {"id": base, "full_name": "acme/shop"}}}
    return {"number": number, "state": "open", **sides}


def test_the_pull_request_is_found_by_head_repository_and_sha() -> None:
    listing = Listing(a_pull(3, head=99), a_pull(4, sha="c" * 40), a_pull(5, base=98), a_pull(6, head=None), a_pull())

    assert find_number(host_of(listing), RUN) == NUMBER
    assert listing.asked == [("/repos/acme/shop/pulls", {"state": "open", "head": "mallory:patch-1"})]


@pytest.mark.parametrize(
    ("pulls", "why"),
    [
        ((a_pull(9), a_pull(8)), "several open pull requests have this head: #8, #9"),
        ((a_pull(sha="c" * 40),), MOVED),
        ((), "no open pull request has this head any more"),
    ],
)
def test_where_no_single_pull_request_has_the_head_the_reason_is_named(pulls: tuple[object, ...], why: str) -> None:
    with pytest.raises(EmptyChangeError) as caught:
        find_number(host_of(Listing(*pulls)), RUN)
    assert str(caught.value) == why


def test_a_list_without_an_end_is_left() -> None:
    listing = Listing(*[a_pull(head=99)] * (MAX_PULLS + 50))

    with pytest.raises(EmptyChangeError):
        find_number(host_of(listing), RUN)
    assert listing.given == MAX_PULLS


def test_a_list_of_another_form_is_an_error_of_the_host() -> None:
    with pytest.raises(HostError, match="cannot be read"):
        find_number(host_of(Listing({"number": "7"})), RUN)
