"""Where GitHub is, and the token: from the environment, else from what gh keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.github.auth.access import API_URL, GithubAccess, api_url_of, check_url, find_access, web_host_of
from reviewbot.hosts.github.auth.gh_cli_token import token_in

HOSTS_FILE = """\
# kept by gh
github.com:
    users:
        other:
            oauth_token: gho_nested
    git_protocol: https
    oauth_token: gho_kept
    user: monalisa

ghe.example.com:
    oauth_token: "ghe_quoted"
plain.example.com:
    oauth_token: 'ghe_single'
empty.example.com:
    user: nobody
"""


def gh(folder: Path, script: str) -> str:
    """A program called gh in a folder of its own; its folder, for PATH."""
    folder.mkdir()
    program = folder / "gh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(folder)


def test_the_token_is_not_in_the_text_of_an_access() -> None:
    assert "secret" not in f"{GithubAccess('secret')!r} {GithubAccess('secret')}"


@pytest.mark.parametrize(
    ("environ", "token", "api_url"),
    [
        ({"GITHUB_TOKEN": "a"}, "a", API_URL),
        ({"GITHUB_TOKEN": "a", "GH_TOKEN": "b"}, "b", API_URL),
        ({"GITHUB_TOKEN": " a\n"}, "a", API_URL),
        ({"GH_TOKEN": "a", "GH_HOST": "tenant.ghe.com"}, "a", "https://api.tenant.ghe.com"),
        ({"GH_ENTERPRISE_TOKEN": "e", "GH_HOST": "ghe.example.com"}, "e", "https://ghe.example.com/api/v3"),
        (
            {"GITHUB_TOKEN": "a", "GITHUB_API_URL": "https://ghe.example.com/api/v3/"},
            "a",
            "https://ghe.example.com/api/v3",
        ),
        ({"GITHUB_TOKEN": "a", "GITHUB_API_URL": "http://127.0.0.1:80"}, "a", "http://127.0.0.1:80"),
    ],
)
def test_the_environment_says_the_token_and_the_api(environ: dict[str, str], token: str, api_url: str) -> None:
    found = find_access({"PATH": "", **environ})

    assert (found.token, found.api_url) == (token, api_url)


def test_a_token_of_github_com_is_not_sent_to_the_host_that_gh_host_names() -> None:
    with pytest.raises(HostAccessError, match=r"no token for ghe.example.com: set GH_ENTERPRISE_TOKEN"):
        find_access({"PATH": "", "GITHUB_TOKEN": "a", "GH_TOKEN": "b", "GH_HOST": "ghe.example.com"})


def test_without_any_token_the_error_says_what_to_set() -> None:
    with pytest.raises(HostAccessError, match=r"set GH_TOKEN, or log in with `gh auth login --hostname github.com`"):
        find_access({"PATH": "", "HOME": "/nowhere"})


def test_gh_is_asked_by_the_host_and_not_from_the_folder_that_we_stand_in(tmp_path: Path) -> None:
    path = gh(tmp_path / "bin", 'test "$*" = "auth token --hostname github.com" && test "$PWD" = / && echo gho_asked')

    assert find_access({"PATH": f"{path}:/bin:/usr/bin"}).token == "gho_asked"


@pytest.mark.parametrize("script", ["exit 1", "echo two words", "echo; exit 0"])
def test_what_gh_does_not_know_is_read_from_its_file(tmp_path: Path, script: str) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS_FILE)
    path = gh(tmp_path / "bin", script)

    found = find_access({"PATH": f"{path}:/bin", "GH_CONFIG_DIR": str(tmp_path)})

    assert found.token == "gho_kept"


def test_a_gh_in_the_folder_that_we_stand_in_is_never_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gh(tmp_path / "bin", "echo gho_planted")
    monkeypatch.chdir(tmp_path / "bin")  # the folder is the point of the test

    with pytest.raises(HostAccessError):
        find_access({"PATH": ".:", "HOME": "/nowhere"})


def test_a_gh_that_cannot_be_started_is_none(tmp_path: Path) -> None:
    path = gh(tmp_path / "bin", "")
    (Path(path) / "gh").write_bytes(b"\x7fELF broken")

    with pytest.raises(HostAccessError):
        find_access({"PATH": path, "HOME": "/nowhere"})


@pytest.mark.parametrize(("name", "below"), [("XDG_CONFIG_HOME", "gh"), ("HOME", ".config/gh")])
def test_the_file_of_gh_lies_where_gh_puts_it(tmp_path: Path, name: str, below: str) -> None:
    (tmp_path / below).mkdir(parents=True)
    (tmp_path / below / "hosts.yml").write_text(HOSTS_FILE)

    assert find_access({"PATH": "", name: str(tmp_path)}).token == "gho_kept"


def test_a_file_of_gh_that_is_none_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").mkdir()
    with pytest.raises(HostAccessError):
        find_access({"PATH": "", "GH_CONFIG_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    ("host", "token"),
    [
        ("github.com", "gho_kept"),
        ("ghe.example.com", "ghe_quoted"),
        ("plain.example.com", "ghe_single"),
        ("empty.example.com", None),
        ("example.com", None),
    ],
)
def test_the_file_gives_the_token_that_stands_directly_below_the_host(host: str, token: str | None) -> None:
    assert token_in(HOSTS_FILE, host) == token


@given(st.text(max_size=300))
def test_any_text_of_a_file_is_read_without_an_error(text: str) -> None:
    token = token_in(f"github.com:\n{text}", "github.com")

    assert token is None or token in text


@pytest.mark.parametrize("token", ["", "two words", "a\nb", "a\r\nX-Other: b", "tökén", "\x00"])
def test_what_cannot_be_a_token_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(HostAccessError) as raised:
        GithubAccess(token)
    assert not token.strip() or token not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://github.example.com/api/v3",
        "https://user:password@github.example.com",
        "https://github.example.com/?a=b",
        "https://github.example.com/#a",
        "https://",
        "file:///etc/passwd",
        "https://host:99999/",
        "https://ho st/api",
        "https://[half",
        "",
    ],
)
def test_a_token_is_not_sent_to_an_odd_address(url: str) -> None:
    with pytest.raises(HostAccessError, match="GITHUB_API_URL"):
        check_url(url)


@pytest.mark.parametrize("host", ["a b", "../x", "host/path", "a..b", "user@host", ""])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(HostAccessError, match="GH_HOST"):
        api_url_of(host)


@pytest.mark.parametrize("host", ["github.com", "tenant.ghe.com", "ghe.example.com", "api.example.com"])
def test_the_web_host_is_the_one_that_the_api_was_made_from(host: str) -> None:
    assert web_host_of(api_url_of(host)) == host
