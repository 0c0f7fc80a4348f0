"""The user's own settings file: where it is looked for, and when it is refused."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from reviewbot.config.user import UserFile, display_name, read_user_file, user_file_path
from reviewbot.domain.errors import ConfigError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a file would lie, in a home of its own."""
    path = tmp_path / ".config" / "reviewbot" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def read(home: Path) -> UserFile | None:
    return read_user_file({"HOME": str(home)})


def refusal(home: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read(home)
    message = str(caught.value)
    assert message.startswith("~/.config/reviewbot/config.toml: ")
    assert message.isprintable()
    return message.partition(": ")[2]


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"HOME": "/home/ada"}, "/home/ada/.config/reviewbot/config.toml"),
        ({"HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/ada"}, "/etc/ada/reviewbot/config.toml"),
        ({"HOME": "/home/ada", "XDG_CONFIG_HOME": ""}, "/home/ada/.config/reviewbot/config.toml"),
        ({"HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/reviewbot/config.toml"),
        ({"XDG_CONFIG_HOME": "/etc/ada"}, "/etc/ada/reviewbot/config.toml"),
        ({"HOME": "relative"}, None),
        ({"HOME": ""}, None),
        ({}, None),
    ],
)
def test_the_file_is_looked_for_where_xdg_says(environ: dict[str, str], path: str | None) -> None:
    assert user_file_path(environ) == (None if path is None else Path(path))


def test_the_text_comes_with_the_name_that_people_use(place: Path, tmp_path: Path) -> None:
    place.write_text("max_findings = 1\n# é\n", "utf-8")

    assert read(tmp_path) == UserFile("~/.config/reviewbot/config.toml", "max_findings = 1\n# é\n")


def test_no_file_is_no_fault(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert read_user_file({}) is None


def test_a_folder_that_is_a_file_holds_no_settings(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("")

    assert read(tmp_path) is None


def test_a_file_that_everybody_can_write_is_refused(place: Path, tmp_path: Path) -> None:
    place.write_text("")
    place.chmod(0o646)

    assert refusal(tmp_path) == "every user of this machine can write it; chmod o-w makes it yours"


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o644, 0o664])
def test_a_file_of_the_user_and_of_a_group_is_taken(place: Path, tmp_path: Path, mode: int) -> None:
    place.write_text("")
    place.chmod(mode)

    assert read(tmp_path) is not None


def test_a_link_to_a_file_of_the_user_is_followed(place: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("max_findings = 1")
    place.symlink_to(tmp_path / "dotfiles.toml")

    assert read(tmp_path) == UserFile("~/.config/reviewbot/config.toml", "max_findings = 1")


def test_what_is_no_regular_file_is_refused_and_never_waited_for(place: Path, tmp_path: Path) -> None:
    os.mkfifo(place)
    assert refusal(tmp_path) == "is no regular file"

    place.unlink()
    place.mkdir()
    assert refusal(tmp_path) == "is no regular file"


def test_a_text_that_is_not_utf_8_is_refused(place: Path, tmp_path: Path) -> None:
    place.write_bytes(b"max_findings = \xff")

    assert refusal(tmp_path) == "is not UTF-8"


def test_a_huge_file_is_not_read_to_its_end(place: Path, tmp_path: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 32)

    found = read(tmp_path)

    assert found is not None
    assert len(found.text) == 64 * 1024 + 1


def test_a_path_that_cannot_be_used_is_refused(place: Path, tmp_path: Path) -> None:
    place.symlink_to(place)

    assert refusal(tmp_path) == "cannot be read (OSError)"
    with pytest.raises(ConfigError, match="cannot be read"):
        read_user_file({"HOME": f"/{'x' * 5_000}"})
    with pytest.raises(ConfigError, match="cannot be read"):
        read_user_file({"HOME": "/a\0b"})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_refused(place: Path, tmp_path: Path) -> None:
    place.write_text("")
    place.chmod(0)

    assert refusal(tmp_path) == "cannot be read (PermissionError)"


def test_a_socket_in_its_place_is_refused(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.parent)  # a socket's own path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("config.toml")

        assert refusal(tmp_path) == "is no regular file"


def test_a_name_is_one_printable_line() -> None:
    assert display_name(Path("/home/ada/x.toml"), "/home/ada") == "~/x.toml"
    assert display_name(Path("/home/adam/x.toml"), "/home/ada") == "/home/adam/x.toml"
    assert display_name(Path("/home/ada/x.toml"), "") == "/home/ada/x.toml"
    assert display_name(Path("/a\n\x1b[31m/x"), "/home") == "/a??[31m/x"
