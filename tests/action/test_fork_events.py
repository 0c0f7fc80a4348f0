"""Tests of what is read of the two events, and of the search for the pull request of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.event import MAX_EVENT_BYTES
from reviewbot.action.fork_events import FinishedRun, OpenedPull, finished_run, opened_pull
from reviewbot.action.fork_pull import MOST, find_pull
from reviewbot.action.runner import runner_of
from reviewbot.errors import HostError, InputError
from tests.fork_cases import (
    BASE,
    FORK_ID,
    HEAD,
    NUMBER,
    REPOSITORY_ID,
    RUN_ID,
    an_environment,
    pull_event,
    run_event,
)

RUN = FinishedRun("acme/shop", REPOSITORY_ID, RUN_ID, 1, HEAD, FORK_ID, "mallory", "patch-1")
PAYLOADS = Path(__file__).parents[3] / "shared" / "contracts" / "webhooks"


def opened(folder: Path, event: object, name: str = "pull_request") -> OpenedPull:
    return opened_pull(runner_of(an_environment(folder, name, event)))


def finished(folder: Path, event: object, name: str = "workflow_run") -> FinishedRun:
    return finished_run(runner_of(an_environment(folder, name, event)))


def test_stage_one_takes_ids_and_shas_of_its_event(tmp_path: Path) -> None:
    assert opened(tmp_path, pull_event()) == OpenedPull("acme/shop", REPOSITORY_ID, NUMBER, HEAD, from_fork=True)


@pytest.mark.parametrize(("repo", "from_fork"), [({"id": REPOSITORY_ID}, False), (None, True), ({"id": 3}, True)])
def test_a_fork_is_known_by_its_id(tmp_path: Path, repo: object, from_fork: bool) -> None:  # noqa: FBT001 - a column
    pull = {"number": 7, "head": {"sha": HEAD, "repo": repo}, "base": {"sha": BASE}}
    assert opened(tmp_path, pull_event(pull_request=pull)).from_fork is from_fork


def test_stage_two_takes_ids_and_checked_names_of_its_event(tmp_path: Path) -> None:
    assert finished(tmp_path, run_event()) == RUN


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"event": "pull_request_target"}, "workflow_run.event"),
        ({"event": "push"}, "workflow_run.event"),
        ({"head_sha": "main"}, "workflow_run.head_sha"),
        ({"head_sha": "--upload-pack=x"}, "workflow_run.head_sha"),
        ({"id": "9001"}, "workflow_run.id"),
        ({"id": 2**63}, "workflow_run.id"),
        ({"run_attempt": 0}, "workflow_run.run_attempt"),
        ({"head_branch": None}, "workflow_run.head_branch"),
        ({"head_branch": "a b"}, "workflow_run.head_branch"),
        ({"head_branch": "a\nb"}, "workflow_run.head_branch"),
        ({"head_branch": "a:b"}, "workflow_run.head_branch"),
        ({"head_branch": "x" * 256}, "workflow_run.head_branch"),
        ({"head_repository": None}, "workflow_run.head_repository"),
        ({"head_repository": {"id": 1, "owner": {"login": "a/../b"}}}, "workflow_run.head_repository.owner.login"),
    ],
)
def test_a_run_of_another_form_is_refused(tmp_path: Path, change: Mapping[str, Any], place: str) -> None:
    with pytest.raises(InputError, match=f"not as GitHub writes it, at {place}$"):
        finished(tmp_path, run_event(change))


def test_a_run_that_goes_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at action$"):
        finished(tmp_path, run_event(action="requested"))


@pytest.mark.parametrize("name", ["acme/../x", "acme/..", "acme/.", "acme", "acme/a/b", "acme/a b", "/a", "acme/a\n"])
def test_a_repository_of_another_form_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"at repository\.full_name$"):
        opened(tmp_path, pull_event(repository={"id": 1, "full_name": name}))


def test_an_event_of_another_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="another repository"):
        opened(tmp_path, pull_event(repository={"id": 1, "full_name": "mallory/shop"}))


def test_the_name_of_a_repository_counts_in_any_case(tmp_path: Path) -> None:
    event = pull_event(repository={"id": REPOSITORY_ID, "full_name": "Acme/SHOP"})
    environ = an_environment(tmp_path, "pull_request", pull_event(), GITHUB_REPOSITORY="ACME/Shop")

    assert opened(tmp_path, event).number == NUMBER
    assert opened_pull(runner_of(environ)).number == NUMBER


@pytest.mark.parametrize("name", ["pull_request_target", "push", "workflow_run"])
def test_stage_one_runs_on_pull_request_alone(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="for the event pull_request alone"):
        opened(tmp_path, pull_event(), name)


def test_stage_two_runs_on_workflow_run_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="for the event workflow_run alone"):
        finished(tmp_path, run_event(), "pull_request")


@pytest.mark.parametrize("data", [b"", b"[]", b"{" * 100_000, b"\xff", b'{"repository": 1}'])
def test_an_event_that_cannot_be_read_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match=r"not as GitHub writes it|no JSON that can be read"):
        opened(tmp_path, data)


def test_half_a_surrogate_pair_in_a_title_does_not_stop_a_stage(tmp_path: Path) -> None:
    event = pull_event()
    event["pull_request"]["title"] = "\ud83d"

    assert opened(tmp_path, event).number == NUMBER


@pytest.mark.slow
def test_a_huge_event_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger than 32 MiB"):
        opened(tmp_path, b" " * (MAX_EVENT_BYTES + 1))


def test_a_refusal_names_a_place_and_never_a_value(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        finished(tmp_path, run_event({"head_branch": "::set-output name=x::y"}))
    assert "set-output" not in str(caught.value)


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the collected payloads are not beside this checkout")
def test_real_payloads_are_read_as_far_as_they_are_ours(tmp_path: Path) -> None:
    read = 0
    for path in sorted(PAYLOADS.rglob("*.json")):
        event = json.loads(path.read_text("utf-8"))
        if not isinstance(event, dict) or not {"pull_request", "workflow_run"} & event.keys():
            continue
        name = {"GITHUB_REPOSITORY": event["repository"]["full_name"]}
        if "base" in event.get("pull_request", {}):
            runner = runner_of(an_environment(tmp_path, "pull_request", event, **name))
            read += opened_pull(runner).number == event["pull_request"]["number"]
        elif event.get("action") == "completed" and event["workflow_run"]["event"] == "pull_request":
            runner = runner_of(an_environment(tmp_path, "workflow_run", event, **name))
            read += finished_run(runner).run_id == event["workflow_run"]["id"]
    assert read


class Listing:
    """The API's list of pull requests; records what it is asked for."""

    def __init__(self, *pulls: object) -> None:
        self.pulls = pulls
        self.asked: list[tuple[str, dict[str, str | int]]] = []
        self.given = 0

    def items(self, path: str, *, query: Mapping[str, str | int] | None = None) -> Iterator[object]:
        self.asked.append((path, dict(query or {})))
        for pull in self.pulls:
            self.given += 1
            yield pull


