"""Tests of the way to an artifact: the list of the run, one redirect without the token, bytes up to a cap."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.action.artifact_download import _check_address, _storage_of, download, name_of
from reviewbot.action.artifact_zip import MAX_ZIP_BYTES
from reviewbot.action.fork_events import FinishedRun
from reviewbot.adapters.github.access import Access
from reviewbot.adapters.github.client import GithubClient
from reviewbot.errors import ArtifactError, HostAccessError
from tests.fork_cases import FORK_ID, HEAD, RUN_ID, an_archive
from tests.github_api import FakeGitHub, Reply, Repository
from tests.github_api.artifacts import Storage, add_artifact

GITHUB = "https://api.github.com"


@pytest.fixture
def storage() -> Iterator[Storage]:
    with Storage() as server:
        yield server


@pytest.fixture
def repository(github_api: FakeGitHub, tmp_path: Path) -> Repository:
    return github_api.add_repository("acme/shop", tmp_path)


def run(repository: Repository, attempt: int = 1) -> FinishedRun:
    return FinishedRun("acme/shop", repository.repository_id, RUN_ID, attempt, HEAD, FORK_ID, "mallory", "patch-1")


def fetched(github: FakeGitHub, repository: Repository) -> bytes:
    access = Access(github.token, github.url)
    with GithubClient(access) as client:
        return download(client, access, run(repository))


def refusal(github: FakeGitHub, repository: Repository) -> str:
    with pytest.raises(ArtifactError) as caught:
        fetched(github, repository)
    return str(caught.value)


def test_the_archive_comes_from_the_storage_without_the_token(
    github_api: FakeGitHub, repository: Repository, storage: Storage
) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", an_archive()))
    assert fetched(github_api, repository) == an_archive()
    ((path, headers),) = storage.asked
    assert path == "/a.zip?sig=short-lived"
    assert "authorization" not in headers
    assert github_api.token not in repr(headers)
    assert [each.headers.get("authorization", "").split()[0] for each in github_api.recorded] == ["token", "Bearer"]


def test_of_several_attempts_the_one_that_ended_is_asked_for(
    github_api: FakeGitHub, repository: Repository, storage: Storage
) -> None:
    for attempt in (1, 2):
        add_artifact(repository, 70 + attempt, RUN_ID, name_of(attempt), storage.put(f"{attempt}.zip", b"zip"))
    assert fetched(github_api, repository) == b"zip"
    assert [path for path, _ in storage.asked] == ["/1.zip?sig=short-lived"]


def test_a_run_without_an_artifact_is_named(github_api: FakeGitHub, repository: Repository) -> None:
    add_artifact(repository, 77, RUN_ID, "coverage-report", "http://127.0.0.1:9/")
    assert refusal(github_api, repository) == "the run left none"


def test_several_of_one_name_are_refused(github_api: FakeGitHub, repository: Repository) -> None:
    for number in (77, 78):
        add_artifact(repository, number, RUN_ID, name_of(1), "http://127.0.0.1:9/")
    assert refusal(github_api, repository) == "the run left several of its name"


@pytest.mark.parametrize(
    ("total", "names", "told"),
    [
        (2, [name_of(1)], "the run left several of its name"),
        (1, [name_of(1), name_of(1)], "the run left several of its name"),
        (1, [name_of(2)], "the run left none"),
        (0, [], "the run left none"),
    ],
)
def test_a_list_that_holds_not_just_the_one_is_refused(
    total: int, names: list[str], told: str, github_api: FakeGitHub, repository: Repository
) -> None:
    rows = [
        {"id": 7, "name": name, "size_in_bytes": 1, "expired": False, "workflow_run": {"id": RUN_ID}} for name in names
    ]
    github_api.refuse("GET", "/artifacts$", lambda: Reply(200, {"total_count": total, "artifacts": rows}))

    assert refusal(github_api, repository) == told
    assert [each.query for each in github_api.recorded] == [{"name": name_of(1), "per_page": "10"}]


def test_another_name_beside_ours_is_passed_over(
    github_api: FakeGitHub, repository: Repository, storage: Storage
) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", b"zip"))
    row = {"size_in_bytes": 1, "expired": False, "workflow_run": {"id": RUN_ID}}
    rows = [{"id": 78, "name": "coverage", **row}, {"id": 77, "name": name_of(1), **row}]
    github_api.refuse("GET", "/artifacts$", lambda: Reply(200, {"total_count": 1, "artifacts": rows}))

    assert fetched(github_api, repository) == b"zip"


@pytest.mark.parametrize("location", ["", "ftp://127.0.0.1/a.zip", "/a.zip", "http://user@127.0.0.1/a.zip"])
def test_an_address_that_github_would_never_answer_is_not_gone_to(
    location: str, github_api: FakeGitHub, repository: Repository
) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), location)

    assert refusal(github_api, repository) == "GitHub sent us to an address that is none"


@pytest.mark.parametrize(("more", "told"), [(0, None), (1, "its archive is larger than 2 MiB")])
def test_an_archive_may_be_as_long_as_the_limit(
    more: int, told: str | None, github_api: FakeGitHub, repository: Repository, storage: Storage
) -> None:
    archive = b"x" * (MAX_ZIP_BYTES + more)
    address = storage.put("a.zip", archive)
    add_artifact(repository, 77, RUN_ID, name_of(1), address, size=MAX_ZIP_BYTES)

    assert (refusal(github_api, repository) if told else fetched(github_api, repository)) == (told or archive)


def test_an_artifact_of_another_run_is_refused(github_api: FakeGitHub, repository: Repository) -> None:
    add_artifact(repository, 77, 4, name_of(1), "http://127.0.0.1:9/").listed_for = RUN_ID
    assert refusal(github_api, repository) == "it is of another run"


def test_an_expired_artifact_is_refused(github_api: FakeGitHub, repository: Repository) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), "http://127.0.0.1:9/").expired = True
    assert refusal(github_api, repository) == "it has expired"


def test_an_artifact_that_says_that_it_is_too_large_is_not_fetched(
    github_api: FakeGitHub, repository: Repository
) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), "http://127.0.0.1:9/", size=MAX_ZIP_BYTES + 1)
    assert refusal(github_api, repository) == "its archive is larger than 2 MiB"
    assert len(github_api.recorded) == 1


def test_what_the_storage_sends_is_counted(github_api: FakeGitHub, repository: Repository, storage: Storage) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", b"x" * (MAX_ZIP_BYTES + 1)), size=10)
    assert refusal(github_api, repository) == "its archive is larger than 2 MiB"


def test_a_second_redirect_leads_nowhere(github_api: FakeGitHub, repository: Repository, storage: Storage) -> None:
    there = storage.put("b.zip", an_archive())
    address = storage.put("a.zip", b"", 302, {"location": there})
    add_artifact(repository, 77, RUN_ID, name_of(1), address)
    assert refusal(github_api, repository) == "the storage answered with 302"
    assert len(storage.asked) == 1


def test_a_storage_that_refuses_is_named(github_api: FakeGitHub, repository: Repository, storage: Storage) -> None:
    address = storage.put("a.zip", an_archive())
    storage.blobs.clear()
    add_artifact(repository, 77, RUN_ID, name_of(1), address)
    assert refusal(github_api, repository) == "the storage answered with 404"


def test_a_storage_that_breaks_off_is_named(github_api: FakeGitHub, repository: Repository, storage: Storage) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", b"PK", headers={"content-length": "9"}))
    assert refusal(github_api, repository) == "the storage broke off"


def test_an_answer_that_is_no_http_is_named(github_api: FakeGitHub, repository: Repository, storage: Storage) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", b"PK", headers={"x": "x" * 70_000}))
    assert refusal(github_api, repository) == "the storage could not be reached, or broke off"


def test_a_storage_that_is_not_there_is_named(github_api: FakeGitHub, repository: Repository) -> None:
    with Storage() as gone:
        address = gone.put("a.zip", b"")
    add_artifact(repository, 77, RUN_ID, name_of(1), address)
    assert refusal(github_api, repository) == "the storage could not be reached, or broke off"


def test_an_archive_that_comes_too_slowly_is_left(
    github_api: FakeGitHub, repository: Repository, storage: Storage
) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), storage.put("a.zip", an_archive()))
    access = Access(github_api.token, github_api.url)
    with GithubClient(access) as client, pytest.raises(ArtifactError, match="did not come in time"):
        download(client, access, run(repository), deadline_s=-1.0)


@pytest.mark.parametrize("status", [200, 404, 410, 500])
def test_an_answer_that_is_no_redirect_is_named(github_api: FakeGitHub, repository: Repository, status: int) -> None:
    add_artifact(repository, 77, RUN_ID, name_of(1), "http://127.0.0.1:9/")
    github_api.refuse("GET", "/zip$", lambda: Reply(status, {"message": "no"}))
    assert refusal(github_api, repository) == f"GitHub answered {status} and not where its archive is"


def test_a_list_of_another_form_is_refused(github_api: FakeGitHub, repository: Repository) -> None:
    github_api.refuse("GET", "/artifacts$", lambda: Reply(200, {"total_count": 1, "artifacts": [{"id": "1"}]}))
    assert refusal(github_api, repository) == "GitHub's list of the run's artifacts cannot be read"


def test_a_token_that_may_not_read_runs_is_an_error_of_the_host(github_api: FakeGitHub, repository: Repository) -> None:
    github_api.add_token("ghs_weak", "reviewbot[bot]", {"pull_requests": "write"})
    access = Access("ghs_weak", github_api.url)
    with GithubClient(access) as client, pytest.raises(HostAccessError, match="actions"):
        download(client, access, run(repository))


@pytest.mark.parametrize(
    "address",
    [
        "https://productionresultssa1.blob.core.windows.net/a/b.zip?sig=1",
        "https://results-receiver.actions.githubusercontent.com/a",
    ],
)
def test_github_s_own_storage_is_gone_to(address: str) -> None:
    _check_address(address, GITHUB)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "not an address",
        "//evil.example/a.zip",
        "http://x.blob.core.windows.net/a.zip",
        "file:///etc/passwd",
        "https://evil.example/a.zip",
        "https://127.0.0.1/a.zip",
        "https://169.254.169.254/latest",
        "https://blob.core.windows.net.evil.example/a.zip",
        "https://evilblob.core.windows.net.example/",
        "https://user:pass@x.blob.core.windows.net/a.zip",
        "https://x.blob.core.windows.net@evil.example/a.zip",
        "https://x.blob.core.windows.net:8443/a.zip",
        "https://[::1",
        "https://x.blob.core.windows.net:port/",
        *(f"https://evil.example{mark}.blob.core.windows.net/a.zip" for mark in "\\/?#@:;%\t\n \0\u2024\uff0e"),
        "https://evil.example%2f.blob.core.windows.net/a.zip",
        "https://evil.example%5c.blob.core.windows.net/a.zip",
        "https:\\\\x.blob.core.windows.net/a.zip",
        "https://x.blob.core.windows.net\\@evil.example/a.zip",
        " https://x.blob.core.windows.net/a.zip",
        "https://x.blob.core.windows.net/a.zip\n",
        "https://.blob.core.windows.net.",
    ],
)
def test_any_other_address_is_refused(address: str) -> None:
    with pytest.raises(ArtifactError, match=r"^GitHub sent us to"):
        _check_address(address, GITHUB)


ENTERPRISE = "https://github.corp.example/api/v3"


@pytest.mark.parametrize(
    ("address", "api_url"),
    [
        ("https://storage.corp.example:9000/a.zip", ENTERPRISE),
        ("https://media.github.corp.example/a.zip?x=%2F", ENTERPRISE),
        ("https://GitHub.corp.example/a.zip", ENTERPRISE),
        ("https://10.0.0.9/storage/a.zip", "https://10.0.0.9/api/v3"),
        ("http://[::1]:81/a.zip", "http://[::1]:80"),
        ("http://127.0.0.1:81/a.zip", "http://127.0.0.1:80"),
    ],
)
def test_an_enterprise_server_keeps_archives_at_any_host_with_a_name(address: str, api_url: str) -> None:
    _check_address(address, api_url)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "10.0.0.5", "192.168.1.1", "169.254.169.254", "8.8.8.8", "1.2.3.4."),
        *("[::1]", "[fe80::1]", "[::ffff:169.254.169.254]"),
        *("2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "0"),
        *("localhost", "LOCALHOST", "a.localhost", "metadata.google.internal", "storage", "a..example", ".example"),
        *("evil.example\\.corp.example", "evil.example%2f.corp.example", "user@storage.corp.example", "\u24d4.example"),
    ],
)
def test_an_enterprise_server_does_not_send_us_to_this_machine_or_beside_it(host: str) -> None:
    with pytest.raises(ArtifactError, match=r"^GitHub sent us to"):
        _check_address(f"https://{host}/a.zip", ENTERPRISE)
    with pytest.raises(ArtifactError, match=r"^GitHub sent us to"):
        _check_address("http://storage.corp.example/a.zip", ENTERPRISE)


def test_a_github_that_is_gone_is_named() -> None:
    with Storage() as gone:
        address = gone.put("x", b"").partition("/x")[0]
    with pytest.raises(ArtifactError, match="could not be asked"):
        _storage_of(Access("ghs_x", address), "/repos/acme/shop/actions/artifacts/1/zip")
