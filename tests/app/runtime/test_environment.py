from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import pytest

from reviewbot.app.runtime.environment import check_url, load_environment, make_state_dir
from reviewbot.config import load_settings
from reviewbot.domain.errors import ConfigError

VARIABLES = (
    [f"REVIEWBOT_{name}" for name in ("STATE_DIR", "DATABASE_URL", "PUBLIC_URL", "METRICS_TOKEN", "READY_MAX_AGE_S")]
    + [f"REVIEWBOT_{name}" for name in ("APP_ID", "APP_SLUG", "BOT_ID", "LIFELINE")]
    + [
        f"REVIEWBOT_{name}{n}{f}"
        for name in ("PRIVATE_KEY", "WEBHOOK_SECRET")
        for n in ("", "_2")
        for f in ("", "_FILE")
    ]
)


def test_by_default_state_is_kept_in_the_users_own_folder() -> None:
    found = load_environment({"HOME": "/home/me"})

    assert found.state_dir == Path("/home/me/.local/state/reviewbot")
    assert found.inbox_url == "/home/me/.local/state/reviewbot/inbox.sqlite"
    assert (found.api_url, found.web_url, found.public_url) == ("https://api.github.com", "https://github.com", None)


def test_everything_can_be_somewhere_else() -> None:
    found = load_environment(
        {
            "REVIEWBOT_STATE_DIR": "/var/lib/reviewbot",
            "REVIEWBOT_DATABASE_URL": "postgresql://u:hunter2@db/reviewbot",
            "REVIEWBOT_PUBLIC_URL": "https://reviews.example.org/",
            "GITHUB_API_URL": "https://ghe.example.org/api/v3",
            "GITHUB_SERVER_URL": "https://ghe.example.org",
        }
    )

    assert found.state_dir == Path("/var/lib/reviewbot")
    assert found.inbox_url == "postgresql://u:hunter2@db/reviewbot"
    assert found.public_url == "https://reviews.example.org"
    assert "hunter2" not in repr(found)
    assert load_environment({"XDG_STATE_HOME": "/s", "HOME": "/h"}).state_dir == Path("/s/reviewbot")


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"HOME": "/h", "REVIEWBOT_DATABASE_URL": "mysql://u:hunter2@db/x"},
        {"HOME": "/h", "GITHUB_API_URL": "file:///etc/passwd"},
        {"HOME": "/h", "REVIEWBOT_PUBLIC_URL": "example.org"},
    ],
)
def test_what_cannot_be_used_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_environment(environ)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["https://a.example/", "http://127.0.0.1:8000", "http://[::1]:80", "https://a/api/v3/"])
def test_an_address_is_taken_without_its_last_slash(url: str) -> None:
    assert check_url("X", url) == url.rstrip("/")


NO_ADDRESSES = (
    *("", "https://", "ftp://a", "https://u:p@a", "https://a?x=1", "https://a#x", "https://a/../b", "//a"),
    *("https://a b", "https://a:99999", "https://[::1", "https://a/<script>", "javascript:alert(1)", "https://a\n"),
    "https://\u00e9",
)


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_anything_else_is_no_address(url: str) -> None:
    with pytest.raises(ConfigError, match="X must be an address"):
        check_url("X", url)


def test_the_folder_is_ours_alone(tmp_path: Path) -> None:
    make_state_dir(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("")

    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    with pytest.raises(ConfigError, match="cannot be used"):
        make_state_dir(tmp_path / "file" / "below")


def test_none_of_our_variables_is_taken_for_a_misspelt_setting() -> None:
    load_settings(None, dict.fromkeys(VARIABLES, "x"), {})

    assert not get_close_matches("state_dir", ["engine"])