def a_pull(number: int = NUMBER, sha: str = HEAD, head: int | None = FORK_ID, base: int = REPOSITORY_ID) -> object:
    repo = None if head is None else {"id": head}
    return {"number": number, "head": {"sha": sha, "repo": repo}, "base": {"sha": BASE, "repo": {"id": base}}}


def test_the_pull_request_is_found_by_head_repository_and_sha() -> None:
    listing = Listing(a_pull(3, head=99), a_pull(4, sha="c" * 40), a_pull(5, base=98), a_pull(6, head=None), a_pull())
    found = find_pull(listing, RUN)
    assert found.identity is not None
    assert (found.identity.number, found.identity.base_sha) == (NUMBER, BASE)
    assert listing.asked == [("/repos/acme/shop/pulls", {"state": "open", "head": "mallory:patch-1"})]


def test_several_with_the_same_head_are_ambiguous() -> None:
    found = find_pull(Listing(a_pull(9), a_pull(8)), RUN)
    assert found == (None, "several open pull requests have this head: #8, #9")


def test_a_head_that_moved_on_is_named() -> None:
    assert find_pull(Listing(a_pull(sha="c" * 40)), RUN) == (None, "the head has moved on since")


def test_a_pull_request_that_was_closed_is_named() -> None:
    assert find_pull(Listing(), RUN) == (None, "no open pull request has this head any more")


def test_a_list_without_an_end_is_left() -> None:
    listing = Listing(*[a_pull(head=99)] * (MOST + 50))
    assert find_pull(listing, RUN).identity is None
    assert listing.given == MOST


def test_a_list_of_another_form_is_an_error_of_the_host() -> None:
    with pytest.raises(HostError, match="cannot be read"):
        find_pull(Listing({"number": "7"}), RUN)
