"""The new sides of many files in few requests, and a reserve of requests that is left for posting."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.hosts.base import PullRequest, Workspace
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.blobs import MAX_BYTES, MAX_FILE_BYTES, PER_REQUEST, document
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.files.trees import Objects
from reviewbot.hosts.github.host import GithubHost
from reviewbot.hosts.github.rate_limits import RESERVE, RemainingRequests
from reviewbot.sources.blobs.segment import hash_of
from tests.github_api import FakeGitHub, Reply, dropped
from tests.github_api.refusals import missing_permission, secondary_limit, server_error
from tests.make import MakePullRequest, one_fast

Like = Callable[..., None]

COUNT = 120
NAMES = [f"src/mod{number:03}.py" for number in range(COUNT)]


@pytest.fixture
def many(shop: Any, like: Like, opened: MakePullRequest) -> PullRequest:
    """A pull request that changes many files, some of which GraphQL cannot tell as they are."""
    like(shop, "many", lambda: many_files(shop))
    return opened()


def many_files(shop: Any) -> None:
    for name in NAMES:
        shop.write(name, f"name = {name!r}\n" + "x = 1\n" * 20)
    shop.commit()
    shop.git("checkout", "--quiet", "-b", "feature")
    for name in NAMES:
        shop.write(name, f"name = {name!r}\n" + "x = 1\n" * 20 + "y = 2\n")
    shop.write("latin.txt", b"caf\xe9\r\n")
    shop.write("utf.txt", "\ufeffcaf\u00e9\r\n".encode())
    shop.write("bin", b"a\0b")
    shop.write("large.txt", b"large\n" * 50_000)
    shop.commit()


def snapshot_of(client: GithubClient, pull: PullRequest) -> GithubSnapshot:
    with ExitStack() as closing:
        found = GithubHost(client).change(pull, Workspace({}, None, closing)).snapshot
    assert isinstance(found, GithubSnapshot)
    return found


def blobs(api: FakeGitHub) -> list[str]:
    return [path for path in api.paths("GET") if "/git/blobs/" in path]


def text_of(name: str) -> str:
    return f"name = {name!r}\n" + "x = 1\n" * 20 + "y = 2\n"


@pytest.mark.slow
def test_the_new_sides_of_many_files_take_few_requests(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    snapshot = snapshot_of(client, many)

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(snapshot.head, NAMES * 2))
        olds = list(pool.map(snapshot.base, NAMES))

    assert texts == [text_of(name) for name in NAMES] * 2
    assert all(old is not None and not old.endswith("y = 2\n") for old in olds)
    assert blobs(github_api) == []
    assert len(github_api.paths("POST")) == -(-(COUNT + 4) // PER_REQUEST)
    assert snapshot.failures == []


def test_what_graphql_does_not_tell_byte_for_byte_is_read_by_itself(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    snapshot = snapshot_of(client, many)

    assert snapshot.head("latin.txt") == "caf\ufffd\r\n"
    assert snapshot.head("utf.txt") == "\ufeffcaf\u00e9\r\n"
    assert snapshot.head("large.txt") == "large\n" * 50_000
    assert snapshot.head("bin") is None
    assert len(blobs(github_api)) == 3


def test_a_text_that_graphql_has_cut_is_read_by_itself(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.state.max_blob_text = 20

    assert snapshot_of(client, many).head(NAMES[0]) == text_of(NAMES[0])
    assert len(blobs(github_api)) == 1


def test_of_few_files_each_is_read_when_it_is_asked_for(
    github_api: FakeGitHub, client: GithubClient, shop: Any, opened: MakePullRequest
) -> None:
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.commit(app_py="changed\n", README="changed\n")

    assert snapshot_of(client, opened()).head("app.py") == "changed\n"
    assert (len(blobs(github_api)), github_api.paths("POST")) == (1, [])


@pytest.mark.parametrize(
    ("reply", "asked"),
    one_fast(
        [
            (Reply(404, {"message": "Not Found"}), 1),
            (missing_permission("contents", "read"), 1),
            (Reply(200, {"data": None, "errors": [{"message": "no such field"}]}), 1),
            (Reply(200, {"data": {"repository": None}}), 2),
            (Reply(200, {"data": {"repository": {"f0": {"text": 3}, "f1": "odd"}}}), 2),
            (secondary_limit(9_999), 2),
            (server_error(), 8),
            (dropped(), 8),
        ]
    ),
)
def test_where_graphql_fails_files_are_read_one_by_one(
    reply: Reply, asked: int, github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.refuse("POST", "/graphql", reply, times=99)
    snapshot = snapshot_of(client, many)
    names = NAMES[:3] + NAMES[-3:]

    assert [snapshot.head(name) for name in names] == [text_of(name) for name in names]
    assert len(blobs(github_api)) == len(names)
    assert len(github_api.paths("POST")) == asked
    assert snapshot.failures == []


def test_one_failure_of_graphql_costs_one_batch_alone(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.refuse("POST", "/graphql", Reply(200, {"data": {"repository": None}}))
    snapshot = snapshot_of(client, many)
    names = NAMES[:3] + NAMES[-3:]

    assert [snapshot.head(name) for name in names] == [text_of(name) for name in names]
    assert len(blobs(github_api)) == 3


def test_a_text_that_is_not_the_one_that_was_asked_for_is_not_believed(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    forged = {"repository": {f"f{number}": {"text": "import evil\n"} for number in range(PER_REQUEST)}}
    github_api.refuse("POST", "/graphql", Reply(200, {"data": forged}), times=9)

    assert snapshot_of(client, many).head(NAMES[0]) == text_of(NAMES[0])


def test_a_batch_is_no_larger_than_github_answers_in_time(
    github_api: FakeGitHub, client: GithubClient, shop: Any, opened: MakePullRequest
) -> None:
    shop.git("checkout", "--quiet", "-b", "feature")
    size = MAX_FILE_BYTES - 1
    for number in range(12):
        shop.write(f"big{number:02}.txt", f"{number:02}".encode() * (size // 2))
    shop.commit()
    pull = opened()
    objects = Objects(client, pull.repository)
    objects.expect(pull.head_sha, [f"big{number:02}.txt" for number in range(12)])

    assert all(objects.text(pull.head_sha, f"big{number:02}.txt") for number in range(12))
    sent = [len(each.body["variables"]) - 2 for each in github_api.recorded if each.path == "/graphql"]
    assert (sum(sent), max(sent)) == (12, MAX_BYTES // size)
    assert blobs(github_api) == []


def test_a_file_that_is_gone_between_two_requests_is_absent_and_no_failure(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.refuse("GET", "/git/blobs/", Reply(404, {"message": "Not Found"}))
    snapshot = snapshot_of(client, many)

    assert (snapshot.head("latin.txt"), snapshot.failures) == (None, [])


def test_what_is_no_longer_kept_is_asked_for_each_time(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.hosts.github.files.trees.MAX_KEPT_BYTES", 1_000)
    snapshot = snapshot_of(client, many)

    assert [snapshot.head(name) for name in NAMES[:20]] == [text_of(name) for name in NAMES[:20]]
    assert len(github_api.paths("POST")) == 1
    assert 0 < len(blobs(github_api)) < 20


# --- the reserve


def test_what_posting_needs_is_not_used_up_for_reading(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.state.graphql = False
    github_api.state.left["core"] = RESERVE + 30
    snapshot = snapshot_of(client, many)

    texts = [snapshot.head(name) for name in NAMES]

    read = len([text for text in texts if text is not None])
    assert 0 < read < 30
    assert texts == [*map(text_of, NAMES[:read]), *[None] * (COUNT - read)]
    assert github_api.state.left["core"] == RESERVE - 1
    assert "kept for posting" in snapshot.failures[0]
    assert snapshot.missed == set(NAMES[read:])
    assert snapshot.head(NAMES[0]) == text_of(NAMES[0])
    assert snapshot.head("no/such/file.py") is None
    assert "no/such/file.py" not in snapshot.missed


def test_graphqls_own_reserve_is_left_alone_too(
    github_api: FakeGitHub, client: GithubClient, many: PullRequest
) -> None:
    github_api.state.left["graphql"] = RESERVE
    snapshot = snapshot_of(client, many)
    names = NAMES[:3] + NAMES[-3:]

    assert [snapshot.head(name) for name in names] == [text_of(name) for name in names]
    assert len(blobs(github_api)) == 3
    assert github_api.state.left["graphql"] == RESERVE - 1


def test_an_hour_that_has_passed_says_nothing_of_the_next_one() -> None:
    left = RemainingRequests()
    left.note({"x-ratelimit-remaining": "7", "x-ratelimit-reset": "1000"}, "core")
    left.note({"x-ratelimit-remaining": "9"}, "graphql")
    left.note({"x-ratelimit-remaining": "1", "x-ratelimit-resource": "search"}, "core")
    left.note({"x-ratelimit-remaining": "odd", "x-ratelimit-reset": "1000"}, "core")

    assert (left.of("core", 999.0), left.of("core", 1_000.0), left.of("graphql", 1e12)) == (7, None, 9)
    assert left.of("search", 0.0) is None


# --- its parts


@given(st.binary(max_size=300))
def test_the_hash_is_gits_own(raw: bytes) -> None:
    whole = b"blob %d\0" % len(raw) + raw

    assert hash_of(raw, ["0" * 40]) == hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    assert hash_of(raw, ["0" * 64]) == hashlib.sha256(whole).hexdigest()


def test_the_question_names_each_object_once() -> None:
    assert document(2).count("object(oid: $o1)") == 1
    assert "$o2" not in document(2)
