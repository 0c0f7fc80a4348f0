"""One GitHub over sockets: what is sent, what is repeated, and what is never done."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostUnknownError,
)
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.errors import Failed, fault, graphql_fault, message_of
from reviewbot.hosts.github.rate_limits import RetryableError, limit_pause_s
from reviewbot.hosts.github.transport import MAX_BYTES, origin_of
from tests.github_api import FakeGitHub, Reply, dropped
from tests.github_api.refusals import (
    bad_token,
    invalid,
    missing_permission,
    not_found,
    primary_limit,
    secondary_limit,
    server_error,
    too_large,
)

NOW = 1_800_000_000
SHOP = "/repos/acme/shop"
MakeClient = Callable[..., GithubClient]


@pytest.mark.usefixtures("name_alone")
def test_a_request_names_the_token_the_version_and_us(github_api: FakeGitHub, client: GithubClient) -> None:
    client.request("GET", SHOP)

    sent = github_api.recorded[0].headers
    assert sent["authorization"].endswith(github_api.token)
    assert sent["x-github-api-version"] == "2022-11-28"
    assert sent["accept"] == "application/vnd.github+json"
    assert sent["user-agent"].startswith("reviewbot/")


def test_the_mount_of_an_enterprise_server_is_kept_for_rest_and_left_for_graphql(make_client: MakeClient) -> None:
    with FakeGitHub("/api/v3") as api:
        client = make_client(api)
        client.request("GET", "/user")
        api.refuse("POST", "^/graphql$", Reply(200, {"data": {"viewer": {"login": "a"}}}))
        assert client.graphql("query { viewer { login } }", {}) == {"viewer": {"login": "a"}}
    api.check()


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (bad_token(), HostAccessError, "does not accept the token"),
        (missing_permission("pull_requests", "read"), HostAccessError, "the token needs pull_requests=read"),
        (not_found(), HostMissingError, "/repos/acme/shop: it does not exist"),
        (too_large(300), HostInvalidError, "406"),
        (invalid("Validation Failed", "line must be part of the diff"), HostInvalidError, "must be part of the diff"),
        (Reply(418, {"message": "teapot"}), HostError, "418"),
        (Reply(200, b"<html>"), HostError, "no JSON"),
        (Reply(302, None, {"location": "https://elsewhere.invalid/"}), HostError, "another host"),
        (Reply(302, None, {"location": "http://127.0.0.1:9/"}), HostError, "another host"),
        (Reply(302, None, {"location": "http://user@127.0.0.1/"}), HostError, "another host"),
    ],
)
def test_a_refusal_is_an_error_that_says_what_to_do_and_is_not_repeated(
    reply: Reply, error: type[HostError], words: str, github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("GET", "shop$", reply)

    with pytest.raises(error, match=words) as raised:
        client.request("GET", SHOP)

    assert type(raised.value) is error
    assert len(github_api.recorded) == 1
    assert github_api.token not in str(raised.value)


def test_the_code_of_a_refusal_is_kept(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", too_large(300))

    with pytest.raises(HostInvalidError) as raised:
        client.request("GET", SHOP)

    assert raised.value.code == "too_large"


@pytest.mark.usefixtures("name_alone")
@pytest.mark.parametrize("reply", [server_error(500), server_error(502), Reply(202, {}), dropped()])
def test_what_only_reads_is_repeated_where_github_is_busy(
    reply: Reply, github_api: FakeGitHub, client: GithubClient, patient: Any
) -> None:
    github_api.refuse("GET", "shop$", reply, times=2)

    assert client.request("GET", SHOP).data["full_name"] == "acme/shop"
    assert len(github_api.recorded) == 3
    assert len(patient.slept) == 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [(server_error(503), "answers 503"), (dropped(), r"cannot be reached at http://127\.0\.0\.1:\d+ for GET")],
)
def test_after_four_tries_the_error_is_told(
    reply: Reply, words: str, github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("GET", "shop$", reply, times=9)

    with pytest.raises(HostError, match=words):
        client.request("GET", SHOP)

    assert len(github_api.recorded) == 4


@pytest.mark.parametrize("reply", [server_error(502), dropped()])
def test_what_writes_is_sent_once_and_its_fate_is_called_unknown(
    reply: Reply, github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("POST", "check-runs$", reply, times=9)

    with pytest.raises(HostUnknownError, match="may or may not"):
        client.request("POST", f"{SHOP}/check-runs", body={"name": "a", "head_sha": "b" * 40, "status": "queued"})

    assert len(github_api.recorded) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_where_nobody_listens_nothing_was_sent(method: str, patient: Any) -> None:
    with FakeGitHub() as api:
        url = api.url
    with GithubClient(GithubAccess("t", url), patient) as client, pytest.raises(HostError) as raised:
        client.request(method, "/user")

    assert type(raised.value) is HostError


@pytest.mark.usefixtures("name_alone")
@pytest.mark.parametrize(
    ("reply", "slept"),
    [
        (primary_limit(NOW + 40), 41),
        (primary_limit(NOW + 40, status=429), 41),
        (secondary_limit(7), 7),
        (secondary_limit(7, status=429), 7),
        (secondary_limit(), 60),
    ],
)
def test_a_limit_is_waited_for_as_github_asks(
    reply: Reply, slept: float, github_api: FakeGitHub, client: GithubClient, patient: Any
) -> None:
    github_api.refuse("GET", "shop$", reply)

    assert client.request("GET", SHOP).status == 200
    assert patient.slept == [slept]


@pytest.mark.parametrize("reply", [primary_limit(NOW + 3_000), secondary_limit(301)])
def test_a_limit_that_outlasts_the_deadline_is_an_error_at_once(
    reply: Reply, github_api: FakeGitHub, client: GithubClient, patient: Any
) -> None:
    github_api.refuse("GET", "shop$", reply)

    with pytest.raises(HostLimitError, match=r"it asks for \d+ s, and there are 300 s left") as raised:
        client.request("GET", SHOP)

    assert patient.slept == []
    assert (raised.value.retry_after_s or 0) > 300


def test_a_limit_amid_a_write_is_told_and_the_caller_may_wait(
    github_api: FakeGitHub, client: GithubClient, patient: Any
) -> None:
    github_api.refuse("POST", "check-runs$", secondary_limit(5))

    with pytest.raises(HostLimitError) as raised:
        client.request("POST", f"{SHOP}/check-runs", body={"name": "a", "head_sha": "b" * 40, "status": "queued"})
    client.wait(raised.value.retry_after_s or 0)

    assert patient.slept == [5]
    assert len(github_api.recorded) == 1
    with pytest.raises(HostLimitError):
        client.wait(1_000)


@pytest.mark.usefixtures("name_alone")
def test_after_the_deadline_nothing_is_sent_until_a_new_one_begins(
    github_api: FakeGitHub, make_client: MakeClient, patient: Any
) -> None:
    client = make_client(github_api, deadline_s=10)
    patient.sleep(11)

    with pytest.raises(HostError, match="no time left"):
        client.request("GET", SHOP)
    assert github_api.recorded == []
    assert client.within(10).request("GET", SHOP).status == 200


@pytest.mark.usefixtures("name_alone")
def test_a_redirect_on_the_same_host_is_followed_where_something_is_read(
    github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("GET", "/old$", Reply(301, None, {"location": SHOP}))

    assert client.request("GET", "/repos/acme/old").data["full_name"] == "acme/shop"


def test_a_redirect_is_not_followed_for_ever(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(302, None, {"location": SHOP}), times=99)

    with pytest.raises(HostError, match="again and again"):
        client.request("GET", SHOP)


def test_nothing_is_written_to_where_a_redirect_leads(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("POST", "check-runs$", Reply(307, None, {"location": f"{github_api.url}/elsewhere"}))

    with pytest.raises(HostError, match="has moved") as raised:
        client.request("POST", f"{SHOP}/check-runs", body={"name": "a", "head_sha": "b" * 40, "status": "queued"})

    assert type(raised.value) is HostError
    assert len(github_api.recorded) == 1


def test_an_answer_that_is_too_long_is_not_read_to_its_end(github_api: FakeGitHub, client: GithubClient) -> None:
    packed = gzip.compress(bytes(MAX_BYTES + 1), 1)
    github_api.refuse("GET", "shop$", Reply(200, packed, {"content-encoding": "gzip"}), times=9)

    with pytest.raises(HostError, match="longer than"):
        client.request("GET", SHOP)
    assert len(github_api.recorded) == 1


@pytest.mark.parametrize(
    "path", ["repos", "/repos/../user", "/a/./b", "//host/a", "/a?b=c", "/a#b", "/a b", "/", "/a/\n"]
)
def test_a_path_that_is_not_ours_is_not_sent(path: str, github_api: FakeGitHub, client: GithubClient) -> None:
    with pytest.raises(HostError, match="no path"):
        client.request("GET", path)
    assert github_api.recorded == []


def test_other_media_come_as_bytes(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(200, b"\xff\r\n\0"))

    assert client.request("GET", SHOP, accept="application/vnd.github.diff").data == b"\xff\r\n\0"


def test_no_content_is_none(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(204))

    assert client.request("GET", SHOP).data is None


def paged(api: FakeGitHub, link: str) -> Reply:
    return Reply(200, [{"id": 1}], {"link": link.replace("HOST", api.url)})


def test_all_pages_of_a_list_are_read(github_api: FakeGitHub, client: GithubClient) -> None:
    path = f"{SHOP}/pulls"
    github_api.refuse(
        "GET",
        "pulls$",
        paged(github_api, f'<HOST{path}?page=1>; rel="prev", <HOST{path}?per_page=100&page=2>; rel="next"'),
    )
    github_api.refuse("GET", "pulls$", Reply(200, [{"id": 2}, "odd"]))

    assert list(client.items(path)) == [{"id": 1}, {"id": 2}]
    assert [each.query for each in github_api.recorded] == [{"per_page": "100"}, {"per_page": "100", "page": "2"}]


@pytest.mark.parametrize(
    "link", ["https://elsewhere.invalid/repos/acme/shop/pulls?page=2", "http://127.0.0.1:1/pulls?page=2", "/pulls"]
)
def test_a_list_is_not_followed_to_another_host(link: str, github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "pulls$", paged(github_api, f'<{link}>; rel="next"'))

    with pytest.raises(HostError, match="another host"):
        list(client.items(f"{SHOP}/pulls"))
    assert len(github_api.recorded) == 1


@pytest.mark.slow
def test_a_list_without_an_end_is_cut_off(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "pulls$", paged(github_api, f'<HOST{SHOP}/pulls?page=2>; rel="next"'), times=999)

    with pytest.raises(HostError, match="more than 200 pages"):
        list(client.items(f"{SHOP}/pulls"))


def test_a_list_may_stand_below_a_name(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "check-runs$", Reply(200, {"total_count": 1, "check_runs": [{"id": 1}]}), times=2)
    path = f"{SHOP}/commits/{'a' * 40}/check-runs"

    assert list(client.items(path, key="check_runs")) == [{"id": 1}]
    with pytest.raises(HostError, match="no list"):
        list(client.items(path))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"errors": [{"type": "NOT_FOUND", "message": "no repository"}]}, HostMissingError),
        ({"errors": [{"type": "FORBIDDEN", "message": "no"}]}, HostAccessError),
        ({"errors": [{"type": "RATE_LIMITED", "message": "later"}]}, HostLimitError),
        ({"data": {"viewer": None}, "errors": [{"message": "half"}]}, HostInvalidError),
        ({"data": None}, HostInvalidError),
        ([], HostInvalidError),
    ],
)
def test_a_graphql_answer_with_an_error_is_one(
    answer: object, error: type[HostError], github_api: FakeGitHub, client: GithubClient
) -> None:
    github_api.refuse("POST", "graphql$", Reply(200, answer))

    with pytest.raises(error):
        client.graphql("query { viewer { login } }", {})


def test_a_graphql_query_is_repeated_and_a_mutation_is_not(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("POST", "graphql$", server_error(), times=1)
    github_api.refuse("POST", "graphql$", Reply(200, {"data": {}}), times=1)
    assert client.graphql("query { viewer { login } }", {}) == {}

    github_api.refuse("POST", "graphql$", server_error(), times=1)
    with pytest.raises(HostUnknownError):
        client.graphql("mutation { followUser(input: {userId: 1}) { clientMutationId } }", {})
    assert len(github_api.recorded) == 3


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["message", "errors", "code", "type"]), inner)
    ),
    max_leaves=12,
)


@given(JSONS, st.integers(300, 599), st.booleans())
def test_any_answer_becomes_an_error_of_one_printable_line(data: object, status: int, repeatable: bool) -> None:  # noqa: FBT001 - drawn
    found = fault(Failed("GET /a", status, {}, data, 0.0), repeatable=repeatable)

    assert isinstance(found, HostError | RetryableError)
    assert str(found).isascii()
    assert "\n" not in str(found)
    assert isinstance(graphql_fault(data), HostError)
    assert len(message_of(data)) <= 200


@given(st.text(max_size=12), st.text(max_size=12), st.sampled_from([200, 403, 404, 429]))
def test_any_headers_give_a_wait_of_some_seconds_or_none(after: str, reset: str, status: int) -> None:
    headers = {"retry-after": after, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}

    for kept in (headers, {k: v for k, v in headers.items() if k != "retry-after"}):
        pause = limit_pause_s(status, kept, "", 0.0)
        assert (pause is None) == (status not in {403, 429})
        assert pause is None or pause > 0


def test_a_deep_answer_is_no_json(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("GET", "shop$", Reply(200, b"[" * 100_000))

    with pytest.raises(HostError, match="no JSON"):
        client.request("GET", SHOP)


def test_bodies_are_json(github_api: FakeGitHub, client: GithubClient) -> None:
    github_api.refuse("POST", "check-runs$", Reply(201, {"id": 3}))
    body = {"name": "naïve", "head_sha": "b" * 40, "status": "queued"}

    assert client.request("POST", f"{SHOP}/check-runs", body=body).data == {"id": 3}
    assert github_api.recorded[0].body == json.loads(json.dumps(body))


@pytest.mark.parametrize("url", ["http://[half", "https://host:port/", "https://user@host/", "/path", ""])
def test_an_odd_address_has_no_origin(url: str) -> None:
    assert origin_of(url) == ""
