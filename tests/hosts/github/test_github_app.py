from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from reviewbot.domain.errors import HostAccessError, HostError, HostInvalidError, HostMissingError
from reviewbot.hosts.github.auth.app import EARLY_S, AppKeys, AppTokens, Permission
from reviewbot.hosts.github.client import GithubClient
from tests.github_api import Reply
from tests.github_api.apps import APP_ID, AppGithub, a_key

LOOKING: Mapping[str, Permission] = {"contents": "read", "metadata": "read"}


@pytest.fixture(scope="module")
def pem() -> str:
    return a_key()


@pytest.fixture
def github(pem: str, tmp_path: Path) -> Iterator[AppGithub]:
    with AppGithub(pem) as api:
        api.add_repository("acme/shop", tmp_path)
        api.install(1, "acme/shop")
        yield api
    api.check()


def shop(github: AppGithub) -> int:
    return github.state.repositories["acme/shop"].repository_id


def tokens(github: AppGithub, *pems: str, now: float = 0.0) -> AppTokens:
    return AppTokens(lambda: AppKeys(APP_ID, pems), github.url, lambda: now or time.time())


def test_a_token_is_for_one_repository_and_for_what_is_needed(github: AppGithub, pem: str) -> None:
    access = tokens(github, pem).installation(1, shop(github), LOOKING)
    asked = github.recorded[-1]

    assert (asked.path, asked.body) == (
        "/app/installations/1/access_tokens",
        {"repository_ids": [shop(github)], "permissions": LOOKING},
    )
    assert github.app.given[0].permissions == LOOKING
    with GithubClient(access) as client, pytest.raises(HostAccessError):
        client.request("POST", "/repos/acme/shop/check-runs", body={"name": "x", "head_sha": "a" * 40})


def test_a_token_is_given_out_again_for_the_same_and_for_nothing_else(github: AppGithub, pem: str) -> None:
    app = tokens(github, pem)
    first = app.installation(1, shop(github), LOOKING)

    assert app.installation(1, shop(github), dict(reversed([*LOOKING.items()]))) == first
    assert app.installation(1, shop(github), {"metadata": "read"}) != first
    assert app.reading_all(1) == app.reading_all(1) != first
    assert [each.permissions for each in github.app.given] == [
        LOOKING,
        {"metadata": "read"},
        {"metadata": "read", "pull_requests": "read"},
    ]


def test_a_token_that_ends_soon_is_not_given_out_again(github: AppGithub, pem: str) -> None:
    github.app.life_s = EARLY_S - 10
    app = tokens(github, pem)

    assert app.installation(1, shop(github), LOOKING) != app.installation(1, shop(github), LOOKING)


def test_the_tokens_of_an_installation_are_forgotten_with_it(github: AppGithub, pem: str) -> None:
    app = tokens(github, pem)
    first = app.installation(1, shop(github), LOOKING)
    app.forget(1)

    assert app.installation(1, shop(github), LOOKING) != first


def test_of_two_keys_the_one_that_holds_is_used(github: AppGithub, pem: str) -> None:
    revoked = a_key()

    assert tokens(github, revoked, pem).installation(1, shop(github), LOOKING).token.startswith("ghs_")
    assert len(tokens(github, revoked, pem).app()) == 2
    with pytest.raises(HostAccessError):
        tokens(github, revoked).installation(1, shop(github), LOOKING)
    with pytest.raises(HostAccessError, match="no private key"):
        tokens(github).installation(1, shop(github), LOOKING)


def test_a_key_that_is_none_is_not_quoted(github: AppGithub) -> None:
    with pytest.raises(HostAccessError, match="must be the PEM") as caught:
        tokens(github, "canary").installation(1, shop(github), LOOKING)

    assert "canary" not in str(caught.value)
    assert "canary" not in repr(AppKeys(1, ("canary",)))


def test_what_was_not_granted_is_refused(github: AppGithub, pem: str) -> None:
    app = tokens(github, pem)

    with pytest.raises(HostInvalidError):
        app.installation(1, shop(github), {"contents": "write"})
    with pytest.raises(HostInvalidError):
        app.installation(1, 99, LOOKING)
    with pytest.raises(HostMissingError):
        app.installation(2, shop(github), LOOKING)


@pytest.mark.parametrize(
    "body",
    [{}, {"token": 7, "expires_at": "2026-01-01T00:00:00Z"}, {"token": "ghs_1234567890", "expires_at": "soon"}, []],
)
def test_an_answer_without_a_token_is_an_error(github: AppGithub, pem: str, body: object) -> None:
    github.refuse("POST", "access_tokens$", Reply(201, body))

    with pytest.raises(HostError, match=r"token|until when"):
        tokens(github, pem).installation(1, shop(github), LOOKING)


def test_no_more_tokens_are_kept_than_needed(github: AppGithub, pem: str) -> None:
    github.app.life_s = -1.0
    app = tokens(github, pem)
    for _ in range(3):
        app.installation(1, shop(github), LOOKING)

    assert len(app._kept) == 0
